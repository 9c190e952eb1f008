// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/deflate.hpp>

#include <gyre/base/check.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>

namespace gyre::websocket {

namespace {

// RFC 7692, 7.2.1: what a flush ends with, and a message goes without.
constexpr std::array<std::byte, 4> tail{std::byte{0x00}, std::byte{0x00}, std::byte{0xff},
                                        std::byte{0xff}};

// RFC 7692, 7.2.3.6: what is left of an empty block without its tail.
constexpr std::array<std::byte, 1> empty_block{std::byte{0x00}};

// One message needs one. Each more costs a copy of the window, so a peer must not have many of them for the
// price of two bytes.
constexpr std::size_t final_blocks_max = 64;

// zlib counts in `unsigned`.
constexpr std::size_t step_bytes_max = std::size_t{1} << 30;
constexpr std::size_t room_bytes_max = std::size_t{64} << 10;
constexpr std::size_t room_bytes_min = 64;

Bytef* zlib_bytes(std::byte* bytes) noexcept { return reinterpret_cast<Bytef*>(bytes); }
// zlib's pointers to what it only reads are not const.
Bytef* zlib_bytes(const std::byte* bytes) noexcept {
    return zlib_bytes(const_cast<std::byte*>(bytes));
}

void give(z_stream& to, const_buffer from) noexcept {
    to.next_in = zlib_bytes(from.data());
    to.avail_in = static_cast<uInt>(std::min(from.size(), step_bytes_max));
}
void give_room(z_stream& to, mutable_buffer into) noexcept {
    to.next_out = zlib_bytes(into.data());
    to.avail_out = static_cast<uInt>(std::min(into.size(), step_bytes_max));
}

}  // namespace

void deflater::closer::operator()(z_stream_s* it) const noexcept {
    deflateEnd(it);
    delete it;
}

deflater::deflater(const deflater_settings& settings) noexcept : settings_{settings} {}
deflater::~deflater() = default;

void deflater::open() noexcept {
    if (stream_ != nullptr) return;
    auto made = std::make_unique<z_stream>();
    // Negative: without zlib's own header and checksum.
    const int outcome =
        deflateInit2(made.get(), settings_.level, Z_DEFLATED, -settings_.window_bits,
                     settings_.memory_level, Z_DEFAULT_STRATEGY);
    expects(outcome == Z_OK, "memory and proper settings for a deflater");
    stream_.reset(made.release());
}

void deflater::add(const_buffer piece, flat_buffer& into, piece_end end) noexcept {
    open();
    z_stream& stream = *stream_;
    std::size_t produced = 0;
    do {
        give(stream, piece);
        const std::size_t given = stream.avail_in;
        const bool all = given == piece.size();
        const int flush = end == piece_end::open || !all ? Z_NO_FLUSH : Z_SYNC_FLUSH;
        do {
            const std::size_t wanted = std::clamp(piece.size(), room_bytes_min, room_bytes_max);
            const mutable_buffer room = into.prepare(wanted);
            expects(!room.empty(), "room for what is deflated");
            give_room(stream, room);
            const std::size_t before = stream.avail_out;
            // Z_BUF_ERROR only says that there was nothing to do.
            static_cast<void>(::deflate(&stream, flush));
            into.commit(before - stream.avail_out);
            produced += before - stream.avail_out;
        } while (stream.avail_out == 0);
        piece = piece.subspan(given - stream.avail_in);
    } while (!piece.empty());
    message_bytes_ += produced;
    if (end == piece_end::message) end_message(into, produced);
}

// RFC 7692, 7.2.1. Where nothing came out of the last piece, the tail of the one before has been sent, and an
// empty block ends the message.
void deflater::end_message(flat_buffer& into, std::size_t produced) noexcept {
    if (produced >= tail.size()) {
        into.drop_back(tail.size());
        message_bytes_ -= tail.size();
        if (message_bytes_ == 0) into.append(empty_block);
    } else {
        into.append(empty_block);
    }
    message_bytes_ = 0;
    if (!settings_.context_kept) forget();
}

void deflater::forget() noexcept {
    expects(message_bytes_ == 0, "a message is not forgotten before its end");
    if (stream_ != nullptr) deflateReset(stream_.get());
}

void inflater::closer::operator()(z_stream_s* it) const noexcept {
    inflateEnd(it);
    delete it;
}

// With the largest window, whatever was agreed: it holds what a smaller one can refer to.
void inflater::open() noexcept {
    if (stream_ != nullptr) return;
    auto made = std::make_unique<z_stream>();
    const int outcome = inflateInit2(made.get(), -MAX_WBITS);
    expects(outcome == Z_OK, "memory for an inflater");
    stream_.reset(made.release());
}

inflater::progress inflater::add(const_buffer from, mutable_buffer into, piece_end end) noexcept {
    expects(!into.empty(), "an inflater has room");
    open();
    progress made;
    give_room(*stream_, into);
    const std::size_t room = stream_->avail_out;

    const_buffer rest = from;
    made.why = run(rest);
    made.consumed = from.size() - rest.size();
    const bool ends = end == piece_end::message && rest.empty();
    // Behind a final block the tail would be the beginning of something else. Without room it would be
    // consumed all the same, and the next call could no longer tell that the message ended between blocks.
    if (ends && made.why == violation::none && !behind_final_block_ && stream_->avail_out > 0) {
        const_buffer rest_of_tail = const_buffer{tail}.subspan(tail_used_);
        made.why = run(rest_of_tail);
        tail_used_ = tail.size() - rest_of_tail.size();
    }
    made.produced = room - stream_->avail_out;
    made.full = stream_->avail_out == 0;
    if (made.why == violation::none && ends && !made.full && !end_message()) {
        made.why = violation::corrupt_deflate_data;
    }
    return made;
}

// Takes what it consumes off the front of `from`. Ends early when the room is full.
violation inflater::run(const_buffer& from) noexcept {
    z_stream& stream = *stream_;
    do {
        give(stream, from);
        const std::size_t given = stream.avail_in;
        const int outcome = ::inflate(&stream, Z_SYNC_FLUSH);
        const std::size_t taken = given - stream.avail_in;
        from = from.subspan(taken);
        if (taken > 0) behind_final_block_ = false;
        if (outcome == Z_STREAM_END) {
            if (++streams_ > final_blocks_max) return violation::too_many_deflate_streams;
            if (!go_on_behind_final_block()) return violation::corrupt_deflate_data;
        } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
            return violation::corrupt_deflate_data;
        }
    } while (!from.empty() && stream.avail_out > 0);
    return violation::none;
}

// RFC 7692, 7.2.3.4: a final block is not the end of the message, nor of what later blocks may refer to.
bool inflater::go_on_behind_final_block() noexcept {
    z_stream& stream = *stream_;
    std::array<Bytef, std::size_t{1} << MAX_WBITS> window;
    uInt size = 0;
    behind_final_block_ = true;
    if (inflateGetDictionary(&stream, window.data(), &size) != Z_OK) return false;
    if (inflateReset(&stream) != Z_OK) return false;
    return size == 0 || inflateSetDictionary(&stream, window.data(), size) == Z_OK;
}

// False if the message ended within a block.
bool inflater::end_message() noexcept {
    constexpr int between_blocks = 128;  // As zlib tells in `data_type`.
    const bool whole = behind_final_block_ || (stream_->data_type & between_blocks) != 0;
    tail_used_ = 0;
    streams_ = 0;
    behind_final_block_ = false;
    if (context_ == context::dropped) inflateReset(stream_.get());
    return whole;
}

}  // namespace gyre::websocket
