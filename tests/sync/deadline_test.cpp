// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/deadline.hpp promises, by a clock that is told by hand.
#include <gyre/sync/deadline.hpp>

#include <gyre/coro/launch.hpp>
#include <support/conformance.hpp>
#include <support/waiting_laws.hpp>

#include <coro/manual_loop.hpp>

#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct waits_for_deadline {
    static constexpr const char* name = "deadline";
    explicit waits_for_deadline(io_context& io) : it{io} {}

    auto wait() { return it.wait(); }

    deadline it;
};

task<> note_end(manual_loop& loop, deadline& of, std::vector<duration>& ends, time_point start) {
    const io_result<> waited = co_await of.wait();
    CHECK(waited.ok());
    ends.push_back(loop.now() - start);
}

/// Two coroutines wait for a deadline of 10 ms; `act` moves it after 4 ms.
template <class Act>
std::vector<duration> ends_after(Act act) {
    manual_loop loop;
    const time_point start = loop.now();
    deadline finish{loop, start + 10ms};
    std::vector<duration> ends;
    for (int each = 0; each < 2; ++each) {
        launch(loop, note_end(loop, finish, ends, start), or_terminate{});
    }
    loop.run();
    loop.advance(4ms);
    act(finish, start);
    loop.run();
    for (int each = 0; each < 30; ++each) loop.advance(1ms);
    finish.expires_at(start);
    loop.advance(0ms);
    CHECK(loop.roots().empty());
    return ends;
}

}  // namespace

TEST_CASE("a deadline ends all waits for it when it passes") {
    const std::vector<duration> ends = ends_after([](deadline&, time_point) {});

    CHECK(ends == std::vector<duration>{10ms, 10ms});
}

TEST_CASE("a deadline that is moved takes those along who wait for it") {
    CHECK(ends_after([](deadline& it, time_point start) { it.expires_at(start + 25ms); }) ==
          std::vector<duration>{25ms, 25ms});
    CHECK(ends_after([](deadline& it, time_point start) { it.expires_at(start + 5ms); }) ==
          std::vector<duration>{5ms, 5ms});
    CHECK(ends_after([](deadline& it, time_point) { it.expires_after(11ms); }) ==
          std::vector<duration>{15ms, 15ms});
}

TEST_CASE("a deadline that never comes ends no wait until it is moved again") {
    CHECK(ends_after([](deadline& it, time_point) { it.expires_at(never); }) ==
          std::vector<duration>{34ms, 34ms});
}

TEST_CASE("a deadline that has passed ends waits at once, and may be set anew") {
    manual_loop loop;
    const time_point start = loop.now();
    deadline finish{loop, start};
    std::vector<duration> ends;
    CHECK(finish.passed());
    launch(loop, note_end(loop, finish, ends, start), or_terminate{});
    loop.run();
    CHECK(ends == std::vector<duration>{0ms});

    finish.expires_after(3ms);
    CHECK_FALSE(finish.passed());
    CHECK(finish.at() == start + 3ms);
    launch(loop, note_end(loop, finish, ends, start), or_terminate{});
    loop.run();
    loop.advance(3ms);

    CHECK(ends == std::vector<duration>{0ms, 3ms});
    CHECK(loop.timers() == 0);
}

TEST_CASE("a wait that begins after others were stopped has the deadline of its time") {
    manual_loop loop;
    const time_point start = loop.now();
    deadline finish{loop, start + 5ms};
    std::vector<duration> ends;
    const auto waits = [&]() -> task<> { static_cast<void>(co_await finish.wait()); };
    const stop_handle stop = launch(loop, waits(), or_terminate{});
    loop.run();
    stop.request_stop();
    loop.run();
    finish.expires_at(start + 10ms);
    loop.advance(3ms);

    launch(loop, note_end(loop, finish, ends, start), or_terminate{});
    loop.run();
    loop.advance(3ms);
    CHECK(ends.empty());
    loop.advance(4ms);

    CHECK(ends == std::vector<duration>{10ms});
}

TEST_CASE("a wait for a deadline is stopped as any other, and not by a drain") {
    check_stopped_before_start<waits_for_deadline>();
    check_stopped_while_pending<waits_for_deadline>();
}

TEST_CASE("a deadline passes on every backend") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        deadline finish{io};
        finish.expires_after(2ms);

        const io_result<> waited = co_await finish.wait();

        CHECK(waited.ok());
        CHECK(io.read_clock() >= finish.at());
    });
}
