// SPDX-License-Identifier: BSL-1.0
//
// The memory of many streams: segments of one size, which belong to whoever needs them just now.
//
// Most streams hold little, and one now and then holds a lot. Memory for the worst of each would be the worst
// many times over; so message_log.hpp takes segments from here and gives them back. What the pool may come to
// take is reserved at the start, and used only where somebody has written.
#pragma once

#include <exchange/core/zeroed_array.hpp>

#include <gyre/base/check.hpp>

#include <cstddef>
#include <cstdint>

namespace exchange {

/// Places in a segment are found by 32 bits.
inline constexpr std::size_t segment_bytes_most = std::size_t{1} << 31;

/// What a stream is cut into that is gathered from several pieces.
inline constexpr std::size_t segment_bytes_usual = std::size_t{64} << 10;

struct segment_pool_options {
    std::size_t bytes_max = std::size_t{64} << 20;  ///< Of all segments; rounded up to whole ones.
    std::size_t segment_bytes = segment_bytes_usual;  ///< A multiple of 4.
    /// Taken from the machine at once, so that the first messages do not wait for pages; others when used.
    std::size_t warm_bytes = 0;
};

/// Segments by number.
///
/// Each stream has two for sure, one to write into and one that is being read: a member keeps its places here
/// while it has fewer. A pool that is used up keeps no member from saying the next thing, at the cost of
/// what it said two segments before.
///
/// Threads:  One at a time, all who take from it included.
/// Cost:     Address space at construction, 4 bytes a segment beside it; each call is constant time. The last
///           segment that was given back is the first to be taken again.
class segment_pool {
public:
    using number = std::uint32_t;
    static constexpr number none = ~number{0};

    explicit segment_pool(const segment_pool_options& options = {});
    segment_pool(const segment_pool&) = delete;
    segment_pool& operator=(const segment_pool&) = delete;

    /// What such a pool reserves.
    [[nodiscard]] static std::size_t bytes_for(const segment_pool_options& options) noexcept;

    /// So many does each member have for sure.
    static constexpr std::size_t for_sure = 2;

    /// Is there room for another member?
    [[nodiscard]] bool has_room() const noexcept { return is_there(for_sure); }

    /// A member comes, for which there must be room; or goes, and has none.
    void join() noexcept {
        gyre::expects(has_room(), "two segments for each member");
        promised_ += for_sure;
    }
    void leave() noexcept { promised_ -= for_sure; }

    /// One more for a member that has `held`; `none` if only those are left that others have for sure.
    [[nodiscard]] number take(std::size_t held) noexcept {
        if (held < for_sure) --promised_;
        else if (!is_there(1)) return none;
        ++in_use_;
        if (free_ == none) return fresh_++;
        const number taken = free_;
        free_ = next_free_[taken];
        return taken;
    }

    /// Of a member that has `left` others.
    void give_back(number gone, std::size_t left) noexcept {
        next_free_[gone] = free_;
        free_ = gone;
        --in_use_;
        if (left < for_sure) ++promised_;
    }

    /// Its bytes: those of its last tenant, until they are written.
    [[nodiscard]] std::byte* bytes(number which) noexcept {
        return &memory_[std::size_t{which} * segment_bytes_];
    }
    [[nodiscard]] std::size_t segment_bytes() const noexcept { return segment_bytes_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return next_free_.size(); }
    [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

private:
    [[nodiscard]] bool is_there(std::size_t segments) const noexcept {
        return in_use_ + promised_ + segments <= capacity();
    }

    std::size_t segment_bytes_;
    zeroed_array<number>
        next_free_;  // Not in the segments: a write under way may still read there.
    zeroed_array<std::byte> memory_;
    number free_ = none;
    number fresh_ = 0;          // Invariant: no segment from here on was ever taken.
    std::size_t in_use_ = 0;    // Invariant: in_use_ + promised_ <= capacity().
    std::size_t promised_ = 0;  // To members that have fewer than two.
};

}  // namespace exchange
