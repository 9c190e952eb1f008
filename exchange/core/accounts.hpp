// SPDX-License-Identifier: BSL-1.0
//
// Who trades: sessions, the accounts behind them, and what each account holds in each market.
//
// An account knows its own orders, in the order in which they came to rest, so that a mass cancel costs
// what it cancels. Position, open quantities and the quote stand together in a `holding`, which every
// resting order points to: a fill finds both of its accounts without a search.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/protection.hpp>
#include <exchange/core/slab.hpp>
#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <array>
#include <bit>
#include <cstdint>

namespace exchange {

struct session {
    account_id account;  ///< None while the session is not defined.
    disconnect_policy on_disconnect;
    bool retired;
};

struct account {
    define_account terms;  ///< `terms.account` is none while the account is not defined.
    account_state state;
    std::uint32_t open_orders;
    timestamp_ns entries_until;  ///< See `let_through`.
    timestamp_ns cancels_until;
    order_index first_order;
    order_index last_order;
    protection_index first_protection;  ///< The others follow by `account_next`.
    holding_index last_holding;         ///< Its newest; the others follow by `account_next`.
};

/// An account in a market.
struct holding {
    account_id account;
    std::uint16_t market;
    std::int64_t position;                ///< Bought less sold.
    std::array<contracts_total, 2> open;  ///< Resting, by side.
    std::array<order_index, 2> quote;     ///< By side; none if there is none.
    holding_index chain_next;
    holding_index account_next;
};

struct message_rate {
    std::uint32_t per_second_max;  ///< 0 means no limit.
    std::uint32_t burst_max;       ///< 0 means those of a second.
};

/// Is there room for another message at this rate? Counts it if so.
///
/// A token bucket, as virtual scheduling: each message occupies its share of a second, from now or from
/// where the last one ends, and none may begin later than a burst without its last share would.
///
/// @param  occupied_until  The bucket; 0 is a full one.
[[nodiscard]] inline bool let_through(timestamp_ns& occupied_until, const message_rate& rate,
                                      timestamp_ns now) noexcept {
    constexpr timestamp_ns second = 1'000'000'000;
    if (rate.per_second_max == 0) return true;
    const timestamp_ns share = rate.per_second_max > second ? 1 : second / rate.per_second_max;
    const timestamp_ns burst = rate.burst_max != 0 ? rate.burst_max : rate.per_second_max;
    const timestamp_ns begin = occupied_until > now ? occupied_until : now;
    if (begin - now > (burst - 1) * share) return false;
    occupied_until = begin + share;
    return true;
}

/// Appends an order to the list of its account.
inline void link_order(account& it, order_slab& orders, order_index index) noexcept {
    orders[index].account_next = 0;
    orders[index].account_previous = it.last_order;
    if (it.last_order == 0) it.first_order = index;
    else orders[it.last_order].account_next = index;
    it.last_order = index;
    ++it.open_orders;
}

inline void unlink_order(account& it, order_slab& orders, order_index index) noexcept {
    const order& gone = orders[index];
    if (gone.account_previous == 0) it.first_order = gone.account_next;
    else orders[gone.account_previous].account_next = gone.account_next;
    if (gone.account_next == 0) it.last_order = gone.account_previous;
    else orders[gone.account_next].account_previous = gone.account_previous;
    --it.open_orders;
}

/// Does it stand in the list of `it`, its account? A free place has no account, so this is asked of orders;
/// one that arrives in several steps does not stand there before it rests.
///
/// Exact though an order that never rested has the links of its last tenant: when that one left, those
/// beside it ceased to point to the place, and none does so again before another tenant is linked.
[[nodiscard]] inline bool is_linked(const account& it, const order_slab& orders,
                                    order_index index) noexcept {
    const order_index previous = orders[index].account_previous;
    return (previous == 0 ? it.first_order : orders[previous].account_next) == index;
}

/// All holdings of a partition, found by account and market.
class holding_table {
public:
    explicit holding_table(std::uint32_t capacity)
        : holdings_{std::size_t{capacity} + 1}, heads_{heads_for(capacity)} {}

    /// The chains among which so many holdings are spread.
    [[nodiscard]] static constexpr std::size_t heads_for(std::uint32_t capacity) noexcept {
        return std::bit_ceil(2 * std::uint64_t{capacity} + 1);
    }

    [[nodiscard]] bool has(std::uint32_t wanted) const noexcept {
        return holdings_.size() - fresh_ >= wanted;
    }

    /// The account's holding in this market, or none: `(*this)[0]` holds nothing.
    [[nodiscard]] holding_index find(account_id account, std::uint16_t market) const noexcept {
        holding_index at = heads_[place(account, market)];
        while (at != 0 && (holdings_[at].account != account || holdings_[at].market != market)) {
            at = holdings_[at].chain_next;
        }
        return at;
    }

    /// A holding that is not in the table yet. The caller has asked `has(1)`.
    [[nodiscard]] holding_index make(account_id account, std::uint16_t market) noexcept;

    /// Those that were made are from 1 up to here, without it; none ever goes.
    [[nodiscard]] holding_index end() const noexcept { return fresh_; }

    [[nodiscard]] holding& operator[](holding_index at) noexcept { return holdings_[at]; }
    [[nodiscard]] const holding& operator[](holding_index at) const noexcept {
        return holdings_[at];
    }

private:
    [[nodiscard]] std::size_t place(account_id account, std::uint16_t market) const noexcept {
        const std::uint64_t key = std::uint64_t{number(account)} << 16 | market;
        return (key * 0x9e37'79b9'7f4a'7c15 >> 32) & (heads_.size() - 1);
    }

    zeroed_array<holding> holdings_;
    zeroed_array<holding_index> heads_;  // Invariant: the size is a power of two.
    holding_index fresh_ = 1;
};

}  // namespace exchange
