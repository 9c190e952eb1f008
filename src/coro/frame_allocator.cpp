// SPDX-License-Identifier: BSL-1.0
//
// The slow path of include/gyre/coro/frame_allocator.hpp.
#include <gyre/coro/frame_allocator.hpp>

#include <gyre/base/check.hpp>

#include <cstdlib>

namespace gyre {

void* frame_stock::allocate_anew(std::size_t size) noexcept {
    void* memory = std::malloc(size);
    ensures(memory != nullptr, "out of memory for a coroutine frame");
    return memory;
}

void frame_stock::release_for_good(void* memory) noexcept { std::free(memory); }

frame_stock::~frame_stock() {
    for (shelf& each : shelves_) {
        while (block* first = each.first) {
            each.first = first->next;
            release_for_good(first);
        }
    }
}

}  // namespace gyre
