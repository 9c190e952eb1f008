// SPDX-License-Identifier: BSL-1.0
//
// Beast's operations in the order that a session wants: see beast_packets.hpp.
#include <exchange/net/asio/beast_packets.hpp>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>

namespace exchange {

namespace {

namespace beast = boost::beast;
using gyre::activity;

// Answers to texts that are no messages; a client that does not read them has to leave.
constexpr std::size_t unsaid_bytes_max = 16 * 1024;

std::string_view text_of(const beast::flat_buffer& buffer) noexcept {
    return {static_cast<const char*>(buffer.cdata().data()), buffer.size()};
}

}  // namespace

void beast_packets::open(asio_stream_socket socket, soup_end we) {
    const auto [unknown, where] = socket.remote_endpoint();
    at_.emplace(std::move(socket.open()), options_, we, unknown ? "" : where.to_string());
    at_->socket.read_message_max(
        packet_format{session_format::json, we, options_.framing.payload_bytes_max}
            .message_bytes_max());
    at_->socket.auto_fragment(false);
}

void beast_packets::cut() noexcept {
    boost::system::error_code ignored;
    at_->socket.next_layer().shutdown(boost::asio::socket_base::shutdown_both, ignored);
    at_->was_cut = true;
}

void beast_packets::close() noexcept {
    boost::system::error_code ignored;
    at_->socket.next_layer().close(ignored);
    at_->open = false;
}

gyre::endpoint beast_packets::peer() const noexcept {
    if (!is_open()) return {};
    boost::system::error_code unknown;
    const auto found = at_->socket.next_layer().remote_endpoint(unknown);
    return unknown ? gyre::endpoint{} : from_asio_endpoint(found);
}

void beast_packets::agree(session_format format) {
    at_->opening.reset();
    at_->format.emplace(format, at_->end, options_.framing.payload_bytes_max, options_.said.get());
    at_->socket.read_message_max(at_->format->message_bytes_max());
    if (at_->format->is_text()) at_->socket.text(true);
    else at_->socket.binary(true);
    at_->opened = true;
}

// -------- In --------

beast_packets::task<beast_packets::outcome> beast_packets::receive() {
    connection& at = *at_;
    outcome got;
    if (!at.opened && at.end == soup_end::client) {
        got = co_await ask_server();
    } else if (!at.opened) {
        got = co_await accept_client();
    } else {
        at.in.consume(at.in.size());
        got = co_await at.socket.async_read(at.in, as_io_result{activity::read});
        at.message = got.ok();
    }
    co_return got;
}

beast_packets::task<beast_packets::outcome> beast_packets::accept_client() {
    connection& at = *at_;
    const auto space = at.in.prepare(options_.websocket.head_bytes_max + 1 - at.in.size());
    const outcome read =
        co_await at.socket.next_layer().async_read_some(space, as_io_result{activity::read});
    if (!read.ok()) co_return read;
    at.in.commit(read.value());
    const websocket_opening::step step = at.opening->read(gyre::bytes_of(text_of(at.in)));
    if (step.what == websocket_opening::step::kind::incomplete) co_return read;
    const bool talks_on =
        step.what == websocket_opening::step::kind::open && step.used < at.in.size();
    if (talks_on) co_return gyre::error{gyre::errc::protocol_error, activity::read};
    if (step.what == websocket_opening::step::kind::refused) {
        at.refused = true;
        at.unsaid.push_back(step.answer);
        co_return read;
    }
    beast::http::request_parser<beast::http::empty_body> parser;
    boost::system::error_code failure;
    parser.put(at.in.cdata(), failure);
    at.in.consume(at.in.size());
    at.socket.set_option(beast::websocket::stream_base::decorator{
        [name = subprotocol_of(step.format)](beast::websocket::response_type& answer) {
            answer.set(beast::http::field::sec_websocket_protocol, name);
        }});
    const gyre::io_result<> accepted =
        co_await at.socket.async_accept(parser.get(), as_io_result{activity::read});
    if (!accepted.ok()) co_return accepted.error();
    agree(step.format);
    co_return read;
}

beast_packets::task<beast_packets::outcome> beast_packets::ask_server() {
    connection& at = *at_;
    const session_format format = options_.websocket.format;
    at.socket.set_option(beast::websocket::stream_base::decorator{
        [name = subprotocol_of(format)](beast::websocket::request_type& asked) {
            asked.set(beast::http::field::sec_websocket_protocol, name);
        }});
    beast::websocket::response_type answer;
    const gyre::io_result<> agreed = co_await at.socket.async_handshake(
        answer, at.authority, options_.websocket.path, as_io_result{activity::read});
    if (!agreed.ok()) co_return agreed.error();
    if (answer[beast::http::field::sec_websocket_protocol] != subprotocol_of(format))
        co_return gyre::error{gyre::errc::protocol_error, activity::read};
    agree(format);
    co_return outcome{std::size_t{0}};
}

soup_framed beast_packets::next() noexcept {
    connection& at = *at_;
    if (!std::exchange(at.message, false)) return {};
    if (at.socket.got_text() != at.format->is_text()) {
        at.closes_with = {gyre::websocket::close_code::unsupported_data,
                          "a message of the other format"};
        return {.ending = soup_ending::broken_transport};
    }
    const packet_format::reading read = at.format->read(gyre::bytes_of(text_of(at.in)));
    if (!read.problem || read.framed.ending != soup_ending::none) return read.framed;
    std::array<std::byte, 512> space;
    json_writer to{space};
    write_json_problem(to, read.problem);
    if (at.unsaid_bytes + to.size() > unsaid_bytes_max) return {.ending = soup_ending::fell_behind};
    at.unsaid.emplace_back(reinterpret_cast<const char*>(space.data()), to.size());
    at.unsaid_bytes += to.size();
    return {};
}

beast_packets::task<beast_packets::outcome> beast_packets::discard() {
    connection& at = *at_;
    outcome got;
    if (at.opened) {
        at.in.consume(at.in.size());
        got = co_await at.socket.async_read(at.in, as_io_result{activity::read});
    } else {
        at.out.resize(4096);
        got = co_await at.socket.next_layer().async_read_some(
            boost::asio::buffer(at.out.data(), at.out.size()), as_io_result{activity::read});
    }
    co_return got;
}

// -------- Out --------

beast_packets::task<beast_packets::outcome> beast_packets::send(const soup_output& packets) {
    connection& at = *at_;
    std::size_t bytes = 0;
    while (!at.unsaid.empty()) {
        std::vector<std::string> texts = std::exchange(at.unsaid, {});
        at.unsaid_bytes = 0;
        for (std::string& each : texts) {
            const outcome said = co_await say_text(std::move(each));
            if (!said.ok()) co_return said.error();
            bytes += said.value();
        }
    }
    if (std::exchange(at.close_due, false)) {
        const outcome closed = co_await say_close();
        if (!closed.ok()) co_return closed.error();
        bytes += closed.value();
    }
    if (!at.opened || at.closing) co_return outcome{bytes};
    for (std::span<const std::byte> part : packets.buffers()) {
        while (!part.empty()) {
            const std::size_t size = whole_packet_bytes(part);
            const outcome said = co_await say_packet(part.first(size));
            if (!said.ok()) co_return said.error();
            bytes += said.value();
            at.taken += size;
            // What is left of the output may be something else by now.
            if (at.was_cut) co_return gyre::error{gyre::errc::canceled, activity::write};
            part = part.subspan(size);
        }
    }
    co_return outcome{bytes};
}

/// Of HTTP, as long as there is nothing else.
beast_packets::task<beast_packets::outcome> beast_packets::say_text(std::string text) {
    connection& at = *at_;
    const auto whole = boost::asio::buffer(text.data(), text.size());
    outcome said;
    if (at.opened) {
        said = co_await at.socket.async_write(whole, as_io_result{activity::write});
    } else {
        said = co_await boost::asio::async_write(at.socket.next_layer(), whole,
                                                 as_io_result{activity::write});
    }
    co_return said;
}

beast_packets::task<beast_packets::outcome> beast_packets::say_packet(
    std::span<const std::byte> packet) {
    connection& at = *at_;
    if (at.out.empty()) at.out.resize(options_.websocket.unsent_bytes_max);
    const std::optional<std::size_t> size = at.format->write(packet, at.out);
    if (!size) co_return gyre::error{gyre::errc::limit_exceeded, activity::write};
    const outcome said = co_await at.socket.async_write(boost::asio::buffer(at.out.data(), *size),
                                                        as_io_result{activity::write});
    co_return said;
}

beast_packets::task<beast_packets::outcome> beast_packets::say_close() {
    connection& at = *at_;
    at.closing = true;
    beast::websocket::close_reason reason;
    reason.code = static_cast<std::uint16_t>(at.closes_with.code);
    reason.reason.assign(at.closes_with.words.data(), at.closes_with.words.size());
    const gyre::io_result<> closed =
        co_await at.socket.async_close(reason, as_io_result{activity::write});
    if (!closed.ok()) co_return closed.error();
    co_return outcome{std::size_t{1}};
}

void beast_packets::finish(soup_ending why) {
    connection& at = *at_;
    if (at.closing || at.close_due || at.refused) return;
    if (at.closes_with.words.empty()) at.closes_with = close_reason_of(why);
    if (at.opened) at.close_due = true;
    if (!at.opened && at.end == soup_end::server)
        at.unsaid.push_back(websocket_opening::too_late());
    if (!at.opened) at.refused = true;
}

}  // namespace exchange
