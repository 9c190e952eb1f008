// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/shared_channel.hpp promises. How its waits end when stopped: waiting_laws_test.cpp; threads
// that block: blocked_thread_test.cpp.
#include <gyre/sync/shared_channel.hpp>

#include <gyre/interop/future.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
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

// Storms: every item has a name, of its sender and of its number there, and must arrive once, behind those
// of the same sender that the same receiver has.

using item = std::uint64_t;
using shared_items = shared_channel<item>;

constexpr item name_of(std::size_t sender, std::uint32_t number) {
    return ((item{sender} + 1) << 32U) | number;
}

std::uint32_t items_in_a_storm() {
    const char* const given = std::getenv("GYRE_CHANNEL_ITEMS");
    return given == nullptr ? 2'000 : static_cast<std::uint32_t>(std::stoul(given));
}

/// Who takes part: ends on loops of their own, and on threads that block.
struct crowd {
    std::size_t senders_on_loops = 0;
    std::size_t senders_on_threads = 0;
    std::size_t receivers_on_loops = 0;
    std::size_t receivers_on_threads = 0;
    std::size_t capacity = 0;
    bool stops_some = false;
};

/// What one storm does; `random` is of the caller.
class storm {
public:
    storm(const crowd& of, unsigned seed) : of_{of}, seed_{seed}, channel_{of.capacity} {}

    void run(io_pool& pool) {
        std::vector<std::future<void>> sending;
        std::vector<std::future<void>> receiving;
        std::vector<std::thread> sending_threads;
        std::vector<std::thread> receiving_threads;
        const std::size_t senders = of_.senders_on_loops + of_.senders_on_threads;
        const std::size_t receivers = of_.receivers_on_loops + of_.receivers_on_threads;
        const auto count = static_cast<std::uint32_t>(items_in_a_storm() / senders);
        received_.resize(receivers);
        std::size_t loop = 0;
        for (std::size_t each = 0; each < receivers; ++each) {
            if (each < of_.receivers_on_loops) {
                receiving.push_back(to_future(pool[loop++ % pool.size()], receive_items(each)));
            } else {
                receiving_threads.emplace_back([this, each] { receive_items_blocking(each); });
            }
        }
        for (std::size_t each = 0; each < senders; ++each) {
            if (each < of_.senders_on_loops) {
                sending.push_back(to_future(pool[loop++ % pool.size()], send_items(each, count)));
            } else {
                sending_threads.emplace_back(
                    [this, each, count] { send_items_blocking(each, count); });
            }
        }
        for (std::future<void>& each : sending) each.get();
        for (std::thread& each : sending_threads) each.join();
        channel_.close();
        for (std::future<void>& each : receiving) each.get();
        for (std::thread& each : receiving_threads) each.join();
        check(senders, count);
    }

private:
    task<> send_items(std::size_t sender, std::uint32_t count) {
        std::mt19937 random{seed_ + static_cast<unsigned>(sender)};
        for (std::uint32_t number = 0; number < count;) {
            const item value = name_of(sender, number);
            io_result<item> sent;
            if (is_stopped(random)) {
                sent = co_await with_timeout(soon(random), channel_.send(value));
            } else {
                sent = co_await channel_.send(value);
            }
            if (sent.ok()) {
                ++number;
            } else if (sent.error() != errc::timed_out || sent.value() != value) {
                ++wrong_;
            }
        }
    }

    void send_items_blocking(std::size_t sender, std::uint32_t count) {
        std::mt19937 random{seed_ + static_cast<unsigned>(sender)};
        for (std::uint32_t number = 0; number < count;) {
            const item value = name_of(sender, number);
            time_point deadline = never;
            if (is_stopped(random)) deadline = std::chrono::steady_clock::now() + soon(random);
            const io_result<item> sent = channel_.send_blocking(value, deadline);
            if (sent.ok()) {
                ++number;
            } else if (sent.error() != errc::timed_out || sent.value() != value) {
                ++wrong_;
            }
        }
    }

