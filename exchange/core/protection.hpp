// SPDX-License-Identifier: BSL-1.0
//
// Market-maker protection: how much of an account's quotes may be filled within a while.
//
// Who quotes many instruments of a product is hit in all of them by who knows something first, before it can
// withdraw. So fills of its quotes are counted in windows of the commands' own time: one begins with the
// first fill that lies in none. When a window has had more than was allowed, the quotes go
// (protection.cpp), and none is taken before the account has set its protection again.
#pragma once

#include <exchange/core/check.hpp>
#include <exchange/core/commands.hpp>
#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <cstdint>
#include <cstdlib>

namespace exchange {

/// A place in the table. 0 is none.
using protection_index = std::uint32_t;

/// Of an account in a product. Without a window it protects from nothing.
struct protection {
    account_id account;
    product_id product;
    client_sequence client_seq;  ///< Of the command that set it, as `session`.
    timestamp_ns window;
    contracts quantity_max;  ///< This and the next two: 0 means any number.
    contracts delta_max;
    std::uint32_t trades_max;
    std::uint32_t trades;  ///< In the window that began last, as the next two.
    contracts_total quantity;
    std::int64_t delta;  ///< Bought less sold.
    timestamp_ns begun;
    protection_index account_next;
    protection_index struck_next;
    session_id session;
    bool struck;  ///< Was it too much? Until it is set again.
};

/// The account says so: what was counted before is forgotten.
inline void set(protection& it, const set_protection& to) noexcept {
    it.client_seq = to.client_seq;
    it.session = to.session;
    it.window = to.window_ns;
    it.quantity_max = to.quantity_max;
    it.delta_max = to.delta_max;
    it.trades_max = to.trades_max;
    it.trades = 0;
    it.struck = false;
}

/// Counts a fill of a quote. Is it the one that was too much?
[[nodiscard]] inline bool strikes(protection& it, timestamp_ns now, order_side side,
                                  contracts quantity) noexcept {
    if (it.window == 0 || it.struck) return false;
    if (it.trades == 0 || now - it.begun >= it.window) {
        it.begun = now;
        it.trades = 0;
        it.quantity = 0;
        it.delta = 0;
    }
    ++it.trades;
    it.quantity += quantity;
    it.delta += side == order_side::buy ? std::int64_t{quantity} : -std::int64_t{quantity};
    it.struck = (it.trades_max != 0 && it.trades > it.trades_max) ||
                (it.quantity_max != 0 && it.quantity > it.quantity_max) ||
                (it.delta_max != 0 && std::abs(it.delta) > std::int64_t{it.delta_max});
    return it.struck;
}

/// All protections of a partition; those of an account follow each other.
class protection_table {
public:
    explicit protection_table(std::uint32_t capacity) : all_{std::size_t{capacity} + 1} {}

    [[nodiscard]] bool has(std::uint32_t wanted) const noexcept {
        return all_.size() - fresh_ >= wanted;
    }

    /// Of this product, from `first` of an account on; or none.
    [[nodiscard]] protection_index find(protection_index first, product_id product) const noexcept {
        while (first != 0 && all_[first].product != product) first = all_[first].account_next;
        return first;
    }

    /// One that its account has not got yet: it is `first` now. The caller has asked `has(1)`.
    [[nodiscard]] protection_index make(protection_index& first, account_id account,
                                        product_id product) noexcept {
        expects(has(1));
        protection& made = all_[fresh_];
        made.account = account;
        made.product = product;
        made.account_next = first;
        first = fresh_;
        return fresh_++;
    }

    [[nodiscard]] protection& operator[](protection_index at) noexcept { return all_[at]; }
    [[nodiscard]] const protection& operator[](protection_index at) const noexcept {
        return all_[at];
    }

    /// Those whose quotes are to be cancelled, in the order in which they were struck.
    void strike(protection_index at) noexcept {
        all_[at].struck_next = 0;
        if (first_struck_ == 0) first_struck_ = at;
        else all_[last_struck_].struck_next = at;
        last_struck_ = at;
    }
    [[nodiscard]] protection_index first_struck() const noexcept { return first_struck_; }
    void forget_first_struck() noexcept { first_struck_ = all_[first_struck_].struck_next; }

private:
    zeroed_array<protection> all_;
    protection_index fresh_ = 1;
    protection_index first_struck_ = 0;
    protection_index last_struck_ = 0;
};

}  // namespace exchange
