// SPDX-License-Identifier: BSL-1.0
//
// Everything that a client of the exchange can be told, each kind by a type of its own.
//
// What the exchange says of orders are the records of core/events.hpp, as they were sent. Beside these
// there is what becomes of the session itself: connections, logins, lives. exchange_client.hpp hands
// them out in order.
#pragma once

#include <exchange/client/told_text.hpp>
#include <exchange/codec/message_rejected.hpp>
#include <exchange/codec/soup_packet.hpp>
#include <exchange/core/events.hpp>

#include <gyre/base/error.hpp>

#include <cstdint>
#include <type_traits>
#include <variant>

namespace exchange {

/// The exchange has let us in. What it has told this session before follows, from the message on that was
/// asked for, and then `caught_up`.
struct logged_in {
    soup_session life;       ///< The name of the exchange's life, for a resumption of another day.
    std::uint64_t sequence;  ///< Of the first message that will be told.
};

/// All that was sent before is answered, or was told to be lost: commands are taken from now on. What was
/// told before this, and behind `logged_in`, is what happened while there was no connection.
struct caught_up {
    session_id session;        ///< Ours.
    client_sequence next_seq;  ///< Of the next command.
};

/// There is no connection any more; another one is made.
struct connection_lost {
    soup_ending why;  ///< `none`: the connection broke without a word.
};

/// The exchange cannot be reached, or does not answer a login (`errc::eof`: it hung up; `timed_out`: it was
/// silent; `protocol_error`: it is something else); it is tried again. Told once until a login is accepted.
struct unreachable {
    gyre::error why;
};

/// A connection could not be secured, for another reason than that it was lost. `session_over` follows.
struct security_failed {
    told_text why;
};

/// A command that was sent before a connection was lost never arrived, and has had no effect.
struct command_lost {
    client_sequence client_seq;
    command_kind command;  ///< Of an entry of a mass quote `enter_quote`.
};

/// The exchange has gone down and was started anew: all orders, positions and answers of the old life are
/// gone, and own orders with them. Told before anything of the new one.
struct life_changed {
    soup_session ended;
    soup_session next;
};

/// A message that cannot be read: the exchange speaks a newer protocol, or is broken. It is left out.
struct unreadable_message {
    decode_error error;
};

/// An order of ours is there, but not among own orders, since there are `orders_max` already.
struct order_untracked {
    client_sequence client_seq;
    order_id order;
};

/// Why a session is over for good.
enum class session_end : std::uint8_t {
    logged_out,     ///< As was asked for.
    stopped,        ///< The same, at once.
    day_ended,      ///< The exchange said that nothing follows.
    login_refused,  ///< Name or password is wrong, or the session is another one: `reject`.
    upgrade_refused,  ///< The server speaks no such WebSocket, at this path and of this subprotocol, or
                      ///< lets us not have it. One that says that it cannot now is `unreachable`.
    security_refused,  ///< No agreement on TLS: `security_failed` has said why.
    not_kept,    ///< What was to be resumed is not kept any more: log in for what comes next (0).
    life_ended,  ///< The life is over, and options say to leave with it.
};

/// A sentence part for people; static storage.
[[nodiscard]] constexpr const char* describe(session_end it) noexcept {
    switch (it) {
        case session_end::logged_out: return "logged out";
        case session_end::stopped: return "stopped";
        case session_end::day_ended: return "the exchange has ended the session";
        case session_end::login_refused: return "the login was refused";
        case session_end::upgrade_refused: return "the server refuses such a WebSocket";
        case session_end::security_refused: return "the connection could not be secured";
        case session_end::not_kept: return "what was to be resumed is not kept any more";
        case session_end::life_ended: return "the exchange has begun another life";
    }
    return "an unknown reason";
}

/// The last news: no other connection is made.
struct session_over {
    session_end why;
    soup_reject reject;  ///< Of `login_refused`.
};

using news_kinds =
    std::variant<logged_in, caught_up, connection_lost, unreachable, security_failed, command_lost,
                 life_changed, unreadable_message, order_untracked, session_over, order_entered,
                 order_amended, order_cancelled, order_rejected, order_executed,
                 trade_capture_report, order_terms, stop_entered, stop_triggered, trigger_amended,
                 protection_set, protection_struck, execution_busted, message_rejected>;

/// One thing that a client is told.
struct news {
    std::uint64_t sequence = 0;  ///< In the session; 0 if it is outside of the sequence.
    event_stamp stamp{};         ///< Of an event of the exchange.
    news_kinds what;

    /// It, if it is of this kind; else null.
    template <class Kind>
    [[nodiscard]] const Kind* as() const noexcept {
        return std::get_if<Kind>(&what);
    }
};

static_assert(std::is_trivially_copyable_v<news>);

/// Makes one visitor of several lambdas: `std::visit(news_visitor{...}, told.what)`.
template <class... Each>
struct news_visitor : Each... {
    using Each::operator()...;
};

}  // namespace exchange
