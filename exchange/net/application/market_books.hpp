// SPDX-License-Identifier: BSL-1.0
//
// What the public feed says of all markets, and what has changed since a subscriber looked last.
//
// A book is a function of the feed: each message says what a level, a phase or the sums of a day *are*. What
// changes is noted in a ring for each instrument, which holds the place and not the state. So a subscriber
// that looks seldom is told each level once, as it is by then, however often it has changed: conflation needs
// no queue. One that looks too late for the ring takes the whole book instead.
//
// A listener of the feed drives this (session/feed_listener.hpp). If messages are lost for good, or if it has
// begun in the middle of a life, a book is not complete until pages of it (codec/book_page.hpp) were spliced
// in: see `recover`.
#pragma once

#include <exchange/codec/book_page.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/core/events.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace exchange {

/// What may have changed of a market. Of a level: see `changed_level`.
enum class market_part : std::uint8_t { level, trade, statistics, phase, indication };

/// A trade that was printed, or one that was undone.
struct printed_trade {
    exchange::trade what{};
    timestamp_ns time{};
    bool busted = false;
};

struct market_books_options {
    std::size_t instruments_max = 1024;
    std::size_t levels_max = 65'536;  ///< Of a side. With more the book is not complete any more.
    std::size_t changes_max = 4096;   ///< That are remembered of an instrument,
    std::size_t trades_max = 256;     ///< and trades, the newest.
};

/// What is known of one instrument. Levels are kept worst first, so that what changes most is at the end.
class market_book {
public:
    /// How its book stands.
    enum class state : std::uint8_t {
        incomplete,  ///< Messages are missing: pages are wanted.
        recovering,  ///< Pages come.
        complete
    };

    [[nodiscard]] instrument_id instrument() const noexcept { return instrument_; }
    [[nodiscard]] state book() const noexcept { return state_; }
    [[nodiscard]] market_phase phase() const noexcept { return phase_; }
    [[nodiscard]] const market_statistics& statistics() const noexcept { return statistics_; }
    [[nodiscard]] const auction_indication& indication() const noexcept { return indication_; }
    /// Worst first.
    [[nodiscard]] std::span<const book_level> levels(order_side of) const noexcept {
        return sides_[index_of(of)].levels;
    }
    /// The number of the next change.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    /// The oldest change that is remembered.
    [[nodiscard]] std::uint64_t oldest() const noexcept { return oldest_; }

    /// What has changed; of a level where. Each trade is a change of its own, in their order.
    struct change {
        price_ticks price = 0;
        market_part part{};
        order_side side{};
    };
    /// @pre  oldest() <= number < version().
    [[nodiscard]] const change& change_at(std::uint64_t number) const noexcept {
        return changes_[static_cast<std::size_t>(number % changes_.size())];
    }

    /// Trades that were printed or undone so far, so the number of the next one.
    [[nodiscard]] std::uint64_t trades() const noexcept { return trades_made_; }
    /// The oldest that is remembered.
    [[nodiscard]] std::uint64_t oldest_trade() const noexcept {
        const std::uint64_t held =
            trades_made_ > trades_.size() ? trades_made_ - trades_.size() : 0;
        return held > life_trades_ ? held : life_trades_;
    }
    /// @pre  oldest_trade() <= number < trades().
    [[nodiscard]] const printed_trade& trade_at(std::uint64_t number) const noexcept {
        return trades_[static_cast<std::size_t>(number % trades_.size())];
    }
    /// Are all pages of a recovery here, and only the feed has to come as far as they know?
    [[nodiscard]] bool paged() const noexcept { return sides_[0].paged && sides_[1].paged; }
    /// The level at this price; without orders if there is none.
    [[nodiscard]] book_level level_at(order_side side, price_ticks price) const noexcept;

private:
    friend class market_books;

    struct pending_level {
        std::uint64_t sequence;
        book_level level;
    };
    struct side_book {
        std::vector<book_level> levels;
        std::vector<book_level> pages;  // As they come, best first.
        std::vector<pending_level>
            pending;  // What the feed has said since the first page was asked for.
        std::uint64_t spliced_from = 0;  // `next_in_feed` of the first page.
        bool paged = false;              // The last page is here.
    };

    [[nodiscard]] static constexpr std::size_t index_of(order_side side) noexcept {
        return side == order_side::buy ? 0 : 1;
    }

