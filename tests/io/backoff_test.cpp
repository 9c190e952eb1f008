// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/backoff.hpp promises to the code that uses it.
#include <gyre/io/backoff.hpp>

#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <algorithm>
#include <set>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

backoff_options seeded(jitter how, std::uint64_t seed = 1) {
    backoff_options made;
    made.first = 100ms;
    made.most = 2s;
    made.how = how;
    made.seed = seed;
    return made;
}

}  // namespace

TEST_CASE("without jitter delays double up to the longest") {
    backoff retry{seeded(jitter::none)};

    std::vector<duration> delays;
    for (int each = 0; each < 7; ++each) delays.push_back(retry.next());

    CHECK(delays == std::vector<duration>{100ms, 200ms, 400ms, 800ms, 1600ms, 2s, 2s});
    CHECK(retry.failures() == 7);
}

TEST_CASE("after a success delays begin anew") {
    backoff retry{seeded(jitter::none)};
    for (int each = 0; each < 5; ++each) static_cast<void>(retry.next());

    retry.reset();

    CHECK(retry.failures() == 0);
    CHECK(retry.next() == 100ms);
    CHECK(retry.next() == 200ms);
}

TEST_CASE("full jitter draws from all of a span that doubles") {
    constexpr int rounds = 1000;
    std::vector<duration> most(6, 0ms);
    std::vector<duration> least(6, 1h);
    for (std::uint64_t seed = 0; seed < rounds; ++seed) {
        backoff retry{seeded(jitter::full, seed)};
        for (std::size_t each = 0; each < most.size(); ++each) {
            const duration delay = retry.next();
            most[each] = std::max(most[each], delay);
            least[each] = std::min(least[each], delay);
        }
    }
    duration span = 100ms;
    for (std::size_t each = 0; each < most.size();
         ++each, span = std::min<duration>(span * 2, 2s)) {
        CAPTURE(each);
        CHECK(most[each] <= span);
        CHECK(most[each] >
              span * 98 / 100);  // 1,000 draws miss the last fiftieth once in 10^9 times.
        CHECK(least[each] >= 0ms);
        CHECK(least[each] < span * 2 / 100);
    }
}

TEST_CASE("decorrelated jitter stays between the first and three times the last delay") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        backoff retry{seeded(jitter::decorrelated, seed)};
        duration last = 100ms;
        for (int each = 0; each < 30; ++each) {
            const duration delay = retry.next();
            REQUIRE(delay >= 100ms);
            REQUIRE(delay <= std::min<duration>(last * 3, 2s));
            last = delay;
        }
        retry.reset();
        CHECK(retry.next() <= 300ms);
    }
}

TEST_CASE("one seed draws the same delays, another one others") {
    for (const jitter how : {jitter::full, jitter::decorrelated}) {
        backoff first{seeded(how, 7)};
        backoff same{seeded(how, 7)};
        backoff other{seeded(how, 8)};
        bool differ = false;
        for (int each = 0; each < 10; ++each) {
            const duration delay = first.next();
            CHECK(delay == same.next());
            differ = differ || delay != other.next();
        }
        CHECK(differ);
    }
}

TEST_CASE("the longest delays do not overflow") {
    backoff_options options = seeded(jitter::full);
    options.most = duration::max();
    backoff retry{options};
    for (int each = 0; each < 100; ++each) CHECK(retry.next() >= duration::zero());
}

TEST_CASE("without a seed no two clients draw the same delays") {
    on_every_backend([](io_context&) -> task<> {
        std::set<duration> delays;
        for (int each = 0; each < 50; ++each) {
            backoff retry;
            delays.insert(retry.next());
        }
        CHECK(delays.size() > 45);
        co_return;
    });
}

TEST_CASE("a pause lasts as long as the delay, and a stop ends it") {
    on_every_backend([](io_context&) -> task<> {
        backoff_options options = seeded(jitter::none);
        options.first = 5ms;
        backoff retry{options};
        const time_point begun = std::chrono::steady_clock::now();
        const io_result<> waited = co_await retry.pause();
        CHECK(waited.ok());
        CHECK(std::chrono::steady_clock::now() - begun >= 5ms);

        backoff_options long_ones = options;
        long_ones.first = long_ones.most = 1h;
        backoff patient{long_ones};
        io_result<> stopped;
        const auto wait = [&]() -> task<> { stopped = co_await patient.pause(); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(wait());
            co_await settle();
            group.request_stop();
        };
        co_await with_group(body);
        CHECK(stopped.error() == errc::canceled);
    });
}
