// SPDX-License-Identifier: BSL-1.0
//
// Between packets and messages: see packet_format.hpp.
#include <exchange/codec/packet_format.hpp>

#include <exchange/codec/big_endian.hpp>

#include <algorithm>

namespace exchange {

namespace {

// A packet's JSON may be that many times as long as the packet that a client may send.
constexpr std::size_t json_growth = 4;
// Pages of answers, whose JSON a server makes.
constexpr std::size_t json_page_bytes_max = 32 * 1024;

}  // namespace

packet_format::packet_format(session_format format, soup_end we, std::size_t payload_bytes_max,
                             said_texts* said)
    : format_{format},
      we_{we},
      payload_bytes_max_{payload_bytes_max},
      said_{said},
      decoded_(format == session_format::json ? payload_bytes_max : 0) {}

std::size_t packet_format::message_bytes_max() const noexcept {
    const std::size_t packet = payload_bytes_max_ + 1;
    if (format_ == session_format::sbe) return packet;
    return we_ == soup_end::client ? json_page_bytes_max : json_growth * packet;
}

packet_format::reading packet_format::read(std::span<const std::byte> message) noexcept {
    if (message.size() > message_bytes_max())
        return {.framed = {.ending = soup_ending::oversized_packet}};
    if (format_ == session_format::json)
        return read_text({reinterpret_cast<const char*>(message.data()), message.size()});
    if (message.empty()) return {.framed = {.ending = soup_ending::empty_packet}};
    return {.framed = {.complete = true,
                       .packet = {static_cast<soup_type>(message.front()), message.subspan(1)}}};
}

packet_format::reading packet_format::read_text(std::string_view text) noexcept {
    const soup_end peer = we_ == soup_end::client ? soup_end::server : soup_end::client;
    json_packet_reading read = read_json_packet(text, peer, decoded_);
    if (!read.problem && read.packet.type == soup_type::login_accepted)
        next_in_ = parse_soup_acceptance(read.packet.payload).fields.sequence;
    const bool sequenced = !read.problem && read.packet.type == soup_type::sequenced;
    if (sequenced && read.sequence != next_in_++) read.problem.fault = json_fault::wrong_sequence;
    if (!read.problem) return {.framed = {.complete = true, .packet = read.packet}};
    const bool lost = we_ == soup_end::client;  // A server has no use of being told.
    return {.framed = {.ending = lost ? soup_ending::broken_transport : soup_ending::none},
            .problem = read.problem};
}

std::optional<std::size_t> packet_format::write(std::span<const std::byte> packet,
                                                std::span<std::byte> into) noexcept {
    if (format_ == session_format::sbe) {
        const std::span<const std::byte> unframed = packet.subspan(2);
        if (into.size() < unframed.size()) return std::nullopt;
        std::ranges::copy(unframed, into.begin());
        return unframed.size();
    }
    const soup_packet it{static_cast<soup_type>(packet[2]), packet.subspan(soup_header_bytes)};
    if (it.type == soup_type::login_accepted)
        next_out_ = parse_soup_acceptance(it.payload).fields.sequence;
    const bool alike = said_ != nullptr && it.type == soup_type::unsequenced;  // For all.
    if (alike) {
        const std::span<const std::byte> text = said_->find(packet);
        if (text.size() > into.size()) return std::nullopt;
        std::ranges::copy(text, into.begin());
        if (!text.empty()) return text.size();
    }
    json_writer to{into};
    if (!write_json_packet(to, it, next_out_) || to.full()) return std::nullopt;
    if (it.type == soup_type::sequenced) ++next_out_;
    if (alike) said_->keep(packet, into.first(to.size()));
    return to.size();
}

std::size_t whole_packet_bytes(std::span<const std::byte> wire) noexcept {
    gyre::expects(wire.size() >= soup_header_bytes, "an output consists of whole packets");
    const std::size_t size = 2 + std::size_t{get_big_endian<std::uint16_t>(wire.first<2>())};
    gyre::expects(wire.size() >= size, "an output consists of whole packets");
    return size;
}

}  // namespace exchange
