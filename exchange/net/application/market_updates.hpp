// SPDX-License-Identifier: BSL-1.0
//
// What a subscriber is told of a market: what has changed since it was told last, in as few messages as
// there can be.
//
// A function of a book, of a subscription and of a number that says what the subscriber has seen. So a slow
// subscriber has no queue here: it is told the newest state of each level when it can take it, and the
// trades that are remembered still, with the number of those that are not. market_books.hpp says how that
// comes about.
#pragma once

#include <exchange/codec/market_subscription_codec.hpp>
#include <exchange/net/application/market_books.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace exchange {

/// What a subscriber has been told of an instrument.
struct market_seen {
    std::uint64_t changes = 0;  ///< Below this number.
    std::uint64_t trades = 0;   ///< As above.
    std::uint64_t dropped = 0;  ///< Trades that it was told it missed.
    std::uint64_t book = 0;     ///< The state of the book that it has.
    std::uint64_t summary = 0;  ///< As `changes`, of the summary; 0: it has none.
    bool has_book = false;
    bool begun = false;    ///< All that there was has been told once.
    bool complete = true;  ///< What it believes of the book.

    /// Of what had to be told in parts: where it goes on, and as of which change it was begun.
    struct part {
        std::uint64_t begun = 0;
        order_side side{};
        price_ticks price = 0;  ///< That was told last.
        bool any = false;
    };
    part snapshot{};
    part delta{};
};

/// Where messages go. The span is borrowed during the call.
class market_message_sink {
public:
    /// False if there is no room: the message is made again later.
    [[nodiscard]] virtual bool take(std::span<const std::byte> message) noexcept = 0;

protected:
    ~market_message_sink() = default;
};

/// Makes messages, for any number of subscribers.
///
/// Threads:  One at a time.
/// Cost:     memory for one message, and for the changes of a book that are remembered, once. A look at each
///           change since the subscriber was told; no allocation when warm.
class market_updates {
public:
    /// A subscription begins: trades are told from here on, and all else from its beginning.
    [[nodiscard]] static market_seen begin(const market_book& of) noexcept {
        return {.changes = of.version(), .trades = of.trades()};
    }

    /// Is there anything to tell?
    [[nodiscard]] static bool due(const market_book& of, const market_seen& seen) noexcept {
        return !seen.begun || seen.changes < of.version() || seen.trades < of.trades();
    }

    /// Tells what has changed, as far as there is room.
    ///
    /// @param  seen  Moves on with what was told. A book or changes for which there is no room in one piece
    ///               are told in parts, and then what has changed since the first.
    /// @return Was there room for all of it? Else call again, for the state that there is then.
    [[nodiscard]] bool tell(const market_book& of, const subscribe& wanted, market_seen& seen,
                            market_message_sink& to);

private:
    struct place {
        order_side side;
        price_ticks price;

        friend bool operator==(const place&, const place&) = default;
    };
    [[nodiscard]] static std::tuple<order_side, price_ticks> order_of(const place& it) noexcept {
        return {it.side, it.price};
    }

    [[nodiscard]] bool tell_summary(const market_book& of, market_message_sink& to);
    [[nodiscard]] bool tell_trades(const market_book& of, market_seen& seen,
                                   market_message_sink& to);
    [[nodiscard]] bool tell_book(const market_book& of, const subscribe& wanted, market_seen& seen,
                                 market_message_sink& to);
    [[nodiscard]] bool tell_best(const market_book& of, std::size_t depth, market_message_sink& to);
    [[nodiscard]] bool tell_whole(const market_book& of, market_seen& seen,
                                  market_message_sink& to);
    [[nodiscard]] bool tell_changes(const market_book& of, market_seen& seen,
                                    market_message_sink& to);
    /// Of what was gathered.
    [[nodiscard]] bool tell_delta(const market_book& of, market_seen& seen, std::uint64_t until,
                                  market_message_sink& to);
    /// The levels that have changed since then, each once.
    void gather(const market_book& of, std::uint64_t since, std::uint64_t until);
    [[nodiscard]] bool touches(const market_book& of, std::size_t depth) const noexcept;
    template <class Record>
    [[nodiscard]] bool give(const Record& it, market_message_sink& to);

    std::vector<place> touched_;
    std::vector<std::byte> message_ = std::vector<std::byte>(market_message_bytes_max);
};

}  // namespace exchange
