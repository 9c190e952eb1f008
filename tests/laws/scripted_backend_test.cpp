// SPDX-License-Identifier: BSL-1.0
//
// What a loop promises about operations, with the order of events in the test's own hands.
//
// The cases are those that a real kernel produces once in a million runs: a cancel that loses, a
// completion and a stop in the same turn, a message from another loop that comes too late.
#include <laws/scripted_backend.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <cerrno>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// What a coroutine saw, and how often it went on.
struct record {
    int resumptions = 0;
    error failed;
    std::size_t size = 0;
};

task<> read_once(stream_socket& from, record& seen) {
    std::array<std::byte, 64> space;
    const io_result<std::size_t> got = co_await from.read_some(space);
    ++seen.resumptions;
    seen.failed = got.error();
    seen.size = got.value();
}

struct fixture : scripted_loop {
    stream_socket socket = stream_socket::adopt(io, 7);
    record seen;

    operation& only() {
        REQUIRE(script->submitted.size() == 1);
        return *script->submitted.front();
    }
};

}  // namespace

TEST_CASE("a stop before the start submits nothing") {
    fixture on;
    const stop_handle stop = launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    stop.request_stop();

    on.io.run();

    // The stop is posted behind the start, so the read began first and was then ended.
    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.failed == errc::canceled);
}

TEST_CASE("a chain that is stopped already submits nothing at all") {
    fixture on;
    const auto body = [&](task_group& group) -> task<> {
        group.request_stop();
        group.spawn(read_once(on.socket, on.seen));
        co_return;
    };
    const auto root = [&]() -> task<> { co_await with_group(body); };
    launch(on.io, root(), or_terminate{});

    on.io.run();

    CHECK(on.script->submitted.empty());
    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.failed == errc::canceled);
}

TEST_CASE("a stop while pending cancels once, and the kernel's word ends it") {
    fixture on;
    const stop_handle stop = launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] { stop.request_stop(); });

    on.io.run();

    CHECK(on.script->canceled == std::vector{on.script->submitted});
    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.failed == errc::canceled);
}

TEST_CASE("a completion that beats its cancel delivers what it achieved") {
    fixture on;
    on.script->cancel_policy = scripted_backend::on_cancel::only_remember;
    const stop_handle stop = launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] { stop.request_stop(); });
    on.script->steps.emplace_back([&] { on.script->complete_later(on.only(), 5); });

    on.io.run();

    CHECK(on.script->canceled.size() == 1);
    CHECK(on.seen.resumptions == 1);
    CHECK_FALSE(on.seen.failed);
    CHECK(on.seen.size == 5);
}

TEST_CASE("a cancel that beats the completion by a step still ends it exactly once") {
    fixture on;
    on.script->cancel_policy = scripted_backend::on_cancel::only_remember;
    const stop_handle stop = launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] { stop.request_stop(); });
    on.script->steps.emplace_back([&] { on.script->complete_later(on.only(), -ECANCELED); });

    on.io.run();

    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.failed == errc::canceled);
}

TEST_CASE("a stop in the turn of the completion comes too late to change it") {
    fixture on;
    const stop_handle stop = launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] {
        on.script->complete_later(on.only(), 3);
        stop.request_stop();  // Taken in after the completion, in the same turn.
    });

    on.io.run();

    CHECK(on.script->canceled.empty());
    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.size == 3);
}

TEST_CASE("a second stop does not cancel again") {
    fixture on;
    on.script->cancel_policy = scripted_backend::on_cancel::only_remember;
    const stop_handle stop = launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] { stop.request_stop(); });
    on.script->steps.emplace_back([&] { stop.request_stop(); });
    on.script->steps.emplace_back([&] { on.script->complete_later(on.only(), -ECANCELED); });

    on.io.run();

    CHECK(on.script->canceled.size() == 1);
    CHECK(on.seen.resumptions == 1);
}

