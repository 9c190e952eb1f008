// SPDX-License-Identifier: BSL-1.0
//
// examples/secure_quotes does what it says. It stands apart from the other examples since it wants OpenSSL,
// for certificates, too.
#include <programs/program.hpp>

#include <gyre/io/run.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/tls/stream.hpp>

#include <support/certificates.hpp>
#include <support/scratch_directory.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <span>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Valid now: programs go by the clock.
certificate_wish valid_now() {
    certificate_wish wish{"server"};
    wish.hosts = {"IP:127.0.0.1"};
    const auto now = std::chrono::system_clock::now() - certificate_day;
    wish.begins = std::chrono::duration_cast<std::chrono::hours>(now) - 24h;
    wish.ends = wish.begins + 24h * 7;
    return wish;
}

// All that the server says, up to its close_notify.
task<io_result<std::string>> ask(stream_socket peer, tls::context settings, std::string path) {
    auto shaken = co_await tls::connect(any_stream{std::move(peer)}, settings, "127.0.0.1");
    if (!shaken.ok()) co_return shaken.error();
    tls::stream server = shaken.take();
    const std::string request =
        "GET " + path + " HTTP/1.1\r\nhost: quotes\r\nconnection: close\r\n\r\n";
    const auto sent = co_await write_all(server, bytes_of(request));
    if (!sent.ok()) co_return sent.error();
    std::string answer;
    std::array<std::byte, 4096> space;
    for (;;) {
        const auto [end, size] = co_await with_timeout(20s, server.read_some(space));
        if (end == errc::eof) co_return answer;
        if (end) co_return end;
        answer += text_of(std::span(space).first(size));
    }
}

}  // namespace

TEST_CASE(
    "secure_quotes answers over TLS, and a drain does not wait for clients without a handshake") {
    test_authority root{"root"};
    const scratch_directory files;
    const tls::identity made = root.issue(valid_now());
    files.put("chain", made.certificates);
    files.put("key", made.private_key);
    tls::client_options options;
    options.authorities = root.certificate();
    options.system_authorities = false;
    options.protocols = {"http/1.1"};
    const tls::context settings = tls::context::client(options).take();
    testing::program server{GYRE_SECURE_QUOTES, {"127.0.0.1:0", files / "chain", files / "key"}};
    const endpoint where = server.listening_on();

    const auto talk = [&]() -> task<> {
        auto silent = co_await stream_socket::connect(where);
        REQUIRE(silent.ok());
        auto first = co_await stream_socket::connect(where);
        REQUIRE(first.ok());
        const auto known = co_await ask(first.take(), settings, "/quotes/north");
        auto second = co_await stream_socket::connect(where);
        REQUIRE(second.ok());
        const auto unknown = co_await ask(second.take(), settings, "/quotes/west");

        // The server took the silent connection before the ones that it has answered.
        const auto began = std::chrono::steady_clock::now();
        server.send(SIGTERM);
        std::array<std::byte, 64> space;
        stream_socket held = silent.take();
        const auto ended = co_await with_timeout(20s, held.read_some(space));
        const auto waited = std::chrono::steady_clock::now() - began;

        CHECK(known.value().starts_with("HTTP/1.1 200 "));
        CHECK(known.value().ends_with("\r\n\r\n101\n"));
        CHECK(unknown.value().starts_with("HTTP/1.1 404 "));
        CHECK(ended.error() == errc::eof);
        CHECK(waited < 4s);  // The grace is five seconds.
    };
    run(talk());

    CHECK(server.rest_of_output().empty());
    CHECK(server.wait() == 0);
}

TEST_CASE("secure_quotes says how it is used, and what it cannot use") {
    testing::program nonsense{GYRE_SECURE_QUOTES, {"nonsense"}};
    CHECK(nonsense.rest_of_output() == "usage: secure_quotes ADDRESS:PORT CHAIN.pem KEY.pem\n");
    CHECK(nonsense.wait() == 2);

    testing::program empty{GYRE_SECURE_QUOTES, {"127.0.0.1:0", "/dev/null", "/dev/null"}};
    CHECK(empty.rest_of_output().find("no readable certificate") != std::string::npos);
    CHECK(empty.wait() == 1);
}
