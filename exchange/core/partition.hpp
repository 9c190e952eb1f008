// SPDX-License-Identifier: BSL-1.0
//
// The sequencer and the state machine behind it: a command goes in, its event comes out.
//
// `apply` numbers the command, decides by its own state and nothing else, and hands the derived messages
// to a sink before it returns. The same commands with the same times give the same messages, on any
// machine, in any build. There is no clock in here: time comes with each command, and a timer that
// fires is a command.
//
// What one command does is bounded only by the orders that rest, so a program that has others to serve
// carries it out in steps: `begin`, then `resume` while it is `busy`. The messages are the same.
#pragma once

#include <exchange/core/auction.hpp>
#include <exchange/core/cancels.hpp>
#include <exchange/core/matcher.hpp>
#include <exchange/core/publisher.hpp>
#include <exchange/core/session_numbers.hpp>
#include <exchange/core/step.hpp>
#include <exchange/core/venue.hpp>

#include <variant>

namespace exchange {

/// Of a command that several partitions hear, only the first looks at its client's number and rate.
enum class numbering : std::uint8_t { checked, known };

class partition {
public:
    /// Reserves all memory that it will ever use.
    explicit partition(const partition_limits& limits);

    /// One of several that hear the same sessions.
    ///
    /// @param  numbers  Of those sessions. Borrowed; outlives this.
    partition(const partition_limits& limits, session_numbers& numbers);
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
    /// Cost:     no allocation. Proportional to the messages derived, and to the levels (where the order
    ///           may meet its own kind, orders) that a fill-or-kill looks at.
    template <class Command>
    in_sequence apply(timestamp_ns now, const Command& what, event_sink sink) noexcept {
        begin(now, what, sink);
        while (busy()) resume(sink);
        return venue_.last_in_seq;
    }
    in_sequence apply(timestamp_ns now, const command& what, event_sink sink) noexcept {
        return std::visit([&](const auto& it) { return apply(now, it, sink); }, what);
    }

    /// Begins a command, and carries out as much of it as one step may do; as `apply`. It is not `busy`.
    ///
    /// Cost:  at most some 20 messages beyond `partition_limits::step_work_max`.
    ///
    /// @param  how  Whether a client's number is looked at: in the first partition that hears a command.
    template <class Command>
    in_sequence begin(timestamp_ns now, const Command& what, event_sink sink,
                      numbering how = numbering::checked) noexcept {
        expects(!busy());
        out_.begin(++venue_.last_in_seq, now, sink);
        now_ = now;
        numbering_ = how;
        work_.begin();
        handle(what);
        end_step();
        return venue_.last_in_seq;
    }
    in_sequence begin(timestamp_ns now, const command& what, event_sink sink,
                      numbering how = numbering::checked) noexcept {
        return std::visit([&](const auto& it) { return begin(now, it, sink, how); }, what);
    }

    /// Is a command not carried out completely? Until it is, none can begin.
    [[nodiscard]] bool busy() const noexcept { return stage_ != stage::idle; }

    /// Carries out another step of it.
    void resume(event_sink sink) noexcept;

    /// From when on an `expire_instruments` has something to do; it may turn out to be nothing.
    [[nodiscard]] timestamp_ns next_expiry() const noexcept { return venue_.next_expiry; }

    /// From when on an `advance_phases` has something to do; as above.
    [[nodiscard]] timestamp_ns next_phase_change() const noexcept {
        return venue_.next_phase_change;
    }