TEST_CASE("a drain leaves a read alone and ends an accept") {
    fixture on;
    stream_acceptor acceptor = stream_acceptor::adopt(on.io, 8);
    error accept_failed;
    const auto both = [&]() -> task<> {
        const auto accept = [&]() -> task<> {
            const io_result<stream_socket> taken = co_await acceptor.accept();
            accept_failed = taken.error();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(read_once(on.socket, on.seen));
            group.spawn(accept());
            co_return;
        };
        co_await with_group(body);
    };
    const stop_handle stop = launch(on.io, both(), or_terminate{});
    on.script->steps.emplace_back([&] { stop.request_drain(); });
    on.script->steps.emplace_back([&] {
        CHECK(accept_failed == errc::canceled);
        CHECK(on.seen.resumptions == 0);
        on.script->complete_later(*on.script->submitted.front(), 9);
    });

    on.io.run();

    CHECK(on.seen.size == 9);
}

TEST_CASE("operations complete in the order of the kernel, not of submission") {
    fixture on;
    stream_socket other = stream_socket::adopt(on.io, 9);
    record second;
    std::vector<int> order;
    const auto note = [&](stream_socket& from, record& seen, int name) -> task<> {
        co_await read_once(from, seen);
        order.push_back(name);
    };
    launch(on.io, note(on.socket, on.seen, 1), or_terminate{});
    launch(on.io, note(other, second, 2), or_terminate{});
    on.script->steps.emplace_back([&] {
        on.script->complete_later(*on.script->submitted[1], 2);
        on.script->complete_later(*on.script->submitted[0], 1);
    });

    on.io.run();

    CHECK(order == std::vector{2, 1});
    CHECK(on.seen.size == 1);
    CHECK(second.size == 2);
}

TEST_CASE("short results are passed on as they are, the end of the stream as eof") {
    fixture on;
    record second;
    const auto twice = [&]() -> task<> {
        co_await read_once(on.socket, on.seen);
        co_await read_once(on.socket, second);
    };
    launch(on.io, twice(), or_terminate{});
    on.script->steps.emplace_back([&] { on.script->complete_later(*on.script->submitted[0], 1); });
    on.script->steps.emplace_back([&] { on.script->complete_later(*on.script->submitted[1], 0); });

    on.io.run();

    CHECK(on.seen.size == 1);
    CHECK(second.failed == errc::eof);
}

TEST_CASE("an accepted connection whose accept has ended already is closed") {
    fixture on;
    stream_acceptor acceptor = stream_acceptor::adopt(on.io, 8);
    on.script->cancel_policy = scripted_backend::on_cancel::only_remember;
    const auto impatient = [&]() -> task<> {
        const auto raced = co_await when_any(acceptor.accept(), sleep_for(1ms));
        CHECK(raced.winner == 1);
        // The loser's result is here: a connection, closed when it goes out of scope.
        CHECK(std::get<0>(raced.results).ok());
    };
    launch(on.io, impatient(), or_terminate{});
    on.script->steps.emplace_back([] {});  // Time passes, and the sleep wins.
    on.script->steps.emplace_back([&] { on.script->complete_later(on.only(), 55); });

    on.io.run();

    CHECK(on.host.closed == std::vector{55});
}

TEST_CASE("closing a socket ends what is pending on it before the number is closed") {
    fixture on;
    launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] {
        on.io.post([&] {
            CHECK(on.socket.close().ok());
            CHECK(on.script->canceled.size() == 1);
            CHECK(on.script->in_flight() == 0);
        });
    });

    on.io.run();

    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.failed == errc::canceled);
    CHECK(on.script->forgotten == std::vector{7});
    CHECK(on.host.closed == std::vector{7});
}

