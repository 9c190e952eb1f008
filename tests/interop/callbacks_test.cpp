// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/callbacks.hpp promises: whatever a callback does, its coroutine goes on once.
#include <gyre/interop/callbacks.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/harness.hpp>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// A library as they are found: it keeps functions, and calls them when it likes.
struct old_library {
    using function = std::function<void(int, const char*)>;

    void look_up(function found) { kept.push_back(std::move(found)); }

    std::vector<function> kept;
};

// The same in C.
using c_function = void (*)(void* context, int status);
struct c_library {
    void begin(c_function done, void* context) {
        done_ = done;
        context_ = context;
    }
    void finish(int status) const { done_(context_, status); }

private:
    c_function done_ = nullptr;
    void* context_ = nullptr;
};

auto ask(old_library& library) {
    return from_callback<int, std::string>([&library](callback<int, std::string> done) {
        library.look_up([done](int number, const char* text) { done(number, text); });
    });
}

// A value that is slow to take over: a call that was claimed and is not over yet.
struct slow_value {
    struct history {
        std::latch taking{1};
        std::binary_semaphore frame_gone{0};
        bool outlived_frame = false;
    };

    slow_value() = default;
    explicit slow_value(history& into) : notes{&into} {}
    slow_value(slow_value&&) = default;
    slow_value& operator=(slow_value&& other) noexcept {
        notes = other.notes;
        if (notes == nullptr) return *this;
        notes->taking.count_down();
        // That it does not come, only time can tell.
        notes->outlived_frame = notes->frame_gone.try_acquire_for(10ms);
        return *this;
    }
    ~slow_value() = default;

    history* notes = nullptr;
};

// Awaits `start` in a frame whose owner gives it up after `meanwhile()`, in the middle of the wait.
template <class Value, class Start, class Meanwhile>
task<> abandon_wait(io_context& io, Start start, Meanwhile meanwhile) {
    const auto waiting = [](Start begin) -> task<> {
        static_cast<void>(co_await from_callback<Value>(std::move(begin)));
        CHECK(false);
    };
    auto abandoned = std::make_unique<std::optional<task<>>>();
    const auto chain = std::make_unique<stop_chain>();
    auto given = std::make_unique<environment>(environment{io, &io, chain.get()});
    callback_frame awaiter{[](callback_frame*) {}};
    abandoned->emplace(waiting(std::move(start)));
    gyre::resume((*abandoned)->await_suspend(awaiter.handle(), given.get()));
    meanwhile();
    abandoned.reset();
    given.reset();
    CHECK(chain->pending() == nullptr);
    co_return;
}

task<> let_others_run() {
    for (int time = 0; time < 5; ++time) co_await yield();
}

}  // namespace

TEST_CASE("what the callback is called with is what the await yields") {
    on_every_backend([](io_context&) -> task<> {
        old_library library;
        const auto body = [&](task_group& group) -> task<> {
            const auto later = [&]() -> task<> {
                library.kept.front()(7, "seven");
                co_return;
            };
            group.spawn(later());
            const auto [error, number, text] = co_await ask(library);
            CHECK_FALSE(error);
            CHECK(number == 7);
            CHECK(text == "seven");
        };
        co_await with_group(body);
    });
}

TEST_CASE("a callback that is called before the start has returned ends the wait on the spot") {
    on_every_backend([](io_context& io) -> task<> {
        const auto now = [](callback<int> done) { CHECK(done(3)); };
        const std::size_t turns_before = io.counters().turns;

        const auto got = co_await from_callback<int>(now);

        CHECK(got.value() == 3);
        CHECK(io.counters().turns == turns_before);
    });
}

