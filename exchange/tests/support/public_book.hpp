// SPDX-License-Identifier: BSL-1.0
//
// The books as a listener sees them: rebuilt from each public feed, and held against the real one.
//
// By order (order_book_update), by price (price_level_update) and the best alone (top_of_book): a
// listener that follows any of them must arrive at the truth, after every event.
#pragma once

#include <exchange/core/events.hpp>
#include <exchange/core/venue.hpp>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace exchange::testing {

class public_book {
public:
    /// Takes what it needs of a message. Says what is impossible about it, or nothing.
    std::string hear(const event& it);
    std::string hear(const order_book_update& it);
    std::string hear(const price_level_update& it);
    std::string hear(const top_of_book& it);
    template <class Message>
    std::string hear(const Message&) {
        return {};
    }

    /// Compares what was heard of since the last call. Says what differs, or nothing.
    [[nodiscard]] std::string compare_touched(const venue& real);

    /// Instead of comparing: forgets what was touched, and levels that have become empty.
    void settle();

    /// Compares everything; what was heard is settled.
    [[nodiscard]] std::string compare_all(const venue& real) const;

private:
    struct level {
        std::vector<std::pair<order_id, contracts>> orders;
        contracts_total quantity = 0;
        std::uint32_t count = 0;
    };
    using side_levels = std::map<price_ticks, level>;
    struct market_view {
        std::array<side_levels, 2> sides;
        top_of_book top{};
    };
    struct place {
        instrument_id instrument;
        order_side side;
        price_ticks price;
    };

    std::string compare_level(const venue& real, const place& where) const;
    std::string compare_top(const venue& real, instrument_id in) const;
    const level* find(const place& where) const;

    std::map<instrument_id, market_view> markets_;
    std::vector<place> touched_;
};

}  // namespace exchange::testing
