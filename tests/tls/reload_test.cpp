// SPDX-License-Identifier: BSL-1.0
//
// Certificates are replaced while connections begin, from another thread: none fails.
#include <gyre/runtime/call.hpp>
#include <gyre/tls/stream.hpp>

#include <support/conformance.hpp>
#include <support/harness.hpp>

#include "stream_pair.hpp"

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// Gives a server's context two identities in turn, until it ends.
class reloader {
public:
    reloader(const test_trust& trust, tls::identity other, tls::context server)
        : thread_{[this, server, both = std::array{trust.localhost, std::move(other)}]() mutable {
              while (!ended_.load()) {
                  const std::uint64_t count = rounds.fetch_add(1);
                  failed += server.reload({both[count % 2]}).ok() ? 0 : 1;
                  if (count % 4 == 0) server.rotate_ticket_key();
              }
          }} {}
    ~reloader() { end(); }

    void end() {
        ended_ = true;
        if (thread_.joinable()) thread_.join();
    }

    std::atomic<std::uint64_t> rounds = 0;
    std::atomic<int> failed = 0;

private:
    std::atomic<bool> ended_ = false;
    std::thread thread_;  // The last, since it uses the others.
};

tls::identity renewed(test_trust& trust) {
    certificate_wish wish = test_trust::wish_for_localhost();
    wish.name = "renewed";
    return trust.root.issue(wish);
}

struct tally {
    void count(const engine_pair& pair, const handshake_outcomes& ended) {
        failed += ended.client || ended.server ? 1 : 0;
        const auto shown = pair.client.peer_certificate();
        if (!shown) return;
        (shown->subject == "CN=renewed" ? renewed : old) += 1;
    }

    [[nodiscard]] bool saw_both() const { return old > 0 && renewed > 0; }

    std::atomic<int> failed = 0;
    std::atomic<int> old = 0;
    std::atomic<int> renewed = 0;
};

task<> shake_over_sockets(socket_pair sockets, tls::context client, tls::context server,
                          int& failed) {
    tls::stream_options options;
    options.handshake_steps = [](std::function<void()> work) -> task<> {
        static_cast<void>(co_await blocking(std::move(work)));
    };
    io_result<tls::stream> accepted;
    io_result<tls::stream> connected;
    const auto accepts = [&]() -> task<> {
        accepted = co_await tls::accept(std::move(sockets.server), server, options);
    };
    const auto connects = [&]() -> task<> {
        connected = co_await tls::connect(std::move(sockets.client), client, "localhost", options);
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(accepts());
        group.spawn(connects());
        co_return;
    };
    co_await with_group(body);
    failed += accepted.ok() && connected.ok() ? 0 : 1;
}

}  // namespace

TEST_CASE("a reload: under load from several threads no handshake fails, and both are seen") {
    constexpr int threads = 3;
    constexpr int rounds = 50;
    constexpr int rounds_max = 5000;
    test_trust trust;
    const tls::context server = tls::context::server(trust.server()).take();
    // Resumed or not: they share tickets and sessions as well.
    const tls::context client = tls::context::client(trust.client()).take();
    tally all;
    reloader other{trust, renewed(trust), server};

    const auto shake = [&] {
        for (int each = 0; each < rounds || (!all.saw_both() && each < rounds_max); ++each) {
            engine_pair pair = pair_of(client, server);
            const handshake_outcomes ended = pair.shake();
            all.count(pair, ended);
        }
    };
    std::vector<std::thread> clients;
    for (int each = 0; each < threads; ++each) clients.emplace_back(shake);
    for (std::thread& each : clients) each.join();
    other.end();

    CHECK(all.failed == 0);
    CHECK(other.failed == 0);
    CHECK(all.old + all.renewed >= threads * rounds);
    CHECK(all.saw_both());
}

TEST_CASE("a reload: steps of handshakes on workers go on with what they began with") {
    const auto test = [](io_context& io) -> task<> {
        test_trust trust;
        const tls::context server = tls::context::server(trust.server()).take();
        const tls::context client = tls::context::client(trust.client()).take();
        int failed = 0;
        reloader other{trust, renewed(trust), server};
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < 20; ++each)
                group.spawn(shake_over_sockets(connected_pair(io), client, server, failed));
            co_return;
        };

        co_await with_group(body);
        other.end();

        CHECK(failed == 0);
        CHECK(other.failed == 0);
    };
    on_each_backend_of("streams of every kind", test);
}
