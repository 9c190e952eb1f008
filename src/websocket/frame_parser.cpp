// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/frame_parser.hpp>

#include <algorithm>

namespace gyre::websocket {

namespace {

constexpr std::byte final_bit{0x80};
constexpr std::byte compressed_bit{0x40};
constexpr std::byte unused_bits{0x30};
constexpr std::byte mask_bit{0x80};
constexpr unsigned length_in_2_bytes = 126;
constexpr unsigned length_in_8_bytes = 127;

bool has(std::byte of, std::byte bits) noexcept { return (of & bits) != std::byte{}; }

frame_opcode code_in(std::byte first) noexcept {
    return static_cast<frame_opcode>(first & std::byte{0x0f});
}

unsigned short_length(std::byte second) noexcept {
    return static_cast<unsigned>(second & std::byte{0x7f});
}

std::size_t length_bytes_behind(unsigned short_length) noexcept {
    if (short_length == length_in_2_bytes) return 2;
    return short_length == length_in_8_bytes ? 8 : 0;
}

std::uint64_t big_endian(const_buffer bytes) noexcept {
    std::uint64_t number = 0;
    for (const std::byte each : bytes) number = number << 8 | static_cast<std::uint8_t>(each);
    return number;
}

// @pre  `bytes` hold the length.
std::uint64_t length_in(const_buffer bytes, std::size_t length_bytes) noexcept {
    return length_bytes > 0 ? big_endian(bytes.subspan(2, length_bytes)) : short_length(bytes[1]);
}

bool known(frame_opcode code) noexcept {
    switch (code) {
        case frame_opcode::continuation:
        case frame_opcode::text:
        case frame_opcode::binary:
        case frame_opcode::close:
        case frame_opcode::ping:
        case frame_opcode::pong: return true;
    }
    return false;
}

// What deflate makes of bytes that do not compress, and of none.
constexpr std::uint64_t deflated_max(std::uint64_t bytes) noexcept {
    const std::uint64_t more = bytes / 1024 + 64;
    return bytes > UINT64_MAX - more ? UINT64_MAX : bytes + more;
}

}  // namespace

violation frame_parser::check_first(std::byte first) const noexcept {
    const frame_opcode code = code_in(first);
    const bool compressed = has(first, compressed_bit);
    // RFC 6455, 5.2: RSV1, RSV2, RSV3.
    if (has(first, unused_bits)) return violation::reserved_bits;
    // RFC 7692, 6: only the first frame of a message has it, control frames never.
    if (compressed &&
        (deflate_ == deflate::refused || is_control(code) || code == frame_opcode::continuation)) {
        return violation::reserved_bits;
    }
    if (!known(code)) return violation::reserved_opcode;
    // RFC 6455, 5.5.
    if (is_control(code)) {
        return has(first, final_bit) ? violation::none : violation::fragmented_control;
    }
    // RFC 6455, 5.4.
    if (code == frame_opcode::continuation) {
        return in_message_ ? violation::none : violation::stray_continuation;
    }
    return in_message_ ? violation::interrupted_message : violation::none;
}

violation frame_parser::check_second(std::byte first, std::byte second) const noexcept {
    // RFC 6455, 5.1.
    const bool masked = has(second, mask_bit);
    if (we_ == role::server && !masked) return violation::missing_mask;
    if (we_ == role::client && masked) return violation::unexpected_mask;
    // RFC 6455, 5.5.
    const bool control = is_control(code_in(first));
    return control && short_length(second) > control_bytes_max ? violation::long_control
                                                               : violation::none;
}

violation frame_parser::check_length(std::uint64_t length, std::size_t length_bytes,
                                     bool control) const noexcept {
    // RFC 6455, 5.2: payload length.
    if (length >> 63 != 0) return violation::impossible_length;
    if (length_bytes == 2 && length < 126) return violation::wasteful_length;
    if (length_bytes == 8 && length <= 0xffff) return violation::wasteful_length;
    if (control) return violation::none;
    // RFC 6455, 10.4.
    if (length > limits_.frame_bytes_max) return violation::large_frame;
    return violation::none;
}

// Either all of a header or nothing; what can be told of a part is told at once.
violation frame_parser::take_header(const_buffer bytes, std::size_t& taken) noexcept {
    if (bytes.empty()) return violation::none;
    const std::byte first = bytes[0];
    if (const violation why = check_first(first); why != violation::none) return why;
    if (bytes.size() < 2) return violation::none;
    const std::byte second = bytes[1];
    if (const violation why = check_second(first, second); why != violation::none) return why;

    const std::size_t length_bytes = length_bytes_behind(short_length(second));
    if (bytes.size() < 2 + length_bytes) return violation::none;
    const std::uint64_t length = length_in(bytes, length_bytes);
    const bool control = is_control(code_in(first));
    if (const violation why = check_length(length, length_bytes, control); why != violation::none) {
        return why;
    }
    if (!control) {
        const bool compressed = in_message_ ? compressed_ : has(first, compressed_bit);
        const std::uint64_t message_max =
            compressed ? deflated_max(limits_.message_bytes_max) : limits_.message_bytes_max;
        const std::uint64_t before = in_message_ ? message_bytes_ : 0;
        if (length > message_max - before) return violation::large_message;
    }

    const std::size_t key_bytes = has(second, mask_bit) ? key_.size() : 0;
    if (bytes.size() < 2 + length_bytes + key_bytes) return violation::none;
    std::ranges::copy(bytes.subspan(2 + length_bytes, key_bytes), key_.begin());
    taken = 2 + length_bytes + key_bytes;
    begin_frame(first, length);
    return violation::none;
}

void frame_parser::begin_frame(std::byte first, std::uint64_t length) noexcept {
    code_ = code_in(first);
    final_ = has(first, final_bit);
    remaining_ = length;
    key_offset_ = 0;
    in_payload_ = true;
    if (is_control(code_)) return;
    if (!in_message_) {
        in_message_ = true;
        told_of_message_ = false;
        compressed_ = has(first, compressed_bit);
        message_ = static_cast<message_kind>(code_);
        message_bytes_ = 0;
        text_ = {};
    }
    message_bytes_ += length;
}

bool frame_parser::begins_with_message(const_buffer bytes) const noexcept {
    if (in_payload_ || in_message_ || bytes.size() < 2) return false;
    const frame_opcode code = code_in(bytes[0]);
    const bool data = code == frame_opcode::text || code == frame_opcode::binary;
    if (!data || !has(bytes[0], final_bit) || has(bytes[0], compressed_bit)) return false;
    const std::size_t length_bytes = length_bytes_behind(short_length(bytes[1]));
    const std::size_t header = 2 + length_bytes + (has(bytes[1], mask_bit) ? key_.size() : 0);
    return bytes.size() >= header && length_in(bytes, length_bytes) <= bytes.size() - header;
}

void frame_parser::unmask(mutable_buffer bytes) noexcept {
    if (we_ == role::client) return;
    mask(bytes, key_, key_offset_);
    key_offset_ = (key_offset_ + bytes.size()) % key_.size();
}

parsed frame_parser::next(mutable_buffer bytes) noexcept {
    if (broken_ != violation::none) return violated(broken_);
    parsed out;
    if (!in_payload_) {
        const violation why = take_header(bytes, out.skipped);
        if (why != violation::none) return violated(why);
        if (!in_payload_) return out;
        bytes = bytes.subspan(out.skipped);
    }
    return is_control(code_) ? control(bytes, out) : data(bytes, out);
}

parsed frame_parser::data(mutable_buffer bytes, parsed out) noexcept {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), remaining_));
    if (size == 0 && remaining_ > 0) return out;

    out.bytes = bytes.first(size);
    unmask(out.bytes);
    remaining_ -= size;
    in_payload_ = remaining_ > 0;
    out.last = final_ && !in_payload_;
    out.what = parsed::kind::payload;
    out.message = message_;
    out.compressed = compressed_;
    out.first = !told_of_message_;
    told_of_message_ = true;
    if (out.last) in_message_ = false;
    // RFC 6455, 8.1. What is deflated is looked at when it has been inflated.
    if (message_ == message_kind::text && !compressed_ &&
        (!text_.take(out.bytes) || (out.last && !text_.complete()))) {
        return violated(violation::text_not_utf8);
    }
    return out;
}

