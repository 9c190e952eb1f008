// SPDX-License-Identifier: BSL-1.0
//
// What a trading program needs of the exchange, in one object: commands out, news in.
//
// It keeps itself connected, numbers commands, knows which orders are open, and after a lost connection
// finds out what became of what was sent. A program makes one on its loop, awaits `next` in a loop of
// its own, and answers with commands; examples/market_maker.cpp is one. What happens beneath is
// net/session/order_entry_client.hpp's.
#pragma once

#include <exchange/client/client_tls.hpp>
#include <exchange/client/client_transport.hpp>
#include <exchange/client/market_data_subscriber.hpp>
#include <exchange/client/news.hpp>
#include <exchange/client/own_orders.hpp>
#include <exchange/codec/mass_quote.hpp>
#include <exchange/core/commands.hpp>

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace exchange {

struct exchange_client_options {
    gyre::endpoint exchange;  ///< A facility or a gateway.
    std::string username;     ///< At most 6 printable characters,
    std::string password;     ///< and at most 10.
    client_transport transport = client_transport::soup;
    std::string websocket_path = "/order-entry/v1";
    client_tls tls;

    /// A session to resume, as `exchange_client::resume_at` told an earlier run; empty: whichever is
    /// current.
    std::string life;
    /// The first message wanted: 1 is all of the life, so that own orders are complete; 0 what comes next.
    std::uint64_t sequence = 1;
    /// When the exchange has begun another life: log in to that one, or leave?
    bool join_next_life = true;

    std::size_t news_max = 4096;        ///< Waiting for `next`; then the connection is not read.
    std::size_t unanswered_max = 1024;  ///< Commands; at least what one mass quote has, 64.
    std::size_t orders_max = 65'536;    ///< Own orders that are kept track of.
    std::size_t unsent_bytes_max = 128 * 1024;  ///< Commands that wait for the kernel.
    gyre::duration heartbeat_after = std::chrono::seconds{1};
    gyre::duration dead_after = std::chrono::seconds{15};            ///< Of hearing nothing.
    gyre::duration connect_within = std::chrono::seconds{2};         ///< With its handshakes.
    gyre::duration reconnect_after = std::chrono::milliseconds{10};  ///< Doubles, up to
    gyre::duration reconnect_after_max = std::chrono::seconds{1};    ///< this.
};

/// Where a session goes on: see `exchange_client_options::life`.
struct resume_point {
    std::string life;  ///< Empty before the first login.
    std::uint64_t sequence = 1;
};

class trading_session;

/// A client's session with the exchange. Moves.
///
/// Commands: `session` and `client_seq` of what is given are filled in. Each yields the number that the
/// command has, by which answers and later commands name it, and waits for nothing.
///
///   Errors:  `errc::not_connected` before `caught_up` and without a connection; nothing was sent.
///            `errc::no_buffer_space` if too much is unanswered, unsent, or not taken by `next`: see
///            `room`. `errc::closed` once the session is over. `errc::invalid_argument` for a mass quote of
///            no entry or too many.
///   Cost:    no allocation.
///
/// What was sent is answered by news of an event or a refusal that names its number, or by
/// `command_lost`, or by `life_changed`; by one of these for each, once.
///
/// Destruction: at any time on the loop's thread, also while `next` waits, which then ends with
/// `errc::closed`. The connection is cut, and what remains ends by itself as the loop goes on; the loop
/// may be destroyed first, too. Orders stay, or go if the session's `disconnect_policy` says so.
///
/// Threads:  the loop's.
class exchange_client {
public:
    /// Begins to connect as the loop runs; what comes of it is told by `next`.
    ///
    /// @param  on  Borrowed; outlives the connection.
    ///
    /// Errors:  `errc::invalid_argument` for what no session can have: a name, a password or a life too
    /// long or not
    ///          printable, bounds that are zero; `errc::not_supported` for a WebSocket or TLS in a build
    ///          without; those of `client_security`.
    [[nodiscard]] static gyre::io_result<exchange_client> open(
        gyre::io_context& on, const exchange_client_options& options);

    exchange_client() noexcept =
        default;  ///< Of no session: every call but these ends with `closed`.
    exchange_client(exchange_client&& other) noexcept = default;
    exchange_client& operator=(exchange_client&& other) noexcept;
    ~exchange_client();

    /// The next news, in the order of the stream.
    ///
    /// Errors:        `errc::closed` behind `session_over`.
    /// Cancellation:  `errc::canceled`; no news was taken.
    /// Threads:       the loop's. Any number may wait; each news goes to one.
    /// Cost:          a frame, which is used again.
    [[nodiscard]] gyre::task<gyre::io_result<news>> next();
    /// The same, of what is here already: false if that is nothing.
    [[nodiscard]] bool try_next(news& into);

    // Orders.
    gyre::io_result<client_sequence> enter(enter_order it);
    gyre::io_result<client_sequence> enter(enter_advanced_order it);
    gyre::io_result<client_sequence> amend(amend_order it);
    gyre::io_result<client_sequence> amend(amend_stop it);
    gyre::io_result<client_sequence> cancel(cancel_order it);
    /// An order that this session entered with that number, acknowledged or not.
    gyre::io_result<client_sequence> cancel(client_sequence order);
    /// All orders of the account that match, of sister sessions too.
    gyre::io_result<client_sequence> cancel(cancel_orders it);

    // Quotes.
    gyre::io_result<client_sequence> quote(enter_quote it);
    /// The number is the first entry's; the others follow.
    gyre::io_result<client_sequence> quote(const enter_quotes& it);
    gyre::io_result<client_sequence> protect(set_protection it);

    /// Waits until commands are taken: behind `caught_up`, and with room for `commands` more.
    ///
    /// @param  commands  At most `unanswered_max`.
    ///
    /// Errors:        `errc::closed` once the session is over.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       the loop's.
    /// Cost:          a frame, which is used again.
    [[nodiscard]] gyre::task<gyre::io_result<>> room(std::size_t commands = 1);

    /// Ends the session in order: `session_over` follows when the exchange has confirmed. False if there is
    /// no connection, or no room.
    [[nodiscard]] bool log_out() noexcept;
    /// Ends it at once; `session_over` follows.
    void stop() noexcept;

    /// Own orders that rest or wait, as of the last message that came in. News that `next` has not told
    /// yet are in it already.
    [[nodiscard]] const own_orders& orders() const noexcept;
    /// Commands that are not answered yet.
    [[nodiscard]] std::size_t unanswered() const noexcept;
    /// May commands be sent now?
    [[nodiscard]] bool trading() const noexcept;
    /// Where another run may go on: behind all that came in. News that `next` has not handed out yet are
    /// not told again, so take them first.
    [[nodiscard]] resume_point resume_at() const;

private:
    explicit exchange_client(std::shared_ptr<trading_session> it) noexcept;

    std::shared_ptr<trading_session> it_;  // Shared with what runs on the loop.
};

}  // namespace exchange
