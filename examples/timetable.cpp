// SPDX-License-Identifier: BSL-1.0
//
// What waits for time, each with the moments at which it goes on.
//
// All of it runs in a world of gyre::test, so that the seconds below take no time and are the same in each
// run. docs/guide/time.md explains it. In a program the same functions run on a loop.
#include <gyre/gyre.hpp>
#include <gyre/test/world.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;

// Prints how long after `begin` something has happened.
gyre::task<> note(gyre::time_point begin, const char* what) {
    gyre::loop& here = co_await gyre::this_task::loop();
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(here.read_clock() - begin);
    std::printf("%5d ms  %s\n", static_cast<int>(passed.count()), what);
}

gyre::task<gyre::time_point> now() {
    gyre::loop& here = co_await gyre::this_task::loop();
    co_return here.read_clock();
}

// snippet: ticks
// A tick each second. What is done at the second one takes two and a half.
gyre::task<gyre::io_result<>> count_ticks(gyre::missed_ticks policy, const char* name) {
    const gyre::time_point begin = co_await now();
    gyre::interval every{1s, policy};
    for (int tick = 1; tick <= 6; ++tick) {
        const auto [error, due] = co_await every.tick();
        if (error) co_return error;
        co_await note(begin, name);
        if (tick == 2) {
            const auto worked = co_await gyre::sleep_for(2500ms);
            if (!worked.ok()) co_return worked;
        }
    }
    co_return gyre::io_result<>{};
}
// end of snippet

// snippet: deadline
// Each bid extends the auction to three seconds from then on; a waiter for its end need not be told.
gyre::task<gyre::io_result<>> auction() {
    const gyre::time_point begin = co_await now();
    gyre::loop& here = co_await gyre::this_task::loop();
    gyre::deadline end{here, begin + 3s};
    const auto bids = [&]() -> gyre::task<gyre::io_result<>> {
        for (int bid = 0; bid < 3; ++bid) {
            const auto thought = co_await gyre::sleep_for(2s);
            if (!thought.ok()) co_return thought;
            end.expires_after(3s);
        }
        co_return gyre::io_result<>{};
    };
    auto [bidding, over] = co_await gyre::when_all(bids(), end.wait());
    if (bidding.error()) co_return bidding.error();
    co_await note(begin, "the auction is over");
    co_return over;
}
// end of snippet

// snippet: debounce
// Ten changes, a tenth of a second apart, are one when there was none for half a second.
gyre::task<gyre::io_result<>> settle_down() {
    const gyre::time_point begin = co_await now();
    gyre::loop& here = co_await gyre::this_task::loop();
    gyre::debounce signs{here, 500ms};
    const auto change = [&]() -> gyre::task<gyre::io_result<>> {
        for (int each = 0; each < 10; ++each) {
            const auto slept = co_await gyre::sleep_for(100ms);
            if (!slept.ok()) co_return slept;
            signs.touch();
        }
        co_return gyre::io_result<>{};
    };
    auto [changed, quiet] = co_await gyre::when_all(change(), signs.wait());
    if (changed.error()) co_return changed.error();
    co_await note(begin, "quiet");
    co_return quiet;
}
// end of snippet

// snippet: rate
// Two requests a second, three of them at once after a rest.
gyre::task<gyre::io_result<>> send_requests() {
    const gyre::time_point begin = co_await now();
    gyre::loop& here = co_await gyre::this_task::loop();
    gyre::rate_limiter rate{here, {2, 1s, 3}};
    for (int each = 1; each <= 6; ++each) {
        const auto allowed = co_await rate.acquire();
        if (!allowed.ok()) co_return allowed;
        co_await note(begin, "request");
    }
    co_return gyre::io_result<>{};
}
// end of snippet

// snippet: timeout
// What was read before the limit is not lost: it is counted, and stays where it was read to.
gyre::task<gyre::io_result<>> read_a_record(gyre::tcp_socket& peer) {
    const gyre::time_point begin = co_await now();
    std::array<std::byte, 8> record{};
    const auto [error, size] = co_await gyre::with_timeout(1s, gyre::read_exactly(peer, record));
    if (error != gyre::errc::timed_out) co_return error;
    co_await note(begin, "timed out");
    std::printf("          %d of 8 bytes are here\n", static_cast<int>(size));

    const auto rest = co_await gyre::read_exactly(peer, std::span(record).subspan(size));
    if (!rest.ok()) co_return rest.error();
    co_await note(begin, "the rest is here");
    co_return gyre::io_result<>{};
}
// end of snippet

gyre::task<gyre::io_result<>> write_slowly(gyre::tcp_socket& peer) {
    for (int each = 0; each < 2; ++each) {
        const auto written = co_await gyre::write_all(peer, gyre::bytes_of("half"));
        if (!written.ok()) co_return written.error();
        const auto slept = co_await gyre::sleep_for(3s);
        if (!slept.ok()) co_return slept;
    }
    co_return gyre::io_result<>{};
}

// snippet: world
bool shown(const char* title, gyre::test::world& world, gyre::task<gyre::io_result<>> it) {
    std::printf("%s\n", title);
    auto outcome = world.run(world.at(0), std::move(it));
    if (outcome.ok() && outcome.take().ok()) return true;
    std::printf("%s\n", outcome.text().c_str());  // Who waits for what.
    return false;
}
// end of snippet

int main() {
    gyre::test::world world;
    gyre::test::machine& here = world.add("here");
    auto [one, other] = here.connected_pair();
    const auto both = [&one, &other]() -> gyre::task<gyre::io_result<>> {
        auto [read, written] = co_await gyre::when_all(read_a_record(one), write_slowly(other));
        co_return read.error() ? read : written;
    };
    const bool all = shown("burst", world, count_ticks(gyre::missed_ticks::burst, "tick")) &&
                     shown("delay", world, count_ticks(gyre::missed_ticks::delay, "tick")) &&
                     shown("skip", world, count_ticks(gyre::missed_ticks::skip, "tick")) &&
                     shown("deadline", world, auction()) &&
                     shown("debounce", world, settle_down()) &&
                     shown("rate", world, send_requests()) && shown("timeout", world, both());
    return all ? 0 : 1;
}