TEST_CASE("a timeout that fires while the result is on its way yields the result") {
    fixture on;
    on.script->cancel_policy = scripted_backend::on_cancel::only_remember;
    io_result<std::size_t> outcome;
    const auto limited_read = [&]() -> task<> {
        std::array<std::byte, 8> space;
        outcome = co_await with_timeout(1ms, on.socket.read_some(space));
    };
    launch(on.io, limited_read(), or_terminate{});
    on.script->steps.emplace_back([] {});  // The deadline passes.
    on.script->steps.emplace_back([&] { on.script->complete_later(on.only(), 4); });

    on.io.run();

    CHECK(outcome.ok());
    CHECK(outcome.value() == 4);
}

TEST_CASE("a timeout that fires first yields timed_out, and only then") {
    fixture on;
    io_result<std::size_t> outcome;
    const auto limited_read = [&]() -> task<> {
        std::array<std::byte, 8> space;
        outcome = co_await with_timeout(1ms, on.socket.read_some(space));
    };
    launch(on.io, limited_read(), or_terminate{});

    on.io.run();

    CHECK(outcome.error() == errc::timed_out);
    CHECK(on.host.clock == time_point{std::chrono::hours{1}} + 1ms);
}

TEST_CASE("results on the spot go on at once, but not for more than a turn's share") {
    fixture on;
    constexpr int reads = 1000;
    on.script->inline_results.assign(reads, 1);
    int others = 0;
    const auto greedy = [&]() -> task<> {
        for (int count = 0; count < reads; ++count) co_await read_once(on.socket, on.seen);
    };
    const auto modest = [&]() -> task<> {
        while (on.seen.resumptions < reads) {
            ++others;
            co_await yield();
        }
    };
    launch(on.io, greedy(), or_terminate{});
    launch(on.io, modest(), or_terminate{});

    on.io.run();

    CHECK(on.seen.resumptions == reads);
    CHECK(others > 2);
}

TEST_CASE("work posted between looking and sleeping wakes the loop, once") {
    fixture on;
    int ran = 0;
    launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] {
        // The loop has published that it sleeps; another thread posts twice.
        on.script->wakes = 0;
        std::thread poster{[&] {
            on.io.post([&] { ++ran; });
            on.io.post([&] { ++ran; });
        }};
        poster.join();
    });
    on.script->steps.emplace_back([&] {
        CHECK(ran == 2);
        on.script->complete_later(on.only(), 1);
    });

    on.io.run();

    CHECK(ran == 2);
    CHECK(on.script->wakes == 1);
}

TEST_CASE("work posted while the loop runs needs no wake-up") {
    fixture on;
    int ran = 0;
    on.io.post([&] {
        std::thread poster{[&] { on.io.post([&] { ++ran; }); }};
        poster.join();
    });
    const int before = on.script->wakes;

    on.io.run();

    CHECK(ran == 1);
    CHECK(on.script->wakes == before);
}

namespace {

// Runs `action` as if on another loop's thread.
void from_another_loop(const std::function<void()>& action) {
    std::thread other{[&] {
        scripted_loop elsewhere;
        elsewhere.io.post([&] { action(); });
        elsewhere.io.run();
    }};
    other.join();
}

}  // namespace

TEST_CASE("a cancel from another loop is a message that this loop carries out") {
    fixture on;
    launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] {
        from_another_loop([&] { on.io.cancel(on.only()); });
        CHECK(on.only().state == operation_state::cancel_posted);
        CHECK(on.script->canceled.empty());
    });

    on.io.run();

    CHECK(on.script->canceled.size() == 1);
    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.failed == errc::canceled);
}

TEST_CASE("an operation does not resume while a foreign cancel still points to it") {
    fixture on;
    launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] {
        from_another_loop([&] { on.io.cancel(on.only()); });
        // Its completion comes first: it waits for the message, which then has nothing to cancel.
        on.script->complete_later(on.only(), 6);
    });

    on.io.run();

    CHECK(on.script->canceled.empty());
    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.size == 6);
}

