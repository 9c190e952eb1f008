// SPDX-License-Identifier: BSL-1.0
//
// The ordered map of chunks beyond a ladder's window: any price, however far, in bounded time.
//
// A trie with 64 branches at each of at most seven steps. A chunk that is alone below a branch hangs
// there directly, so chunks that are far from each other are found in two or three steps. A balanced
// tree was rejected: it would compare its way through as many cache lines as there are doublings, and
// rotate; here a step is an index, and the next chunk in order is found by counting zeros. Nodes come
// from a pool that is reserved at the start.
#pragma once

#include <exchange/core/check.hpp>
#include <exchange/core/chunk_pool.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <cstdint>

namespace exchange {

class node_pool {
public:
    struct node {
        std::uint64_t branches;  ///< Bit b: branch b leads somewhere.
        std::uint32_t next[64];  ///< Each a node, or a chunk with its flag; zero where nothing is.
    };

    explicit node_pool(std::uint32_t capacity) : nodes_{std::size_t{capacity} + 1} {}

    [[nodiscard]] bool has(std::uint32_t wanted) const noexcept {
        return nodes_.size() - 1 - in_use_ >= wanted;
    }

    /// A node without branches. The caller has asked `has(1)`.
    [[nodiscard]] std::uint32_t take() noexcept;

    /// It has no branches left.
    void give_back(std::uint32_t gone) noexcept;

    [[nodiscard]] node& operator[](std::uint32_t at) noexcept { return nodes_[at]; }
    [[nodiscard]] const node& operator[](std::uint32_t at) const noexcept { return nodes_[at]; }

    [[nodiscard]] std::uint32_t in_use() const noexcept { return in_use_; }

private:
    zeroed_array<node> nodes_;
    std::uint32_t free_ = 0;
    std::uint32_t fresh_ = 1;
    std::uint32_t in_use_ = 0;
};

/// What all ladders of a partition take from.
struct level_memory {
    chunk_pool chunks;
    node_pool nodes;
};

class far_chunks {
public:
    static constexpr unsigned steps = 7;

    /// More nodes than one `insert` can need.
    static constexpr std::uint32_t nodes_per_insert_max = steps;

    [[nodiscard]] bool empty() const noexcept { return root_ == 0; }

    /// The chunk of this number, or none.
    [[nodiscard]] chunk_index find(const level_memory& memory, chunk_number number) const noexcept;

    /// Adds a chunk that knows its number, which is new here; `nodes.has(nodes_per_insert_max)`.
    void insert(level_memory& memory, chunk_index chunk) noexcept;

    /// There is one of this number. The chunk itself is not looked at.
    void erase(level_memory& memory, chunk_number number) noexcept;

    /// The chunk with the lowest number that is not below `number`, or none.
    [[nodiscard]] chunk_index at_or_after(const level_memory& memory,
                                          chunk_number number) const noexcept;

private:
    // Invariant: nothing, a chunk with its flag, or a node. No node has a single chunk below it.
    std::uint32_t root_ = 0;
};

}  // namespace exchange
