// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/stop_token.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/stop_token.hpp>

#include <gyre/runtime/call.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/waiting_laws.hpp>

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct waits_under_a_token {
    static constexpr const char* name = "with_stop_token";
    explicit waits_under_a_token(io_context&) {}

    auto wait() { return with_stop_token(source.get_token(), unset.wait()); }

    std::stop_source source;
    event unset;
};

task<io_result<>> long_wait() { co_return co_await sleep_for(1h); }

}  // namespace

TEST_CASE("a wait under a stop token is stopped by its caller as any other") {
    check_stopped_before_start<waits_under_a_token>();
    check_stopped_while_pending<waits_under_a_token>();
}

TEST_CASE("what waits under a token ends when that is stopped, from any thread, or was before") {
    on_every_backend([](io_context&) -> task<> {
        std::stop_source source;
        std::thread stops{[&source] { source.request_stop(); }};
        const io_result<> first = co_await with_stop_token(source.get_token(), long_wait());
        stops.join();
        const io_result<> second = co_await with_stop_token(source.get_token(), sleep_for(1h));
        // The caller goes on.
        const io_result<> after = co_await sleep_for(1ms);

        CHECK(first.error() == errc::canceled);
        CHECK(second.error() == errc::canceled);
        CHECK(after.ok());
    });
}

TEST_CASE("a token of nothing, or one that is never stopped, changes nothing") {
    on_every_backend([](io_context&) -> task<> {
        const std::stop_source never_asked;
        const auto alone = co_await with_stop_token({}, sleep_for(1ms));
        const auto quiet = co_await with_stop_token(never_asked.get_token(), sleep_for(1ms));
        const auto nothing = [](event& set) -> task<> { static_cast<void>(co_await set.wait()); };
        event set;
        set.set();
        co_await with_stop_token(never_asked.get_token(), nothing(set));

        CHECK(alone.ok());
        CHECK(quiet.ok());
    });
}

TEST_CASE("a stop of the caller's reaches its source, and a drain does not") {
    on_every_backend([](io_context&) -> task<> {
        std::stop_source stopped;
        std::stop_source drained;
        const auto stops = [&](task_group& group) -> task<> {
            const auto waits = [&]() -> task<> {
                CHECK((co_await with_stop_source(stopped, sleep_for(1h))).error() ==
                      errc::canceled);
            };
            group.spawn(waits());
            co_await settle();
            CHECK_FALSE(stopped.stop_requested());
            group.request_stop();
        };
        const auto drains = [&](task_group& group) -> task<> {
            event set;
            const auto waits = [&]() -> task<> {
                CHECK((co_await with_stop_source(drained, set.wait())).ok());
            };
            group.spawn(waits());
            co_await settle();
            group.request_drain();
            co_await settle();
            set.set();
            co_await group.join();
        };

        co_await with_group(stops);
        co_await with_group(drains);

        CHECK(stopped.stop_requested());
        CHECK_FALSE(drained.stop_requested());
    });
}

TEST_CASE("work on a thread hears of a stop through its source") {
    on_every_backend([](io_context&) -> task<> {
        const auto body = [](task_group& group) -> task<> {
            std::atomic<bool> begun = false;
            const auto works = [&]() -> task<> {
                std::stop_source source;
                const auto work = [&begun, asked = source.get_token()] {
                    begun = true;
                    while (!asked.stop_requested()) std::this_thread::yield();
                    return 7;
                };
                const auto done = co_await with_stop_source(source, blocking(work));
                CHECK(done.value() == 7);
            };
            group.spawn(works());
            while (!begun) co_await yield();
            group.request_stop();
            co_await group.join();
        };

        co_await with_group(body);
    });
}

TEST_CASE("storm: tokens that are stopped as their waits end, by another thread") {
    on_every_backend([](io_context&) -> task<> {
        for (int round = 0; round < 300; ++round) {
            std::stop_source source;
            std::thread stops{[&source, round] {
                for (int each = 0; each < round % 50; ++each) std::this_thread::yield();
                source.request_stop();
            }};
            const duration length = std::chrono::microseconds{round % 90};
            const auto waits = [&]() -> task<io_result<>> {
                co_return co_await with_stop_token(source.get_token(), sleep_for(length));
            };
            const auto [one, other] = co_await when_all(waits(), waits());
            for (const io_result<>& each : {one, other}) {
                CHECK((each.ok() || each.error() == errc::canceled));
            }
            stops.join();
        }
    });
}

TEST_CASE("a coroutine may be destroyed under a token that is stopped") {
    with_every_backend([](const io_context_options& options) {
        std::stop_source source;
        std::thread stops;
        {
            io_context io{options};
            const auto waits = [](std::stop_token token) -> task<> {
                static_cast<void>(co_await with_stop_token(std::move(token), sleep_for(1h)));
            };
            launch(io, waits(source.get_token()), or_terminate{});
            static_cast<void>(io.poll());
            stops = std::thread{[&source] { source.request_stop(); }};
        }
        stops.join();
    });
}
