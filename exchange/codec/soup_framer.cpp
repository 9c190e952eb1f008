// SPDX-License-Identifier: BSL-1.0
//
// Finding packets: see soup_framer.hpp.
#include <exchange/codec/soup_framer.hpp>

#include <exchange/codec/big_endian.hpp>

#include <algorithm>

namespace exchange {

soup_framer::soup_framer(const soup_framer_options& options)
    : bytes_{std::make_unique_for_overwrite<std::byte[]>(options.buffer_bytes_max)},
      size_{options.buffer_bytes_max},
      payload_bytes_max_{options.payload_bytes_max} {
    gyre::expects(payload_bytes_max_ <= soup_payload_bytes_max);
    gyre::expects(size_ >= soup_header_bytes + payload_bytes_max_, "room for the largest packet");
}

std::span<std::byte> soup_framer::space() noexcept {
    if (begin_ == end_) reset();
    // Only the rest of one packet is left here, so this is rare and short. Waiting for the space to be
    // used up entirely would let reads shrink to single bytes.
    if (size_ - begin_ < soup_header_bytes + payload_bytes_max_) {
        std::ranges::copy(bytes().subspan(begin_, end_ - begin_), bytes().begin());
        end_ -= begin_;
        begin_ = 0;
    }
    return bytes().subspan(end_);
}

void soup_framer::received(std::size_t size) noexcept {
    gyre::expects(size <= size_ - end_);
    end_ += size;
}

soup_framed soup_framer::next() noexcept {
    const std::span<const std::byte> pending = bytes().subspan(begin_, end_ - begin_);
    if (pending.size() < 2) return {};
    const std::size_t length = get_big_endian<std::uint16_t>(pending.first<2>());
    if (length == 0) return {.ending = soup_ending::empty_packet};
    if (length - 1 > payload_bytes_max_) return {.ending = soup_ending::oversized_packet};
    if (pending.size() < 2 + length) return {};
    begin_ += 2 + length;
    const auto type = static_cast<soup_type>(pending[2]);
    return {.complete = true, .packet = {type, pending.subspan(3, length - 1)}};
}

}  // namespace exchange
