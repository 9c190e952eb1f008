// SPDX-License-Identifier: BSL-1.0
//
// What clients of all protocols share.
#include <lab/load/talk.hpp>

#include <lab/kit/fail.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace lab {
namespace {

constexpr char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::size_t number_of(std::string_view text) noexcept {
    std::size_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

gyre::task<> wire::connect(const gyre::endpoint& server) {
    auto connected = co_await gyre::tcp_socket::connect(server);
    if (!connected.ok()) fail("load: connect: " + connected.error().message());
    socket_ = connected.take();
    begin_ = end_ = 0;
    open_ = true;
}

void wire::close() noexcept {
    static_cast<void>(socket_.close());
    open_ = false;
}

gyre::task<> wire::send(std::string_view bytes) {
    const auto [broken, size] = co_await gyre::write_all(socket_, gyre::bytes_of(bytes));
    if (broken) fail("load: send: " + broken.message());
}

gyre::task<bool> wire::receive(bool may_end) {
    if (begin_ > 0) {
        std::memmove(space_.data(), space_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    require(end_ < space_.size(), "load: an answer is longer than it should be");
    const auto [ended, size] =
        co_await socket_.read_some(gyre::mutable_buffer{space_}.subspan(end_));
    if (ended && !may_end) fail("load: receive: " + ended.message());
    end_ += size;
    co_return !ended;
}

std::string_view field_of(std::string_view head, std::string_view name) noexcept {
    for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;
         at = head.find("\r\n", at)) {
        at += 2;
        const std::string_view line = head.substr(at, head.find("\r\n", at) - at);
        if (line.size() <= name.size() || line[name.size()] != ':') continue;
        if (!std::ranges::equal(line.substr(0, name.size()), name, {}, lower)) continue;
        std::string_view value = line.substr(name.size() + 1);
        while (value.starts_with(' ')) value.remove_prefix(1);
        return value;
    }
    return {};
}

answer_head head_of(std::string_view arrived) {
    const std::size_t end = arrived.find("\r\n\r\n");
    if (end == std::string_view::npos) return {};
    const std::string_view head = arrived.substr(0, end + 2);
    require(head.starts_with("HTTP/1.1 "), "load: an answer is no HTTP/1.1");
    answer_head found{end + 4, static_cast<unsigned>(number_of(head.substr(9))), 0};
    if (found.status == 101) return found;
    const std::string_view length = field_of(head, "content-length");
    require(!length.empty(), "load: an answer tells no length");
    found.content_length = number_of(length);
    return found;
}

std::unique_ptr<talk> make_talk(const talk_case& what, gyre::endpoint server) {
    if (what.protocol == "http_server") return talk_http(what, server);
    if (what.protocol == "websocket") return talk_websocket(what, server);
    if (what.protocol == "tls") return talk_tls(what, server);
    fail("load: no such protocol: " + what.protocol);
}

}  // namespace lab
