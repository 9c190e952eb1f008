// SPDX-License-Identifier: BSL-1.0
//
// Multishot operations: one request, many results.
//
// A multishot accept or receive, a zero-copy notice, the loop's own waker: the kernel goes on
// reporting on them after their first result, possibly after the waiter has gone. So a source is
// never in a frame: it lives in its loop's table, and the kernel knows it by index and generation, by
// which a late result is told from one of the slot's next owner. One-shots are operation.hpp.
#pragma once

#include <gyre/base/check.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gyre {

/// One entry of a loop's table of sources.
struct source {
    /// One result. `more` is false when it was the last one and the source has to be armed anew.
    using handler = void (*)(source& self, std::int32_t result, std::uint32_t flags,
                             bool more) noexcept;

    handler on_result = nullptr;
    void* owner = nullptr;         ///< For the handler; borrowed.
    std::uint32_t index = 0;       ///< Its place in the table; constant.
    std::uint32_t generation = 0;  ///< Which owner of the place this is.
    std::uint32_t demand = 0;      ///< Results still wanted; 0 lets it lapse instead of re-arming.
    bool armed = false;            ///< The kernel holds it.
};

/// The sources of one loop. Its thread only. Addresses are stable.
class source_table {
public:
    /// Cost: constant; allocates when more sources exist than ever before.
    [[nodiscard]] source& acquire(source::handler on_result, void* owner) {
        if (free_.empty()) {
            const auto index = static_cast<std::uint32_t>(entries_.size());
            entries_.emplace_back().index = index;
            free_.push_back(index);
        }
        source& it = entries_[free_.back()];
        free_.pop_back();
        it.on_result = on_result;
        it.owner = owner;
        it.demand = 0;
        it.armed = false;
        return it;
    }

    /// Results that still come for `it` are dropped from now on.
    void release(source& it) noexcept {
        expects(it.on_result != nullptr, "a source is released once");
        ++it.generation;  // A late result must not match the next owner of this place.
        it.on_result = nullptr;
        free_.push_back(it.index);
    }

    /// The source a result names, or null if that one has been released.
    [[nodiscard]] source* find(std::uint32_t index, std::uint32_t generation) noexcept {
        if (index >= entries_.size()) return nullptr;
        source& it = entries_[index];
        return it.generation == generation && it.on_result != nullptr ? &it : nullptr;
    }

    [[nodiscard]] std::size_t in_use() const noexcept { return entries_.size() - free_.size(); }

private:
    std::deque<source> entries_;
    std::vector<std::uint32_t> free_;
};

}  // namespace gyre
