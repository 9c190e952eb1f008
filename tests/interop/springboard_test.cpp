// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/springboard.hpp promises: a coroutine called by code that is called back.
#include <gyre/interop/springboard.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

springboard<int> sum(int left, int right) {
    co_await yield();
    co_return left + right;
}

springboard<> note(std::vector<std::string>& pages) {
    pages.push_back("body");
    co_return;
}

springboard<io_result<>> sleep_long(std::shared_ptr<int>) {
    const io_result<> slept = co_await sleep_for(1h);
    co_return slept;
}

springboard<std::unique_ptr<int>> a_pointer() { co_return std::make_unique<int>(5); }

springboard<int> at_once(int value) { co_return value; }

}  // namespace

TEST_CASE("a springboard's value arrives in the callback") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        int got = 0;

        sum(3, 4).call(io, [&](int value) { got = value; });
        CHECK(got == 0);  // Never within the call.
        io.run_for(patience);

        CHECK(got == 7);
    });
}

TEST_CASE("a handler may ask for the outcome, or for nothing where there is no value") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::vector<std::string> pages;
        int got = 0;

        sum(1, 1).call(io, [&](task_outcome<int> outcome) { got = outcome.get(); });
        note(pages).call(io, [&] { pages.push_back("handler"); });
        io.run_for(patience);

        CHECK(got == 2);
        CHECK(pages == std::vector<std::string>{"body", "handler"});
    });
}

TEST_CASE("a value that can only be moved arrives in the callback") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::unique_ptr<int> got;
        a_pointer().call(io, [&](std::unique_ptr<int> value) { got = std::move(value); });
        io.run_for(patience);
        REQUIRE(got != nullptr);
        CHECK(*got == 5);
    });
}

TEST_CASE("a springboard that is never called disappears, arguments and all") {
    const auto witness = std::make_shared<int>(0);
    const auto make_and_drop = [&] {
        auto never_called = sleep_long(witness);
        auto moved = std::move(never_called);
        CHECK(witness.use_count() == 2);
    };
    make_and_drop();
    CHECK(witness.use_count() == 1);

    // Its block goes to the cache, which holds nothing else then.
    frame_cache::trim();
    frame_cache::trim_central_cache();
    make_and_drop();
    CHECK((frame_cache::bytes_held() > 0) == recycles_memory);
}

TEST_CASE("handler and arguments die when the coroutine has ended, however long its handle lives") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        const auto argument = std::make_shared<int>(0);
        const auto captured = std::make_shared<int>(0);
        error outcome;

        const stop_handle stop = sleep_long(argument).call(
            io, [&outcome, captured](io_result<> slept) { outcome = slept.error(); });
        io.poll();
        CHECK_FALSE(stop.ended());
        stop.request_stop();
        io.run_for(patience);

        CHECK(stop.ended());
        CHECK(outcome == errc::canceled);
        CHECK(argument.use_count() == 1);
        CHECK(captured.use_count() == 1);
        stop.request_stop();  // Too late, and harmless.
    });
}

TEST_CASE("a springboard is called, and stopped, from any thread") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        error outcome;
        std::thread caller{[&, guard = io_context::work_guard{io}] {
            const stop_handle stop =
                sleep_long(nullptr).call(io, [&](io_result<> slept) { outcome = slept.error(); });
            stop.request_stop();
        }};
        io.run_for(patience);
        caller.join();
        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("a loop that dies first runs a springboard to its end and calls the handler") {
    with_every_backend([](const io_context_options& options) {
        error outcome;
        int begun_too_late = 0;
        {
            io_context io{options};
            sleep_long(nullptr).call(io, [&](io_result<> slept) { outcome = slept.error(); });
            io.poll();
            at_once(9).call(io, [&](int value) { begun_too_late = value; });
        }
        CHECK(outcome == errc::canceled);
        CHECK(begun_too_late == 9);
    });
}

TEST_CASE("a caller that dies first is not called back if its handler holds it weakly") {
    with_every_backend([](const io_context_options& options) {
        struct caller {
            explicit caller(int& heard) : heard{heard} {}
            int& heard;
            stop_handle stop;
            ~caller() { stop.request_stop(); }
        };
        io_context io{options};
        int heard = 0;
        auto it = std::make_shared<caller>(heard);
        it->stop = sleep_long(nullptr).call(io, [weak = std::weak_ptr{it}](io_result<>) {
            if (const auto alive = weak.lock()) ++alive->heard;
        });
        io.poll();
        it.reset();
        io.run_for(patience);
        CHECK(heard == 0);
        CHECK(io.roots().empty());
    });
}

TEST_CASE("a handler calls the next springboard, a hundred thousand times in a row") {
    with_every_backend([](const io_context_options& options) {
        struct chain {
            io_context& io;
            int left;
            void next() {
                if (left-- > 0) at_once(left).call(io, [this](int) { next(); });
            }
        };
        io_context io{options};
        chain it{io, 100'000};
        it.next();
        io.run_for(patience);
        CHECK(it.left == -1);
    });
}