parsed frame_parser::control(mutable_buffer bytes, parsed out) noexcept {
    if (bytes.size() < remaining_) return out;
    out.bytes = bytes.first(static_cast<std::size_t>(remaining_));
    unmask(out.bytes);
    remaining_ = 0;
    in_payload_ = false;
    switch (code_) {
        case frame_opcode::ping: out.what = parsed::kind::ping; break;
        case frame_opcode::pong: out.what = parsed::kind::pong; break;
        default: return close(out.bytes, out);
    }
    return out;
}

// RFC 6455, 5.5.1 and 7.4.
parsed frame_parser::close(mutable_buffer bytes, parsed out) noexcept {
    out.what = parsed::kind::close;
    if (bytes.empty()) return out;
    if (bytes.size() < 2) return violated(violation::short_close);
    out.code = static_cast<close_code>(big_endian(bytes.first(2)));
    out.skipped += 2;
    out.bytes = bytes.subspan(2);
    if (!may_travel(out.code)) return violated(violation::forbidden_close_code);
    if (!is_utf8(out.bytes)) return violated(violation::close_text_not_utf8);
    return out;
}

parsed frame_parser::violated(violation why) noexcept {
    broken_ = why;
    parsed out;
    out.what = parsed::kind::violated;
    out.why = why;
    return out;
}

}  // namespace gyre::websocket
