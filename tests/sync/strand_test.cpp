// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/strand.hpp promises: order, posts from any thread, and coroutines that stay on it
// whatever they wait for.
#include <gyre/sync/strand.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/conformance.hpp>
#include <support/long_run.hpp>
#include <support/settle.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// An executor that knows whether something that was posted to it is running.
class marking_executor : private work {
public:
    explicit marking_executor(io_context& below) noexcept : work{&run_one}, below_{below} {}

    void post(work& item) noexcept {
        items_.push(item);
        if (!std::exchange(scheduled_, true)) below_.post(static_cast<work&>(*this));
    }
    void retract(work& item) noexcept { items_.remove(item); }
    [[nodiscard]] loop& home() noexcept { return below_; }
    [[nodiscard]] bool running() const noexcept { return running_; }

private:
    static void run_one(work& item) noexcept {
        auto& self = static_cast<marking_executor&>(item);
        work& next = self.items_.pop();
        self.running_ = true;
        next.run(next);
        self.running_ = false;
        self.scheduled_ = !self.items_.empty();
        if (self.scheduled_) self.below_.post(item);
    }

    io_context& below_;
    work_queue items_;
    bool scheduled_ = false;
    bool running_ = false;
};

struct numbered : work {
    numbered() noexcept
        : work{[](work& item) noexcept {
              auto& self = static_cast<numbered&>(item);
              self.order->push_back(self.number);
              self.done->fetch_add(1, std::memory_order_relaxed);
          }} {}

    std::vector<int>* order = nullptr;
    std::atomic<int>* done = nullptr;
    int number = 0;
};

}  // namespace

TEST_CASE("a strand runs what was posted in order, and nothing inside post") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        constexpr int count = 1000;
        strand one_at_a_time{io};
        std::vector<int> order;
        std::atomic<int> done = 0;
        std::vector<numbered> items(count);

        for (int number = 0; number < count; ++number) {
            numbered& item = items[static_cast<std::size_t>(number)];
            item.order = &order;
            item.done = &done;
            item.number = number;
            one_at_a_time.post(item);
        }
        CHECK(order.empty());
        while (done.load() < count) co_await yield();

        std::vector<int> expected(count);
        for (int number = 0; number < count; ++number) {
            expected[static_cast<std::size_t>(number)] = number;
        }
        CHECK(order == expected);
    });
}

TEST_CASE("a busy strand leaves the loop to others in between") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        constexpr int count = 10'000;
        strand busy{io};
        std::vector<int> order;
        std::atomic<int> done = 0;
        std::vector<numbered> items(count);
        for (numbered& item : items) {
            item.order = &order;
            item.done = &done;
            busy.post(item);
        }

        co_await yield();

        CHECK(done.load() < count);
        while (done.load() < count) co_await yield();
    });
}

TEST_CASE("a strand takes posts from many threads, runs each once and keeps each thread's order") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        constexpr int threads = 4;
        constexpr int per_thread = 5000;
        strand one_at_a_time{io};
        std::vector<int> order;
        order.reserve(threads * per_thread);
        std::atomic<int> done = 0;
        std::vector<numbered> items(threads * per_thread);
        std::vector<std::thread> posters;
        for (int thread = 0; thread < threads; ++thread) {
            posters.emplace_back([&, thread] {
                for (int each = 0; each < per_thread; ++each) {
                    const int number = thread * per_thread + each;
                    numbered& item = items[static_cast<std::size_t>(number)];
                    item.order = &order;
                    item.done = &done;
                    item.number = number;
                    one_at_a_time.post(item);
                }
            });
        }

        while (done.load() < threads * per_thread) static_cast<void>(co_await sleep_for(100us));
        for (std::thread& each : posters) each.join();

        std::vector<int> last(threads, -1);
        bool in_order = true;
        for (const int number : order) {
            int& before = last[static_cast<std::size_t>(number / per_thread)];
            in_order = in_order && number > before;
            before = number;
        }
        CHECK(order.size() == threads * per_thread);
        CHECK(in_order);
    });
}

