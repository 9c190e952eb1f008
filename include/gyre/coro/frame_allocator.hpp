// SPDX-License-Identifier: BSL-1.0
//
// Coroutine frames without malloc: a bounded stock of blocks, one per loop.
//
// A frame is allocated before its coroutine has met an environment, so the stock is reached through
// a thread-local window that the loop opens while it runs. This is one of the two thread-locals of
// the library. Outside of a loop, and past the bound, frames come from malloc; since every block
// once came from there, any thread may free any frame.
#pragma once

#include <gyre/base/build.hpp>

#include <array>
#include <cstddef>

namespace gyre {

/// A loop's stock of free blocks. Used by one thread at a time.
class frame_stock {
public:
    /// @param  bytes_max  How much memory the stock may hold back from malloc.
    explicit frame_stock(std::size_t bytes_max) noexcept : bytes_max_{bytes_max} {}
    frame_stock(const frame_stock&) = delete;
    frame_stock& operator=(const frame_stock&) = delete;
    ~frame_stock();

    [[nodiscard]] std::size_t bytes_held() const noexcept { return bytes_held_; }

    /// Makes `stock` the one that this thread's frames come from, until destroyed.
    class window {
    public:
        explicit window(frame_stock& stock) noexcept : outer_{open_} { open_ = &stock; }
        window(const window&) = delete;
        window& operator=(const window&) = delete;
        ~window() { open_ = outer_; }

    private:
        frame_stock* outer_;
    };

    /// `size` bytes aligned for anything ordinary. Never null: running out of memory is a failed
    /// check. About 2 ns when the stock has a block.
    [[nodiscard]] static void* allocate(std::size_t size) noexcept {
        if constexpr (recycles_memory) {
            if (open_ != nullptr && size <= size_max) {
                shelf& from = open_->shelves_[shelf_of(size)];
                if (block* first = from.first; first != nullptr) {
                    from.first = first->next;
                    open_->bytes_held_ -= rounded(size);
                    return first;
                }
            }
        }
        return allocate_anew(rounded(size));
    }

    /// Gives back what `allocate(size)` returned, on any thread.
    static void release(void* memory, std::size_t size) noexcept {
        if constexpr (recycles_memory) {
            if (open_ != nullptr && size <= size_max &&
                open_->bytes_held_ + rounded(size) <= open_->bytes_max_) {
                shelf& to = open_->shelves_[shelf_of(size)];
                to.first = new (memory) block{to.first};
                open_->bytes_held_ += rounded(size);
                return;
            }
        }
        release_for_good(memory);
    }

private:
    struct block {
        block* next;
        static void* operator new(std::size_t, void* where) noexcept { return where; }
        static void operator delete(void*, void*) noexcept {}
    };
    struct shelf {
        block* first = nullptr;
    };

    // Shelves of 64-byte steps up to 1 KiB, then of 1 KiB steps up to 16 KiB.
    static constexpr std::size_t fine_step = 64;
    static constexpr std::size_t fine_max = 1024;
    static constexpr std::size_t coarse_step = 1024;
    static constexpr std::size_t size_max = 16 * 1024;
    static constexpr std::size_t fine_shelves = fine_max / fine_step;

    static constexpr std::size_t shelf_of(std::size_t size) noexcept {
        return size <= fine_max ? (size - 1) / fine_step
                                : fine_shelves - 1 + (size - 1) / coarse_step;
    }
    static constexpr std::size_t rounded(std::size_t size) noexcept {
        const std::size_t step = size <= fine_max ? fine_step : coarse_step;
        return (size + step - 1) / step * step;
    }

    [[nodiscard]] static void* allocate_anew(std::size_t size) noexcept;
    static void release_for_good(void* memory) noexcept;

    static inline constinit thread_local frame_stock* open_ = nullptr;

    std::array<shelf, fine_shelves + size_max / coarse_step> shelves_{};
    std::size_t bytes_held_ = 0;
    std::size_t bytes_max_;
};

}  // namespace gyre
