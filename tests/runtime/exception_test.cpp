// SPDX-License-Identifier: BSL-1.0
//
// Exceptions of users on their way between loops and threads. Not built without exceptions.
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/remote_task.hpp>
#include <gyre/runtime/sharded.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/waiting_places.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

using namespace gyre;
using namespace gyre::testing;

namespace {

struct counted_part {
    explicit counted_part(std::atomic<int>& all) noexcept : alive{&all} { ++*alive; }
    counted_part(counted_part&& other) noexcept : alive{std::exchange(other.alive, nullptr)} {}
    counted_part& operator=(counted_part&&) = delete;
    ~counted_part() {
        if (alive != nullptr) --*alive;
    }
    std::atomic<int>* alive;
};

task<int> fail_there() {
    co_await yield();
    throw std::runtime_error{"not here"};
}

}  // namespace

TEST_CASE("an exception of a task on another loop is thrown where it is awaited") {
    on_every_backend([](io_context& io) -> task<> {
        io_pool pool;
        std::string reason;
        try {
            static_cast<void>(co_await on(pool[0], fail_there()));
        } catch (const std::runtime_error& caught) {
            reason = caught.what();
        }
        CHECK(reason == "not here");
        CHECK(io_context::current() == &io);
    });
}

TEST_CASE("an exception of a task that began below its caller is thrown there as well") {
    with_every_backend([](const io_context_options& options) {
        io_pool_options one;
        one.threads = 1;
        one.loop = options;
        io_pool pool{one};
        std::string reason;
        const auto ask = [&]() -> task<> {
            try {
                static_cast<void>(co_await on(pool, fail_there()));
            } catch (const std::runtime_error& caught) {
                reason = caught.what();
            }
        };
        launch(pool, ask(), or_terminate{});
        pool.wait();
        CHECK(reason == "not here");
    });
}

TEST_CASE("if a part cannot be made, those that exist are destroyed and the reason travels on") {
    on_every_backend([](io_context&) -> task<> {
        io_pool_options options;
        options.threads = 3;
        io_pool pool{options};
        std::atomic<int> alive = 0;
        std::string reason;
        const auto make = [&alive](io_context&, std::size_t index) {
            if (index == 1) throw std::runtime_error{"no second part"};
            return counted_part{alive};
        };
        try {
            const auto parts = co_await sharded<counted_part>::start(pool, make);
        } catch (const std::runtime_error& caught) {
            reason = caught.what();
        }
        CHECK(reason == "no second part");
        CHECK(alive == 0);
    });
}

namespace {

disposable call_in_frame(std::function<void()> function) {
    static_cast<void>(co_await blocking(std::move(function)));
    FAIL_CHECK("resumed after its end");
}

}  // namespace

TEST_CASE("a frame that is destroyed before it goes on drops what its call has thrown") {
    with_every_backend([](io_context_options options) {
        options.worker_threads_max = 1;
        io_context io{options};
        place_by_hand place;
        stop_chain chain;
        const environment surroundings{place, &io, &chain};
        const auto thrown = std::make_shared<int>(1);
        const disposable caller = call_in_frame([&thrown] { throw std::shared_ptr{thrown}; });
        caller.frame.promise().env = &surroundings;
        gyre::resume(caller.frame);
        const auto call_after_it = []() -> task<> {
            const auto do_nothing = [] {};
            CHECK((co_await blocking(do_nothing)).ok());
        };
        launch(io, call_after_it(), or_terminate{});
        io.run_for(patience);
        CHECK(thrown.use_count() == 2);

        caller.frame.destroy();

        CHECK(thrown.use_count() == 1);
        CHECK(chain.pending() == nullptr);
    });
}
