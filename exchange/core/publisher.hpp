// SPDX-License-Identifier: BSL-1.0
//
// Which messages an event consists of. There is one set of rules, and no scenario has its own.
//
//     an order rests          order_entered, order_book_update(add), price_level_update, top*
//     it is cancelled         order_cancelled, order_book_update(erase), price_level_update, top*
//     its quantity is amended order_amended, order_book_update(modify), price_level_update, top*
//     it loses its place      order_amended, order_book_update(erase), price_level_update; then, if it
//                             comes to rest again, order_book_update(add), price_level_update, top*
//     each fill               order_executed(maker), order_executed(taker), trade, volume_update,
//                             trade_capture_report(buy), trade_capture_report(sell),
//                             order_book_update, price_level_update, market_statistics, top*
//     an advanced order comes order_terms; then, if it is a stop, stop_entered
//     a stop is triggered     stop_triggered; then as an order that comes now
//     it is amended           order_amended, trigger_amended if that is another one now
//     an iceberg shows more   behind the fill: order_book_update(add), price_level_update, top*
//     a protection            protection_set; when it is struck, protection_struck before the cancels
//     a day ends              volume_update, market_statistics, behind what its cancels say
//     a market ends           phase_changed, before what its cancels say
//     an auction trades       auction_result, then for each of its fills order_executed(buy),
//                             order_executed(sell), trade, volume_update, trade_capture_report(buy),
//                             trade_capture_report(sell), order_book_update and price_level_update of
//                             either side, market_statistics, top*
//     a command has changed   auction_indication of each market in an auction whose book it has touched, at
//     what an auction would trade                              the end of its event
//     a trade is busted       execution_busted(buy), execution_busted(sell), trade_busted, volume_update,
//                             market_statistics
//     a command is refused    order_rejected
//     the rest of an order that does not rest, or a stop       order_cancelled
//     less of it is hidden    order_amended
//
//     * top_of_book, only if the best price or the best size changed
//
// The caller has changed the book before it asks for a row: levels and sums are read as they are now.
#pragma once

#include <exchange/core/accounts.hpp>
#include <exchange/core/auction_price.hpp>
#include <exchange/core/book.hpp>
#include <exchange/core/events.hpp>
#include <exchange/core/market.hpp>
#include <exchange/core/protection.hpp>
#include <exchange/core/trades.hpp>

#include <array>
#include <cstdint>

namespace exchange {

/// The client command that asked for something; none of both if no client did.
struct request_name {
    session_id session = session_id::none;
    client_sequence client_seq = client_sequence::none;
};

struct cancellation {
    account_id account;
    contracts cancelled;
    cancel_reason reason;
    request_name request;
};

struct amendment {
    account_id account;
    amend_priority priority;
    amend_reason reason;
    request_name request;
};

/// Where an order is going, and with how much.
struct placement {
    price_ticks price;
    contracts open;
};

/// Of an uncross, the maker buys and the taker sells.
struct fill {
    trade_id trade;
    price_ticks price;
    const order* maker;
    const order* taker;
    const account* maker_account;
    const account* taker_account;
    contracts quantity;
};

class publisher {
public:
    /// @param  memory     Borrowed; levels are looked up in it.
    /// @param  partition  Whose messages these are.
    publisher(const book_memory& memory, std::uint32_t partition) noexcept
        : memory_{&memory}, flushed_{numbers_of(partition)} {}

    /// Everything until `end` belongs to this command and goes to `sink`.
    void begin(in_sequence in_seq, timestamp_ns time, event_sink sink) noexcept;
    void end() noexcept;

    /// Hands over what there is of an event that has not ended, but for the last message, which must say
    /// that it is the last if nothing follows. `resume` goes on with it.
    void pause() noexcept;
    void resume(event_sink sink) noexcept { sink_ = sink; }