namespace {

// A call that lasts until it is let go.
struct held_call : call_operation {
    held_call() noexcept : call_operation{&hold, this} {
        run = [](work& item) noexcept {
            auto& self = static_cast<held_call&>(static_cast<operation&>(item));
            REQUIRE(++self.resumptions == 1);  // Queued twice it would stay there for ever.
        };
    }
    static void hold(void* it) noexcept { static_cast<held_call*>(it)->let_go.wait(); }

    std::latch let_go{1};
    int resumptions = 0;
};

}  // namespace

TEST_CASE("a call that ends while a foreign cancel still points to it resumes once") {
    held_call op;
    scripted_loop on;
    const io_context::work_guard guard{on.io};
    on.io.post([&] { CHECK_FALSE(on.io.submit(op)); });
    on.script->steps.emplace_back([&] {
        from_another_loop([&] { on.io.cancel(op); });
        CHECK(op.state == operation_state::cancel_posted);
        op.let_go.count_down();
        CHECK(eventually([&op] { return op.state != operation_state::cancel_posted; }));
        CHECK(op.state == operation_state::awaiting_cancel);
    });

    on.io.run_for(patience);

    CHECK(op.resumptions == 1);
    CHECK(op.result == 0);
    CHECK(op.state == operation_state::done);
}

TEST_CASE("an operation that is over and waits for a foreign cancel is not canceled again") {
    fixture on;
    launch(on.io, read_once(on.socket, on.seen), or_terminate{});
    on.script->steps.emplace_back([&] {
        from_another_loop([&] { on.io.cancel(on.only()); });
        on.io.complete(on.only(), 4);
        CHECK(on.only().state == operation_state::awaiting_cancel);
        on.io.roots().front().chain.request(stop_level::stop);
    });

    on.io.run();

    CHECK(on.script->canceled.empty());
    CHECK(on.seen.resumptions == 1);
    CHECK(on.seen.size == 4);
}

namespace {

disposable read_in_frame(fixture& on) { co_await read_once(on.socket, on.seen); }

// Begins a read in a frame that the caller may destroy at any time.
disposable begin_read(fixture& on, const environment& surroundings) {
    const disposable it = read_in_frame(on);
    it.frame.promise().env = &surroundings;
    gyre::resume(it.frame);
    return it;
}

}  // namespace

TEST_CASE("a frame destroyed with an operation in flight takes it back first") {
    fixture on;
    stop_chain chain;
    const environment surroundings{on.io, &on.io, &chain};
    on.io.post([&] {
        const disposable it = begin_read(on, surroundings);
        REQUIRE(on.script->in_flight() == 1);

        it.frame.destroy();

        CHECK(on.script->canceled.size() == 1);
        CHECK(on.script->in_flight() == 0);
        CHECK(chain.pending() == nullptr);
    });

    on.io.run();

    CHECK(on.seen.resumptions == 0);
}

TEST_CASE("a frame destroyed between completion and resumption leaves nothing in the queue") {
    fixture on;
    stop_chain chain;
    const environment surroundings{on.io, &on.io, &chain};
    std::optional<disposable> it;
    on.io.post([&] {
        it = begin_read(on, surroundings);
        on.io.post([&] {
            on.io.complete(on.only(), 3);
            it->frame.destroy();
        });
    });

    on.io.run();

    CHECK(on.seen.resumptions == 0);
}

TEST_CASE("a frame destroyed while a foreign cancel still points to its operation waits for that") {
    for (const bool over : {false, true}) {
        CAPTURE(over);
        fixture on;
        stop_chain chain;
        const environment surroundings{on.io, &on.io, &chain};
        on.io.post([&] {
            const disposable it = begin_read(on, surroundings);
            from_another_loop([&] { on.io.cancel(on.only()); });
            if (over) on.io.complete(on.only(), 3);

            it.frame.destroy();

            CHECK(chain.pending() == nullptr);
        });

        on.io.run();

        CHECK(on.seen.resumptions == 0);
    }
}
