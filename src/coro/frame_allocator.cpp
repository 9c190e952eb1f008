// SPDX-License-Identifier: BSL-1.0
//
// The slow paths of include/gyre/coro/frame_allocator.hpp.
#include <gyre/coro/frame_allocator.hpp>

#include <gyre/base/check.hpp>

#include <cstdlib>

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

void frame_stock::begin_use() noexcept {
    if (here_.in_use_) return;
    here_.in_use_ = true;
    thread_local const trimmer at_end;
    static_cast<void>(&at_end);
    here_.bytes_max_ = bytes_max_default;
}

void* frame_stock::allocate_anew(std::size_t size) noexcept {
    begin_use();
    void* memory = std::malloc(size);
    ensures(memory != nullptr, "out of memory for a coroutine frame");
    return memory;
}

void frame_stock::release_for_good(void* memory) noexcept { std::free(memory); }

void frame_stock::set_bytes_max(std::size_t bytes) noexcept {
    begin_use();  // First: a thread may set its bound, even to 0, before it has any frame.
    here_.bytes_max_ = bytes;
}

void frame_stock::trim() noexcept {
    for (shelf& each : here_.shelves_) {
        while (block* first = each.first) {
            each.first = first->next;
            release_for_good(first);
        }
    }
    here_.bytes_held_ = 0;
}

}  // namespace gyre
