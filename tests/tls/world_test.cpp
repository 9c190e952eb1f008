// SPDX-License-Identifier: BSL-1.0
//
// TLS on networks that are slow, lose packets, break connections or fall silent, in worlds.
#include <gyre/tls/stream.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/test/world.hpp>

#include <doctest/doctest.h>

#include "stream_pair.hpp"

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t text_size = 300'000;

/// A server that sends back what it hears, and how that ended.
struct echo_world {
    explicit echo_world(const test::link_options& links) { world.set_links(links); }

    task<> serve() {
        stream_acceptor acceptor = stream_acceptor::listen(server.io(), where).take();
        auto taken = co_await acceptor.accept();
        const tls::context settings = test_settings::get().server;
        io_result<tls::stream> shaken = co_await tls::accept(taken.take(), settings);
        served = shaken.error();
        if (!shaken.ok()) co_return;
        tls::stream peer = shaken.take();
        const io_result<std::uint64_t> copied = co_await copy(peer, peer);
        served = copied.error();
        const io_result<> ended = co_await peer.finish();
        if (!served) served = ended.error();
    }

    task<io_result<tls::stream>> connect() {
        auto connected = co_await stream_socket::connect(where);
        if (!connected.ok()) co_return connected.error();
        const tls::context settings = test_settings::get().client;
        io_result<tls::stream> shaken =
            co_await tls::connect(connected.take(), settings, "localhost");
        co_return shaken;
    }

    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(7443);
    error served = errc::resource_unavailable;  // Until it has ended.
};

task<> write_all_of(tls::stream& to, const std::string& text) {
    const io_result<std::size_t> written = co_await write_all(to, bytes_of(text));
    CHECK(written.value() == text.size());
    CHECK(to.shutdown_send().ok());
}

task<error> echo_through(echo_world& in, const std::string& text, std::string& received) {
    io_result<tls::stream> connected = co_await in.connect();
    if (!connected.ok()) co_return connected.error();
    tls::stream peer = connected.take();
    error ended;
    const auto reads = [&]() -> task<> {
        std::vector<std::byte> space(7000);
        for (;;) {
            const io_result<std::size_t> got = co_await peer.read_some(space);
            received += text_of(std::span{space}.first(got.value()));
            ended = got.error();
            if (!got.ok()) co_return;
        }
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(write_all_of(peer, text));
        group.spawn(reads());
        co_return;
    };
    co_await with_group(body);
    co_return ended;
}

test::link_options bad_link() {
    test::link_options options;
    options.latency = 20ms;
    options.jitter = 15ms;
    options.loss = 0.05;
    options.bytes_per_second = 1'000'000;
    return options;
}

}  // namespace

TEST_CASE("TLS in a world: all comes back over a link that delays and loses") {
    echo_world in{bad_link()};
    const std::string text(text_size, 'w');
    std::string received;
    in.world.start(in.server, in.serve());

    auto outcome = in.world.run(in.client, echo_through(in, text, received));

    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take() == errc::eof);
    CHECK(received == text);
    static_cast<void>(in.world.run_for(1min));
    CHECK_FALSE(in.served);
}

TEST_CASE("TLS in a world: a connection that breaks is an error of its own, neither end nor cut") {
    echo_world in{bad_link()};
    in.world.start(in.server, in.serve());
    const auto talk = [&]() -> task<error> {
        io_result<tls::stream> connected = co_await in.connect();
        CHECK_FALSE(connected.error());
        tls::stream peer = connected.take();
        in.server.break_connections();
        error outcome;
        std::array<std::byte, 100> space;
        for (int time = 0; time < 100 && !outcome; ++time) {
            const io_result<std::size_t> written = co_await peer.write_some(bytes_of("anybody?"));
            outcome = written.error();
            static_cast<void>(co_await sleep_for(100ms));
        }
        const io_result<std::size_t> got = co_await peer.read_some(space);
        CHECK(got.error() != errc::eof);
        CHECK_FALSE(got.ok());
        co_return outcome;
    };

    auto outcome = in.world.run(in.client, talk());

    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    const error failed = outcome.take();
    CHECK((failed == errc::connection_reset || failed == errc::broken_pipe));
}

TEST_CASE("TLS in a world: a peer that falls silent costs a handshake ten seconds, an end five") {
    echo_world in{bad_link()};
    in.world.start(in.server, in.serve());
    const auto shakes_in_silence = [&]() -> task<duration> {
        auto connected = co_await stream_socket::connect(in.where);
        CHECK(connected.ok());
        in.world.partition(in.server, in.client);
        const time_point begun = in.client.io().read_clock();
        const tls::context settings = test_settings::get().client;
        io_result<tls::stream> shaken =
            co_await tls::connect(connected.take(), settings, "localhost");
        CHECK(shaken.error() == errc::timed_out);
        co_return in.client.io().read_clock() - begun;
    };
    auto outcome = in.world.run(in.client, shakes_in_silence());
    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    const duration shaken_for = outcome.take();
    CHECK(shaken_for >= 10s);
    CHECK(shaken_for < 11s);

    echo_world other{bad_link()};
    other.world.start(other.server, other.serve());
    const auto ends_in_silence = [&]() -> task<duration> {
        io_result<tls::stream> connected = co_await other.connect();
        CHECK(connected.ok());
        tls::stream peer = connected.take();
        other.world.partition(other.server, other.client);
        const time_point begun = other.client.io().read_clock();
        const io_result<> ended = co_await peer.finish();
        CHECK(ended.error() == errc::timed_out);
        co_return other.client.io().read_clock() - begun;
    };
    auto ended = other.world.run(other.client, ends_in_silence());
    REQUIRE_MESSAGE(ended.ok(), ended.text());
    const duration ended_after = ended.take();
    CHECK(ended_after >= 5s);
    CHECK(ended_after < 6s);
}
