// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/channel.hpp promises. How its waits end when stopped: waiting_laws_test.cpp.
#include <gyre/sync/channel.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using values = std::vector<int>;

task<> send_one(channel<int>& to, int value, std::vector<error>& outcomes) {
    const io_result<> sent = co_await to.send(value);
    outcomes.push_back(sent.error());
}

task<> receive_one(channel<int>& from, values& into, std::vector<error>& outcomes) {
    const io_result<int> received = co_await from.receive();
    outcomes.push_back(received.error());
    if (received.ok()) into.push_back(received.value());
}

task<> send_all(channel<int>& to, int count) {
    for (int value = 0; value < count; ++value) {
        const io_result<> sent = co_await to.send(value);
        CHECK(sent.ok());
    }
    to.close();
}

task<> receive_all(channel<int>& from, values& into) {
    for (;;) {
        const io_result<int> received = co_await from.receive();
        if (!received.ok()) {
            CHECK(received.error() == errc::closed);
            co_return;
        }
        into.push_back(received.value());
    }
}

// A value that nothing can be without a number.
struct order {
    explicit order(int n) noexcept : number{n} {}
    int number;
};

void check_order_with_capacity(std::size_t capacity) {
    const auto test = [capacity](io_context&) -> task<> {
        constexpr int count = 1000;
        channel<int> values_on_their_way{capacity};
        values received;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(send_all(values_on_their_way, count));
            group.spawn(receive_all(values_on_their_way, received));
            co_return;
        };

        co_await with_group(body);

        CHECK(values_on_their_way.capacity() == capacity);
        CHECK(received.size() == count);
        CHECK(std::is_sorted(received.begin(), received.end()));
    };
    on_each_backend_of("coordination", test);
}

}  // namespace

TEST_CASE("a channel without room hands each value over directly") { check_order_with_capacity(0); }

TEST_CASE("a channel of one delivers every value in order") { check_order_with_capacity(1); }

TEST_CASE("a channel of seven delivers every value in order") { check_order_with_capacity(7); }

TEST_CASE("a channel takes as many values as it has room for, and no more") {
    channel<int> numbers{2};
    int value = 1;

    CHECK(numbers.try_send(value));
    CHECK(numbers.try_send(value));
    CHECK_FALSE(numbers.try_send(value));

    CHECK(numbers.size() == 2);
    CHECK(numbers.try_receive() == 1);
    CHECK(numbers.try_receive() == 1);
    CHECK_FALSE(numbers.try_receive().has_value());
}

TEST_CASE("a value that was not sent by try_send is untouched") {
    channel<std::unique_ptr<int>> full{0};
    channel<std::unique_ptr<int>> closed{1};
    closed.close();
    auto value = std::make_unique<int>(7);

    const bool sent_to_full = full.try_send(value);
    const bool sent_to_closed = closed.try_send(value);

    CHECK_FALSE(sent_to_full);
    CHECK_FALSE(sent_to_closed);
    CHECK(value != nullptr);
}

TEST_CASE("values that only move arrive") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<std::unique_ptr<int>> pointers{1};
        std::vector<int> received;
        const auto receiver = [&]() -> task<> {
            for (;;) {
                io_result<std::unique_ptr<int>> got = co_await pointers.receive();
                if (!got.ok()) co_return;
                const std::unique_ptr<int> value = got.take();
                received.push_back(*value);
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receiver());
            for (int value = 0; value < 5; ++value) {
                static_cast<void>(co_await pointers.send(std::make_unique<int>(value)));
            }
            pointers.close();
        };

        co_await with_group(body);

        CHECK(received == values{0, 1, 2, 3, 4});
    });
}

TEST_CASE("closing lets receivers empty a channel before they hear of it") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{2};
        int value = 5;
        CHECK(numbers.try_send(value));
        numbers.close();
        numbers.close();

        const io_result<int> last = co_await numbers.receive();
        const io_result<int> none = co_await numbers.receive();
        const io_result<> sent = co_await numbers.send(6);

        CHECK(last.ok());
        CHECK(last.value() == 5);
        CHECK(none.error() == errc::closed);
        CHECK(sent.error() == errc::closed);
        CHECK(numbers.closed());
    });
}

TEST_CASE("closing ends senders that wait, and their values are not delivered") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{1};
        std::vector<error> outcomes;
        const auto body = [&](task_group& group) -> task<> {
            for (int value = 0; value < 3; ++value) group.spawn(send_one(numbers, value, outcomes));
            co_await settle();
            numbers.close();
        };

        co_await with_group(body);

        CHECK(outcomes == std::vector<error>{errc::ok, errc::closed, errc::closed});
        CHECK(numbers.try_receive() == 0);
        CHECK_FALSE(numbers.try_receive().has_value());
    });
}

TEST_CASE("closing ends receivers that wait") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{0};
        values received;
        std::vector<error> outcomes;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive_one(numbers, received, outcomes));
            group.spawn(receive_one(numbers, received, outcomes));
            co_await settle();
            numbers.close();
        };

        co_await with_group(body);

        CHECK(outcomes == std::vector<error>{errc::closed, errc::closed});
    });
}

TEST_CASE("receivers are served in the order in which they came") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{0};
        std::vector<values> received(3);
        std::vector<error> outcomes;
        const auto body = [&](task_group& group) -> task<> {
            for (values& each : received) group.spawn(receive_one(numbers, each, outcomes));
            co_await settle();
            for (int value = 0; value < 3; ++value) CHECK(numbers.try_send(value));
        };

        co_await with_group(body);

        CHECK(received == std::vector<values>{{0}, {1}, {2}});
    });
}