TEST_CASE("a million callbacks that are called at once leave room for others, and the stack flat") {
    on_every_backend([](io_context&) -> task<> {
        bool over = false;
        int turns_of_others = 0;
        // Outside of the body, whose frame goes when it returns; the group still waits for this one.
        const auto other = [&]() -> task<> {
            while (!over) {
                ++turns_of_others;
                co_await yield();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(other());
            const auto now = [](callback<> done) { done(); };
            for (int round = 0; round < 1'000'000; ++round) {
                const auto got = co_await from_callback<>(now);
                if (!got.ok()) co_return;
            }
            over = true;
        };
        co_await with_group(body);
        CHECK(turns_of_others > 1000);
    });
}

TEST_CASE("a second call is refused, and its values dropped") {
    on_every_backend([](io_context&) -> task<> {
        const auto witness = std::make_shared<int>(0);
        std::optional<callback<std::shared_ptr<int>>> kept;
        const auto twice = [&](callback<std::shared_ptr<int>> done) {
            kept = done;
            CHECK(done.wanted());
            CHECK(done(nullptr));
            CHECK_FALSE(done.wanted());
            CHECK_FALSE(done(witness));
        };

        const auto got = co_await from_callback<std::shared_ptr<int>>(twice);

        CHECK(got.ok());
        CHECK(got.value() == nullptr);
        CHECK_FALSE((*kept)(witness));
        CHECK(witness.use_count() == 1);
    });
}

TEST_CASE("a callback reports an error together with what was achieved before it") {
    on_every_backend([](io_context&) -> task<> {
        const auto partly = [](callback<int> done) { done(errc::connection_reset, 12); };
        const auto got = co_await from_callback<int>(partly);
        CHECK(got.error() == errc::connection_reset);
        CHECK(got.value() == 12);

        const auto not_at_all = [](callback<int> done) { done.fail(errc::eof); };
        const auto nothing = co_await from_callback<int>(not_at_all);
        CHECK(nothing.error() == errc::eof);
        CHECK(nothing.value() == 0);
    });
}

TEST_CASE("a callback whose last copy dies without a call ends the wait with broken_promise") {
    on_every_backend([](io_context&) -> task<> {
        const auto at_once = [](const callback<int>&) {};
        const auto lost = co_await from_callback<int>(at_once);
        CHECK(lost.error() == errc::broken_promise);

        old_library library;
        const auto body = [&](task_group& group) -> task<> {
            const auto later = [&]() -> task<> {
                const auto copy = library.kept;
                library.kept.clear();
                co_return;
            };
            group.spawn(later());
            const auto lost_later = co_await ask(library);
            CHECK(lost_later.error() == errc::broken_promise);
        };
        co_await with_group(body);
    });
}

TEST_CASE("a callback that never comes is ended by a stop, at once, and a late call is refused") {
    on_every_backend([](io_context&) -> task<> {
        const auto witness = std::make_shared<int>(0);
        std::optional<callback<std::shared_ptr<int>>> kept;
        const auto never_calls = [&](callback<std::shared_ptr<int>> done) {
            kept = std::move(done);
        };

        const auto got =
            co_await with_timeout(1ms, from_callback<std::shared_ptr<int>>(never_calls));

        CHECK(got.error() == errc::timed_out);
        CHECK_FALSE(kept->wanted());
        CHECK_FALSE((*kept)(witness));
        CHECK(witness.use_count() == 1);
    });
}

TEST_CASE("a drain leaves a wait for a callback alone") {
    on_every_backend([](io_context& io) -> task<> {
        std::optional<callback<int>> kept;
        std::optional<io_result<int>> got;
        const auto keep = [&](callback<int> done) { kept = std::move(done); };
        const auto wait = [&]() -> task<> {
            const auto result = co_await from_callback<int>(keep);
            got = result;
        };
        const stop_handle waiting = launch(io, wait(), or_terminate{});
        co_await let_others_run();

        waiting.request_drain();
        co_await let_others_run();
        CHECK_FALSE(got.has_value());
        (*kept)(1);
        co_await let_others_run();

        REQUIRE(got.has_value());
        CHECK(got->ok());
    });
}

TEST_CASE("a wait that is stopped before it begins does not start anything") {
    on_every_backend([](io_context& io) -> task<> {
        bool started = false;
        error outcome;
        const auto wait = [&]() -> task<> {
            co_await yield();
            const auto start = [&](callback<> done) {
                started = true;
                done();
            };
            const auto got = co_await from_callback<>(start);
            outcome = got.error();
        };
        const stop_handle waiting = launch(io, wait(), or_terminate{});
        waiting.request_stop();
        co_await let_others_run();

        CHECK(outcome == errc::canceled);
        CHECK_FALSE(started);
    });
}

TEST_CASE("a start that has its own coroutine stopped finds the wait canceled") {
    on_every_backend([](io_context&) -> task<> {
        std::optional<callback<>> kept;
        const auto body = [&](task_group& group) -> task<> {
            const auto child = [&]() -> task<> {
                const auto start = [&](callback<> done) {
                    kept = std::move(done);
                    group.request_stop();
                };
                const auto got = co_await from_callback<>(start);
                CHECK(got.error() == errc::canceled);
            };
            group.spawn(child());
            co_await group.join();
        };
        co_await with_group(body);
        CHECK_FALSE(kept->wanted());
    });
}

TEST_CASE("an operation that can be canceled is, and its end is waited for") {
    on_every_backend([](io_context&) -> task<> {
        std::optional<callback<int>> kept;
        int cancels = 0;
        const auto start = [&](callback<int> done) { kept = std::move(done); };
        const auto cancel = [&] {
            ++cancels;
            CHECK((*kept)(errc::canceled, 5));  // As some do: from within the cancel.
        };

        const auto got = co_await with_timeout(1ms, from_callback<int>(start, cancel));

        CHECK(got.error() == errc::timed_out);
        CHECK(got.value() == 5);
        CHECK(cancels == 1);
    });
}

TEST_CASE("an operation that is not moved by its cancel keeps the coroutine until it calls back") {
    on_every_backend([](io_context& io) -> task<> {
        std::optional<callback<int>> kept;
        std::optional<io_result<int>> got;
        const auto wait = [&]() -> task<> {
            const auto start = [&](callback<int> done) { kept = std::move(done); };
            const auto result = co_await from_callback<int>(start, [] {});
            got = result;
        };
        const stop_handle waiting = launch(io, wait(), or_terminate{});
        co_await let_others_run();
        waiting.request_stop();
        co_await let_others_run();
        CHECK_FALSE(got.has_value());

        CHECK((*kept)(9));
        co_await let_others_run();

        REQUIRE(got.has_value());
        CHECK(got->ok());
        CHECK(got->value() == 9);
    });
}

TEST_CASE(
    "a callback comes from another thread, however the two race, and exactly one call counts") {
    with_every_backend([](const io_context_options& options) {
        constexpr int rounds = 2000;
        io_context io{options};
        std::atomic<int> accepted = 0;
        int resumed = 0;
        const auto waits = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                std::thread first;
                std::thread second;
                const auto start = [&](callback<int> done) {
                    first = std::thread{[&, done] { accepted += done(1) ? 1 : 0; }};
                    second =
                        std::thread{[&, done = std::move(done)] { accepted += done(2) ? 1 : 0; }};
                };
                const auto got = co_await from_callback<int>(start);
                first.join();
                second.join();
                if (got.ok() && (got.value() == 1 || got.value() == 2)) ++resumed;
            }
        };
        launch(io, waits(), or_terminate{});
        io.run_for(patience);

        CHECK(resumed == rounds);
        CHECK(accepted == rounds);
    });
}

