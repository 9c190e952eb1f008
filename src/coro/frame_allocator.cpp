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

namespace gyre {
namespace {

// The stock itself has no destructor, so that using it costs no look whether it was constructed; this
// empties it at the end of its thread. Frames freed after that go straight to malloc.
struct trimmer {
    ~trimmer() {
        frame_stock::trim();
        frame_stock::set_bytes_max(0);
    }
};

}  // namespace

/// What threads pass on to each other, for as long as the process lives. A lock is taken once a crate.
class frame_stock::depot {
public:
    /// Free blocks of one shelf, chained by `next`; the first of them carries the description.
    struct crate : block {
        crate* below;
        std::size_t bytes;
    };

    /// How many blocks of `size` bytes a crate holds.
    static constexpr std::size_t blocks_per_crate(std::size_t size) noexcept {
        constexpr std::size_t blocks_max = 32;
        constexpr std::size_t bytes_max = 64 * 1024;
        return std::min(blocks_max, bytes_max / rounded(size));
    }

    static depot& instance() noexcept {
        static constinit depot it;
        static_assert(std::is_trivially_destructible_v<depot>, "threads may outlive main");
        return it;
    }

    /// A crate from shelf `number`, or null.
    [[nodiscard]] crate* take(std::size_t number) noexcept {
        pile& from = piles_[number];
        if (from.top.load(std::memory_order_relaxed) == nullptr) return nullptr;
        const std::lock_guard lock{from.access};
        crate* top = from.top.load(std::memory_order_relaxed);
        if (top == nullptr) return nullptr;
        from.top.store(top->below, std::memory_order_relaxed);
        bytes_.fetch_sub(top->bytes, std::memory_order_relaxed);
        return top;
    }

    /// False, and `full` stays the caller's, if there is no room for it.
    [[nodiscard]] bool put(std::size_t number, crate& full) noexcept {
        const std::size_t before = bytes_.fetch_add(full.bytes, std::memory_order_relaxed);
        if (before + full.bytes > depot_bytes_max) {
            bytes_.fetch_sub(full.bytes, std::memory_order_relaxed);
            return false;
        }
        pile& to = piles_[number];
        const std::lock_guard lock{to.access};
        full.below = to.top.load(std::memory_order_relaxed);
        to.top.store(&full, std::memory_order_relaxed);
        return true;
    }

    void trim() noexcept {
        for (std::size_t number = 0; number < piles_.size(); ++number) {
            while (crate* each = take(number)) free_all(each);
        }
    }

    [[nodiscard]] std::size_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }

private:
    struct pile {
        std::mutex access;
        std::atomic<crate*> top = nullptr;  // Changed under the lock, looked at without it.
    };

    static_assert(sizeof(crate) <= fine_step, "the smallest block can head a crate");

    std::array<pile, shelves> piles_{};
    std::atomic<std::size_t> bytes_ = 0;
};

void frame_stock::free_all(block* first) noexcept {
    while (first != nullptr) std::free(std::exchange(first, first->next));
}

void frame_stock::begin_use() noexcept {
    if (here_.in_use_) return;
    here_.in_use_ = true;
    thread_local const trimmer at_end;
    static_cast<void>(&at_end);
    here_.bytes_max_ = bytes_max_default;
}

// The shelf is empty: one block for the caller, and the rest of its crate for the next ones.
void* frame_stock::allocate_from_depot(std::size_t size) noexcept {
    begin_use();
    if (recycles_memory && size <= size_max && here_.bytes_max_ > 0) {
        if (depot::crate* full = depot::instance().take(shelf_of(size))) {
            here_.shelves_[shelf_of(size)].first = full->next;
            here_.bytes_held_ += full->bytes - rounded(size);
            return full;
        }
    }
    void* memory = std::malloc(rounded(size));
    ensures(memory != nullptr, "out of memory for a coroutine frame");
    return memory;
}

// The stock is full: a crate of what lies on the block's own shelf, and the block.
void frame_stock::release_to_depot(void* memory, std::size_t size) noexcept {
    if (!recycles_memory || size > size_max) return std::free(memory);
    if (!here_.in_use_) {
        begin_use();
        return release(memory, size);
    }
    if (here_.bytes_max_ == 0) return std::free(memory);

    shelf& from = here_.shelves_[shelf_of(size)];
    std::size_t blocks = 1;
    block* last = nullptr;
    for (block* each = from.first; each != nullptr && blocks < depot::blocks_per_crate(size);
         each = each->next) {
        last = each;
        ++blocks;
    }
    auto* full = ::new (memory) depot::crate{{nullptr}, nullptr, blocks * rounded(size)};
    if (last != nullptr) {
        full->next = std::exchange(from.first, std::exchange(last->next, nullptr));
        here_.bytes_held_ -= full->bytes - rounded(size);
    }
    if (!depot::instance().put(shelf_of(size), *full)) free_all(full);
}

std::size_t frame_stock::depot_bytes_held() noexcept { return depot::instance().bytes(); }

void frame_stock::set_bytes_max(std::size_t bytes) noexcept {
    begin_use();  // First: a thread may set its bound, even to 0, before it has any frame.
    here_.bytes_max_ = bytes;
}

void frame_stock::trim() noexcept {
    for (shelf& each : here_.shelves_) free_all(std::exchange(each.first, nullptr));
    here_.bytes_held_ = 0;
}

void frame_stock::trim_depot() noexcept { depot::instance().trim(); }

}  // namespace gyre
