// SPDX-License-Identifier: BSL-1.0
//
// What is kept of trades: the latest of them, so that one can be undone, and what each holding has
// bought and sold in a day.
//
// A trade is kept until as many others have come as the table has places. Of a holding's day there are
// the sums only; they are begun anew by the first trade of another day, so that no day's end has to
// look at all holdings.
#pragma once

#include <exchange/core/check.hpp>
#include <exchange/core/slab.hpp>
#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace exchange {

/// Both sides of a trade, by `order_side`.
struct alignas(64) kept_trade {
    trade_id id;
    price_ticks price;
    std::array<order_id, 2> orders;
    std::array<client_sequence, 2> client_seqs;
    std::array<holding_index, 2> holdings;
    contracts quantity;  ///< 0: it is undone.
    std::array<session_id, 2> sessions;
};

static_assert(sizeof(kept_trade) == 64, "one trade, one cache line");

/// The latest trades of a partition, whose ids rise by one.
class trade_table {
public:
    explicit trade_table(std::uint32_t capacity) : trades_{capacity} { expects(capacity > 0); }

    void keep(const kept_trade& it) noexcept {
        trades_[next_] = it;
        last_ = it.id;
        if (++next_ == trades_.size()) next_ = 0;
    }

    /// None if it is not kept any more, or never was.
    [[nodiscard]] kept_trade* find(trade_id id) noexcept {
        const std::uint64_t later = number(last_) - number(id);
        if (id == trade_id::none || later >= trades_.size()) return nullptr;
        const std::size_t end = next_ + trades_.size();
        kept_trade& found = trades_[(end - 1 - later) % trades_.size()];
        return found.id == id ? &found : nullptr;
    }

private:
    zeroed_array<kept_trade> trades_;
    std::size_t next_ = 0;
    trade_id last_ = trade_id::none;
};

/// Prices times contracts: one product of them may have 79 bits.
__extension__ using trade_value = __int128;

/// What a holding did in a day.
struct day_sums {
    std::array<trade_value, 2> values;  ///< By side, as the next; without the multiplier.
    std::array<contracts_total, 2> quantities;
    std::uint32_t trades;
    std::uint32_t day;  ///< Of its market.

    /// Counts a trade of this side in a day.
    void add(std::uint32_t in, order_side side, price_ticks price, contracts quantity) noexcept {
        if (day != in) *this = {.values = {}, .quantities = {}, .trades = 0, .day = in};
        values[number(side)] += trade_value{price} * quantity;
        quantities[number(side)] += quantity;
        ++trades;
    }

    /// Undoes one that was counted in its day.
    void subtract(order_side side, price_ticks price, contracts quantity) noexcept {
        values[number(side)] -= trade_value{price} * quantity;
        quantities[number(side)] -= quantity;
        --trades;
    }

    /// Bought less sold.
    [[nodiscard]] std::int64_t net() const noexcept {
        return static_cast<std::int64_t>(quantities[number(order_side::buy)] -
                                         quantities[number(order_side::sell)]);
    }
};

}  // namespace exchange