TEST_CASE("a coroutine runs on a strand from its first to its last line, whatever it waits for") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        marking_executor marked{io};
        strand there{marked};
        auto [client, server] = local_pair(io);
        event set;
        int right_places = 0;
        const auto look = [&] { right_places += marked.running() ? 1 : 0; };
        const auto visits = [&]() -> task<int> {
            std::array<std::byte, 4> space;
            look();
            static_cast<void>(co_await sleep_for(1ms));
            look();
            co_await yield();
            look();
            static_cast<void>(co_await set.wait());
            look();
            static_cast<void>(co_await server.read_some(space));
            look();
            static_cast<void>(co_await with_timeout(1ms, server.read_some(space)));
            look();
            static_cast<void>(co_await when_all(sleep_for(1ms), sleep_for(2ms)));
            look();
            const auto child = [&]() -> task<> {
                look();
                co_await yield();
                look();
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(child());
                look();
                co_return;
            };
            co_await with_group(body);
            look();
            co_return 7;
        };
        const auto helps = [&]() -> task<> {
            co_await settle();
            set.set();
            static_cast<void>(co_await client.write_some(bytes_of("abcd")));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(helps());
            const int result = co_await on(there, visits());
            CHECK(result == 7);
            CHECK_FALSE(marked.running());
        };

        co_await with_group(body);

        CHECK(right_places == 11);
    });
}

TEST_CASE("coroutines on one strand never overlap between two waits") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        strand there{io};
        std::vector<int> order;
        const auto visits = [&](int name) -> task<> {
            order.push_back(name);
            co_await yield();
            order.push_back(name);
        };
        const auto child = [&](int name) -> task<> { co_await on(there, visits(name)); };
        const auto body = [&](task_group& group) -> task<> {
            for (int name = 0; name < 3; ++name) group.spawn(child(name));
            co_return;
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 1, 2, 0, 1, 2});
    });
}

TEST_CASE("a stop reaches what runs on a strand, before it begins and while it waits") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        strand there{io};
        event unset;
        std::vector<error> outcomes;
        const auto waits = [&]() -> task<> {
            const io_result<> waited = co_await unset.wait();
            outcomes.push_back(waited.error());
        };
        const auto child = [&]() -> task<> { co_await on(there, waits()); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child());
            co_await settle();
            group.spawn(child());
            co_await yield();
            group.request_stop();
            group.spawn(child());
        };

        co_await with_group(body);

        CHECK(outcomes == std::vector<error>{errc::canceled, errc::canceled, errc::canceled});
    });
}

TEST_CASE("a task that is never run on its strand disappears") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        strand there{io};
        auto witness = std::make_shared<int>(1);
        const auto holds = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };
        {
            auto made = on(there, holds(witness));
            const auto moved = std::move(made);
            CHECK(witness.use_count() == 2);
        }

        const int value = co_await on(there, holds(witness));

        CHECK(value == 1);
        CHECK(witness.use_count() == 1);
    });
}

TEST_CASE("a strand on a strand keeps the order of both") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        strand outer{io};
        strand inner{outer};
        const auto value = []() -> task<int> {
            co_await settle();
            co_return 5;
        };

        const int result = co_await on(inner, value());

        CHECK(result == 5);
    });
}

TEST_CASE("a hundred thousand visits to a strand need no stack") {
    in_a_long_run([](io_context& io) -> task<> {
        strand there{io};
        int sum = 0;
        const auto one = []() -> task<int> { co_return 1; };

        for (int time = 0; time < 100'000; ++time) {
            const int result = co_await on(there, one());
            sum += result;
        }

        CHECK(sum == 100'000);
    });
}

TEST_CASE("what runs last on a strand may destroy it") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto there = std::make_unique<strand>(io);
        const auto yields = []() -> task<> { co_await yield(); };

        launch(*there, yields(), [&there](task_outcome<void>) { there.reset(); });
        io.run_for(patience);

        CHECK(there == nullptr);
    });
}
