// SPDX-License-Identifier: BSL-1.0
//
// Packets into the outbox: see soup_connection.hpp.
#include <exchange/codec/soup_connection.hpp>

namespace exchange {

bool soup_outbox::push(soup_type type, std::span<const std::byte> payload) noexcept {
    if (payload.size() > soup_payload_bytes_max) return false;
    const std::span<std::byte> space = waiting_.space();
    if (space.size() < soup_header_bytes + payload.size()) return false;
    write_soup_header(space.first<soup_header_bytes>(), type, payload.size());
    std::ranges::copy(payload, space.subspan(soup_header_bytes).begin());
    waiting_.add(soup_header_bytes + payload.size());
    return true;
}

bool soup_outbox::append(std::span<const std::byte> packets) noexcept {
    const std::span<std::byte> space = waiting_.space();
    if (space.size() < packets.size()) return false;
    std::ranges::copy(packets, space.begin());
    waiting_.add(packets.size());
    return true;
}

}  // namespace exchange
