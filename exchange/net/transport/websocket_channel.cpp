// SPDX-License-Identifier: BSL-1.0
//
// From frames to packets and back: see websocket_channel.hpp.
#include <exchange/net/transport/websocket_channel.hpp>

#include <exchange/codec/big_endian.hpp>
#include <exchange/codec/json_packet.hpp>

#include <gyre/websocket/violation.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace exchange {

namespace {

namespace ws = gyre::websocket;

// In front of a message: the header of one of 126 to 65,535 bytes. A shorter one moves up to its own.
constexpr std::size_t long_header = 4;
constexpr std::size_t key_bytes = 4;
constexpr std::size_t frame_payload_max = 0xffff;

// What messages leave free in each half: a pong and a close frame, so that there is always room for the last
// word.
constexpr std::size_t control_spare = 2 * (ws::control_bytes_max + long_header + key_bytes);
constexpr std::size_t frame_slack = 512;

gyre::buffer_bounds bounds_of(const transport_options& options, soup_end we) noexcept {
    const packet_format longest{session_format::json, we, options.framing.payload_bytes_max};
    const std::size_t message =
        std::max(longest.message_bytes_max(), options.websocket.head_bytes_max);
    const std::size_t size = std::max(options.framing.buffer_bytes_max, 2 * message + frame_slack);
    return {size, size};
}

ws::role role_of(soup_end we) noexcept {
    return we == soup_end::client ? ws::role::client : ws::role::server;
}

}  // namespace

websocket_channel::websocket_channel(const transport_options& options, soup_end we,
                                     std::string_view authority)
    : options_{options},
      we_{we},
      opening_{std::in_place, options.websocket, we, authority},
      in_{bounds_of(options, we)},
      out_{options.websocket.unsent_bytes_max} {
    gyre::expects(options.websocket.unsent_bytes_max >= options.framing.payload_bytes_max + 2048,
                  "room for a packet, and for the words of an opening");
    if (we == soup_end::client) keys_ = ws::masking_keys::random();
    say(opening_->first_words());
}

void websocket_channel::say(std::string_view text) noexcept {
    const std::span<std::byte> space = out_.space();
    const std::size_t size = std::min(space.size(), text.size());
    std::ranges::copy(std::as_bytes(std::span{text.substr(0, size)}), space.begin());
    out_.add(size);
}

// -------- In --------

std::span<std::byte> websocket_channel::space() noexcept { return in_.room(frame_slack); }

void websocket_channel::received(std::size_t size) noexcept {
    in_.commit(size);
    if (phase_ == phase::opening) open();
    if (phase_ != phase::opening && phase_ != phase::open) in_.skip(in_.raw().size());
}

void websocket_channel::open() noexcept {
    using kind = websocket_opening::step::kind;
    const websocket_opening::step come_to = opening_->read(in_.raw());
    if (come_to.what == kind::incomplete) return;
    say(come_to.answer);
    in_.skip(come_to.used);
    opening_.reset();
    phase_ = come_to.what == kind::open      ? phase::open
             : come_to.what == kind::refused ? phase::refused
                                             : phase::unavailable;
    if (phase_ != phase::open) return;
    format_.emplace(come_to.format, we_, options_.framing.payload_bytes_max, options_.said.get());
    ws::parse_limits limits;
    limits.message_bytes_max = limits.frame_bytes_max = format_->message_bytes_max();
    parser_.emplace(role_of(we_), limits, ws::frame_parser::deflate::refused);
}

soup_framed websocket_channel::next() noexcept {
    if (std::exchange(delivered_, false)) in_.drop_message();
    while (phase_ == phase::open && !closing_ && !broken_) {
        const ws::parsed got = parser_->next(in_.raw());
        in_.skip(got.skipped);
        if (got.what == ws::parsed::kind::incomplete) break;
        const soup_framed framed = take(got);
        if (framed.complete || framed.ending != soup_ending::none) return framed;
        if (std::exchange(delivered_, false)) in_.drop_message();
    }
    return {};
}

soup_framed websocket_channel::take(const ws::parsed& got) noexcept {
    switch (got.what) {
        case ws::parsed::kind::payload:
            in_.keep(got.bytes.size());
            if (!got.last) return {};
            delivered_ =
                true;  // Dropped when the next one is asked for, or here if it is no packet.
            return packet_of(got.message);
        case ws::parsed::kind::ping: note_ping(got.bytes); break;
        case ws::parsed::kind::close: note_close(got); break;
        case ws::parsed::kind::violated: {
            const bool large =
                got.why == ws::violation::large_frame || got.why == ws::violation::large_message;
            return break_off(close_code_for(got.why),
                             large ? soup_ending::oversized_packet : soup_ending::broken_transport,
                             describe(got.why));
        }
        case ws::parsed::kind::pong:
        case ws::parsed::kind::incomplete: break;
    }
    in_.skip(got.bytes.size());
    return {};
}

soup_framed websocket_channel::packet_of(ws::message_kind kind) noexcept {
    const bool text = kind == ws::message_kind::text;
    if (text != format_->is_text())
        return break_off(ws::close_code::unsupported_data, soup_ending::broken_transport,
                         text ? "a text in a session of binary messages"
                              : "a binary message in a session of texts");
    const packet_format::reading read = format_->read(in_.message());
    if (read.problem && read.framed.ending == soup_ending::none) return answer(read.problem);
    const soup_ending why = read.framed.ending;
    if (why == soup_ending::none) return read.framed;
    return break_off(close_reason_of(why).code, why,
                     read.problem ? describe(read.problem.fault) : describe(why));
}