    /// Does an order rest that this session may mean by `target`?
    [[nodiscard]] bool rests(session_id from, const order_reference& target) const noexcept {
        return is_defined(from) && find(from, target) != 0;
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
    void handle(const enter_advanced_order& it) noexcept;
    void handle(const amend_stop& it) noexcept;
    void handle(const set_protection& it) noexcept;
    void handle(const define_product& it) noexcept;
    void handle(const define_instrument& it) noexcept;
    void handle(const define_account& it) noexcept;
    void handle(const define_session& it) noexcept;
    void handle(const set_phase& it) noexcept;
    void handle(const set_account_state& it) noexcept;
    void handle(const set_settlement_price& it) noexcept;
    void handle(const end_session& it) noexcept;
    void handle(const end_day& it) noexcept;
    void handle(const retire& it) noexcept;
    void handle(const expire_instruments& it) noexcept;
    void handle(const set_position& it) noexcept;
    void handle(const uncross& it) noexcept;
    void handle(const set_interruption& it) noexcept;
    void handle(const advance_phases& it) noexcept;
    void handle(const bust_trade& it) noexcept;
    void handle(const schedule_phase& it) noexcept;

    /// What is left to do of a command. Each stage has a function that does some of it, and is false if the
    /// work of this step is done before that.
    enum class stage : std::uint8_t {
        idle,
        trading,
        triggering,
        quoting,
        cancelling,
        expiring,
        ending_orders,
        changing,
        uncrossing,
        advancing,
        indicating,
    };

    void go_on() noexcept;
    bool advance() noexcept;
    bool trade_some() noexcept;
    bool trigger_some() noexcept;
    /// Of accounts whose protection was struck, all quotes. False if that takes another step.
    bool withdraw_some() noexcept;
    void withdraw_quote(const market& in, const protection& it) noexcept;
    bool quote_some() noexcept;
    bool cancel_some() noexcept;
    bool expire_some() noexcept;
    bool end_some_orders() noexcept;
    bool change_some() noexcept;
    bool uncross_some() noexcept;
    bool advance_some() noexcept;
    bool indicate_some() noexcept;

    /// A quote whose sides arrive one after the other.
    struct quoting {
        enter_quote terms;
        holding_index held;
        order_side side;
    };

    void end_step() noexcept {
        if (venue_.first_touched != 0 && !busy()) [[unlikely]] {
            begin_indicating();
            go_on();
        }
        if (!busy()) [[likely]]
            out_.end();
        else out_.pause();
    }

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
    [[nodiscard]] reject_reason admit_cancel(session_id from, client_sequence client_seq) noexcept;
    [[nodiscard]] reject_reason check_open(const market& in) const noexcept;
    [[nodiscard]] reject_reason check_market(instrument_id in) const noexcept;
    [[nodiscard]] reject_reason enter(const enter_order& it) noexcept;
    [[nodiscard]] reject_reason amend(const amend_order& it) noexcept;
    [[nodiscard]] reject_reason replace(order_index index, const amend_order& it) noexcept;
    [[nodiscard]] reject_reason enter(const enter_advanced_order& it) noexcept;
    [[nodiscard]] reject_reason check_fields(const enter_advanced_order& it) const noexcept;
    [[nodiscard]] bool has_room(const enter_advanced_order& it, const market& in,
                                holding_index held) const noexcept;
    [[nodiscard]] reject_reason amend(const amend_stop& it) noexcept;
    [[nodiscard]] reject_reason protect(const set_protection& it) noexcept;
    [[nodiscard]] bool is_struck(const account& whose, product_id product) const noexcept;
    [[nodiscard]] reject_reason amend_waiting(order_index index, stop_change to,
                                              request_name by) noexcept;
    [[nodiscard]] reject_reason check_more(order_index index, const stop_change& to,
                                           session_id by) noexcept;
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
    [[nodiscard]] reject_reason check(const set_phase& it) const noexcept;
    [[nodiscard]] reject_reason check(const uncross& it) const noexcept;
    [[nodiscard]] reject_reason check(const bust_trade& it) noexcept;
    [[nodiscard]] reject_reason check(const set_position& it) const noexcept;
    [[nodiscard]] reject_reason check(const retire& it) const noexcept;
    [[nodiscard]] reject_reason check_present(instrument_id in) const noexcept;
    [[nodiscard]] reject_reason check_present(account_id whose) const noexcept;

    [[nodiscard]] order_index find(session_id from, const order_reference& target) const noexcept;
    [[nodiscard]] holding_index find_holding(const account& whose,
                                             instrument_id in) const noexcept {
        return venue_.holdings.find(whose.terms.account, static_cast<std::uint16_t>(number(in)));
    }
    /// For an order that passed every check: only now may a new holding be made.
    [[nodiscard]] holding_index make_holding(account& whose, instrument_id in) noexcept;

    /// Behind the first part of an order's way: the rest of it, and of the stops that it reaches.
    void follow_trading(market& in) noexcept;
    /// Behind all of its way, or behind an uncross: what it has struck, and reached.
    void finish_trading() noexcept;
    /// Behind that: nothing, or what else a timer has asked.
    void finish() noexcept;

    /// Of the old quote, whatever is left. False if there is nothing.
    bool cancel_quote(const enter_quote& it, holding_index held) noexcept;
    void quote_side(order_side side) noexcept;

    /// All orders that are meant, beginning with the stage that follows.
    void begin_cancelling(const mass_cancel& which) noexcept;
    /// The orders of an account, or of one of its sessions.
    void cancel_all(account_id whose, cancel_reason reason, session_id of) noexcept;
    void cancel_all(const market& in, cancel_reason reason) noexcept;
    [[nodiscard]] order_index next_to_cancel() noexcept;
    void finish_cancelling() noexcept;
    void end_market(market& in, cancel_reason why) noexcept;

    void enter_phase(market& in, market_phase phase) noexcept;
    /// Of the reports: begins the next one if the market is opened, and it waits for that.
    static void begin_day_of(market& in, market_phase next) noexcept;
    void end_day_of(market& in) noexcept;
    /// How an auction ends.
    struct auction_end {
        market_phase then;
        bool by_timer;
    };
    void begin_uncross(const market& in, const auction_end& how) noexcept;
    bool clear_some(const market& in) noexcept;
    [[nodiscard]] order_index first_at_market(const market& in, order_side side) const noexcept;
    void finish_uncross(market& in) noexcept;
    /// What the schedule says next.
    void plan(market_cycle& of, timestamp_ns after) noexcept;
    [[nodiscard]] bool is_due(const market& in) noexcept;
    [[nodiscard]] static bool is_interrupted(const market& in) noexcept;
    void begin_indicating() noexcept;

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
    [[nodiscard]] bool is_defined(product_id it) const noexcept {
        return number(it) < venue_.products.size() && it != product_id::none &&
               venue_.products[number(it)].terms.product == it;
    }
    /// Is it defined, and not retired?
    [[nodiscard]] bool may_speak(session_id it) const noexcept {
        return is_defined(it) && !venue_.sessions[number(it)].retired;
    }

    venue venue_;
    publisher out_;
    step_work work_;
    matcher matcher_{venue_, out_, work_};
    session_numbers own_numbers_;
    session_numbers* numbers_;
    timestamp_ns now_ = 0;
    numbering numbering_ = numbering::checked;
    stage stage_ = stage::idle;
    quoting quote_{};
    mass_cancel cancelling_{};
    market* traded_in_ = nullptr;  // By the command that is carried out, the last time.
    exchange::uncrossing uncross_{};
    auction_search search_;        // Of the uncross, or of what is indicated: never both.
    order_index dated_ = 0;        // The next order with a last day to be looked at.
    std::uint32_t withdrawn_ = 0;  // The last instrument that was looked at for quotes that go.
    std::uint32_t scanned_ =
        0;  // The last instrument that was looked at: expiring, changing, advancing.
    product_id changed_ = product_id::none;
};

}  // namespace exchange
