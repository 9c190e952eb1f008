// SPDX-License-Identifier: BSL-1.0
//
// One side of a book: its price levels in order of rank, best first.
//
// A window of 1,024 chunks (65,536 adjacent prices) is a directory that is indexed by price; a word
// above each 64 of its entries and one word above those say where orders are, so the best price is
// three counts of zeros. Prices beyond the window are found through `far_chunks`. Where the window
// stands is not visible outside: it moves to the price of the first order that finds it empty, but for
// orders at the end of all prices, which say nothing about where others will be.
#pragma once

#include <exchange/core/chunk_pool.hpp>
#include <exchange/core/far_chunks.hpp>

#include <array>
#include <bit>
#include <cstdint>

namespace exchange {

class ladder {
public:
    /// The level with the lowest rank, or none.
    [[nodiscard]] level_index best() const noexcept { return best_; }

    /// The rank of `best()`, which exists.
    [[nodiscard]] price_rank best_rank() const noexcept { return best_rank_; }

    /// Are there levels beyond the window?
    [[nodiscard]] bool has_far_levels() const noexcept { return !far_.empty(); }

    /// Is there a level of this rank, or memory to make it?
    [[nodiscard]] bool has_room(const level_memory& memory, price_rank rank) const noexcept {
        if (memory.chunks.has(1) && memory.nodes.has(far_chunks::nodes_per_insert_max)) return true;
        return find_chunk(memory, chunk_of(rank)) != 0;
    }

    /// The level of this rank, to which the caller adds an order at once. It `has_room`.
    [[nodiscard]] level_index open(level_memory& memory, price_rank rank) noexcept {
        const chunk_number number = chunk_of(rank);
        chunk_index chunk = find_chunk(memory, number);
        if (chunk == 0) [[unlikely]]
            chunk = make_chunk(memory, number);
        const unsigned slot = slot_of(rank);
        memory.chunks[chunk].occupied |= std::uint64_t{1} << slot;
        const level_index level = chunk << chunk_bits | slot;
        if (best_ == 0 || rank < best_rank_) {
            best_ = level;
            best_rank_ = rank;
        }
        return level;
    }

    /// The caller has taken the last order from this level.
    void close(level_memory& memory, level_index level) noexcept {
        const chunk_index chunk = level >> chunk_bits;
        level_chunk& it = memory.chunks[chunk];
        it.occupied &= ~(std::uint64_t{1} << level % levels_per_chunk);
        if (it.occupied != 0) [[likely]] {
            // The next best is in the same chunk, and what is left of it lies behind.
            if (level == best_) set_best(memory, chunk);
            return;
        }
        drop_chunk(memory, chunk);
        if (level == best_) find_best(memory);
    }

    /// The level with an order of this rank, or none.
    [[nodiscard]] level_index find(const level_memory& memory, price_rank rank) const noexcept;

    /// The level of this rank, or the next one behind it, or none.
    [[nodiscard]] level_index at_or_after(const level_memory& memory,
                                          price_rank rank) const noexcept;

    /// The next level behind this one, or none.
    [[nodiscard]] level_index after(const level_memory& memory, level_index level) const noexcept;

    [[nodiscard]] static price_rank rank_of(const level_memory& memory,
                                            level_index level) noexcept {
        return memory.chunks[level >> chunk_bits].number * levels_per_chunk +
               level % levels_per_chunk;
    }

private:
    static constexpr unsigned window_words = 16;
    static constexpr unsigned window_chunks = window_words * 64;

    [[nodiscard]] bool in_window(chunk_number number) const noexcept {
        return static_cast<std::uint64_t>(number - window_begin_) < window_chunks;
    }
    [[nodiscard]] chunk_index find_chunk(const level_memory& memory,
                                         chunk_number number) const noexcept {
        if (in_window(number)) [[likely]]
            return directory_[static_cast<unsigned>(number - window_begin_)];
        return far_.find(memory, number);
    }
    void set_best(const level_memory& memory, chunk_index chunk) noexcept {
        const level_chunk& it = memory.chunks[chunk];
        const auto slot = static_cast<unsigned>(std::countr_zero(it.occupied));
        best_ = chunk << chunk_bits | slot;
        best_rank_ = it.number * levels_per_chunk + slot;
    }
    [[nodiscard]] chunk_index make_chunk(level_memory& memory, chunk_number number) noexcept;
    void place_window(const level_memory& memory, chunk_number number) noexcept;
    void drop_chunk(level_memory& memory, chunk_index chunk) noexcept;
    void find_best(const level_memory& memory) noexcept;
    [[nodiscard]] chunk_index chunk_from(const level_memory& memory,
                                         chunk_number number) const noexcept;
    [[nodiscard]] chunk_index window_from(unsigned offset) const noexcept;

    level_index best_ = 0;
    price_rank best_rank_ = 0;
    chunk_number window_begin_ = 0;
    std::uint64_t used_words_ = 0;                    // Bit w: used_[w] is not zero.
    std::array<std::uint64_t, window_words> used_{};  // Bit c of word w: chunk 64w + c exists.
    std::array<chunk_index, window_chunks> directory_{};
    far_chunks far_;  // Invariant: holds no number of the window.
};

}  // namespace exchange
