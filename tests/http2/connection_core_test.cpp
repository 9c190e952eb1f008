// SPDX-License-Identifier: BSL-1.0
//
// How long peers are waited for, with the limits that nobody has set.
#include <http2/connection_core.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/sync/event.hpp>
#include <http2/by_hand.hpp>

#include <functional>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using http2::breach;

namespace {

task<http::response> wait_long(http::request&) {
    static_cast<void>(co_await sleep_for(1h));
    co_return http::response{http::status::ok};
}

std::string long_head() {
    return frame_of(frame::headers, end_headers, 1, block_of("GET", "/", {{"a", "bcdefghijkl"}}));
}

void check_took(duration took, duration expected, duration more = 1s) {
    CHECK(took >= expected);
    CHECK(took < expected + more);
}

}  // namespace

TEST_CASE("http2: a preface that stays away is waited for as long as a head") {
    // RFC 9113, 3.4.
    in_a_world([]() -> task<> {
        server_by_hand in{echo};
        const auto talk = [&in]() -> task<> { co_await in.peer.hear_out(); };
        co_await in.run(talk);
        CHECK(in.breached == breach::head_too_slow);
        CHECK(in.served.error() == errc::timed_out);
        CHECK(goaway_code(in.peer.heard()) == 0xbU);
        check_took(in.took, in.options.times.head_max);
    });
}

TEST_CASE("http2: a head has its time from its first byte, however many bytes come meanwhile") {
    const std::string open = frame_of(frame::headers, 0, 1, block_of("GET", "/"));
    in_a_world([&open]() -> task<> {
        server_by_hand in{echo};
        const auto talk = [&in, &open]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await sleep_for(5s));
            static_cast<void>(co_await in.peer.say(open));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.breached == breach::head_too_slow);
        CHECK(in.served.error() == errc::timed_out);
        check_took(in.took, 5s + in.options.times.head_max);
    });
    in_a_world([]() -> task<> {
        server_by_hand in{echo};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            const std::string head = long_head();
            for (const char each : head) {
                const bool put = co_await in.peer.say(std::string(1, each));
                if (!put) break;
                static_cast<void>(co_await sleep_for(1s));
            }
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.breached == breach::head_too_slow);
        // From the ninth byte on it is known that a head comes.
        check_took(in.took, 8s + in.options.times.head_max, in.options.times.linger_max + 2s);
    });
}

TEST_CASE("http2: SETTINGS have to be acknowledged in time") {
    // RFC 9113, 6.5.3.
    in_a_world([]() -> task<> {
        server_by_hand in{wait_long};
        const auto talk = [&in]() -> task<> {
            static_cast<void>(co_await in.peer.say(greeting() + get(1)));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.breached == breach::settings_too_slow);
        CHECK(in.served.error() == errc::timed_out);
        CHECK(goaway_code(in.peer.heard()) == 4U);
        check_took(in.took, in.options.times.settings_max);
    });
}

TEST_CASE(
    "http2: a connection that is idle comes to an orderly end, from its beginning or after use") {
    // RFC 9113, 9.1.
    for (const duration used_after : {0s, 20s, 59s}) {
        CAPTURE(used_after.count());
        in_a_world([used_after]() -> task<> {
            server_by_hand in{echo};
            const bool used = used_after > 0s;
            const auto talk = [&in, used, used_after]() -> task<> {
                co_await in.greet();
                if (used) {
                    static_cast<void>(co_await sleep_for(used_after));
                    static_cast<void>(co_await in.peer.say(get(1)));
                }
                co_await in.peer.hear_out();
            };
            co_await in.run(talk);
            CHECK(in.served.ok());
            CHECK(in.breached == breach::none);
            CHECK(goaway_code(in.peer.heard()) == 0U);
            CHECK(in.peer.data(1) == (used ? "GET /" : ""));
            check_took(in.took, in.options.times.idle_max + used_after);
        });
    }
}

