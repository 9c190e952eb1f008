// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/rate_limiter.hpp promises, by a clock that is told by hand.
#include <gyre/sync/rate_limiter.hpp>

#include <gyre/coro/launch.hpp>
#include <support/disposable.hpp>
#include <support/waiting_laws.hpp>

#include <coro/manual_loop.hpp>

#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr rate_limit hundred_per_second{100, 1s, 10};

struct waits_for_tokens {
    static constexpr const char* name = "rate_limiter";
    explicit waits_for_tokens(io_context& io) : it{io, {1, std::chrono::hours{24}, 1}} {
        CHECK(it.try_acquire());
    }

    auto wait() { return it.acquire(); }

    rate_limiter it;
};

/// Who had how many tokens, and when, from the start on.
struct taken {
    int name;
    duration when;

    friend bool operator==(const taken&, const taken&) = default;
};

struct bucket {
    explicit bucket(const rate_limit& limit = hundred_per_second) : it{loop, limit} {}

    [[nodiscard]] stop_handle take(int name, std::uint64_t tokens) {
        stop_handle stop = launch(loop, take_and_note(name, tokens), or_terminate{});
        loop.run();
        return stop;
    }
    task<> take_and_note(int name, std::uint64_t tokens) {
        const io_result<> acquired = co_await it.acquire(tokens);
        if (acquired.ok()) order.push_back({name, loop.now() - start});
    }
    void pass(int milliseconds) {
        for (int each = 0; each < milliseconds; ++each) loop.advance(1ms);
    }

    manual_loop loop;
    time_point start = loop.now();
    rate_limiter it;
    std::vector<taken> order;
};

}  // namespace

TEST_CASE("a full bucket gives its burst at once, and then as many tokens as come") {
    bucket from;
    for (int each = 0; each < 13; ++each) static_cast<void>(from.take(each, 1));

    CHECK(from.order.size() == 10);
    from.pass(30);

    REQUIRE(from.order.size() == 13);
    CHECK(from.order[9] == taken{9, 0ms});
    CHECK(from.order[10] == taken{10, 10ms});
    CHECK(from.order[11] == taken{11, 20ms});
    CHECK(from.order[12] == taken{12, 30ms});
    CHECK(from.loop.timers() == 0);
}

TEST_CASE("tokens gather up to the burst and no further") {
    bucket from;
    CHECK(from.it.try_acquire(10));
    CHECK(from.it.available() == 0);
    from.pass(35);
    CHECK(from.it.available() == 3);
    from.loop.advance(std::chrono::hours{24 * 365});

    CHECK(from.it.available() == 10);
    CHECK_FALSE(from.it.try_acquire(11));
    CHECK(from.it.try_acquire(10));
    CHECK_FALSE(from.it.try_acquire());
}

TEST_CASE("who wants many is not overtaken by who wants few") {
    bucket from;
    CHECK(from.it.try_acquire(10));
    static_cast<void>(from.take(1, 8));
    static_cast<void>(from.take(2, 1));
    from.pass(50);
    CHECK_FALSE(from.it.try_acquire());
    from.pass(50);

    CHECK(from.order == std::vector<taken>{{1, 80ms}, {2, 90ms}});
}

TEST_CASE("who is stopped takes nothing, and who comes next has it as soon as it is there") {
    bucket from;
    CHECK(from.it.try_acquire(10));
    const stop_handle stop = from.take(1, 10);
    static_cast<void>(from.take(2, 1));
    from.pass(5);

    stop.request_stop();
    from.loop.run();
    from.pass(5);

    CHECK(from.order == std::vector<taken>{{2, 10ms}});
    CHECK(from.it.available() == 0);
}

TEST_CASE("a frame may be destroyed while it waits, and who comes next is served in time") {
    bucket from;
    CHECK(from.it.try_acquire(10));
    const auto waits = [&]() -> disposable { static_cast<void>(co_await from.it.acquire(10)); };
    stop_chain chain;
    const environment given{executor_ref{from.loop}, &from.loop, &chain};
    const disposable first = waits();
    first.frame.promise().env = &given;
    gyre::resume(first.frame);
    static_cast<void>(from.take(2, 2));

    first.frame.destroy();
    from.pass(20);

    CHECK(chain.pending() == nullptr);
    CHECK(from.order == std::vector<taken>{{2, 20ms}});
}

TEST_CASE("more than the bucket holds is refused, and nothing is taken for it") {
    bucket from;
    error refused;
    const auto asks = [&]() -> task<> {
        const io_result<> acquired = co_await from.it.acquire(11);
        refused = acquired.error();
    };

    launch(from.loop, asks(), or_terminate{});
    from.loop.run();

    CHECK(refused == errc::limit_exceeded);
    CHECK(from.it.available() == 10);
}

TEST_CASE("a rate that no clock divides is kept exactly, over any time") {
    bucket from{{3, 1s, 1}};
    CHECK(from.it.try_acquire());
    std::uint64_t taken_in_all = 0;
    for (int each = 0; each < 100'000; ++each) {
        from.loop.advance(1ms);
        if (from.it.try_acquire()) ++taken_in_all;
    }
    CHECK(taken_in_all >= 299);  // A bucket of one loses what comes while it is full.
    CHECK(taken_in_all <= 300);

    bucket roomy{{3, 1s, 1000}};
    CHECK(roomy.it.try_acquire(1000));
    for (int each = 0; each < 100'000; ++each) {
        roomy.loop.advance(1ms);
        static_cast<void>(roomy.it.available());
    }
    CHECK(roomy.it.available() == 300);
}

TEST_CASE("rates of more than a token in a nanosecond are counted as well") {
    bucket from{{8'000'000'000, 1s, 1'000'000'000}};
    CHECK(from.it.try_acquire(1'000'000'000));
    from.loop.advance(1ns);
    CHECK(from.it.available() == 8);
    from.loop.advance(1s);
    CHECK(from.it.available() == 1'000'000'000);
}

TEST_CASE("a wait for tokens is stopped as any other, and not by a drain") {
    check_stopped_before_start<waits_for_tokens>();
    check_stopped_while_pending<waits_for_tokens>();
}
