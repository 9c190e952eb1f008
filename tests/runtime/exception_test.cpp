// SPDX-License-Identifier: BSL-1.0
//
// Exceptions of users on their way between loops. Not built without exceptions.
#include <gyre/runtime/remote_task.hpp>
#include <gyre/runtime/sharded.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <atomic>
#include <cstddef>
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