TEST_CASE("a call from another thread races with a stop, and exactly one of the two counts") {
    with_every_backend([](const io_context_options& options) {
        constexpr int rounds = 2000;
        io_context io{options};
        std::atomic<int> accepted = 0;
        int values = 0;
        int stops = 0;
        const auto waits = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                std::thread caller;
                const auto start = [&](callback<int> done) {
                    caller = std::thread{[&, done = std::move(done)] { accepted += done(1); }};
                };
                const auto raced = co_await when_any(from_callback<int>(start), sleep_for(20us));
                caller.join();
                const auto& got = std::get<0>(raced.results);
                if (got.ok() && got.value() == 1) ++values;
                if (got.error() == errc::canceled && got.value() == 0) ++stops;
            }
        };
        launch(io, waits(), or_terminate{});
        io.run_for(patience);

        CHECK(values == accepted);
        CHECK(values + stops == rounds);
    });
}

TEST_CASE("the last copy dies on another thread, and the wait ends") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        error outcome;
        const auto wait = [&]() -> task<> {
            std::thread owner;
            const auto start = [&](callback<int> done) {
                owner = std::thread{[done = std::move(done)]() mutable {
                    const callback<int> last = std::move(done);
                }};
            };
            const auto got = co_await from_callback<int>(start);
            owner.join();
            outcome = got.error();
        };
        launch(io, wait(), or_terminate{});
        io.run_for(patience);
        CHECK(outcome == errc::broken_promise);
    });
}

TEST_CASE("a loop that dies first ends the wait, and the callback may outlive it") {
    with_every_backend([](const io_context_options& options) {
        std::optional<callback<int>> kept;
        error outcome;
        const auto wait = [&]() -> task<> {
            const auto start = [&](callback<int> done) { kept = std::move(done); };
            const auto got = co_await from_callback<int>(start);
            outcome = got.error();
        };
        {
            io_context io{options};
            launch(io, wait(), or_terminate{});
            io.poll();
            CHECK(kept->wanted());
        }
        CHECK(outcome == errc::canceled);
        CHECK_FALSE(kept->wanted());
        CHECK_FALSE((*kept)(1));
    });
}

TEST_CASE("a loop that dies while another thread calls back waits for that call to be over") {
    with_every_backend([](const io_context_options& options) {
        for (int round = 0; round < 500; ++round) {
            std::thread caller;
            bool ended = false;
            const auto wait = [&]() -> task<> {
                const auto start = [&](callback<int> done) {
                    caller = std::thread{[done = std::move(done)] { done(1); }};
                };
                static_cast<void>(co_await from_callback<int>(start));
                ended = true;
            };
            {
                io_context io{options};
                launch(io, wait(), or_terminate{});
                io.poll();
            }
            caller.join();
            if (!ended) {
                CHECK(ended);
                break;
            }
        }
    });
}