TEST_CASE("senders that wait are served in the order in which they came, behind what is there") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{2};
        std::vector<error> outcomes;
        values received;
        const auto body = [&](task_group& group) -> task<> {
            for (int value = 0; value < 6; ++value) group.spawn(send_one(numbers, value, outcomes));
            co_await settle();
            for (int time = 0; time < 6; ++time) {
                co_await receive_one(numbers, received, outcomes);
            }
        };

        co_await with_group(body);

        CHECK(received == values{0, 1, 2, 3, 4, 5});
    });
}

TEST_CASE("a receiver that was stopped takes no value, and the next one gets it") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{0};

        const io_result<int> late = co_await with_timeout(1ms, numbers.receive());
        int value = 8;
        const bool sent_to_nobody = numbers.try_send(value);
        values received;
        std::vector<error> outcomes;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive_one(numbers, received, outcomes));
            co_await settle();
            CHECK(numbers.try_send(value));
        };
        co_await with_group(body);

        CHECK(late.error() == errc::timed_out);
        CHECK_FALSE(sent_to_nobody);
        CHECK(received == values{8});
    });
}

TEST_CASE("a sender that was stopped has sent nothing") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{1};
        static_cast<void>(co_await numbers.send(1));

        const io_result<> late = co_await with_timeout(1ms, numbers.send(2));

        CHECK(late.error() == errc::timed_out);
        CHECK(numbers.try_receive() == 1);
        CHECK_FALSE(numbers.try_receive().has_value());
    });
}

TEST_CASE("a stopped receive leaves a value where it is") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> numbers{1};
        static_cast<void>(co_await numbers.send(1));
        values received;
        std::vector<error> outcomes;
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(receive_one(numbers, received, outcomes));
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(outcomes == std::vector<error>{errc::canceled});
        CHECK(numbers.size() == 1);
    });
}

namespace {

/// Producers and consumers that give up at random moments; what was reported as sent is what must
/// be received, each value once, and those of one producer in order.
struct bazaar {
    explicit bazaar(std::size_t capacity) : goods{capacity} {}

    channel<int> goods;
    values sent;
    values received;
};

task<> produce(bazaar& at, std::mt19937& random, int name) {
    for (int each = 0; each < 200; ++each) {
        const int value = name * 1000 + each;
        const bool patient = random() % 4 != 0;
        io_result<> outcome;
        if (patient) {
            outcome = co_await at.goods.send(value);
        } else {
            outcome = co_await with_timeout(0ns, at.goods.send(value));
        }
        if (outcome.ok()) at.sent.push_back(value);
        if (random() % 8 == 0) co_await yield();
    }
}

task<> consume(bazaar& at, std::mt19937& random) {
    for (;;) {
        const bool patient = random() % 4 != 0;
        io_result<int> got;
        if (patient) {
            got = co_await at.goods.receive();
        } else {
            got = co_await with_timeout(0ns, at.goods.receive());
        }
        if (got.error() == errc::closed) co_return;
        if (got.ok()) at.received.push_back(got.value());
        if (random() % 8 == 0) co_await yield();
    }
}

}  // namespace

TEST_CASE("what was sent is received exactly once, whichever waits are stopped meanwhile") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    const auto test = [seed](io_context&) -> task<> {
        std::mt19937 random{seed};
        for (std::size_t capacity : {0, 1, 2, 5}) {
            bazaar place{capacity};
            const auto producers = [&](task_group& group) -> task<> {
                for (int name = 0; name < 4; ++name) group.spawn(produce(place, random, name));
                co_return;
            };
            const auto body = [&](task_group& group) -> task<> {
                for (int each = 0; each < 3; ++each) group.spawn(consume(place, random));
                co_await with_group(producers);
                place.goods.close();
            };

            co_await with_group(body);

            std::sort(place.sent.begin(), place.sent.end());
            std::sort(place.received.begin(), place.received.end());
            CHECK(place.sent == place.received);
            CHECK_FALSE(place.sent.empty());
        }
    };
    on_each_backend_of("coordination", test);
}

TEST_CASE("many values through a channel with room need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        channel<int> numbers{1};
        int sum = 0;

        for (int time = 0; time < many_steps; ++time) {
            static_cast<void>(co_await numbers.send(1));
            const io_result<int> received = co_await numbers.receive();
            sum += received.value();
        }

        CHECK(sum == many_steps);
    });
}

TEST_CASE("values without a null state arrive in a std::optional") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<order> orders{1};
        values numbers;
        const auto body = [&](task_group& group) -> task<> {
            const auto send_three = [&]() -> task<> {
                for (int number = 1; number <= 3; ++number) {
                    static_cast<void>(co_await orders.send(order{number}));
                }
                orders.close();
            };
            group.spawn(send_three);
            for (;;) {
                const io_result<std::optional<order>> one = co_await orders.receive();
                if (!one.ok()) break;
                numbers.push_back(one.value()->number);
            }
        };

        co_await with_group(body);
        order rest{4};
        channel<order> other{1};
        const bool sent = other.try_send(rest);
        const std::optional<order> last = other.try_receive();
        const std::optional<order> none = other.try_receive();

        CHECK(numbers == values{1, 2, 3});
        CHECK(sent);
        CHECK(last->number == 4);
        CHECK_FALSE(none.has_value());
    });
}
