// SPDX-License-Identifier: BSL-1.0
//
// What the bytes of a peer mean: the receiving half of the protocol, without a stream, a clock or memory.
//
// It looks at bytes in the caller's buffer, takes masks off in place and holds everything to the protocol
// as soon as it can be told: the first byte of a frame that must not be, the first byte of a text that is
// no UTF-8, the length of a message that is too large before any of it has come. connection.hpp drives it.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/websocket/frame.hpp>
#include <gyre/websocket/utf8.hpp>
#include <gyre/websocket/violation.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre::websocket {

/// What a peer may send.
struct parse_limits {
    parse_limits() noexcept = default;

    std::uint64_t frame_bytes_max = std::uint64_t{16} << 20;    ///< Payload of one frame.
    std::uint64_t message_bytes_max = std::uint64_t{16} << 20;  ///< Of all frames of one message.
};

/// What the parser made of the bytes that it was shown.
struct parsed {
    enum class kind : std::uint8_t {
        incomplete,  ///< Nothing yet: `skipped` bytes are done with, more are needed.
        payload,     ///< Some bytes of a message, or none at its end.
        ping,
        pong,
        close,
        violated  ///< The peer broke a rule. Every later call says the same.
    };

    kind what = kind::incomplete;
    std::size_t skipped = 0;  ///< Bytes of a header in front of `bytes`.
    mutable_buffer
        bytes;  ///< Without a mask; a part of what was shown, right behind what is skipped.
    message_kind message = message_kind::binary;
    bool compressed = false;                  ///< The message is deflated.
    bool first = false;                       ///< Nothing of the message was told before.
    bool last = false;                        ///< Nothing of it follows.
    violation why = violation::none;          ///< Of `violated`.
    close_code code = close_code::no_status;  ///< Of `close`; `bytes` are its words only.
};

/// Reads frames.
class frame_parser {
public:
    /// @param  we          Which end we are: a server's peers mask, a client's do not.
    /// @param  limits      What is refused beyond.
    /// @param  deflate     Whether RSV1 says that a message is deflated: as negotiated.
    enum class deflate : std::uint8_t { refused, agreed };
    frame_parser(role we, const parse_limits& limits, deflate compression) noexcept
        : limits_{limits}, we_{we}, deflate_{compression} {}

    /// Looks at `bytes`, what came and has not been taken. The caller takes `skipped` bytes and those of
    /// `bytes` off the front before it calls again; with a close also the two bytes of the number, which
    /// `skipped` counts.
    ///
    /// Payloads of messages are told as they come, those of control frames whole: a buffer of
    /// `frame_header_bytes_max + control_bytes_max` bytes is large enough for everything.
    ///
    /// Cost:  each byte of a payload is visited once or twice, in place; no allocation.
    [[nodiscard]] parsed next(mutable_buffer bytes) noexcept;

    /// True if `bytes`, which have come and were not taken, begin with a message that is whole: one frame,
    /// not compressed. Then `next` yields all of it, or its violation.
    [[nodiscard]] bool begins_with_message(const_buffer bytes) const noexcept;

    /// How many bytes the frame still needs, as far as is known; at least 1.
    [[nodiscard]] std::uint64_t missing() const noexcept {
        return in_payload_ && remaining_ > 0 ? remaining_ : 1;
    }

    /// Whether a message has begun and not ended.
    [[nodiscard]] bool in_message() const noexcept { return in_message_; }

private:
    // Each tells what is wrong with the part of a header that it looks at.
    [[nodiscard]] violation check_first(std::byte first) const noexcept;
    [[nodiscard]] violation check_second(std::byte first, std::byte second) const noexcept;
    [[nodiscard]] violation check_length(std::uint64_t length, std::size_t length_bytes,
                                         bool control) const noexcept;

    [[nodiscard]] violation take_header(const_buffer bytes, std::size_t& taken) noexcept;
    void begin_frame(std::byte first, std::uint64_t length) noexcept;
    void unmask(mutable_buffer bytes) noexcept;
    [[nodiscard]] parsed data(mutable_buffer bytes, parsed out) noexcept;
    [[nodiscard]] parsed control(mutable_buffer bytes, parsed out) noexcept;
    [[nodiscard]] parsed close(mutable_buffer bytes, parsed out) noexcept;
    [[nodiscard]] parsed violated(violation why) noexcept;

    parse_limits limits_;
    role we_;
    deflate deflate_;
    violation broken_ = violation::none;

    // The frame whose header has been taken.
    bool in_payload_ = false;
    bool final_ = false;
    frame_opcode code_ = frame_opcode::binary;
    masking_key key_{};
    std::uint64_t remaining_ = 0;  // Of its payload.
    std::size_t key_offset_ = 0;   // Below 4.

    // The message that its data frames belong to.
    bool in_message_ = false;
    bool told_of_message_ = false;
    bool compressed_ = false;
    message_kind message_ = message_kind::binary;
    std::uint64_t message_bytes_ =
        0;  // Of the frames that have begun. Invariant: within the limit.
    utf8_validator text_;
};

}  // namespace gyre::websocket
