// SPDX-License-Identifier: BSL-1.0
//
// The blocks that one loop receives into: last in, first out, so that the next one is warm.
//
// Blocks are lent on the loop's thread and come back on any. The pool outlives its loop while blocks are
// out: whoever returns the last one frees it.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/lease.hpp>
#include <gyre/base/mpsc_stack.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gyre {

class io_context;

class receive_pool final : public lease_pool {
public:
    /// @param  owner        Only compared with: the loop on whose thread blocks are lent.
    /// @param  blocks_kept  Free blocks beyond that go back to malloc.
    receive_pool(const io_context& owner, std::size_t block_size, std::size_t blocks_kept) noexcept
        : owner_{&owner}, block_size_{block_size}, blocks_kept_{blocks_kept} {
        expects(block_size >= sizeof(block), "blocks of a few bytes at least");
    }

    /// The loop dies. Frees the pool, now or when the last block has come back.
    void close() noexcept;

    [[nodiscard]] std::byte* lend() noexcept override;
    void take_back(std::byte* block) noexcept override;

    [[nodiscard]] std::size_t block_size() const noexcept { return block_size_; }

    /// Blocks that are out. Exact when no other thread is returning one.
    [[nodiscard]] std::size_t lent() const noexcept {
        return static_cast<std::size_t>(out_ - balance_.load(std::memory_order_acquire));
    }
    /// Free blocks at hand, without those that other threads have returned meanwhile.
    [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

private:
    struct block {
        block* next;
    };

    ~receive_pool();
    void keep(block& it) noexcept;

    const io_context* owner_;
    std::size_t block_size_;
    std::size_t blocks_kept_;
    block* first_ = nullptr;
    std::size_t kept_ = 0;
    std::int64_t out_ = 0;  // Lent, less those returned on the loop's own thread.
    std::atomic<bool> closed_ = false;

    // Returned by other threads. `close` subtracts what is out, so whoever makes it 0 is the last.
    alignas(64) std::atomic<std::int64_t> balance_ = 0;
    mpsc_stack<block, &block::next> returned_;
};

}  // namespace gyre