TEST_CASE("http2: a peer that is silent while there are streams is asked, and then given up") {
    // RFC 9113, 6.7.
    in_a_world([]() -> task<> {
        bool canceled = false;
        const auto handle = [&canceled](http::request&) -> task<http::response> {
            const io_result<> slept = co_await sleep_for(1h);
            canceled = slept.error() == errc::canceled;
            co_return http::response{http::status::ok};
        };
        server_by_hand in{handle};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await sleep_for(10s));
            static_cast<void>(co_await in.peer.say(get(1)));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.breached == breach::silence);
        CHECK(in.served.error() == errc::timed_out);
        CHECK(canceled);
        CHECK(in.peer.count(frame::ping) == 1);
        check_took(in.took, 10s + in.options.times.ping_after + in.options.times.ping_max);
    });
}

TEST_CASE("http2: a peer that answers to PING is waited for as long as a handler takes") {
    in_a_world([]() -> task<> {
        const auto handle = [](http::request&) -> task<http::response> {
            static_cast<void>(co_await sleep_for(100s));
            co_return http::response{http::status::ok, "at last"};
        };
        server_by_hand in{handle};
        std::size_t answered = 0;
        const auto talk = [&in, &answered]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1)));
            for (; answered < 3; ++answered) {
                static_cast<void>(co_await in.peer.hear(frame::ping, answered + 1));
                const std::string asked_for = in.peer.frames(frame::ping).back().payload;
                static_cast<void>(co_await in.peer.say(frame_of(frame::ping, ack, 0, asked_for)));
            }
            static_cast<void>(co_await in.peer.hear(frame::data));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.peer.data(1) == "at last");
        CHECK(in.peer.count(frame::ping) == 3);
        CHECK(in.served.ok());
        CHECK(in.breached == breach::none);
        check_took(in.took, 100s);
    });
}

TEST_CASE(
    "http2: an answer to PING is waited for once that has left, behind what a peer takes slowly") {
    in_a_world([]() -> task<> {
        const auto much = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, std::string(200'000, 'm')};
        };
        server_by_hand in{much, 1'000};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            const std::string wide = number(4, 2) + number(1'000'000);
            static_cast<void>(
                co_await in.peer.say(frame_of(frame::settings, 0, 0, wide) +
                                     frame_of(frame::window_update, 0, 0, number(1'000'000))));
            static_cast<void>(co_await in.peer.say(get(1)));
            // Three thousand bytes a second: more than a minute, in which nothing is said.
            bool more = true;
            while (more && in.peer.data(1).size() < 200'000) {
                static_cast<void>(co_await sleep_for(333ms));
                more = co_await in.peer.listen();
            }
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.peer.data(1).size() == 200'000);
        CHECK(in.breached == breach::none);
        CHECK(in.took > in.options.times.ping_after + in.options.times.ping_max);
    });
}

TEST_CASE("http2: a client asks a server that was idle and is silent now, in time") {
    in_a_world([]() -> task<> {
        const http2::time_limits times;
        client_by_hand in;
        asked got;
        const auto talk = [&in, &got](task_group& group) -> task<> {
            co_await in.greet();
            static_cast<void>(co_await sleep_for(50s));
            group.spawn(in.ask(got, "/"));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.client.why() == breach::silence);
        CHECK(in.ran.error() == errc::timed_out);
        CHECK(got.failed == errc::timed_out);
        CHECK_FALSE(got.unprocessed);
        CHECK(in.peer.count(frame::ping) == 1);
        check_took(in.took, 50s + times.ping_after + times.ping_max);
    });
}

TEST_CASE("http2: a client that is closed waits for its requests, but not for ever") {
    in_a_world([]() -> task<> {
        const http2::time_limits times;
        client_by_hand in;
        asked got;
        const auto talk = [&in, &got](task_group& group) -> task<> {
            co_await in.greet();
            group.spawn(in.ask(got, "/"));
            static_cast<void>(co_await sleep_for(1s));
            in.client.close();
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.ran.ok());
        CHECK(got.failed == errc::timed_out);
        CHECK(goaway_code(in.peer.heard()) == 0U);
        check_took(in.took, 1s + times.drain_max);
    });
}

TEST_CASE("http2: a drain lets a handler end, but not for ever") {
    // RFC 9113, 6.8.
    in_a_world([]() -> task<> {
        server_by_hand in{wait_long};
        const auto talk = [&in](task_group& group) -> task<> {
            group.spawn(in.serve());
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1)));
            static_cast<void>(co_await sleep_for(1s));
            group.request_drain();
            co_await in.peer.hear_out();
        };
        co_await with_group(talk);
        CHECK(in.served.ok());
        const std::vector<seen_frame> said = in.peer.frames(frame::goaway);
        REQUIRE(said.size() == 2);
        CHECK(number_at(said[0].payload, 0) == 0x7fff'ffffU);
        CHECK(number_at(said[1].payload, 0) == 1U);
        check_took(in.took, 1s + in.options.times.drain_max);
    });
}

