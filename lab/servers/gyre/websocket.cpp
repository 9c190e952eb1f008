// SPDX-License-Identifier: BSL-1.0
//
// The server of `websocket`: an echo and a room, on the library's own WebSocket. It has one thread.
#include <lab/servers/gyre/server.hpp>

#include <gyre/websocket/connection.hpp>
#include <gyre/websocket/hub.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace gyre;

constexpr std::size_t head_bytes_max = 4 * 1024;

struct request_head {
    request_head() = default;

    std::string path;
    std::vector<websocket::header_field> fields;
    std::string rest;  // What came behind it.
};

request_head parsed(std::string_view text) {
    request_head made;
    const std::string_view line = text.substr(0, text.find("\r\n"));
    const std::size_t begin = line.find(' ') + 1;
    made.path = line.substr(begin, line.find(' ', begin) - begin);
    text.remove_prefix(line.size() + 2);
    while (!text.empty()) {
        const std::string_view field = text.substr(0, text.find("\r\n"));
        text.remove_prefix(std::min(field.size() + 2, text.size()));
        const std::size_t colon = field.find(": ");
        if (colon == std::string_view::npos) continue;
        made.fields.push_back(
            {std::string{field.substr(0, colon)}, std::string{field.substr(colon + 2)}});
    }
    return made;
}

task<io_result<request_head>> read_head(tcp_socket& from) {
    buffered_reader<tcp_socket> reader{from, head_bytes_max};
    const io_result<const_buffer> got = co_await reader.read_until("\r\n\r\n");
    if (!got.ok()) co_return got.error();
    request_head made = parsed(text_of(got.value()));
    reader.consume(got.value().size());
    made.rest = text_of(reader.window());
    co_return io_result<request_head>{std::move(made)};
}

websocket::hub& room() {
    static websocket::hub it = [] {
        websocket::hub_options options;
        return websocket::hub{options};
    }();
    return it;
}

task<io_result<>> echo(websocket::connection& on) {
    for (;;) {
        const auto got = co_await on.receive();
        if (!got.ok()) co_return got.error();
        const auto [failed] = co_await on.send(got.value().kind, got.value().bytes);
        if (failed) co_return failed;
    }
}

task<io_result<>> publish(websocket::connection& on) {
    for (;;) {
        const auto got = co_await on.receive();
        if (!got.ok()) co_return got.error();
        auto message = websocket::prepared_message::make(got.value().kind, got.value().bytes);
        if (!message.ok()) co_return message.error();
        const auto sent = co_await room().send(message.take());
        if (!sent.ok()) co_return sent.error();
    }
}

task<> converse(tcp_socket peer, std::size_t) {
    auto got = co_await read_head(peer);
    if (!got.ok()) co_return;
    const request_head asked = got.take();
    const websocket::server_handshake answer = websocket::answer_handshake("GET", asked.fields, {});
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " -\r\n";
    for (const auto& each : answer.fields) {
        text.append(each.name).append(": ").append(each.value).append("\r\n");
    }
    text += "\r\n";
    const auto [failed, size] = co_await write_all(peer, bytes_of(text));
    if (failed || answer.status != 101) co_return;
    websocket::connection on{any_stream{std::move(peer)}, websocket::role::server, answer.agreed,
                             bytes_of(asked.rest)};
    if (asked.path == "/hub") {
        static_cast<void>(co_await when_any(room().serve(on), publish(on)));
    } else {
        static_cast<void>(co_await echo(on));
    }
    static_cast<void>(co_await on.close());
}

}  // namespace

int servers::serve_websocket(const job& wanted) { return serve(wanted, converse); }
