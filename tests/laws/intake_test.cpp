// SPDX-License-Identifier: BSL-1.0
//
// What a server does when accepts fail, each in a way that a kernel cannot be asked for.
//
// The failures are a script's and so is the clock, so a pause takes no time here and is seen all the same.
// tests/io/serve_test.cpp has servers on real sockets.
#include <laws/scripted_backend.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/io/serve.hpp>
#include <support/harness.hpp>

#include <array>
#include <cerrno>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr int retried_at_once = 16;

/// A server whose accepts are answered with `failing` and in the end with EBADF.
struct scripted_server : scripted_loop {
    /// Adds `count` accepts that fail.
    void fail(int number, int count = 1) {
        for (int each = 0; each < count; ++each) script->inline_results.push_back(-number);
    }

    /// Adds one that yields a connection.
    void accept() { script->inline_results.push_back(next_connection_++); }

    /// Runs it to its end; says how long that took.
    duration run() {
        const time_point begun = host.clock;
        serve_options options;
        options.counters = &counters;
        options.exhausted_pause = 100ms;
        const auto hang_up = [](stream_socket) -> task<> { co_return; };
        const auto server = [&]() -> task<> {
            outcome = co_await serve(tcp_acceptor::adopt(io, 7), hang_up, options);
        };
        launch(io, server(), or_terminate{});
        io.run();
        return host.clock - begun;
    }

    serve_counters counters;
    io_result<> outcome;

private:
    int next_connection_ = 20;
};

}  // namespace

TEST_CASE("an accept that fails for a passing reason is tried again at once") {
    const std::array passing{ECONNABORTED, ECONNRESET,  ETIMEDOUT, EINTR,  ENETDOWN,
                             EPROTO,       ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
                             EOPNOTSUPP,   ENETUNREACH, EPERM};
    for (const int number : passing) {
        CAPTURE(number);
        scripted_server it;
        it.fail(number);
        it.accept();
        it.fail(EBADF);

        const duration took = it.run();

        CHECK(took == 0s);
        CHECK(it.counters.failed == 1);
        CHECK(it.counters.accepted == 1);
        CHECK(it.outcome.error() == errc::bad_descriptor);
    }
}

TEST_CASE("an accept that fails again and again is paused for, whatever it says") {
    for (const int number : {EPERM, ECONNABORTED, ENETDOWN}) {
        CAPTURE(number);
        scripted_server it;
        it.fail(number, retried_at_once + 10);
        it.fail(EBADF);

        const duration took = it.run();

        CHECK(took == 10 * 100ms);
        CHECK(it.counters.failed == retried_at_once + 10);
        CHECK(it.outcome.error() == errc::bad_descriptor);
    }
}

TEST_CASE("one connection in between, and failing accepts are tried again at once") {
    scripted_server it;
    it.fail(EPERM, retried_at_once);
    it.accept();
    it.fail(EPERM, retried_at_once);
    it.accept();
    it.fail(EBADF);

    const duration took = it.run();

    CHECK(took == 0s);
    CHECK(it.counters.failed == 2 * retried_at_once);
    CHECK(it.counters.accepted == 2);
}

TEST_CASE("a socket that cannot accept ends its server after a few tries") {
    scripted_server it;
    it.fail(EOPNOTSUPP, 1000);

    const duration took = it.run();

    CHECK(took == 0s);
    CHECK(it.counters.failed == retried_at_once + 1);
    CHECK(it.outcome.error() == errc::not_supported);
}
