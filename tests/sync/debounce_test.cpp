// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/debounce.hpp promises, by a clock that is told by hand.
#include <gyre/sync/debounce.hpp>

#include <gyre/coro/launch.hpp>
#include <support/waiting_laws.hpp>

#include <coro/manual_loop.hpp>

#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct waits_for_quiet {
    static constexpr const char* name = "debounce";
    explicit waits_for_quiet(io_context& io) : it{io, std::chrono::hours{24}} { it.touch(); }

    auto wait() { return it.wait(); }

    debounce it;
};

/// A coroutine that notes when it is told, and its clock.
struct listener {
    explicit listener(duration at_most = duration::max()) : changes{loop, 10ms, at_most} {}
    ~listener() {
        stop.request_stop();
        loop.run();
    }

    void listen() {
        stop = launch(loop, note_all(), or_terminate{});
        loop.run();
    }
    task<> note_all() {
        for (;;) {
            const io_result<> waited = co_await changes.wait();
            if (!waited.ok()) co_return;
            told.push_back(loop.now() - start);
        }
    }
    void pass(int milliseconds) {
        for (int each = 0; each < milliseconds; ++each) loop.advance(1ms);
    }

    manual_loop loop;
    time_point start = loop.now();
    debounce changes;
    std::vector<duration> told;
    stop_handle stop;
};

/// A sign that comes from a timer.
struct late_sign : timer {
    explicit late_sign(debounce& to) noexcept
        : timer{[](timer& it) noexcept { static_cast<late_sign&>(it).of.touch(); }}, of{to} {}

    debounce& of;
};

}  // namespace

TEST_CASE("many signs are told once, when there was none for a while") {
    listener it;
    it.listen();
    it.pass(5);
    for (int each = 0; each < 5; ++each) {
        it.changes.touch();
        it.pass(9);
    }
    it.pass(100);
    it.changes.touch();
    CHECK(it.changes.pending());
    it.pass(100);

    CHECK(it.told == std::vector<duration>{51ms, 160ms});
    CHECK_FALSE(it.changes.pending());
}

TEST_CASE("signs that never end are told after the bound, and counted anew from there") {
    listener it{25ms};
    it.listen();
    for (int each = 0; each < 60; ++each) {
        it.changes.touch();
        it.pass(1);
    }

    CHECK(it.told == std::vector<duration>{25ms, 50ms});
}

TEST_CASE("without a sign nothing is told") {
    listener it;
    it.listen();
    it.pass(100);

    CHECK(it.told.empty());
}

TEST_CASE("signs from before the wait are told as well: at once if it has been quiet, else then") {
    listener quiet;
    quiet.changes.touch();
    quiet.pass(20);
    quiet.listen();
    listener busy;
    busy.changes.touch();
    busy.pass(4);
    busy.listen();
    busy.pass(20);

    CHECK(quiet.told == std::vector<duration>{20ms});
    CHECK(busy.told == std::vector<duration>{10ms});
}

TEST_CASE("a sign between being told and going on is told the next time") {
    listener it;
    it.listen();
    it.changes.touch();
    late_sign sign{it.changes};
    it.loop.arm(sign, it.start + 10ms);
    it.pass(40);

    CHECK(it.told == std::vector<duration>{10ms, 20ms});
}

TEST_CASE("a wait that was stopped leaves its signs to the next one") {
    listener it;
    it.listen();
    it.changes.touch();
    it.pass(3);
    it.stop.request_stop();
    it.loop.run();
    it.pass(20);
    CHECK(it.told.empty());
    CHECK(it.changes.pending());

    it.listen();

    CHECK(it.told == std::vector<duration>{23ms});
}

TEST_CASE("what is told on the spot is not told again when a stopped wait would have heard it") {
    listener it;
    it.listen();
    it.changes.touch();
    it.pass(3);
    it.stop.request_stop();
    it.loop.run();
    it.loop.let_pass(7ms);

    it.listen();
    it.pass(40);

    CHECK(it.told == std::vector<duration>{10ms});
}

TEST_CASE("a wait for quiet is stopped as any other, and not by a drain") {
    check_stopped_before_start<waits_for_quiet>();
    check_stopped_while_pending<waits_for_quiet>();
}
