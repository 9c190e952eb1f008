// SPDX-License-Identifier: BSL-1.0
//
// Frames, each behind the one before, in a block of memory: masked if they have a key, so that many leave in
// one write.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/websocket/frame.hpp>
#include <gyre/websocket/masking.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace gyre::websocket {

/// Begin a frame, take until it is whole, and write `ready` and `clear` whenever there is no more room.
class frame_gatherer {
public:
    /// @param  space  Borrowed; longer than a header.
    explicit frame_gatherer(mutable_buffer space) noexcept : space_{space} {}

    /// Begins a frame. @pre  the frame before it is whole.
    ///
    /// @param  payload  Borrowed until the frame is whole.
    void begin(const frame_header& header, const_buffer payload) noexcept {
        header_ = header;
        rest_ = payload;
        taken_ = 0;
        has_header_ = false;
    }
    /// Copies as much of the frame as there is room for. True if the frame is whole.
    [[nodiscard]] bool take() noexcept {
        if (!has_header_) {
            const encoded_header head{header_};
            if (head.bytes().size() > space_.size() - used_) return false;
            std::ranges::copy(head.bytes(), space_.data() + used_);
            used_ += head.bytes().size();
            has_header_ = true;
        }
        const std::size_t count = std::min(rest_.size(), space_.size() - used_);
        const mutable_buffer room = space_.subspan(used_, count);
        if (header_.key) mask_copy(rest_.first(count), room, *header_.key, taken_);
        else if (count > 0) std::memcpy(room.data(), rest_.data(), count);
        used_ += count;
        taken_ += count;
        rest_ = rest_.subspan(count);
        return rest_.empty();
    }

    [[nodiscard]] const_buffer ready() const noexcept { return space_.first(used_); }
    void clear() noexcept { used_ = 0; }

private:
    mutable_buffer space_;
    std::size_t used_ = 0;
    frame_header header_;
    const_buffer rest_;  // Payload not taken yet.
    std::size_t taken_ = 0;
    bool has_header_ = false;
};

}  // namespace gyre::websocket
