// SPDX-License-Identifier: BSL-1.0
//
// Bytes that never change and that many hold: one message on its way to a thousand peers.
//
// A buffer is borrowed, so a message that waits in a thousand queues would need a copy in each; a
// std::shared_ptr<std::string> costs two allocations a message. This is one block from the frame cache with
// its count in front, so messages of ordinary size cost no malloc. outbox.hpp queues them.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/coro/frame_allocator.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace gyre {

/// A holder of such bytes, or of none. Copies share them; the last holder frees them, on any thread. One
/// holder is for one thread at a time, as a std::shared_ptr is.
class shared_bytes {
public:
    /// None: empty.
    shared_bytes() noexcept = default;
    shared_bytes(const shared_bytes& other) noexcept : block_{other.block_} {
        if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
    }
    shared_bytes(shared_bytes&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
    shared_bytes& operator=(shared_bytes other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~shared_bytes() { let_go(); }

    /// `size` bytes that `fill` writes, once, and nothing changes afterwards.
    ///
    /// @param  fill  Called with all of them at once, uninitialised, before this returns; not if `size`
    ///               is 0.
    /// Cost:         a few ns up to about 16 KiB where blocks were freed before, else a malloc. Running
    ///               out of memory is a failed check.
    template <std::invocable<mutable_buffer> Fill>
    [[nodiscard]] static shared_bytes made_by(std::size_t size, Fill&& fill) {
        if (size == 0) return {};
        // Else the sum below, or what it is rounded up to, would be a small number.
        expects(size <= std::numeric_limits<std::size_t>::max() / 2, "memory for shared bytes");
        shared_bytes made{::new (frame_cache::allocate(sizeof(block) + size)) block{{1}, size}};
        std::forward<Fill>(fill)(mutable_buffer{made.first(), size});
        return made;
    }

    /// A copy of `bytes`; of several buffers, one after the other: a header and what it is the header of.
    [[nodiscard]] static shared_bytes copy_of(const_buffer bytes) {
        return copy_of(const_buffers{&bytes, 1});
    }
    [[nodiscard]] static shared_bytes copy_of(const_buffers parts) {
        return made_by(size_of(parts), [parts](mutable_buffer into) noexcept {
            for (const const_buffer& part : parts) {
                // An empty part may have no address, which memcpy would not take.
                if (!part.empty()) std::memcpy(into.data(), part.data(), part.size());
                into = into.subspan(part.size());
            }
        });
    }

    /// Valid while any holder is.
    [[nodiscard]] const_buffer bytes() const noexcept GYRE_LIFETIMEBOUND {
        return block_ != nullptr ? const_buffer{first(), block_->size} : const_buffer{};
    }
    [[nodiscard]] std::size_t size() const noexcept { return block_ != nullptr ? block_->size : 0; }
    [[nodiscard]] bool empty() const noexcept { return block_ == nullptr; }

private:
    struct block {
        std::atomic<std::uint64_t> holders;
        std::size_t size;  // Never 0.
    };

    explicit shared_bytes(block* of) noexcept : block_{of} {}

    [[nodiscard]] std::byte* first() const noexcept {
        return reinterpret_cast<std::byte*>(block_ + 1);
    }

    void let_go() noexcept {
        if (block_ == nullptr) return;
        // What other holders have read of it is read before it is freed.
        if (block_->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        frame_cache::release(block_, sizeof(block) + block_->size);
    }

    block* block_ = nullptr;
};

}  // namespace gyre
