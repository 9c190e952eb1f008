// SPDX-License-Identifier: BSL-1.0
//
// What an advanced order has beside its cache line: trigger, what it hides, minimum, last day.
//
// A second table at the same indices, of which only the places of such orders are ever touched: a plain
// order never looks here, and a day without advanced orders needs none of its memory. Orders with a last day
// are listed in the order in which they came, for the timer that ends them.
#pragma once

#include <exchange/core/slab.hpp>
#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <cstdint>

namespace exchange {

struct advanced_terms {
    price_ticks trigger;            ///< Of a stop, also when it has been triggered.
    contracts display;              ///< How much of it is shown at once; 0: all.
    contracts hidden;               ///< Open beside `order::open`; 0 unless it rests.
    contracts minimum;              ///< To be filled on arrival.
    std::uint32_t expiry_yyyymmdd;  ///< 0: none.
    order_index dated_next;         ///< Of orders with a last day, towards later ones.
    order_index dated_previous;
    order_type type;  ///< As it was entered.
    bool waits;       ///< Is it a stop that was not triggered?
};

/// Terms by the index of their order.
class advanced_table {
public:
    explicit advanced_table(std::uint32_t orders_max) : terms_{std::size_t{orders_max} + 1} {}

    [[nodiscard]] advanced_terms& operator[](order_index at) noexcept { return terms_[at]; }
    [[nodiscard]] const advanced_terms& operator[](order_index at) const noexcept {
        return terms_[at];
    }

    /// Appends an order that is not in the list of those with a last day.
    void link_dated(order_index index) noexcept {
        advanced_terms& it = terms_[index];
        it.dated_next = 0;
        it.dated_previous = last_dated_;
        if (last_dated_ == 0) first_dated_ = index;
        else terms_[last_dated_].dated_next = index;
        last_dated_ = index;
    }

    void unlink_dated(order_index index) noexcept {
        const advanced_terms& gone = terms_[index];
        if (gone.dated_previous == 0) first_dated_ = gone.dated_next;
        else terms_[gone.dated_previous].dated_next = gone.dated_next;
        if (gone.dated_next == 0) last_dated_ = gone.dated_previous;
        else terms_[gone.dated_next].dated_previous = gone.dated_previous;
    }

    [[nodiscard]] order_index first_dated() const noexcept { return first_dated_; }

private:
    zeroed_array<advanced_terms> terms_;
    order_index first_dated_ = 0;
    order_index last_dated_ = 0;
};

}  // namespace exchange
