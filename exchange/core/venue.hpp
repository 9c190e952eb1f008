// SPDX-License-Identifier: BSL-1.0
//
// The state of a partition, in blocks that are reserved at the start, and used where something stands.
//
// A plain record: matcher and partition work on it, and whatever is to be saved, restored or compared
// is here.
#pragma once

#include <exchange/core/accounts.hpp>
#include <exchange/core/book.hpp>
#include <exchange/core/client_index.hpp>
#include <exchange/core/market.hpp>
#include <exchange/core/trades.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <cstdint>

namespace exchange {

/// How much a partition can hold. Ids run from 1 to the `_max` of their kind.
struct partition_limits {
    std::uint32_t products_max = 64;
    std::uint32_t instruments_max = 128;  ///< At most 65,535; about 17 KiB each.
    std::uint32_t accounts_max = 1'024;
    std::uint32_t sessions_max = 1'024;   ///< At most 65,535.
    std::uint32_t orders_max = 1u << 18;  ///< Resting at once, 64 bytes each.
    std::uint32_t holdings_max = 1u << 16;
    std::uint32_t protections_max = 1u << 12;
    std::uint32_t level_chunks_max = 1u << 13;  ///< 64 adjacent prices each; 2.1 KiB.
    std::uint32_t far_nodes_max = 1u << 12;     ///< For prices far away from the others; 264 bytes.
    /// Of `client_index`. A program that serves strangers draws one; no message depends on it.
    std::uint64_t client_index_key = 0;
    std::uint32_t partition =
        0;  ///< Its number among others of the venue: below `partitions_limit`.
    /// What one step of a command may do: so many messages, or orders that are looked at, and a row more.
    std::uint32_t step_work_max = 2'048;
    std::uint32_t trades_kept_max = 1u << 16;  ///< That can be busted; 64 bytes each.
};

struct product {
    define_product terms;  ///< `terms.product` is none while it is not defined.
    bool retired;
};

struct venue {
    explicit venue(const partition_limits& limits)
        : memory{order_slab{limits.orders_max, limits.partition},
                 {chunk_pool{limits.level_chunks_max}, node_pool{limits.far_nodes_max}},
                 advanced_table{limits.orders_max},
                 zeroed_array<contracts_total>{levels_of(limits.level_chunks_max)}},
          by_client{limits.orders_max, limits.client_index_key},
          holdings{limits.holdings_max},
          protections{limits.protections_max},
          days{std::size_t{limits.holdings_max} + 1},
          trades{limits.trades_kept_max},
          products{std::size_t{limits.products_max} + 1},
          markets{std::size_t{limits.instruments_max} + 1},
          accounts{std::size_t{limits.accounts_max} + 1},
          sessions{std::size_t{limits.sessions_max} + 1},
          last_in_seq{numbers_of(limits.partition)},
          last_trade{numbers_of(limits.partition)} {
        expects(limits.instruments_max <= 0xffff && limits.sessions_max <= 0xffff);
    }

    book_memory memory;
    client_index by_client;
    holding_table holdings;
    protection_table protections;
    zeroed_array<day_sums> days;  // Of the holding with this index.
    trade_table trades;
    zeroed_array<product> products;  // By number, as the next three; 0 is never defined.
    zeroed_array<market> markets;
    zeroed_array<account> accounts;
    zeroed_array<session> sessions;
    in_sequence last_in_seq;
    trade_id last_trade;
    std::uint32_t last_instrument = 0;  // The highest number that was ever defined.
    timestamp_ns next_expiry =
        ~timestamp_ns{0};  // Before it, nothing is over that has not ended: no market, no order.
    timestamp_ns next_phase_change =
        ~timestamp_ns{0};  // Before it, no phase of any market is over by the time.
    // Markets in an auction whose books the command has touched, in that order: by `next_touched`.
    std::uint16_t first_touched = 0;
    std::uint16_t last_touched = 0;
};

}  // namespace exchange
