// SPDX-License-Identifier: BSL-1.0
//
// Asks a server over UDP, asks again where no answer comes, and tells late answers from the right one.
//
//     udp_client 127.0.0.1:7000 ATTEMPTS TEXT...
//
// A request is a number of eight bytes and a text. The answer begins with the number of its request.
// docs/guide/04_udp.md explains it; examples/guide/udp_echo.cpp is a server for it.
// snippet: program
#include <gyre/gyre.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

using request_number = std::array<std::byte, 8>;  // The most significant byte first.

request_number encode(std::uint64_t number) {
    request_number bytes;
    for (std::byte& each : bytes) {
        each = static_cast<std::byte>(number >> 56);
        number <<= 8;
    }
    return bytes;
}

// Waits for the answer to this request. Others that come meanwhile belong to earlier requests.
gyre::task<gyre::io_result<std::string>> receive_answer(gyre::udp_socket& server,
                                                        request_number number) {
    std::array<std::byte, 2048> space;
    for (;;) {
        const auto [error, datagram] = co_await server.receive(space);
        if (error) co_return error;
        const auto bytes = std::span(space).first(datagram.size);
        if (datagram.truncated || bytes.size() < number.size()) continue;
        if (!std::ranges::equal(bytes.first(number.size()), number)) continue;
        co_return std::string{gyre::text_of(bytes.subspan(number.size()))};
    }
}

// Sends the request once, and waits for its answer no longer than `patience`.
gyre::task<gyre::io_result<std::string>> try_once(gyre::udp_socket& server, request_number number,
                                                  std::string_view text, gyre::duration patience) {
    const std::array parts{gyre::const_buffer{number}, gyre::bytes_of(text)};
    const auto sent = co_await server.send(parts);
    if (!sent.ok()) co_return sent.error();
    auto answer = co_await gyre::with_timeout(patience, receive_answer(server, number));
    co_return answer;
}

// Asks until there is an answer, and waits up to three times as long as before. All attempts have the
// same number, so an answer to an earlier one is as good.
gyre::task<gyre::io_result<std::string>> ask(gyre::udp_socket& server, std::uint64_t number,
                                             std::string_view text, int attempts_max) {
    gyre::backoff_options pace;
    pace.first = 250ms;
    pace.most = 4s;
    pace.how = gyre::jitter::decorrelated;
    gyre::backoff retry{pace};
    for (int attempt = 1;; ++attempt) {
        const gyre::duration patience = retry.next();
        auto answer = co_await try_once(server, encode(number), text, patience);
        const bool is_last = attempt == attempts_max || answer.error() == gyre::errc::canceled;
        if (answer.ok() || is_last) co_return answer;

        std::fprintf(stderr, "attempt %d: %s\n", attempt, answer.error().message().c_str());
        if (answer.error() == gyre::errc::timed_out) continue;
        const auto paused = co_await gyre::sleep_for(patience);  // It has failed at once.
        if (!paused.ok()) co_return paused.error();
    }
}

gyre::task<gyre::io_result<>> udp_client(gyre::endpoint where, int attempts_max,
                                         std::vector<std::string> texts) {
    gyre::endpoint local{gyre::ipv4::any(), 0};
    if (where.kind() == gyre::endpoint::family::v6) local = {gyre::ipv6::any(), 0};
    auto bound = co_await gyre::udp_socket::bind(local);
    if (!bound.ok()) co_return bound.error();
    auto server = bound.take();
    const auto connected = server.connect(where);  // From here on it hears of this peer alone.
    if (!connected.ok()) co_return connected;

    std::uint64_t number =
        std::random_device{}();  // Not those of a client that had this port before.
    for (const std::string& text : texts) {
        const auto answer = co_await ask(server, ++number, text, attempts_max);
        if (!answer.ok()) co_return answer.error();
        std::printf("%s\n", answer.value().c_str());
        std::fflush(stdout);
    }
    co_return gyre::io_result<>{};
}

int main(int count, char** arguments) {
    const auto where = gyre::endpoint::parse(count > 3 ? arguments[1] : "");
    const int attempts_max = count > 3 ? std::atoi(arguments[2]) : 0;
    if (!where.ok() || attempts_max < 1) {
        std::fprintf(stderr, "usage: udp_client ADDRESS:PORT ATTEMPTS TEXT...\n");
        return 2;
    }
    std::vector<std::string> texts{arguments + 3, arguments + count};
    gyre::run_options options;
    options.grace = 0s;  // A signal ends it at once.
    return gyre::run_until_signal(udp_client(where.value(), attempts_max, std::move(texts)),
                                  options);
}
// end of snippet
