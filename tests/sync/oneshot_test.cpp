// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/oneshot.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/oneshot.hpp>

#include <base/ending.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using pointer = std::unique_ptr<int>;

// A value that nothing can be without a number.
struct order {
    explicit order(int n) noexcept : number{n} {}
    int number;
};

task<> receive(oneshot_receiver<pointer>& from, io_result<pointer>& into) {
    into = co_await from.receive();
}

task<> answer(int question, oneshot_sender<int> to) {
    static_cast<void>(to.send(question + 1));
    co_return;
}

}  // namespace

TEST_CASE("a value that was sent before it is asked for is there at once") {
    on_every_backend([](io_context&) -> task<> {
        auto [sender, receiver] = make_oneshot<pointer>();

        const bool wanted = sender.wanted();
        const bool sent = sender.send(std::make_unique<int>(7)).ok();
        auto received = co_await receiver.receive();
        const auto again = co_await receiver.receive();

        CHECK(wanted);
        CHECK(sent);
        const pointer value = received.take();
        REQUIRE(value != nullptr);
        CHECK(*value == 7);
        CHECK(again.error() == errc::broken_promise);
    });
}

TEST_CASE("a receiver that waits is woken by the value, or by the end of the sender") {
    on_every_backend([](io_context&) -> task<> {
        auto [sender, receiver] = make_oneshot<pointer>();
        std::optional<oneshot<pointer>> dropped{make_oneshot<pointer>()};
        io_result<pointer> value;
        io_result<pointer> broken;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive(receiver, value));
            group.spawn(receive(dropped->receiver, broken));
            co_await settle();
            CHECK(sender.send(std::make_unique<int>(7)).ok());
            dropped->sender = oneshot_sender<pointer>{};
        };

        co_await with_group(body);
        const auto once_more = co_await dropped->receiver.receive();

        REQUIRE(value.ok());
        CHECK(*value.value() == 7);
        CHECK(broken.error() == errc::broken_promise);
        CHECK(once_more.error() == errc::broken_promise);
    });
}

TEST_CASE("a value that nobody will receive is given back") {
    auto [sender, receiver] = make_oneshot<order>();
    receiver.close();

    const bool wanted = sender.wanted();
    const auto refused = sender.send(order{7});
    const auto sent_twice = sender.send(order{8});

    CHECK_FALSE(wanted);
    CHECK(refused.error() == errc::closed);
    REQUIRE(refused.value().has_value());
    CHECK(refused.value()->number == 7);
    CHECK(sent_twice.error() == errc::closed);
    CHECK(sent_twice.value()->number == 8);
}

TEST_CASE("a value that came too late for a wait is received by the next") {
    on_every_backend([](io_context&) -> task<> {
        auto [sender, receiver] = make_oneshot<pointer>();
        io_result<pointer> stopped;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive(receiver, stopped));
            co_await settle();
            group.request_stop();
        };

        co_await with_group(body);
        CHECK_FALSE(receiver.try_receive().has_value());
        CHECK(sender.send(std::make_unique<int>(7)).ok());
        const std::optional<pointer> late = receiver.try_receive();

        CHECK(stopped.error() == errc::canceled);
        REQUIRE(late.has_value());
        CHECK(**late == 7);
    });
}

TEST_CASE("storm: a question goes to another loop, and its answer comes back, whoever is faster") {
    with_pools(2, [](io_context& io, io_pool& pool) {
        constexpr int questions = 500;
        int right = 0;
        const auto ask = [&]() -> task<> {
            for (int question = 0; question < questions; ++question) {
                auto [sender, receiver] = make_oneshot<int>();
                launch(pool[question % 2], answer(question, std::move(sender)), or_terminate{});
                const io_result<int> answered = co_await receiver.receive();
                if (answered.value() == question + 1) ++right;
            }
        };

        run_here(io, ask());

        CHECK(right == questions);
    });
}

TEST_CASE("a thread receives what a coroutine sends, and hears if it does not") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto [sender, receiver] = make_oneshot<int>();
        auto [unused, waiting] = make_oneshot<int>();
        launch(io, answer(6, std::move(sender)), or_terminate{});
        std::thread other{[&] { io.run(); }};

        const io_result<int> received = receiver.receive_blocking();
        const io_result<int> late =
            waiting.receive_blocking(std::chrono::steady_clock::now() + 1ms);
        other.join();
        static_cast<void>(unused.wanted());

        CHECK(received.value() == 7);
        CHECK(late.error() == errc::timed_out);
    });
}

namespace {

task<> close_while_waiting() {
    oneshot<int> ends = make_oneshot<int>();
    const auto close = [&ends]() -> task<> {
        ends.receiver.close();
        co_return;
    };
    static_cast<void>(co_await when_all(ends.receiver.receive(), close()));
}

}  // namespace

TEST_CASE("a receiver that is closed while it waits is a failed check") {
    const ending how = ending_of([] {
        io_context io;
        launch(io, close_while_waiting(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a receiver is not closed while it is waited for"));
}