TEST_CASE(
    "http2: a peer that takes nothing is given up, one that opens no window loses its stream") {
    const auto much = [](http::request&) -> task<http::response> {
        co_return http::response{http::status::ok, std::string(200'000, 'm')};
    };
    in_a_world([&much]() -> task<> {
        server_by_hand in{much, 1'024};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1)));
            static_cast<void>(co_await sleep_for(100s));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.served.error() == errc::timed_out);
        check_took(in.took, in.options.times.write_max);
    });
    // RFC 9113, 6.9.
    in_a_world([&much]() -> task<> {
        server_by_hand in{much};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1)));
            static_cast<void>(co_await in.peer.hear(frame::rst_stream));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.served.ok());
        CHECK(in.peer.data(1).size() == 65'535);
        CHECK(reset_code(in.peer.heard(), 1) == 8U);
        check_took(in.took, in.options.times.write_max);
    });
}

namespace {

/// Stops the server of `in` once it has answered a request.
///
/// @param  took     Set to the time that the stop takes.
/// @param  listens  True if the client reads on.
task<> stop_after_answer(server_by_hand& in, duration& took, bool listens) {
    event answered;
    const auto served = [&](task_group& group) -> task<> {
        group.spawn(in.serve());
        static_cast<void>(co_await answered.wait());
        group.request_stop();
        loop& home = co_await this_task::loop();
        const time_point asked = home.read_clock();
        co_await group.join();
        took = home.read_clock() - asked;
    };
    const auto both = [&](task_group& group) -> task<> {
        group.spawn([&]() -> task<> { co_await with_group(served); });
        co_await in.greet();
        static_cast<void>(co_await in.peer.say(get(1)));
        static_cast<void>(co_await in.peer.hear(frame::data));
        static_cast<void>(co_await sleep_for(1s));  // Until nothing is on its way.
        answered.set();
        if (listens) co_await in.peer.hear_out();
        else static_cast<void>(co_await sleep_for(10s));
    };
    co_await with_group(both);
}

}  // namespace

TEST_CASE("http2: what a stop ends says GOAWAY, with the last request that it has seen to") {
    // RFC 9113, 6.8.
    in_a_world([]() -> task<> {
        server_by_hand in{echo};
        duration took{};
        co_await stop_after_answer(in, took, true);
        CHECK(in.served.error() == errc::canceled);
        const std::vector<seen_frame> said = in.peer.frames(frame::goaway);
        REQUIRE(said.size() == 1);
        CHECK(number_at(said[0].payload, 0) == 1U);
        CHECK(number_at(said[0].payload, 4) == 0U);
        CHECK(took == 0s);
    });
}

TEST_CASE("http2: a peer that has no room for the last GOAWAY costs a stop a tenth of a second") {
    in_a_world([]() -> task<> {
        server_by_hand in{echo, 16};  // A GOAWAY has 17 bytes.
        duration took{};
        co_await stop_after_answer(in, took, false);
        CHECK(in.served.error() == errc::canceled);
        CHECK(in.peer.count(frame::goaway) == 0);
        CHECK(took == 100ms);
    });
}

TEST_CASE("http2: a client that is stopped says GOAWAY as well, and what it had is lost") {
    in_a_world([]() -> task<> {
        client_by_hand in;
        asked one;
        const auto asking = [&](task_group& group) -> task<> {
            group.spawn(in.run());
            group.spawn(in.ask(one, "/"));
            static_cast<void>(co_await sleep_for(1s));
            group.request_stop();
        };
        const auto both = [&](task_group& group) -> task<> {
            group.spawn([&]() -> task<> { co_await with_group(asking); });
            co_await in.greet();
            co_await in.peer.hear_out();
        };
        co_await with_group(both);
        CHECK(in.ran.error() == errc::canceled);
        CHECK(one.failed == errc::canceled);
        CHECK(goaway_code(in.peer.heard()) == 0U);
    });
}
