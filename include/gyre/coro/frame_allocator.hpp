// SPDX-License-Identifier: BSL-1.0
//
// Coroutine frames without malloc: a bounded cache of free blocks per thread, and a central one.
//
// A frame is allocated before its coroutine has met an environment, so the cache cannot belong to
// the loop; it belongs to the thread, and is thread-local. Any
// thread may free any frame. Where one thread makes what another frees, the blocks of the second
// one's full cache go to the central cache, a batch at a time, and refill the first one's. Every
// block once came from malloc; past the bounds, blocks go back there, and all of them do in a
// program with a sanitizer in it, which a recycled frame would hide every use after free from.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace gyre {

/// The calling thread's cache of free blocks.
class frame_cache {
public:
    constexpr frame_cache() noexcept = default;
    frame_cache(const frame_cache&) = delete;
    frame_cache& operator=(const frame_cache&) = delete;

    /// `size` bytes aligned for anything ordinary. Never null: running out of memory is a failed
    /// check. About 2 ns when the cache has a block.
    [[nodiscard]] static void* allocate(std::size_t size) noexcept {
        if (size <= size_max) {
            free_list& from = here_.free_lists_[size_class_of(size)];
            if (block* first = from.first; first != nullptr) {
                from.first = first->next;
                here_.bytes_held_ -= rounded(size);
                return first;
            }
        }
        return allocate_from_central_cache(size);
    }

    /// Gives back what `allocate(size)` returned, on any thread.
    static void release(void* memory, std::size_t size) noexcept {
        if (size <= size_max && here_.bytes_held_ + rounded(size) <= here_.bytes_max_) {
            free_list& to = here_.free_lists_[size_class_of(size)];
            to.first = ::new (memory) block{to.first};
            here_.bytes_held_ += rounded(size);
            return;
        }
        release_to_central_cache(memory, size);
    }

    /// What the calling thread's cache holds back from malloc, in bytes.
    [[nodiscard]] static std::size_t bytes_held() noexcept { return here_.bytes_held_; }

    /// What the central cache holds back from malloc, in bytes: at most
    /// `central_cache_bytes_max`. Any thread.
    [[nodiscard]] static std::size_t central_cache_bytes_held() noexcept;
    static constexpr std::size_t central_cache_bytes_max = std::size_t{64} << 20;

    /// Bounds the calling thread's cache from now on; what it holds beyond goes with its next
    /// users, and a batch from the central cache, at most 64 KiB, may come on top.
    static void set_bytes_max(std::size_t bytes) noexcept;
    static constexpr std::size_t bytes_max_default = 256 << 10;

    /// Gives everything the calling thread's cache holds back to malloc; the end of a thread does.
    static void trim() noexcept;

    /// The same for the central cache. Any thread.
    static void trim_central_cache() noexcept;

    /// For handlers of fork(2): no thread is at the central cache in between, and the child finds it whole.
    static void lock_central_cache() noexcept;
    static void unlock_central_cache() noexcept;

private:
    struct block {
        block* next;
    };
    class central_cache;
    struct free_list {
        block* first = nullptr;
    };

    // Size classes of 32-byte steps up to 1 KiB, then of 1 KiB steps up to 16 KiB.
    static constexpr std::size_t fine_step = 32;
    static constexpr std::size_t fine_max = 1024;
    static constexpr std::size_t coarse_step = 1024;
    static constexpr std::size_t size_max = 16 * 1024;
    static constexpr std::size_t fine_size_classes = fine_max / fine_step;
    static constexpr std::size_t size_classes = fine_size_classes + size_max / coarse_step;

    static constexpr std::size_t size_class_of(std::size_t size) noexcept {
        return size <= fine_max ? (size - 1) / fine_step
                                : fine_size_classes - 1 + (size - 1) / coarse_step;
    }
    static constexpr std::size_t rounded(std::size_t size) noexcept {
        const std::size_t step = size <= fine_max ? fine_step : coarse_step;
        return (size + step - 1) / step * step;
    }

    static void begin_use() noexcept;
    static void free_all(block* first) noexcept;
    [[nodiscard]] static void* allocate_from_central_cache(std::size_t size) noexcept;
    static void release_to_central_cache(void* memory, std::size_t size) noexcept;

    [[gnu::visibility("default")]] static thread_local constinit frame_cache here_;

    std::array<free_list, size_classes> free_lists_{};
    std::size_t bytes_held_ = 0;
    // 0 until its release at thread exit is arranged, and under a sanitizer: see begin_use.
    std::size_t bytes_max_ = 0;
    bool in_use_ = false;
};

}  // namespace gyre