    task<> receive_items(std::size_t receiver) {
        std::mt19937 random{seed_ + 1000 + static_cast<unsigned>(receiver)};
        std::array<item, 7> some{};
        for (;;) {
            const std::span into = std::span{some}.first(1 + random() % some.size());
            io_result<std::size_t> got;
            if (is_stopped(random)) {
                got = co_await with_timeout(soon(random), channel_.receive_many(into));
            } else if (random() % 2 == 0) {
                got = co_await channel_.receive_many(into);
            } else {
                const io_result<item> one = co_await channel_.receive();
                some[0] = one.value();
                got = io_result<std::size_t>{one.error(), one.ok() ? std::size_t{1} : 0};
            }
            if (got.error() == errc::closed) co_return;
            note(receiver, into, got);
        }
    }

    void receive_items_blocking(std::size_t receiver) {
        std::mt19937 random{seed_ + 1000 + static_cast<unsigned>(receiver)};
        std::array<item, 7> some{};
        for (;;) {
            const std::span into = std::span{some}.first(1 + random() % some.size());
            time_point deadline = never;
            if (is_stopped(random)) deadline = std::chrono::steady_clock::now() + soon(random);
            const io_result<std::size_t> got = channel_.receive_many_blocking(into, deadline);
            if (got.error() == errc::closed) return;
            note(receiver, into, got);
        }
    }

    void note(std::size_t receiver, std::span<const item> some, const io_result<std::size_t>& got) {
        if (!got.ok() && (got.error() != errc::timed_out || got.value() != 0)) ++wrong_;
        if (got.ok() && got.value() == 0) ++wrong_;
        const auto there = some.first(got.value());
        received_[receiver].insert(received_[receiver].end(), there.begin(), there.end());
    }

    [[nodiscard]] bool is_stopped(std::mt19937& random) const {
        return of_.stops_some && random() % 4 == 0;
    }
    [[nodiscard]] static duration soon(std::mt19937& random) {
        return std::chrono::microseconds{random() % 20};
    }

    void check(std::size_t senders, std::uint32_t count) {
        CHECK(wrong_ == 0);
        std::vector<item> all;
        bool in_order = true;
        for (const std::vector<item>& each : received_) {
            std::vector<item> last(senders + 1);
            for (const item one : each) {
                item& before = last[one >> 32U];
                if (one <= before) in_order = false;
                before = one;
            }
            all.insert(all.end(), each.begin(), each.end());
        }
        std::sort(all.begin(), all.end());
        bool complete = all.size() == senders * count;
        for (std::size_t index = 0; complete && index < all.size(); ++index) {
            complete =
                all[index] == name_of(index / count, static_cast<std::uint32_t>(index % count));
        }
        CHECK(in_order);
        CHECK(complete);
        CHECK(channel_.size() == 0);
    }

    const crowd of_;
    const unsigned seed_;
    shared_items channel_;
    std::vector<std::vector<item>> received_;
    std::atomic<int> wrong_ = 0;
};

void check_storm(const crowd& of) {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    with_pools(3, [&](io_context&, io_pool& pool) {
        for (const std::size_t capacity : {0, 1, 64}) {
            for (const bool stops_some : {false, true}) {
                CAPTURE(capacity);
                CAPTURE(stops_some);
                crowd with = of;
                with.capacity = capacity;
                with.stops_some = stops_some;
                storm{with, seed}.run(pool);
            }
        }
    });
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

TEST_CASE("storm: one sender and one receiver on loops lose, double and reorder nothing") {
    check_storm({.senders_on_loops = 1, .receivers_on_loops = 1});
}

TEST_CASE("storm: many senders and one receiver lose, double and reorder nothing") {
    check_storm({.senders_on_loops = 3, .senders_on_threads = 1, .receivers_on_loops = 1});
}

TEST_CASE("storm: one sender and many receivers lose, double and reorder nothing") {
    check_storm({.senders_on_loops = 1, .receivers_on_loops = 3, .receivers_on_threads = 1});
}

TEST_CASE("storm: many senders and many receivers lose, double and reorder nothing") {
    check_storm({.senders_on_loops = 3,
                 .senders_on_threads = 1,
                 .receivers_on_loops = 3,
                 .receivers_on_threads = 1});
}

TEST_CASE("storm: a thread that blocks sends to a loop, and a loop to a thread that blocks") {
    check_storm({.senders_on_threads = 1, .receivers_on_loops = 1});
    check_storm({.senders_on_loops = 1, .receivers_on_threads = 1});
}
