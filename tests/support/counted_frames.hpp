// SPDX-License-Identifier: BSL-1.0
//
// A resource for frames of coroutines that counts how many live at a time: what a tree of tasks needs.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

namespace gyre::testing {

/// Frames may begin and end on any thread.
class counted_frames {
public:
    void* allocate(std::size_t size, std::size_t) {
        const std::size_t live = live_.fetch_add(1) + 1;
        std::size_t most = most_.load();
        while (most < live && !most_.compare_exchange_weak(most, live)) {
        }
        made_.fetch_add(1);
        return ::operator new(size);
    }
    void deallocate(void* memory, std::size_t size, std::size_t) {
        live_.fetch_sub(1);
        ::operator delete(memory, size);
    }

    [[nodiscard]] std::size_t made() const { return made_.load(); }
    [[nodiscard]] std::size_t most() const { return most_.load(); }
    [[nodiscard]] std::size_t live() const { return live_.load(); }

private:
    std::atomic<std::size_t> live_ = 0;
    std::atomic<std::size_t> most_ = 0;
    std::atomic<std::size_t> made_ = 0;
};

}  // namespace gyre::testing
