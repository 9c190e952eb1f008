// SPDX-License-Identifier: BSL-1.0
//
// Between messages and packets: see websocket_messages.hpp.
#include <exchange/transport/websocket_messages.hpp>

#include <exchange/codec/json_packet.hpp>
#include <exchange/net/transport/websocket_close.hpp>

#include <gyre/websocket/violation.hpp>

#include <algorithm>
#include <string>

namespace exchange {

namespace {

namespace ws = gyre::websocket;

constexpr std::size_t problem_bytes_max = 1024;

// The connection has told the peer already.
soup_ending ending_of(ws::violation why) noexcept {
    const bool large = why == ws::violation::large_frame || why == ws::violation::large_message;
    return large ? soup_ending::oversized_packet : soup_ending::broken_transport;
}

ws::close_reason words_of(const websocket_close_reason& why) {
    return {why.code, std::string{why.words}};
}

}  // namespace

ws::connection_options websocket_bounds(const transport_options& how, session_format format,
                                        soup_end we) {
    ws::connection_options made;
    const packet_format packets{format, we, how.framing.payload_bytes_max};
    made.limits.message_bytes_max = packets.message_bytes_max();
    made.limits.frame_bytes_max = packets.message_bytes_max();
    made.ping_interval = gyre::duration::zero();  // The session's own heartbeats do.
    made.read_bytes_first = how.framing.buffer_bytes_max;
    return made;
}

websocket_messages::websocket_messages(ws::connection& on, const transport_options& how,
                                       session_format format, soup_end we, std::string_view name)
    : on_{on},
      format_{format, we, how.framing.payload_bytes_max, how.said.get()},
      said_{how.said},
      texts_(format == session_format::json ? how.websocket.unsent_bytes_max : 0),
      name_{name} {}

// -------- In --------

gyre::task<gyre::io_result<packet_batch>> websocket_messages::receive() {
    packets_.clear();
    for (;;) {
        const bool enough = take_messages();
        if (problem_) {
            const gyre::io_result<> answered = co_await answer_problem();
            if (!answered.ok()) co_return answered.error();
            if (!enough) continue;
        }
        if (enough) co_return gyre::io_result<packet_batch>{packet_batch{packets_, ending_}};
        const auto got = co_await on_.receive_batch(received_);
        if (got.ok()) {
            untaken_ = got.value();
            continue;
        }
        if (on_.broken_rule() == ws::violation::none) co_return got.error();
        ending_ = ending_of(on_.broken_rule());
    }
}

// Takes messages up to a text, of which there is memory for one, or one that has to be answered. True if
// there is something to yield.
bool websocket_messages::take_messages() {
    while (ending_ == soup_ending::none && !untaken_.empty()) {
        const ws::message it = untaken_.front();
        untaken_ = untaken_.subspan(1);
        ending_ = take(it);
        if (problem_ || format_.is_text()) break;
    }
    return !packets_.empty() || ending_ != soup_ending::none;
}

soup_ending websocket_messages::take(const ws::message& it) {
    const bool text = it.kind == ws::message_kind::text;
    if (text != format_.is_text())
        return break_off(ws::close_code::unsupported_data, soup_ending::broken_transport,
                         text ? "a text in a session of binary messages"
                              : "a binary message in a session of texts");
    const packet_format::reading read = format_.read(it.bytes);
    if (read.framed.complete) packets_.push_back(read.framed.packet);
    const soup_ending why = read.framed.ending;
    if (why != soup_ending::none)
        return break_off(close_reason_of(why).code, why,
                         read.problem ? describe(read.problem.fault) : describe(why));
    if (read.problem) problem_ = read.problem;
    return soup_ending::none;
}

// The peer reads why when the session ends.
soup_ending websocket_messages::break_off(ws::close_code code, soup_ending why,
                                          std::string_view words) {
    broken_ = ws::close_reason{code, std::string{words}};
    return why;
}

gyre::task<gyre::io_result<>> websocket_messages::answer_problem() {
    std::array<std::byte, problem_bytes_max> space;
    json_writer to{space};
    write_json_problem(to, *problem_);
    problem_.reset();
    gyre::expects(!to.full(), "names of a problem are short");
    const gyre::io_result<> sent =
        co_await on_.send(ws::message_kind::text, gyre::const_buffer{space}.first(to.size()));
    co_return sent;
}

// -------- Out --------

gyre::task<gyre::io_result<std::size_t>> websocket_messages::send(
    std::span<const std::byte> packets) {
    std::size_t taken = 0;
    std::size_t written = 0;
    std::size_t count = 0;
    const ws::message_kind kind =
        format_.is_text() ? ws::message_kind::text : ws::message_kind::binary;
    while (taken < packets.size() && count < to_send_.size()) {
        const std::span<const std::byte> rest = packets.subspan(taken);
        const std::span<const std::byte> packet = rest.first(whole_packet_bytes(rest));
        gyre::const_buffer bytes = packet.subspan(2);
        if (format_.is_text()) {
            const std::span<std::byte> room = std::span{texts_}.subspan(written);
            const std::optional<std::size_t> size = format_.write(packet, room);
            if (!size) break;
            bytes = room.first(*size);
            written += *size;
        }
        to_send_[count] = ws::message{kind, bytes};
        ++count;
        taken += packet.size();
    }
    if (count == 0) {
        broken_ = ws::close_reason{ws::close_code::internal_error, "a packet that cannot be said"};
        co_return gyre::error{gyre::errc::limit_exceeded, gyre::activity::write};
    }
    const gyre::io_result<> sent = co_await on_.send_batch(std::span{to_send_}.first(count));
    if (!sent.ok()) co_return sent.error();
    co_return gyre::io_result<std::size_t>{taken};
}

gyre::task<> websocket_messages::end(soup_ending why) {
    const ws::close_reason told = broken_ ? *broken_ : words_of(close_reason_of(why));
    static_cast<void>(co_await on_.close(told));
}

}  // namespace exchange
