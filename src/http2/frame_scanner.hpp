// SPDX-License-Identifier: BSL-1.0
//
// Where frames begin and end in the bytes of a peer: their heads, and whether one is under way.
//
// nghttp2 tells of frames that it takes, and is silent on some that it drops. What a peer does is judged by
// the frames that it sends, and a deadline for a field block needs to know that none is open any more.
#pragma once

#include <gyre/base/buffer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gyre::http2 {

/// The head of a frame without its stream. RFC 9113, 4.1.
struct frame_head {
    std::size_t length = 0;
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
};

/// Finds the heads of frames, however their bytes are split.
class frame_scanner {
public:
    /// @param  preface  Whether the peer, a client, sends one first.
    explicit frame_scanner(bool preface) noexcept : preface_at_{preface ? 0 : preface_size} {}

    /// Takes bytes off the front of `bytes`, up to the end of the next frame's head, if there is one.
    ///
    /// @return Whether `head` is that of a frame that begins.
    [[nodiscard]] bool next(const_buffer& bytes, frame_head& head) noexcept;

    /// What came is not the preface.
    [[nodiscard]] bool is_foreign() const noexcept { return foreign_; }

    /// Whether all bytes of a frame have come, or none.
    [[nodiscard]] bool between_frames() const noexcept { return left_ == 0 && head_size_ == 0; }

private:
    static constexpr std::size_t preface_size = 24;

    std::array<std::uint8_t, 9> head_{};
    std::size_t head_size_ = 0;  // Of the head that comes.
    std::size_t left_ = 0;       // Of the payload that comes.
    std::size_t preface_at_;
    bool foreign_ = false;
};

}  // namespace gyre::http2