    instrument_id instrument_{};
    state state_ = state::incomplete;
    market_phase phase_ = market_phase::closed;
    market_statistics statistics_{};
    auction_indication indication_{};
    side_book sides_[2];
    std::vector<change> changes_;        // A ring, and so are
    std::vector<printed_trade> trades_;  // these.
    std::uint64_t version_ = 0;
    std::uint64_t oldest_ = 0;
    std::uint64_t trades_made_ = 0;
    std::uint64_t life_trades_ = 0;  // The first of this life.
    std::uint64_t phase_at_ = 0;     // Which message told the phase,
    std::uint64_t sums_at_ = 0;      // and which the sums,
    std::uint64_t asked_at_ = 0;     // and which was next as pages were asked for.
    std::uint64_t complete_at_ = 0;  // The feed must have come so far.
};

/// All markets that the feed has spoken of.
///
/// Threads:  One at a time.
/// Cost:     a search by price, and a move of the levels that are better. No allocation once all instruments
///           are known and their books have had their size. An instrument takes 16 bytes for each change that
///           is remembered and 48 for each trade.
class market_books {
public:
    /// @param  from_the_beginning  The feed will be heard from message 1 of the life on: books are complete
    ///                             from the start.
    market_books(const market_books_options& options, bool from_the_beginning);

    /// A message of the feed, in order.
    ///
    /// @param  sequence  Its number in the feed.
    ///
    /// Errors:  any `decode_error`: it says nothing then. A market beyond `instruments_max` is not followed,
    ///          and counted.
    decode_fault hear(std::uint64_t sequence, std::span<const std::byte> message);
    /// Messages before `next` will not come: no book is complete, and no indication is known. Trades among
    /// them are counted by none, and sums stand until the next trade tells them.
    void lose(std::uint64_t next);
    /// The exchange has begun another life, of which message 1 comes next.
    void begin_anew();

    // Recovery of a book that is incomplete, by pages that are asked for behind this.

    /// The exchange has this instrument, and says its phase and the sums of its day, if the feed has said
    /// nothing of them since.
    ///
    /// @param  asked_at  `next_in_feed` when the exchange was asked.
    void learn(const market_statistics& sums, market_phase phase, std::uint64_t asked_at);
    /// Pages will be asked for: what the feed says from here on is spliced with them. Again, it begins anew.
    void recover(instrument_id which);
    /// The next page of a side. Ignored if none is wanted, or if it is not the one that is: the first begins
    /// at the best price there can be, each other one tick behind the last level, and none is older than
    /// `recover`.
    ///
    /// @return  Was it taken?
    bool splice(const book_page& page);

    [[nodiscard]] const std::deque<market_book>& all() const noexcept { return books_; }
    /// Null if the feed has not spoken of it.
    [[nodiscard]] const market_book* find(instrument_id which) const noexcept;
    /// The number of the next message.
    [[nodiscard]] std::uint64_t next_in_feed() const noexcept { return next_; }
    /// Messages about markets for which there was no room.
    [[nodiscard]] std::uint64_t unfollowed() const noexcept { return unfollowed_; }

private:
    struct teller;

    /// Where its book is; behind all of them, if there is none.
    [[nodiscard]] std::size_t place_of_book(instrument_id which) const noexcept;
    [[nodiscard]] market_book* book_of(instrument_id which);
    void apply(market_book& to, const price_level_update& it, std::uint64_t sequence);
    static void print(market_book& in, const printed_trade& it) noexcept;
    static void apply(market_book& to, const market_statistics& it,
                      std::uint64_t sequence) noexcept;
    static void apply(market_book& to, const phase_changed& it, std::uint64_t sequence) noexcept;
    void apply(market_book& to, const auction_indication& it);
    void put(market_book& to, order_side side, const book_level& level);
    static void note(market_book& in, const market_book::change& what) noexcept;
    /// Any part may be another one now: all subscribers take the whole.
    static void forget_changes(market_book& of) noexcept;
    void finish_recovery(market_book& of);
    void finish_recoveries();
    static void spoil(market_book& it) noexcept;

    market_books_options options_;
    std::deque<market_book> books_;       // By number of instrument.
    std::vector<std::size_t> by_number_;  // Where its book is, plus 1; 0: there is none.
    std::uint64_t next_ = 1;
    std::uint64_t unfollowed_ = 0;
    bool from_the_beginning_;
    bool recovering_ = false;  // Perhaps a book is.
};

}  // namespace exchange
