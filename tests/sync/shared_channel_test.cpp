// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/shared_channel.hpp promises. How its waits end when stopped: waiting_laws_test.cpp; threads
// that block: blocked_thread_test.cpp. Under load, between threads: channel_storms_test.cpp.
#include <gyre/sync/shared_channel.hpp>

#include <gyre/sync/task_group.hpp>
#include <support/settle.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using values = std::vector<int>;

task<> send_all(shared_channel<int>& to, int count) {
    for (int value = 0; value < count; ++value) {
        const io_result<int> sent = co_await to.send(value);
        CHECK(sent.ok());
    }
    to.close();
}

task<> receive_all(shared_channel<int>& from, values& into) {
    for (;;) {
        const io_result<int> received = co_await from.receive();
        if (!received.ok()) {
            CHECK(received.error() == errc::closed);
            co_return;
        }
        into.push_back(received.value());
    }
}

task<> send_pointer(shared_channel<std::unique_ptr<int>>& to, int value, error& outcome,
                    std::unique_ptr<int>& unsent) {
    auto sent = co_await to.send(std::make_unique<int>(value));
    outcome = sent.error();
    unsent = sent.take();
}

// A value that nothing can be without a number.
struct order {
    explicit order(int n) noexcept : number{n} {}
    int number;
};

void check_order_with_capacity(std::size_t capacity) {
    const auto test = [capacity](io_context&) -> task<> {
        constexpr int count = 1000;
        shared_channel<int> numbers{capacity};
        values received;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(send_all(numbers, count));
            group.spawn(receive_all(numbers, received));
            co_return;
        };

        co_await with_group(body);

        CHECK(numbers.capacity() == capacity);
        CHECK(received.size() == count);
        CHECK(std::is_sorted(received.begin(), received.end()));
    };
    on_every_backend(test);
}

}  // namespace

TEST_CASE("a shared channel without room hands each value over directly") {
    check_order_with_capacity(0);
}

TEST_CASE("a shared channel of one delivers every value in order") { check_order_with_capacity(1); }

TEST_CASE("a shared channel of seven delivers every value in order") {
    check_order_with_capacity(7);
}

TEST_CASE("a shared channel takes as many values as it has room for, and no more") {
    shared_channel<int> numbers{2};
    int value = 1;

    CHECK(numbers.try_send(value));
    CHECK(numbers.try_send(value));
    CHECK_FALSE(numbers.try_send(value));

    CHECK(numbers.size() == 2);
    CHECK(numbers.try_receive() == 1);
    CHECK(numbers.try_receive() == 1);
    CHECK_FALSE(numbers.try_receive().has_value());
}

TEST_CASE("a value that was not sent by try_send between loops is untouched") {
    shared_channel<std::unique_ptr<int>> full{0};
    shared_channel<std::unique_ptr<int>> closed{1};
    closed.close();
    auto value = std::make_unique<int>(7);

    const bool sent_to_full = full.try_send(value);
    const bool sent_to_closed = closed.try_send(value);

    CHECK_FALSE(sent_to_full);
    CHECK_FALSE(sent_to_closed);
    CHECK(value != nullptr);
}

TEST_CASE("a send that is stopped or refused gives the value back") {
    on_every_backend([](io_context&) -> task<> {
        shared_channel<std::unique_ptr<int>> full{0};
        error stopped;
        error closed_meanwhile;
        error closed_before;
        std::unique_ptr<int> first, second, third;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(send_pointer(full, 1, stopped, first));
            co_await settle();
            group.request_stop();
        };
        const auto closing = [&](task_group& group) -> task<> {
            group.spawn(send_pointer(full, 2, closed_meanwhile, second));
            co_await settle();
            full.close();
        };

        co_await with_group(body);
        co_await with_group(closing);
        co_await send_pointer(full, 3, closed_before, third);

        CHECK(stopped == errc::canceled);
        CHECK(closed_meanwhile == errc::closed);
        CHECK(closed_before == errc::closed);
        REQUIRE((first && second && third));
        CHECK(values{*first, *second, *third} == values{1, 2, 3});
    });
}

TEST_CASE("a value that was sent is not given back") {
    on_every_backend([](io_context&) -> task<> {
        shared_channel<int> numbers{1};

        const io_result<int> sent = co_await numbers.send(7);

        CHECK(sent.ok());
        CHECK(sent.value() == 0);
        CHECK(numbers.try_receive() == 7);
    });
}

TEST_CASE("closing lets receivers empty a shared channel before they hear of it") {
    on_every_backend([](io_context&) -> task<> {
        shared_channel<int> numbers{2};
        int value = 5;
        CHECK(numbers.try_send(value));
        numbers.close();
        numbers.close();

        const io_result<int> last = co_await numbers.receive();
        const io_result<int> none = co_await numbers.receive();
        std::array<int, 2> some{};
        const io_result<std::size_t> none_of_many = co_await numbers.receive_many(some);

        CHECK(last.value() == 5);
        CHECK(none.error() == errc::closed);
        CHECK(none_of_many.error() == errc::closed);
        CHECK(none_of_many.value() == 0);
        CHECK(numbers.closed());
    });
}

TEST_CASE("values without a null state go through a shared channel in optionals") {
    on_every_backend([](io_context&) -> task<> {
        shared_channel<order> orders{1};

        const auto sent = co_await orders.send(order{7});
        const auto received = co_await orders.receive();
        orders.close();
        const auto refused = co_await orders.send(order{8});

        CHECK_FALSE(sent.value().has_value());
        REQUIRE(received.value().has_value());
        CHECK(received.value()->number == 7);
        REQUIRE(refused.value().has_value());
        CHECK(refused.value()->number == 8);
    });
}

TEST_CASE("receiving many takes what is there, of the ring and of those who wait to send") {
    on_every_backend([](io_context&) -> task<> {
        shared_channel<int> numbers{3};
        std::array<int, 4> some{};
        std::array<int, 40> rest{};
        io_result<std::size_t> first;
        io_result<std::size_t> second;
        const auto body = [&](task_group& group) -> task<> {
            for (int value = 0; value < 30; ++value) {
                group.spawn([&numbers, value]() -> task<> {
                    static_cast<void>(co_await numbers.send(value));
                });
            }
            co_await settle();
            first = co_await numbers.receive_many(some);
            second = co_await numbers.receive_many(rest);
        };

        co_await with_group(body);
        const io_result<std::size_t> none = co_await numbers.receive_many({});

        CHECK(first.value() == 4);
        CHECK(some == std::array{0, 1, 2, 3});
        CHECK(second.value() == 26);
        CHECK(std::is_sorted(rest.begin(), rest.begin() + 26));
        CHECK(rest[0] == 4);
        CHECK(rest[25] == 29);
        CHECK(none.ok());
        CHECK(none.value() == 0);
    });
}

TEST_CASE("a receiver of many that has waited takes what came after it was woken, too") {
    on_every_backend([](io_context&) -> task<> {
        shared_channel<int> numbers{8};
        std::array<int, 3> some{};
        io_result<std::size_t> got;
        const auto receive = [&]() -> task<> { got = co_await numbers.receive_many(some); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive());
            co_await settle();
            for (int value = 1; value < 6; ++value) CHECK(numbers.try_send(value));
        };

        co_await with_group(body);

        CHECK(got.value() == 3);
        CHECK(some == std::array{1, 2, 3});
        CHECK(numbers.size() == 2);
    });
}
