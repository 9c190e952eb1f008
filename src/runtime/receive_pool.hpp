// SPDX-License-Identifier: BSL-1.0
//
// The blocks that one loop receives into: last in, first out, so that the next one is warm.
//
// Blocks are lent on the loop's thread and come back on any. Some may be with the kernel, which fills
// them when bytes come (buffer_ring.hpp). The pool outlives its loop while blocks are out: the
// thread that returns the last one frees it.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/lease.hpp>
#include <gyre/base/mpsc_stack.hpp>
#include <gyre/base/single_writer_counter.hpp>

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

    /// A block for the kernel to fill: out, but not leased yet.
    [[nodiscard]] std::byte* offer() noexcept {
        ++offered_;
        return lend();
    }
    /// The kernel has filled one of those: it counts as lent from now on.
    void note_taken() noexcept { --offered_; }
    /// The kernel no longer knows `block`, and has not filled it. May be the end of the pool.
    void withdraw(std::byte* block) noexcept {
        --offered_;
        take_back(block);
    }

    [[nodiscard]] std::size_t block_size() const noexcept { return block_size_; }
    [[nodiscard]] std::size_t blocks_kept_max() const noexcept { return blocks_kept_; }

    /// Blocks that leases hold. Exact when no other thread is returning one.
    [[nodiscard]] std::size_t lent() const noexcept {
        return static_cast<std::size_t>(out_ - balance_.load(std::memory_order_acquire)) - offered_;
    }
    /// Blocks that the kernel may fill.
    [[nodiscard]] std::size_t offered() const noexcept { return offered_; }
    /// Blocks that had to be fetched from malloc because none was free.
    [[nodiscard]] std::uint64_t made() const noexcept { return made_.value(); }
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
    single_writer_counter made_;
    std::size_t offered_ = 0;
    std::int64_t out_ = 0;  // Lent or offered, less those returned on the loop's own thread.
    std::atomic<bool> closed_ = false;

    // Returned by other threads. `close` subtracts what is out, so the one that makes it 0 is the
    // last.
    alignas(64) std::atomic<std::int64_t> balance_ = 0;
    mpsc_stack<block, &block::next> returned_;
};

}  // namespace gyre