TEST_CASE("a callback travels through an interface in C as a pointer") {
    on_every_backend([](io_context&) -> task<> {
        c_library library;
        const auto start = [&](callback<int> done) {
            const c_function on_done = [](void* context, int status) {
                const auto back = callback<int>::adopt(context);
                back(status);
            };
            library.begin(on_done, done.release());
        };
        const auto body = [&](task_group& group) -> task<> {
            const auto finish = [&]() -> task<> {
                library.finish(42);
                co_return;
            };
            group.spawn(finish());
            const auto got = co_await from_callback<int>(start);
            CHECK(got.value() == 42);
        };
        co_await with_group(body);
    });
}

TEST_CASE("a coroutine on a strand is resumed on its strand") {
    on_every_backend([](io_context& io) -> task<> {
        strand line{io};
        std::thread caller;
        const auto there = [&]() -> task<int> {
            const auto start = [&](callback<int> done) {
                caller = std::thread{[done = std::move(done)] { done(6); }};
            };
            const auto got = co_await from_callback<int>(start);
            co_return got.value();
        };
        const int got = co_await on(line, there());
        caller.join();
        CHECK(got == 6);
    });
}

TEST_CASE("a frame that is destroyed while it waits leaves nothing behind, called or not") {
    with_every_backend([](const io_context_options& options) {
        std::optional<callback<int>> kept;
        for (const bool called_before : {false, true}) {
            io_context io{options};
            const auto keep = [&](callback<int> done) { kept = std::move(done); };
            const auto meanwhile = [&] {
                if (called_before) CHECK((*kept)(1));
            };
            launch(io, abandon_wait<int>(io, keep, meanwhile), or_terminate{});
            io.run_for(patience);
            CHECK_FALSE(kept->wanted());
            CHECK_FALSE((*kept)(2));
        }
    });
}

TEST_CASE("a frame whose foreign operation is over is destroyed before it was resumed") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::optional<callback<int>> kept;
        bool ended = false;
        const auto keep = [&](callback<int> done) { kept = std::move(done); };
        const auto wait = [&]() -> task<> {
            static_cast<void>(co_await from_callback<int>(keep, [] {}));
            CHECK(false);
        };
        const auto owner = [&]() -> task<> {
            stop_chain chain;
            const environment given{io, &io, &chain};
            callback_frame awaiter{[](callback_frame*) {}};
            std::optional<task<>> abandoned{wait()};
            gyre::resume(abandoned->await_suspend(awaiter.handle(), &given));
            CHECK((*kept)(1));
            abandoned.reset();
            ended = true;
            co_return;
        };
        launch(io, owner(), or_terminate{});
        io.run_for(patience);
        CHECK(ended);
    });
}

TEST_CASE(
    "a frame that is destroyed with its resumption on a strand leaves nothing to the strand") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::optional<callback<int>> kept;
        const auto keep = [&](callback<int> done) { kept = std::move(done); };
        const auto wait = [&]() -> task<> {
            static_cast<void>(co_await from_callback<int>(keep));
            CHECK(false);
        };
        bool ran = false;
        const auto owner = [&]() -> task<> {
            std::optional<strand> line{std::in_place, io};
            stop_chain chain;
            const environment given{*line, &io, &chain};
            callback_frame awaiter{[](callback_frame*) {}};
            std::optional<task<>> abandoned{wait()};
            gyre::resume(abandoned->await_suspend(awaiter.handle(), &given));
            CHECK((*kept)(1));
            kept.reset();  // The block is the strand's alone, if anything's: a leak, as it is never run.
            abandoned.reset();
            line.reset();
            ran = true;
            co_return;
        };
        launch(io, owner(), or_terminate{});
        io.run_for(patience);
        CHECK(ran);
    });
}

TEST_CASE("a frame is not destroyed in the middle of a call from another thread") {
    with_every_backend([](const io_context_options& options) {
        slow_value::history notes;
        std::thread caller;
        {
            io_context io{options};
            const auto call_elsewhere = [&](callback<slow_value> done) {
                caller = std::thread{
                    [&notes, done = std::move(done)] { CHECK(done(slow_value{notes})); }};
            };
            const auto meanwhile = [&] { notes.taking.wait(); };
            const auto note_gone = [&](task_outcome<void>) { notes.frame_gone.release(); };
            launch(io, abandon_wait<slow_value>(io, call_elsewhere, meanwhile), note_gone);
            io.run_for(patience);
        }
        caller.join();
        CHECK_FALSE(notes.outlived_frame);
    });
}
