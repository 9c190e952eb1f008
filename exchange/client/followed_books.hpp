// SPDX-License-Identifier: BSL-1.0
//
// The markets that a subscriber follows, as a distributor tells them: books, sums of the day.
//
// A function of messages. What comes in several messages is put aside until the last of them, so a book is
// always one that was told whole; and a message that does not go on where the one before ended is noticed,
// so a book is never patched together. subscriber_session.hpp has the connection.
#pragma once

#include <exchange/codec/market_subscription.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace exchange {

/// One instrument, as it was told last.
///
/// Threads:  its subscriber's.
class followed_market {
public:
    explicit followed_market(instrument_id which) noexcept : instrument_{which} {}

    [[nodiscard]] instrument_id instrument() const noexcept { return instrument_; }

    /// Is this the book that the distributor has, as far as it has told? Not before the first one is whole,
    /// without a connection, or when the distributor itself misses messages; what was known is kept.
    [[nodiscard]] bool current() const noexcept { return current_ && complete_; }
    /// Levels of a side that are known: all, or as many as were subscribed to.
    [[nodiscard]] std::size_t depth(order_side side) const noexcept { return of(side).size(); }
    /// The best level is 0. @pre  less than `depth`.
    [[nodiscard]] const told_level& level(order_side side, std::size_t rank) const noexcept {
        return of(side)[of(side).size() - 1 - rank];
    }
    /// Null if there is none.
    [[nodiscard]] const told_level* best(order_side side) const noexcept {
        return of(side).empty() ? nullptr : &of(side).back();
    }
    /// Of the distributor's own count: it grows, and is comparable within a connection only.
    [[nodiscard]] std::uint64_t state() const noexcept { return state_; }

    /// Phase, sums and indication; as `market_summary` says. Nothing before it was told, and then its
    /// `instrument` is none.
    [[nodiscard]] const market_summary& summary() const noexcept { return summary_; }

private:
    friend class followed_books;

    [[nodiscard]] const std::vector<told_level>& of(order_side side) const noexcept {
        return side == order_side::buy ? bids_ : asks_;
    }

    instrument_id instrument_;
    std::uint64_t state_ = 0;
    std::vector<told_level> bids_;  // Worst first, as nearly all changes are at the end.
    std::vector<told_level> asks_;
    std::vector<told_level> waiting_;  // Of what is told in several messages.
    std::uint64_t waiting_state_ = 0;
    market_summary summary_{};
    bool complete_ = true;   // Unless a summary says otherwise.
    bool paging_ = false;    // A snapshot has begun.
    bool has_book_ = false;  // As of `state_`.
    bool current_ = false;
};

/// What came of a message.
enum class told_step : std::uint8_t {
    nothing,    ///< More of it follows, or it is of no instrument that is kept.
    changed,    ///< Its market is another one.
    broken,     ///< It does not go on where the last one ended: the book is to be asked for anew.
    too_large,  ///< More levels than are kept: the book is given up.
    unknown     ///< Of one more instrument than are kept.
};

/// Threads:  One at a time.
/// Cost:     Memory for each instrument, and for its levels as there are more than ever before.
class followed_books {
public:
    struct options {
        std::size_t instruments_max = 1024;
        std::size_t levels_max = 65'536;  ///< Of a side.
    };

    explicit followed_books(const options& how) noexcept : options_{how} {}

    [[nodiscard]] told_step hear(const book_snapshot& it);
    [[nodiscard]] told_step hear(const book_delta& it);
    [[nodiscard]] told_step hear(const market_summary& it);

    /// The connection is gone: what is known may be old.
    void doubt() noexcept;
    /// The same of one market.
    void doubt(instrument_id which) noexcept;
    /// The life is over: nothing is known.
    void clear() noexcept { markets_.clear(); }

    /// Null if nothing was told of it.
    [[nodiscard]] const followed_market* find(instrument_id which) const noexcept;
    /// All, by their numbers.
    [[nodiscard]] const std::map<instrument_id, followed_market>& all() const noexcept {
        return markets_;
    }

private:
    [[nodiscard]] followed_market* market_of(instrument_id which);
    static void doubt(followed_market& it) noexcept;
    [[nodiscard]] static told_step give_up(followed_market& it, told_step why) noexcept;
    [[nodiscard]] bool put_aside(followed_market& it, std::span<const told_level> levels);
    [[nodiscard]] told_step within_bounds(followed_market& it) noexcept;
    static void replace(followed_market& it);
    static void apply(followed_market& it);

    options options_;
    std::map<instrument_id, followed_market> markets_;
};

}  // namespace exchange
