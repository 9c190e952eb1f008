// SPDX-License-Identifier: BSL-1.0
//
// The slow paths of include/gyre/coro/frame_allocator.hpp.
#include <gyre/coro/frame_allocator.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <type_traits>
#include <utility>

// Parts of the sanitizers' run time; absent from a program without them.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace gyre {
namespace {

// Asked of the program as it is linked, not of this file: the library may be built without a sanitizer
// and the program with one.
bool recycles() noexcept { return &__asan_init == nullptr && &__tsan_init == nullptr; }

// The cache itself has no destructor, so that using it costs no look whether it was constructed;
// this empties it at the end of its thread. Frames freed after that go straight to malloc.
struct trimmer {
    ~trimmer() {
        frame_cache::trim();
        frame_cache::set_bytes_max(0);
    }
};

}  // namespace

constinit thread_local frame_cache frame_cache::here_;

/// Free blocks for all threads, for as long as the process lives. A lock is taken once a batch.
class frame_cache::central_cache {
public:
    /// Free blocks of one size class, chained by `next`; the first of them carries the description.
    struct batch : block {
        batch* below;
        std::size_t bytes;
    };

    /// How many blocks of `size` bytes a batch holds.
    static constexpr std::size_t blocks_per_batch(std::size_t size) noexcept {
        constexpr std::size_t blocks_max = 32;
        constexpr std::size_t bytes_max = 64 * 1024;
        return std::min(blocks_max, bytes_max / rounded(size));
    }

    static central_cache& instance() noexcept {
        static constinit central_cache it;
        static_assert(std::is_trivially_destructible_v<central_cache>, "threads may outlive main");
        return it;
    }

    /// A batch of size class `number`, or null.
    [[nodiscard]] batch* take(std::size_t number) noexcept {
        batch_list& from = batch_lists_[number];
        if (from.top.load(std::memory_order_relaxed) == nullptr) return nullptr;
        const std::lock_guard lock{from.access};
        batch* top = from.top.load(std::memory_order_relaxed);
        if (top == nullptr) return nullptr;
        from.top.store(top->below, std::memory_order_relaxed);
        bytes_.fetch_sub(top->bytes, std::memory_order_relaxed);
        return top;
    }

    /// False, and `full` stays the caller's, if there is no room for it.
    [[nodiscard]] bool put(std::size_t number, batch& full) noexcept {
        const std::size_t before = bytes_.fetch_add(full.bytes, std::memory_order_relaxed);
        if (before + full.bytes > central_cache_bytes_max) {
            bytes_.fetch_sub(full.bytes, std::memory_order_relaxed);
            return false;
        }
        batch_list& to = batch_lists_[number];
        const std::lock_guard lock{to.access};
        full.below = to.top.load(std::memory_order_relaxed);
        to.top.store(&full, std::memory_order_relaxed);
        return true;
    }

    void trim() noexcept {
        for (std::size_t number = 0; number < batch_lists_.size(); ++number) {
            while (batch* each = take(number)) free_all(each);
        }
    }

    void lock() noexcept {
        for (batch_list& each : batch_lists_) each.access.lock();
    }
    void unlock() noexcept {
        for (batch_list& each : batch_lists_) each.access.unlock();
    }

    [[nodiscard]] std::size_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }

private:
    struct batch_list {
        std::mutex access;
        std::atomic<batch*> top = nullptr;  // Changed under the lock, looked at without it.
    };

    static_assert(sizeof(batch) <= fine_step, "the smallest block can head a batch");

    std::array<batch_list, size_classes> batch_lists_{};
    std::atomic<std::size_t> bytes_ = 0;
};

void frame_cache::free_all(block* first) noexcept {
    while (first != nullptr) std::free(std::exchange(first, first->next));
}

void frame_cache::begin_use() noexcept {
    if (here_.in_use_) return;
    here_.in_use_ = true;
    thread_local const trimmer at_end;
    static_cast<void>(&at_end);
    here_.bytes_max_ = recycles() ? bytes_max_default : 0;
}

// The size class is empty: one block for the caller, and the rest of its batch for the next ones.
void* frame_cache::allocate_from_central_cache(std::size_t size) noexcept {
    begin_use();
    if (size <= size_max && here_.bytes_max_ > 0) {
        if (central_cache::batch* full = central_cache::instance().take(size_class_of(size))) {
            here_.free_lists_[size_class_of(size)].first = full->next;
            here_.bytes_held_ += full->bytes - rounded(size);
            return full;
        }
    }
    void* memory = std::malloc(rounded(size));
    ensures(memory != nullptr, "out of memory for a coroutine frame");
    return memory;
}

// The cache is full: a batch of the free blocks of this size class, and the block itself.
void frame_cache::release_to_central_cache(void* memory, std::size_t size) noexcept {
    if (size > size_max) return std::free(memory);
    if (!here_.in_use_) {
        begin_use();
        return release(memory, size);
    }
    if (here_.bytes_max_ == 0) return std::free(memory);

    free_list& from = here_.free_lists_[size_class_of(size)];
    std::size_t blocks = 1;
    block* last = nullptr;
    for (block* each = from.first;
         each != nullptr && blocks < central_cache::blocks_per_batch(size); each = each->next) {
        last = each;
        ++blocks;
    }
    auto* full = ::new (memory) central_cache::batch{{nullptr}, nullptr, blocks * rounded(size)};
    if (last != nullptr) {
        full->next = std::exchange(from.first, std::exchange(last->next, nullptr));
        here_.bytes_held_ -= full->bytes - rounded(size);
    }
    if (!central_cache::instance().put(size_class_of(size), *full)) free_all(full);
}

std::size_t frame_cache::central_cache_bytes_held() noexcept {
    return central_cache::instance().bytes();
}

void frame_cache::set_bytes_max(std::size_t bytes) noexcept {
    begin_use();  // First: a thread may set its bound, even to 0, before it has any frame.
    here_.bytes_max_ = recycles() ? bytes : 0;
}

void frame_cache::trim() noexcept {
    for (free_list& each : here_.free_lists_) free_all(std::exchange(each.first, nullptr));
    here_.bytes_held_ = 0;
}

void frame_cache::trim_central_cache() noexcept { central_cache::instance().trim(); }

void frame_cache::lock_central_cache() noexcept { central_cache::instance().lock(); }
void frame_cache::unlock_central_cache() noexcept { central_cache::instance().unlock(); }

}  // namespace gyre
