// SPDX-License-Identifier: BSL-1.0
//
// Price levels, 64 adjacent prices at a time, from one block that is reserved at the start.
//
// A chunk knows by one word which of its levels hold orders, so the best of them is one count of
// zeros. ladder.hpp keeps the chunks in order.
#pragma once

#include <exchange/core/check.hpp>
#include <exchange/core/slab.hpp>
#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <cstddef>
#include <cstdint>

namespace exchange {

/// Orders at one price, oldest first. All zero when there are none.
struct price_level {
    contracts_total quantity;
    order_index first;
    order_index last;
    std::uint32_t orders;
    std::uint32_t
        advanced;  ///< How many of them are advanced, and may hide some of their quantity.
};

/// How good a price is: lower is better, for either side. A bid's rank is its negated price.
using price_rank = std::int64_t;

inline constexpr unsigned chunk_bits = 6;
inline constexpr unsigned levels_per_chunk = 1u << chunk_bits;

/// 64 adjacent ranks; `chunk_number` is what they have in common.
using chunk_number = std::int64_t;

[[nodiscard]] constexpr chunk_number chunk_of(price_rank rank) noexcept {
    return rank >> chunk_bits;
}

[[nodiscard]] constexpr unsigned slot_of(price_rank rank) noexcept {
    return static_cast<unsigned>(rank) % levels_per_chunk;
}

/// A place in the pool. 0 is none.
using chunk_index = std::uint32_t;

struct alignas(64) level_chunk {
    std::uint64_t occupied;  ///< Bit s: level s holds orders. Zero while the chunk is free.
    chunk_number number;     ///< While the chunk is free, the next free one.
    price_level levels[levels_per_chunk];
};

/// How many levels so many chunks have, with those of chunk 0, which is none.
[[nodiscard]] constexpr std::size_t levels_of(std::uint32_t chunks) noexcept {
    return (std::size_t{chunks} + 1) << chunk_bits;
}

class chunk_pool {
public:
    explicit chunk_pool(std::uint32_t capacity) : chunks_{std::size_t{capacity} + 1} {
        expects(capacity < (1u << (32 - chunk_bits)));
    }

    [[nodiscard]] bool has(std::uint32_t wanted) const noexcept {
        return chunks_.size() - 1 - in_use_ >= wanted;
    }

    /// A chunk without orders. The caller has asked `has(1)`.
    [[nodiscard]] chunk_index take(chunk_number number) noexcept {
        expects(has(1));
        ++in_use_;
        chunk_index taken = free_;
        if (taken == 0) taken = fresh_++;
        else free_ = static_cast<chunk_index>(chunks_[taken].number);
        chunks_[taken].number = number;
        return taken;
    }

    /// Its levels are all empty, hence all zero, hence ready for the next.
    void give_back(chunk_index gone) noexcept {
        expects(chunks_[gone].occupied == 0);
        chunks_[gone].number = free_;
        free_ = gone;
        --in_use_;
    }

    [[nodiscard]] level_chunk& operator[](chunk_index at) noexcept { return chunks_[at]; }
    [[nodiscard]] const level_chunk& operator[](chunk_index at) const noexcept {
        return chunks_[at];
    }

    [[nodiscard]] price_level& level(level_index at) noexcept {
        return chunks_[at >> chunk_bits].levels[at % levels_per_chunk];
    }
    [[nodiscard]] const price_level& level(level_index at) const noexcept {
        return chunks_[at >> chunk_bits].levels[at % levels_per_chunk];
    }

    [[nodiscard]] std::uint32_t in_use() const noexcept { return in_use_; }

private:
    zeroed_array<level_chunk> chunks_;
    chunk_index free_ = 0;
    chunk_index fresh_ = 1;
    std::uint32_t in_use_ = 0;
};

}  // namespace exchange
