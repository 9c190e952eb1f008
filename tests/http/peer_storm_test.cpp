// SPDX-License-Identifier: BSL-1.0
//
// Clients of HTTP/1 that send in pieces, ahead of answers, end their direction, and leave at any time, while
// handlers wait, read late, produce and answer at once. All in worlds, so that a seed tells everything:
// each request of a client that stays is answered in its turn, and no handler outlives its connection.
#include <gyre/http/serve_connection.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/dice.hpp>
#include <support/harness.hpp>
#include <support/world.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct tally {
    int handled = 0;
    int told = 0;
    int running = 0;
};

std::string target_of(const http::request& what) { return std::string{what.target()}; }

task<http::response> answer(dice& with, http::request& what) {
    const std::string name = target_of(what);
    const std::size_t how = with.below(7);
    if (how >= 5) static_cast<void>(co_await sleep_for(with.up_to(100ms)));
    if (how == 1 || how == 5) {
        const auto body = co_await what.body.read_all(1 << 20);
        static_cast<void>(body);
    }
    if (how == 2) {
        std::array<std::byte, 10> some;
        static_cast<void>(co_await what.body.read_some(some));
        static_cast<void>(co_await sleep_for(with.up_to(60ms)));
    }
    if (how == 3) static_cast<void>(co_await with_timeout(80ms, what.until_peer_left()));
    if (how == 4) {
        const duration wait = with.up_to(60ms);
        co_return http::response{
            http::status::ok,
            http::produced_by([name, wait](http::body_writer to) -> task<io_result<>> {
                const auto first =
                    co_await write_all(to, bytes_of(std::string_view{name}.substr(0, 2)));
                if (!first.ok()) co_return first.error();
                const io_result<> slept = co_await sleep_for(wait);
                if (!slept.ok()) co_return slept;
                const auto rest =
                    co_await write_all(to, bytes_of(std::string_view{name}.substr(2)));
                co_return rest.error();
            })};
    }
    co_return http::response{http::status::ok, "text/plain", name};
}

std::string request_by(dice& of, int number) {
    const std::string name = "/n" + std::to_string(number);
    const std::string head = name + " HTTP/1.1\r\nhost: h\r\n";
    const std::size_t kind = of.below(4);
    if (kind < 2) return "GET " + head + "\r\n";
    const std::string body(of.below(9000), 'b');
    if (kind == 2)
        return "POST " + head + "content-length: " + std::to_string(body.size()) + "\r\n\r\n" +
               body;
    std::string text = "POST " + head + "transfer-encoding: chunked\r\n\r\n";
    std::array<char, 16> digits{};
    if (!body.empty()) {
        const char* const end =
            std::to_chars(digits.data(), digits.data() + digits.size(), body.size(), 16).ptr;
        text.append(digits.data(), static_cast<std::size_t>(end - digits.data()))
            .append("\r\n")
            .append(body)
            .append("\r\n");
    }
    return text + "0\r\n\r\n";
}

// Takes one whole answer off the front: its body. Nothing if it has not come yet.
std::optional<std::string> take_answer(std::string& from) {
    const std::size_t end = from.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    const std::string head = from.substr(0, end + 2);
    std::string body;
    std::size_t at = end + 4;
    const std::size_t sized = head.find("content-length: ");
    if (sized != std::string::npos) {
        const std::size_t size = std::strtoul(head.c_str() + sized + 16, nullptr, 10);
        if (from.size() < at + size) return std::nullopt;
        body = from.substr(at, size);
        at += size;
    } else {
        for (;;) {
            const std::size_t line = from.find("\r\n", at);
            if (line == std::string::npos) return std::nullopt;
            const std::size_t size = std::strtoul(from.c_str() + at, nullptr, 16);
            if (from.size() < line + 2 + size + 2) return std::nullopt;
            body += from.substr(line + 2, size);
            at = line + 2 + size + 2;
            if (size == 0) break;
        }
    }
    from.erase(0, at);
    return head.substr(9, 3) + body;
}

