// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/environment.hpp promises: what is handed down, and a fair share of each turn.
#include <gyre/coro/environment.hpp>

#include <gyre/coro/task.hpp>
#include <gyre/sync/event.hpp>
#include <support/harness.hpp>

#include <coro/manual_loop.hpp>

#include <cstddef>
#include <limits>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Yields what it was given.
class given_environment {
public:
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<>, const environment* given) noexcept {
        given_ = given;
        return false;
    }
    [[nodiscard]] const environment* await_resume() const noexcept { return given_; }

private:
    const environment* given_ = nullptr;
};

task<const environment*> child() {
    const environment* mine = co_await given_environment{};
    co_return mine;
}

struct spending {
    int granted = 0;             // How often `spend` said yes before it said no.
    bool granted_again = false;  // Whether it did afterwards.
};

struct moved {
    std::size_t received = 0;  // Bytes, with each completion.
    std::size_t sent = 0;
};

// What one item may complete on the spot in a turn of `units`.
spending spend_in_a_turn(int units, moved bytes, bool others_ready) {
    manual_loop loop;
    loop.units_per_run = units;
    spending found;
    const auto body = [&]() -> task<> {
        while (loop.spend(bytes.received, bytes.sent)) ++found.granted;
        found.granted_again = loop.spend(bytes.received, bytes.sent);
        co_return;
    };
    work other{[](work&) noexcept {}};
    launch(loop, body(), or_terminate{});
    if (others_ready) loop.post(other);
    loop.run();
    return found;
}

}  // namespace

TEST_CASE("every co_await hands down the loop, the executor and the chain of its root") {
    manual_loop loop;
    const environment* at_root = nullptr;
    const environment* at_child = nullptr;
    const root* listed = nullptr;
    const auto look = [&]() -> task<> {
        at_root = co_await given_environment{};
        at_child = co_await child();
        listed = &loop.roots().front();
        CHECK(at_root->loop == &loop);
        CHECK(at_root->executor.refers_to(&loop));
        CHECK(at_root->chain == &listed->chain);
    };

    launch(loop, look(), or_terminate{});
    loop.run();

    CHECK(at_root != nullptr);
    CHECK(at_root == at_child);
}

TEST_CASE("a coroutine that is alone may complete on the spot until the turn's share is used up") {
    const spending all = spend_in_a_turn(100, {}, false);

    CHECK(all.granted > 90);
    CHECK(all.granted < 110);
    CHECK_FALSE(all.granted_again);
}

TEST_CASE("a coroutine gives way to what is ready after a few completions on the spot") {
    const spending few = spend_in_a_turn(100, {}, true);

    CHECK(few.granted > 0);
    CHECK(few.granted < 10);
}

TEST_CASE("sent bytes count too, and no number of them is too large") {
    const spending kibibytes = spend_in_a_turn(100, {.sent = 9 * 1024}, false);
    const spending huge =
        spend_in_a_turn(100, {.sent = std::numeric_limits<std::size_t>::max()}, false);

    CHECK(kibibytes.granted > 0);
    CHECK(kibibytes.granted < 50);
    CHECK(huge.granted < 5);
}

// Or a backlog that came about once, on a socket whose two ends share the loop, stays for ever.
TEST_CASE("what receives goes further before it gives way than what sends as much") {
    for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{65'536}}) {
        CAPTURE(size);
        const spending sender = spend_in_a_turn(1000, {.sent = size}, true);
        const spending receiver = spend_in_a_turn(1000, {.received = size}, true);
        // The completion that is refused has been made as well.
        CHECK(receiver.granted + 1 >= 2 * (sender.granted + 1));
    }
}

TEST_CASE("what receives much at a time gives way as well") {
    CHECK(spend_in_a_turn(1000, {.received = 1024 * 1024}, true).granted == 0);
}

TEST_CASE("what was in memory already counts against the turn's share only") {
    manual_loop loop;
    loop.units_per_run = 100;
    int granted = 0;
    const auto body = [&]() -> task<> {
        while (loop.spend_in_memory()) ++granted;
        CHECK_FALSE(loop.spend_in_memory());
        co_return;
    };
    work other{[](work&) noexcept {}};
    launch(loop, body(), or_terminate{});
    loop.post(other);
    loop.run();

    CHECK(granted > 90);
    CHECK(granted < 110);
}

TEST_CASE("outside of a turn nothing is granted") {
    io_context io;

    CHECK_FALSE(io.spend());
    CHECK_FALSE(io.spend_in_memory());
}

TEST_CASE("a coroutine whose awaits all end on the spot still gives way to others") {
    on_every_backend([](io_context& io) -> task<> {
        constexpr int many = 10'000;
        event ready;
        ready.set();
        int done = 0;
        int seen = -1;
        io.post([&] { seen = done; });

        while (done < many) {
            static_cast<void>(co_await ready.wait());
            ++done;
        }

        CHECK(seen >= 0);
        CHECK(seen < many);
    });
}
