// SPDX-License-Identifier: BSL-1.0
//
// The outbox, a double buffer: see soup_connection.hpp.
#include <exchange/codec/soup_connection.hpp>

namespace exchange {

soup_outbox::soup_outbox(std::size_t bytes_max) : bytes_max_{bytes_max} {
    for (bytes& half : halves_) half.reserve(bytes_max);
}

bool soup_outbox::push(soup_type type, std::span<const std::byte> payload) noexcept {
    if (payload.size() > soup_payload_bytes_max) return false;
    bytes& filling = halves_[filling_];
    const std::size_t begin = filling.size();
    if (bytes_max_ - begin < soup_header_bytes + payload.size()) return false;
    filling.resize(begin + soup_header_bytes);  // Within what was reserved: nothing is allocated.
    write_soup_header(std::span{filling}.subspan(begin).first<soup_header_bytes>(), type,
                      payload.size());
    filling.insert(filling.end(), payload.begin(), payload.end());
    return true;
}

std::span<const std::byte> soup_outbox::offer() noexcept {
    if (offered_.empty()) {
        offered_ = halves_[filling_];
        filling_ = 1 - filling_;
        halves_[filling_].clear();
    }
    return offered_;
}

void soup_outbox::sent(std::size_t size) noexcept {
    gyre::expects(size <= offered_.size());
    offered_ = offered_.subspan(size);
}

void soup_outbox::clear() noexcept {
    offered_ = {};
    halves_[filling_].clear();
}

}  // namespace exchange