task<> read_answers(stream_socket& from, std::vector<std::string>& into, bool& ended) {
    std::string text;
    std::string piece(5000, ' ');
    for (;;) {
        const auto got = co_await from.read_some(std::as_writable_bytes(std::span{piece}));
        if (!got.ok()) break;
        text.append(piece, 0, got.value());
        while (auto one = take_answer(text)) into.push_back(std::move(*one));
    }
    ended = true;
}

task<> be_client(endpoint with, dice& random, bool half_close) {
    io_result<stream_socket> connected = co_await stream_socket::connect(with);
    REQUIRE(connected.ok());
    stream_socket peer = connected.take();
    const int count = 1 + static_cast<int>(random.below(6));
    const bool leaves = random.one_in(3);
    const bool ends = half_close && random.one_in(2);
    std::vector<std::string> got;
    bool ended = false;
    const auto talk = [&](task_group& group) -> task<> {
        group.spawn(read_answers(peer, got, ended));
        std::string all;
        for (int each = 0; each < count; ++each) all += request_by(random, each);
        const std::size_t sent_max = leaves ? random.below(all.size() + 1) : all.size();
        for (std::size_t at = 0; at < sent_max;) {
            const std::size_t piece = std::min(1 + random.below(6000), sent_max - at);
            const auto put =
                co_await write_all(peer, bytes_of(std::string_view{all}.substr(at, piece)));
            if (!put.ok()) break;
            at += piece;
            if (random.one_in(3)) static_cast<void>(co_await sleep_for(random.up_to(60ms)));
        }
        if (leaves) {
            static_cast<void>(co_await sleep_for(random.up_to(100ms)));
            group.request_stop();
            co_return;
        }
        if (ends) static_cast<void>(peer.shutdown_send());
        while (got.size() < static_cast<std::size_t>(count) && !ended)
            static_cast<void>(co_await sleep_for(1ms));
        group.request_stop();
    };
    co_await with_group(talk);
    if (leaves) co_return;
    CHECK(got.size() == static_cast<std::size_t>(count));
    for (std::size_t each = 0; each < got.size(); ++each)
        CHECK(got[each] == "200/n" + std::to_string(each));
}

task<> storm(io_context& io, std::uint64_t seed) {
    dice random{seed};
    tally counted;
    http::connection_options options;
    options.half_close = random.one_in(2);
    http::connection_hooks hooks;
    hooks.on_answered = [&](const http::request&, const http::answer_end&) { ++counted.told; };
    const http::handler handle = [&](http::request& what) -> task<http::response> {
        ++counted.handled;
        ++counted.running;
        http::response made = co_await answer(random, what);
        --counted.running;
        co_return made;
    };
    io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, {ipv4::loopback(), 0});
    tcp_acceptor acceptor = listening.take();
    const endpoint where = acceptor.local_endpoint().value();
    int sessions = 0;
    const auto session = [&](stream_socket peer) -> task<> {
        ++sessions;
        static_cast<void>(
            co_await http::serve_connection(any_stream{std::move(peer)}, handle, options, hooks));
        --sessions;
    };
    const auto both = [&](task_group& group) -> task<> {
        group.spawn(
            [&]() -> task<> { static_cast<void>(co_await serve(std::move(acceptor), session)); });
        const auto clients = [&](task_group& all) -> task<> {
            for (int each = 0; each < 8; ++each)
                all.spawn(be_client(where, random, options.half_close));
            co_return;
        };
        co_await with_group(clients);
        // Every client has left, and that is noticed soon.
        static_cast<void>(co_await sleep_for(5s));
        CHECK(counted.running == 0);
        CHECK(sessions == 0);
        CHECK(counted.told == counted.handled);
        group.request_stop();
    };
    co_await with_group(both);
}

}  // namespace

TEST_CASE(
    "storm: clients of HTTP/1 that do anything are answered in turn, and leave nothing behind") {
    for_each_storm([](std::uint64_t seed) {
        run_in_world([seed](io_context& io) { return storm(io, seed); });
    });
}
