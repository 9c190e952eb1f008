// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/prepared_message.hpp>

#include <gyre/websocket/utf8.hpp>

#include <array>
#include <limits>

namespace gyre::websocket {

namespace {

constexpr int window_bits_min = 9;
constexpr std::size_t kept_space_max = std::size_t{64} << 10;

shared_bytes frame_of(frame_header header, const_buffer payload) {
    header.payload_bytes = payload.size();
    const encoded_header head{header};
    const std::array<const_buffer, 2> parts{head.bytes(), payload};
    return shared_bytes::copy_of(const_buffers{parts});
}

}  // namespace

io_result<prepared_message> prepared_message::make(message_kind kind, const_buffer payload) {
    if (kind == message_kind::text && !is_utf8(payload)) {
        return error{errc::malformed, activity::write};
    }
    frame_header header;
    header.code = opcode_of(kind);
    prepared_message made;
    made.kind_ = kind;
    made.plain_ = websocket::frame_of(header, payload);
    made.header_bytes_ = made.plain_.size() - payload.size();
    return made;
}

frame_compressor::frame_compressor(const deflate_options& options) noexcept
    : options_{options}, space_{{0, std::numeric_limits<std::size_t>::max() / 4}} {}

const shared_bytes& frame_compressor::frame_of(prepared_message& of,
                                               const std::optional<deflate_agreement>& agreed) {
    if (!agreed || agreed->our_window_bits < window_bits_min) return of.plain_;
    if (of.payload().size() < options_.bytes_min) return of.plain_;
    shared_bytes& made =
        of.deflated_[static_cast<std::size_t>(agreed->our_window_bits - window_bits_min)];
    if (made.empty()) made = compress(of, agreed->our_window_bits);
    return made;
}

shared_bytes frame_compressor::compress(const prepared_message& of, int window_bits) {
    std::optional<deflater>& by =
        deflaters_[static_cast<std::size_t>(window_bits - window_bits_min)];
    if (!by) {
        deflater_settings settings;
        settings.window_bits = window_bits;
        settings.level = options_.level;
        settings.memory_level = options_.memory_level;
        by.emplace(settings);
    }
    by->add(of.payload(), space_, piece_end::message);
    frame_header header;
    header.code = opcode_of(of.kind_);
    header.compressed = true;
    const bool pays = space_.size() < of.payload().size();
    shared_bytes made = pays ? websocket::frame_of(header, space_.data()) : of.plain_;
    space_.consume(space_.size());
    if (space_.capacity() > kept_space_max) space_.shrink_to_fit();
    return made;
}

}  // namespace gyre::websocket
