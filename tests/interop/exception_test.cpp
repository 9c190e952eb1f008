// SPDX-License-Identifier: BSL-1.0
//
// Users' exceptions on their way between coroutines, callbacks and futures; built only where there are any.
#include <gyre/interop/callbacks.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <optional>
#include <stdexcept>
#include <string>

using namespace gyre;
using namespace gyre::testing;

namespace {

task<int> throws() {
    co_await yield();
    throw std::runtime_error{"from the task"};
}

springboard<int> jumps_and_throws() {
    co_await yield();
    throw std::runtime_error{"from the springboard"};
}

}  // namespace

TEST_CASE("an exception of the start is rethrown to the coroutine that awaits") {
    on_every_backend([](io_context&) -> task<> {
        std::string heard;
        std::optional<callback<int>> kept;
        const auto start = [&](callback<int> done) {
            kept = std::move(done);
            throw std::runtime_error{"cannot begin"};
        };
        try {
            static_cast<void>(co_await from_callback<int>(start));
        } catch (const std::runtime_error& it) {
            heard = it.what();
        }
        CHECK(heard == "cannot begin");
        CHECK_FALSE(kept->wanted());
    });
}

TEST_CASE("an exception of the start counts even if the callback was called first") {
    on_every_backend([](io_context&) -> task<> {
        bool thrown = false;
        const auto start = [&](callback<int> done) {
            done(1);
            throw 5;
        };
        try {
            static_cast<void>(co_await from_callback<int>(start));
        } catch (int) {
            thrown = true;
        }
        CHECK(thrown);
    });
}

TEST_CASE("an exception of a task is what its future holds") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::future<int> failed = to_future(io, throws());
        io.run_for(patience);
        CHECK_THROWS_WITH_AS(failed.get(), "from the task", std::runtime_error);
    });
}

TEST_CASE("an exception of a springboard reaches the handler that asks for it") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::string heard;
        jumps_and_throws().call(io, [&](task_outcome<int> outcome) {
            try {
                static_cast<void>(outcome.get());
            } catch (const std::runtime_error& it) {
                heard = it.what();
            }
        });
        io.run_for(patience);
        CHECK(heard == "from the springboard");
    });
}