soup_framed websocket_channel::answer(const json_problem& problem) noexcept {
    json_writer to{payload_space(control_spare)};
    write_json_problem(to, problem);
    if (to.full()) return {.ending = soup_ending::fell_behind};
    put_frame(ws::frame_opcode::text, to.size());
    return {};
}

/// The session ends. The peer is told behind what the session has to say yet.
soup_framed websocket_channel::break_off(ws::close_code code, soup_ending why,
                                         std::string_view words) noexcept {
    broken_ = websocket_close_reason{code, words};
    return {.ending = why};
}

// RFC 6455, 5.5.3: of several pings the newest may be answered alone, so a flood of them costs no memory.
void websocket_channel::note_ping(std::span<const std::byte> payload) noexcept {
    std::ranges::copy(payload, pong_.begin());
    pong_bytes_ = payload.size();
    pong_due_ = true;
}

// RFC 6455, 5.5.1: the answer carries the same number.
void websocket_channel::note_close(const ws::parsed& got) noexcept {
    peer_closed_ = true;
    put_close({got.code, {}});
}

void websocket_channel::drop() noexcept {
    in_.drop_message();
    delivered_ = false;
    while (phase_ == phase::open && !peer_closed_) {
        const ws::parsed got = parser_->next(in_.raw());
        in_.skip(got.skipped);
        if (got.what == ws::parsed::kind::close) note_close(got);
        if (got.what == ws::parsed::kind::incomplete) return;
        if (got.what == ws::parsed::kind::violated)
            peer_closed_ = true;  // Nothing can be told apart.
        in_.skip(got.bytes.size());
    }
    in_.skip(in_.raw().size());
}

// -------- Out --------

std::span<const std::byte> websocket_channel::offer(const soup_output& output) noexcept {
    if (pong_due_ && !closing_ && out_.space().size() >= control_spare) {
        put_control(ws::frame_opcode::pong, std::span{pong_}.first(pong_bytes_));
        pong_due_ = false;
    }
    if (phase_ != phase::open || closing_) return out_.offer();
    for (std::span<const std::byte> part : output.buffers()) {
        while (!part.empty()) {
            const std::size_t size = whole_packet_bytes(part);
            if (!put(part.first(size))) return out_.offer();
            taken_ += size;
            part = part.subspan(size);
        }
    }
    return out_.offer();
}

std::size_t websocket_channel::sent(std::size_t size) noexcept {
    out_.sent(size);
    return std::exchange(taken_, 0);
}

/// False if there is no room yet. There will be, unless there is nothing to wait for.
bool websocket_channel::put(std::span<const std::byte> packet) noexcept {
    const std::optional<std::size_t> size = format_->write(packet, payload_space(control_spare));
    if (size)
        put_frame(format_->is_text() ? ws::frame_opcode::text : ws::frame_opcode::binary, *size);
    else if (out_.empty())
        put_close({ws::close_code::internal_error, "a packet that cannot be said"});
    return size.has_value();
}

std::span<std::byte> websocket_channel::payload_space(std::size_t spare) noexcept {
    const std::size_t front = long_header + (keys_ ? key_bytes : 0);
    const std::span<std::byte> space = out_.space();
    if (space.size() < front + spare) return {};
    return space.subspan(front, std::min(space.size() - front - spare, frame_payload_max));
}

/// Its payload stands in `payload_space` already.
void websocket_channel::put_frame(ws::frame_opcode code, std::size_t payload_bytes) noexcept {
    ws::frame_header header;
    header.code = code;
    header.payload_bytes = payload_bytes;
    if (keys_) header.key = keys_->next();
    const ws::encoded_header head{header};
    const std::span<std::byte> space = out_.space();
    const std::span<std::byte> payload = space.subspan(head.bytes().size(), payload_bytes);
    const std::size_t written_at = long_header + (keys_ ? key_bytes : 0);
    if (payload_bytes > 0) std::memmove(payload.data(), space.data() + written_at, payload_bytes);
    if (header.key) ws::mask(payload, *header.key);
    std::ranges::copy(head.bytes(), space.begin());
    out_.add(head.bytes().size() + payload_bytes);
}

void websocket_channel::put_control(ws::frame_opcode code,
                                    std::span<const std::byte> payload) noexcept {
    const std::span<std::byte> space = payload_space(0);
    gyre::expects(space.size() >= payload.size(), "messages leave room for control frames");
    std::ranges::copy(payload, space.begin());
    put_frame(code, payload.size());
}

/// Once: nothing follows it.
void websocket_channel::put_close(const websocket_close_reason& why) noexcept {
    if (std::exchange(closing_, true)) return;
    pong_due_ = false;
    std::array<std::byte, ws::control_bytes_max> payload{};
    std::size_t size = 0;
    if (why.code != ws::close_code::no_status) {
        put_big_endian(std::span{payload}.first<2>(), static_cast<std::uint16_t>(why.code));
        const std::string_view words = why.words.substr(0, ws::close_text_bytes_max);
        std::ranges::copy(std::as_bytes(std::span{words}), payload.begin() + 2);
        size = 2 + words.size();
    }
    put_control(ws::frame_opcode::close, std::span{payload}.first(size));
}

void websocket_channel::finish(soup_ending why) noexcept {
    if (phase_ == phase::open) return put_close(broken_.value_or(close_reason_of(why)));
    if (phase_ == phase::opening && we_ == soup_end::server) say(websocket_opening::too_late());
    if (phase_ == phase::opening) phase_ = phase::refused;
}

}  // namespace exchange
