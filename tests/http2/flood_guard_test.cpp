// SPDX-License-Identifier: BSL-1.0
#include <http2/flood_guard.hpp>

#include <http2/frames.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using http2::breach;
using http2::flood_balance;
using http2::flood_guard;
using http2::flood_limits;

namespace {

constexpr time_point start{1h};
constexpr std::size_t head_max = 1'000;

std::uint8_t type_of(frame it) { return static_cast<std::uint8_t>(it); }

// How many frames are let through at one moment, of at most 100'000.
int until_breach(flood_guard& by, frame type, std::uint8_t flags, std::size_t length,
                 breach expected, time_point now = start) {
    int passed = 0;
    breach got = breach::none;
    while (got == breach::none && passed < 100'000) {
        got = by.frame(type_of(type), flags, length, now);
        if (got == breach::none) ++passed;
    }
    CHECK_MESSAGE(got == expected, http2::describe(got));
    return passed;
}

}  // namespace

TEST_CASE("http2: a balance has its burst, and what time and work give back, and never more") {
    flood_balance balance{{3, 10}};
    const auto draws = [&balance](time_point now) {
        int drawn = 0;
        while (drawn < 1'000 && balance.draw(now)) ++drawn;
        return drawn;
    };

    CHECK(draws(start) == 3);
    CHECK(draws(start + 99ms) == 0);
    CHECK(draws(start + 199ms) == 1);
    CHECK(draws(start + 1h) == 3);
    balance.earn(2);
    CHECK(draws(start + 1h) == 2);
    balance.earn(1'000'000);
    CHECK(draws(start + 1h) == 3);
    // A clock that was set back gives nothing, and one that jumps no more than the burst.
    CHECK(draws(start) == 0);
    CHECK(draws(time_point::max()) == 3);
}

TEST_CASE("http2: many looks within a millisecond lose no part of what time gives") {
    flood_balance balance{{1, 1'000}};
    CHECK(balance.draw(start));
    int drawn = 0;
    for (int each = 1; each <= 10'000; ++each) {
        if (balance.draw(start + each * 300us)) ++drawn;
    }

    CHECK(drawn >= 2'990);
    CHECK(drawn <= 3'000);
}

TEST_CASE("http2: each kind of frame that carries nothing has a balance of its own") {
    // RFC 9113, 10.5.
    struct row {
        frame type;
        std::size_t length;
        breach expected;
        http2::rate_limit flood_limits::* limit;
    };
    const row rows[] = {
        {frame::priority, 5, breach::priority_flood, &flood_limits::priorities},
        {frame::rst_stream, 4, breach::rapid_reset, &flood_limits::resets},
        {frame::settings, 6, breach::settings_flood, &flood_limits::settings},
        {frame::ping, 8, breach::ping_flood, &flood_limits::pings},
        {frame::window_update, 4, breach::window_flood, &flood_limits::window_updates},
        {frame::data, 0, breach::empty_frames, &flood_limits::empty_frames},
        {frame::unknown, 9, breach::unknown_frames, &flood_limits::unknown_frames},
    };
    flood_limits limits;
    flood_guard all{limits, head_max};
    for (const row& each : rows) {
        CAPTURE(http2::describe(each.expected));
        const int burst = static_cast<int>((limits.*each.limit).burst);
        CHECK(until_breach(all, each.type, 0, each.length, each.expected) == burst);
        // A second later there is as much as the rate says.
        const int more = static_cast<int>((limits.*each.limit).per_second);
        CHECK(until_breach(all, each.type, 0, each.length, each.expected, start + 1s) == more);
    }
}

TEST_CASE("http2: what answers, or ends a stream, costs nothing") {
    flood_guard guard{{}, head_max};
    for (int each = 0; each < 10'000; ++each) {
        CHECK(guard.frame(type_of(frame::ping), ack, 8, start) == breach::none);
        CHECK(guard.frame(type_of(frame::settings), ack, 0, start) == breach::none);
        CHECK(guard.frame(type_of(frame::data), end_stream, 0, start) == breach::none);
        CHECK(guard.frame(type_of(frame::headers), end_headers, 10, start) == breach::none);
    }
}

TEST_CASE("http2: useful work earns what it needs") {
    flood_limits limits;
    limits.resets = limits.pings = limits.priorities = limits.window_updates = {4, 0};
    flood_guard guard{limits, head_max};
    until_breach(guard, frame::rst_stream, 0, 4, breach::rapid_reset);
    until_breach(guard, frame::ping, 0, 8, breach::ping_flood);
    until_breach(guard, frame::priority, 0, 5, breach::priority_flood);
    until_breach(guard, frame::window_update, 0, 4, breach::window_flood);

    guard.request_done();
    CHECK(until_breach(guard, frame::rst_stream, 0, 4, breach::rapid_reset) == 1);
    CHECK(guard.frame(type_of(frame::data), 0, 100, start) == breach::none);
    CHECK(until_breach(guard, frame::ping, 0, 8, breach::ping_flood) == 1);
    guard.request_opened();
    CHECK(until_breach(guard, frame::priority, 0, 5, breach::priority_flood) == 2);
    guard.data_sent();
    CHECK(until_breach(guard, frame::window_update, 0, 4, breach::window_flood) == 4);
}

TEST_CASE("http2: a field block has few frames, and not many times the bytes of a head") {
    // RFC 9113, 6.10 and 10.5.1.
    flood_limits limits;
    limits.continuations_max = 3;
    flood_guard guard{limits, head_max};
    const auto begin = [&guard](std::size_t length) {
        return guard.frame(type_of(frame::headers), 0, length, start);
    };
    const auto go_on = [&guard](std::size_t length, std::uint8_t flags) {
        return guard.frame(type_of(frame::continuation), flags, length, start);
    };

    CHECK_FALSE(guard.in_block());
    CHECK(begin(10) == breach::none);
    CHECK(guard.in_block());
    CHECK(go_on(10, 0) == breach::none);
    CHECK(go_on(10, 0) == breach::none);
    CHECK(go_on(10, end_headers) == breach::none);
    CHECK_FALSE(guard.in_block());
    // The next one counts anew.
    CHECK(begin(10) == breach::none);
    CHECK(until_breach(guard, frame::continuation, 0, 10, breach::continuations) == 3);

    flood_guard of_bytes{limits, head_max};
    CHECK(of_bytes.frame(type_of(frame::headers), 0, head_max, start) == breach::none);
    CHECK(of_bytes.frame(type_of(frame::continuation), 0, head_max, start) == breach::none);
    CHECK(of_bytes.frame(type_of(frame::continuation), 0, 1, start) == breach::head_size);
}

TEST_CASE("http2: frames of a block that are empty and end nothing are counted") {
    flood_limits limits;
    limits.continuations_max = 1'000;
    limits.empty_frames = {5, 0};
    flood_guard guard{limits, head_max};
    CHECK(guard.frame(type_of(frame::headers), 0, 10, start) == breach::none);

    CHECK(until_breach(guard, frame::continuation, 0, 0, breach::empty_frames) == 5);
}

TEST_CASE("http2: streams that are refused, or have errors, are counted by their reasons") {
    flood_limits limits;
    limits.refused_streams = {2, 0};
    limits.stream_errors = {1, 0};
    flood_guard guard{limits, head_max};

    CHECK(guard.refused_stream(start) == breach::none);
    CHECK(guard.refused_stream(start) == breach::none);
    CHECK(guard.refused_stream(start) == breach::refused_streams);
    CHECK(guard.stream_error(start) == breach::none);
    CHECK(guard.stream_error(start) == breach::stream_errors);
}
