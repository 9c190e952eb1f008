// SPDX-License-Identifier: BSL-1.0
//
// Headers and blocks: see mold_packet.hpp.
#include <exchange/codec/mold_packet.hpp>

#include <exchange/codec/big_endian.hpp>

#include <limits>

namespace exchange {

namespace {

/// The header, and a fault if it alone is wrong.
mold_packet parse_header(std::span<const std::byte> datagram) noexcept {
    if (datagram.size() < mold_header_bytes) return {.fault = mold_fault::header_truncated};
    const auto session = trimmed(datagram.first<10>());
    if (!session) return {.fault = mold_fault::malformed_session};
    const auto sequence = get_big_endian<std::uint64_t>(datagram.subspan<10, 8>());
    const auto count = get_big_endian<std::uint16_t>(datagram.subspan<18, 2>());
    const mold_header header{*session, sequence, count};
    const std::uint64_t messages = count == mold_end_of_session ? 0 : count;
    if (sequence == 0 || messages > std::numeric_limits<std::uint64_t>::max() - sequence)
        return {.fault = mold_fault::malformed_sequence, .header = header};
    return {.header = header};
}

/// What `count` blocks at the beginning of `bytes` occupy; more than there is if one is torn.
std::size_t size_of_blocks(std::span<const std::byte> bytes, std::size_t count) noexcept {
    std::size_t at = 0;
    for (; count > 0 && bytes.size() - at >= mold_block_bytes; --count) {
        at += mold_block_bytes + get_big_endian<std::uint16_t>(bytes.subspan(at).first<2>());
        if (at > bytes.size()) return at;
    }
    return count == 0 ? at : bytes.size() + 1;
}

}  // namespace

std::string_view describe(mold_fault fault) noexcept {
    switch (fault) {
        case mold_fault::none: return "no fault";
        case mold_fault::header_truncated: return "shorter than a header";
        case mold_fault::malformed_session: return "a session that is no text";
        case mold_fault::malformed_sequence: return "a sequence number that cannot be";
        case mold_fault::message_truncated: return "shorter than its messages";
        case mold_fault::trailing_bytes: return "longer than its messages";
        case mold_fault::other_session: return "another session";
        case mold_fault::malformed_count: return "a request for no messages, or too many";
        case mold_fault::not_sent_yet: return "a request for what was not sent yet";
        case mold_fault::not_kept: return "a request for what is not kept any more";
    }
    return "unknown";
}

std::array<std::byte, mold_header_bytes> format_mold_header(const mold_header& header) noexcept {
    std::array<std::byte, mold_header_bytes> out;
    const std::span fields{out};
    pad_right(fields.first<10>(), header.session.view());
    put_big_endian(fields.subspan<10, 8>(), header.sequence);
    put_big_endian(fields.subspan<18, 2>(), header.count);
    return out;
}

std::span<const std::byte> mold_messages::pop() noexcept {
    gyre::expects(!empty());
    const std::size_t size = get_big_endian<std::uint16_t>(blocks_.first<2>());
    const auto message = blocks_.subspan(mold_block_bytes, size);
    blocks_ = blocks_.subspan(mold_block_bytes + size);
    ++sequence_;
    --count_;
    return message;
}

mold_packet parse_mold_packet(std::span<const std::byte> datagram) noexcept {
    mold_packet packet = parse_header(datagram);
    if (packet.fault != mold_fault::none) return packet;
    const auto blocks = datagram.subspan(mold_header_bytes);
    const std::uint16_t announced = packet.header.count;
    const std::size_t count = announced == mold_end_of_session ? 0 : announced;
    const std::size_t size = size_of_blocks(blocks, count);
    if (size > blocks.size()) packet.fault = mold_fault::message_truncated;
    else if (size < blocks.size()) packet.fault = mold_fault::trailing_bytes;
    else packet.messages = {blocks, packet.header.sequence, count};
    return packet;
}

mold_packet parse_mold_request(std::span<const std::byte> datagram) noexcept {
    mold_packet request = parse_header(datagram);
    if (request.fault != mold_fault::none) return request;
    const std::uint16_t count = request.header.count;
    if (datagram.size() > mold_header_bytes) request.fault = mold_fault::trailing_bytes;
    else if (count == 0 || count > mold_messages_max) request.fault = mold_fault::malformed_count;
    return request;
}

}  // namespace exchange
