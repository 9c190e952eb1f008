// SPDX-License-Identifier: BSL-1.0
//
// The sequencer and the state machine behind it: a command goes in, its event comes out.
//
// `apply` numbers the command, decides by its own state and nothing else, and hands the derived messages
// to a sink before it returns. The same commands with the same times give the same messages, on any
// machine, in any build. There is no clock in here: time comes with each command, and a timer that
// fires is a command.
#pragma once

#include <exchange/core/matcher.hpp>
#include <exchange/core/publisher.hpp>
#include <exchange/core/venue.hpp>

#include <variant>

namespace exchange {

class partition {
public:
    /// Allocates all memory that it will ever use.
    explicit partition(const partition_limits& limits);
    partition(const partition&) = delete;
    partition& operator=(const partition&) = delete;

    /// Carries out one command.
    ///
    /// @param  now   When it was sequenced; not before the command before it.
    /// @param  what  One of commands.hpp, of which any field may hold anything.
    /// @param  sink  Called, with batches of this command only, until `apply` returns.
    /// @return The number that the command got. Every command gets one, refused or not.
    ///
    /// Errors:   none: what cannot be done becomes a message that says why, and changes nothing but
    ///           the sender's last client sequence and message count.
    /// Threads:  one at a time.
    /// Cost:     no allocation. Proportional to the messages derived, and to the levels (with
    ///           self-trade prevention, orders) that a fill-or-kill looks at.
    template <class Command>
    in_sequence apply(timestamp_ns now, const Command& what, event_sink sink) noexcept {
        out_.begin(++venue_.last_in_seq, now, sink);
        now_ = now;
        handle(what);
        out_.end();
        return venue_.last_in_seq;
    }
    in_sequence apply(timestamp_ns now, const command& what, event_sink sink) noexcept {
        return std::visit([&](const auto& it) { return apply(now, it, sink); }, what);
    }

    /// What it remembers, to look at.
    [[nodiscard]] const venue& state() const noexcept { return venue_; }

    /// The `out_seq` of the last message.
    [[nodiscard]] out_sequence published() const noexcept { return out_.published(); }

private:
    void handle(const enter_order& it) noexcept;
    void handle(const amend_order& it) noexcept;
    void handle(const cancel_order& it) noexcept;
    void handle(const cancel_orders& it) noexcept;
    void handle(const enter_quote& it) noexcept;
    void handle(const define_product& it) noexcept;
    void handle(const define_instrument& it) noexcept;
    void handle(const define_account& it) noexcept;
    void handle(const define_session& it) noexcept;
    void handle(const set_phase& it) noexcept;
    void handle(const set_account_state& it) noexcept;
    void handle(const set_settlement_price& it) noexcept;
    void handle(const end_session& it) noexcept;
    void handle(const end_day& it) noexcept;

    /// Tells the sender why not, if there is a reason: of an order by its id, of all else by its market.
    template <class Command>
    void refuse_unless_done(const Command& it, reject_reason why) noexcept {
        if (why == reject_reason::none) return;
        order_rejected said{.order = order_id::none,
                            .instrument = instrument_id::none,
                            .client_seq = it.client_seq,
                            .session = it.session,
                            .command = it.kind,
                            .reason = why};
        if constexpr (requires { it.target; }) said.order = it.target.id;
        else said.instrument = it.instrument;
        out_.refused(said);
    }

    // Each says why not, or none.
    [[nodiscard]] reject_reason admit(session_id from, client_sequence client_seq) noexcept;
    [[nodiscard]] reject_reason admit_entry(session_id from, client_sequence client_seq) noexcept;
    [[nodiscard]] reject_reason check_market(instrument_id in) const noexcept;
    [[nodiscard]] reject_reason enter(const enter_order& it) noexcept;
    [[nodiscard]] reject_reason amend(const amend_order& it) noexcept;
    [[nodiscard]] reject_reason replace(order_index index, const amend_order& it) noexcept;
    [[nodiscard]] reject_reason cancel(const cancel_order& it) noexcept;
    [[nodiscard]] reject_reason cancel(const cancel_orders& it) noexcept;
    [[nodiscard]] reject_reason quote(const enter_quote& it) noexcept;
    [[nodiscard]] reject_reason withdraw(const enter_quote& it) noexcept;
    [[nodiscard]] reject_reason check_quote(const enter_quote& it, const market& in) const noexcept;
    [[nodiscard]] reject_reason check_exposure(const enter_quote& it, const account& whose,
                                               const holding& held) const noexcept;
    [[nodiscard]] reject_reason check(const define_product& it) const noexcept;
    [[nodiscard]] reject_reason check(const define_instrument& it) const noexcept;
    [[nodiscard]] reject_reason check(const define_account& it) const noexcept;
    [[nodiscard]] reject_reason check(const define_session& it) const noexcept;

    [[nodiscard]] order_index find(session_id from, const order_reference& target) const noexcept;
    [[nodiscard]] holding_index find_holding(const account& whose,
                                             instrument_id in) const noexcept {
        return venue_.holdings.find(whose.terms.account, static_cast<std::uint16_t>(number(in)));
    }
    /// For an order that passed every check: only now may a new holding be made.
    [[nodiscard]] holding_index make_holding(const account& whose, instrument_id in) noexcept {
        return venue_.holdings.make(whose.terms.account, static_cast<std::uint16_t>(number(in)));
    }
    /// Of the old quote, whatever is left.
    void cancel_quote(const enter_quote& it, holding_index held) noexcept;
    void quote_side(const enter_quote& it, holding_index held, order_side side) noexcept;
    void cancel_all(account& whose, cancel_reason reason, session_id of) noexcept;

    [[nodiscard]] account& account_of(session_id from) noexcept {
        return venue_.accounts[number(venue_.sessions[number(from)].account)];
    }
    [[nodiscard]] bool is_defined(instrument_id it) const noexcept {
        return number(it) < venue_.markets.size() && it != instrument_id::none &&
               venue_.markets[number(it)].terms.instrument.instrument == it;
    }
    [[nodiscard]] bool is_defined(account_id it) const noexcept {
        return number(it) < venue_.accounts.size() && it != account_id::none &&
               venue_.accounts[number(it)].terms.account == it;
    }
    [[nodiscard]] bool is_defined(session_id it) const noexcept {
        return number(it) < venue_.sessions.size() &&
               venue_.sessions[number(it)].account != account_id::none;
    }

    venue venue_;
    publisher out_{venue_.memory};
    matcher matcher_{venue_, out_};
    timestamp_ns now_ = 0;
};

}  // namespace exchange