    void rests(market& in, const order& it, account_id account) noexcept;
    void cancelled(market& in, const order& it, const cancellation& how) noexcept;
    void amended(market& in, const order& it, const amendment& how) noexcept;
    void loses_place(market& in, const order& it, const placement& to,
                     const amendment& how) noexcept;
    void regains_place(market& in, const order& it) noexcept;
    void filled(market& in, const fill& it) noexcept;
    /// The sums of the day, where no trade tells them.
    void summed(const market& in) noexcept;

    /// A fill of an uncross.
    void crossed(market& in, const fill& it) noexcept;
    void uncrosses(const market& in, const auction_price& at) noexcept;
    /// Tells what the auction would trade if that is not what was told last.
    void indicate(market& in, const auction_price& at) noexcept;
    void busted(const market& in, const kept_trade& it,
                const std::array<account_id, 2>& accounts) noexcept;

    /// Of what the public does not see: an aggressor, a stop, what is hidden. Only sessions hear of it.
    void cancelled_unseen(const market& in, const order& it, const cancellation& how) noexcept;
    void amended_unseen(const market& in, const order& it, const amendment& how) noexcept;

    void has_terms(const market& in, const order& it, const advanced_terms& terms,
                   account_id account) noexcept;
    void waits(const market& in, const order& it, account_id account) noexcept;
    void triggered(const market& in, const order& it, account_id account) noexcept;
    void trigger_changed(const market& in, const order& it, const advanced_terms& terms,
                         account_id account, request_name request) noexcept;
    void protected_by(const set_protection& it, account_id account) noexcept;
    void struck(const protection& it) noexcept;

    void refused(const order_rejected& why) noexcept {
        next(event_kind::order_rejected).order_rejected = why;
    }
    void accepted(const admin_accepted& it) noexcept {
        next(event_kind::admin_accepted).admin_accepted = it;
    }
    void refused(const admin_rejected& it) noexcept {
        next(event_kind::admin_rejected).admin_rejected = it;
    }
    void changed(const phase_changed& it) noexcept {
        next(event_kind::phase_changed).phase_changed = it;
    }

    /// Tells the best levels if they are not those that were told last.
    void top(market& in) noexcept;

    /// When the command at hand was sequenced.
    [[nodiscard]] timestamp_ns time() const noexcept { return time_; }

    /// The newest message.
    [[nodiscard]] out_sequence published() const noexcept { return flushed_ + count_; }

private:
    // Small enough to stay in the first cache beside the book's own lines.
    static constexpr std::uint32_t batch_max = 128;

    enum class completeness : bool { partial, complete };

    [[nodiscard]] event& next(event_kind kind) noexcept {
        // The message that comes now proves that those before it are not the last ones.
        if (count_ == batch_max) [[unlikely]] {
            flush(count_, completeness::partial);
            count_ = 0;
        }
        event& made = events_[count_++];
        made.kind = kind;
        return made;
    }
    void flush(std::uint32_t count, completeness how) noexcept;
    void executed(instrument_id instrument, const fill& it, const order& whose,
                  const account& account, execution_role role) noexcept;
    void captured(instrument_id instrument, const fill& it, const order& whose,
                  execution_role role) noexcept;
    void happened(const market& in, const fill& it, execution_role maker,
                  execution_role taker) noexcept;
    void volume(const market& in) noexcept;
    /// By order and by price, which always go together.
    void book_changed(const market& in, const order& it, book_action action) noexcept;

    const book_memory* memory_;
    event_sink sink_{};
    in_sequence in_seq_ = 0;
    timestamp_ns time_ = 0;
    out_sequence flushed_;
    std::uint32_t index_ = 0;
    std::uint32_t count_ = 0;
    std::array<event, batch_max> events_{};
};

/// Says how an operator's command went; true if it went well.
template <class Command>
[[nodiscard]] bool answer(publisher& out, const Command& it, std::uint32_t subject,
                          reject_reason why) noexcept {
    if (why == reject_reason::none) {
        out.accepted(admin_accepted{.subject = subject, .command = it.kind});
        return true;
    }
    out.refused(admin_rejected{.subject = subject, .command = it.kind, .reason = why});
    return false;
}

}  // namespace exchange
