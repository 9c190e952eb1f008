// SPDX-License-Identifier: BSL-1.0
//
// What a pool promises: everything begun once, nothing forgotten asleep, and an end that is one.
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <runtime/processor_quota.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/thread_stacks.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

void on_pools(unsigned threads, const std::function<void(io_pool&)>& body,
              unsigned steal_threshold = io_pool_options{}.steal_threshold) {
    with_every_backend([&](const io_context_options& each) {
        io_pool_options options;
        options.threads = threads;
        options.steal_threshold = steal_threshold;
        options.loop = each;
        io_pool pool{options};
        REQUIRE_FALSE(pool.status());
        body(pool);
    });
}

/// Posts two more of its kind until it is a leaf.
void grow(io_pool& pool, int depth, std::atomic<int>& leaves) {
    if (depth == 0) {
        leaves.fetch_add(1);
        return;
    }
    for (int child = 0; child < 2; ++child) {
        pool.post([&pool, depth, &leaves] { grow(pool, depth - 1, leaves); });
    }
}

/// Items that hold their loops up until enough of them have begun, or patience has ended.
class meeting {
public:
    explicit meeting(int size) : size_{size} {}

    void attend() {
        std::unique_lock held{lock_};
        ++came_;
        changed_.notify_all();
        if (changed_.wait_for(held, patience, [this] { return came_ == size_; })) ++met_;
    }

    /// Once all is over.
    [[nodiscard]] bool all_came() const { return met_ == size_; }

private:
    int size_;
    std::mutex lock_;
    std::condition_variable changed_;
    int came_ = 0;
    int met_ = 0;
};

task<> stay(std::atomic<int>& moved) {
    const io_context* const begun_on = io_context::current();
    const std::thread::id begun_by = std::this_thread::get_id();
    for (int step = 0; step < 3; ++step) {
        co_await yield();
        if (step == 1) static_cast<void>(co_await sleep_for(1ms));
        if (io_context::current() != begun_on || std::this_thread::get_id() != begun_by) ++moved;
    }
}

task<> sleep_long(std::atomic<int>& canceled) {
    const io_result<> slept = co_await sleep_for(1h);
    if (slept.error() == errc::canceled) ++canceled;
}

task<> with_children(std::atomic<int>& canceled) {
    const auto body = [&canceled](task_group& group) -> task<> {
        group.spawn(sleep_long(canceled));
        group.spawn(sleep_long(canceled));
        co_return;
    };
    co_await with_group(body);
}

}  // namespace

TEST_CASE("stopping one loop of a pool stops nothing, and the pool ends as ever") {
    on_pools(2, [](io_pool& pool) {
        std::atomic<int> ended = 0;
        const auto waits = [&ended]() -> task<> {
            static_cast<void>(co_await sleep_for(1h));
            ++ended;
        };
        for (unsigned each = 0; each < 2; ++each) launch(pool[each], waits(), or_terminate{});
        pool[0].stop();
        pool.request_stop();
        pool.wait();
        CHECK(ended == 2);
    });
}

TEST_CASE(
    "everything that other threads post to a pool runs, once, and wait returns after the last") {
    on_pools(4, [](io_pool& pool) {
        constexpr int posters = 3;
        constexpr int each_posts = 20'000;
        std::vector<std::atomic<int>> runs(posters * each_posts);

        std::vector<std::thread> threads;
        for (int poster = 0; poster < posters; ++poster) {
            threads.emplace_back([&pool, &runs, poster] {
                for (int item = 0; item < each_posts; ++item) {
                    auto& slot = runs[static_cast<std::size_t>(poster * each_posts + item)];
                    pool.post([&slot] { slot.fetch_add(1, std::memory_order_relaxed); });
                }
            });
        }
        for (std::thread& each : threads) each.join();
        pool.wait();

        int once = 0;
        for (const auto& each : runs) once += each.load() == 1 ? 1 : 0;
        CHECK(once == posters * each_posts);
    });
}

TEST_CASE("everything that items post from within a pool runs, however many that are") {
    on_pools(3, [](io_pool& pool) {
        std::atomic<int> leaves = 0;

        pool.post([&] { grow(pool, 14, leaves); });
        pool.wait();

        CHECK(leaves == 1 << 14);
    });
}

TEST_CASE("wait does not return between two hops of a message that wanders from loop to loop") {
    on_pools(3, [](io_pool& pool) {
        struct wanderer {
            io_pool& pool;
            std::atomic<int> hops_left;

            void hop() {
                if (hops_left.fetch_sub(1) <= 0) return;
                const auto next = static_cast<std::size_t>(hops_left.load() % 3 + 3) % 3;
                pool[next].post([this] { hop(); });
            }
        };
        for (int round = 0; round < 300; ++round) {
            wanderer it{pool, 20};
            pool.post([&it] { it.hop(); });

            pool.wait();

            REQUIRE(it.hops_left < 0);
        }
    });
}

TEST_CASE("a coroutine stays on the loop that began it") {
    on_pools(4, [](io_pool& pool) {
        std::atomic<int> moved = 0;
        std::atomic<int> ended = 0;
        constexpr int count = 500;

        for (int each = 0; each < count; ++each) {
            launch(pool, stay(moved), [&ended](task_outcome<void> outcome) {
                outcome.get();
                ++ended;
            });
        }
        pool.wait();

        CHECK(ended == count);
        CHECK(moved == 0);
    });
}

TEST_CASE("what waits behind an item that holds its loop up is done by another one") {
    on_pools(2, [](io_pool& pool) {
        std::atomic<int> done = 0;
        std::atomic<bool> in_time = false;
        pool.post([&] {
            for (int each = 0; each < 10; ++each) {
                pool.post([&done] { done.fetch_add(1); });
            }
            in_time = eventually([&done] { return done.load() == 10; });
        });

        pool.wait();

        CHECK(in_time);
        CHECK(pool.counters().stolen >= 1);
        CHECK(pool.counters().searches >= 1);
    });
}

TEST_CASE("a lone beginning is taken by a loop that sleeps, while its launcher computes") {
    on_pools(4, [](io_pool& pool) {
        std::atomic<bool> begun = false;
        std::atomic<bool> begun_meanwhile = false;
        const auto child = [&begun]() -> task<> {
            begun = true;
            co_return;
        };
        const auto busy = [&]() -> task<> {
            launch(pool, child(), or_terminate{});
            const time_point end = std::chrono::steady_clock::now() + 10s;
            while (!begun && std::chrono::steady_clock::now() < end) compute_for(100us);
            begun_meanwhile = begun.load();
            co_return;
        };
        launch(pool, busy(), or_terminate{});
        pool.wait();
        CHECK(begun_meanwhile);
    });
}

TEST_CASE("items that wait for each other all begin, even after many that were short") {
    const auto body = [](io_pool& pool) {
        for (int round = 0; round < 20; ++round) {
            meeting of_four{4};
            // With short items it pays to leave one loop alone with them; these now need all four.
            for (int item = 0; item < 5'000; ++item) pool.post([] {});
            for (int item = 0; item < 4; ++item) pool.post([&of_four] { of_four.attend(); });
            for (int item = 0; item < 5'000; ++item) pool.post([] {});

            pool.wait();

            REQUIRE(of_four.all_came());
        }
    };
    on_pools(4, body, 0);
}

TEST_CASE("items that were posted from within and wait for each other all begin as well") {
    const auto body = [](io_pool& pool) {
        for (int round = 0; round < 20; ++round) {
            meeting of_three{3};
            pool.post([&pool, &of_three] {
                for (int item = 0; item < 5'000; ++item) pool.post([] {});
                for (int item = 0; item < 3; ++item) {
                    pool.post([&of_three] { of_three.attend(); });
                }
            });

            pool.wait();

            REQUIRE(of_three.all_came());
        }
    };
    on_pools(3, body, 0);
}

TEST_CASE("a loop that watches over short items does what is posted to it alone") {
    on_pools(2, [](io_pool& pool) {
        std::atomic<bool> posted = false;
        std::atomic<int> ahead = 0;
        std::thread poster{[&] {
            while (!posted.load()) {
                ++ahead;
                pool.post([&ahead] { --ahead; });
                // What is left must be done in the end, however little the loops get to run meanwhile.
                if (ahead.load() > 1'000) std::this_thread::yield();
            }
        }};
        std::atomic<int> done = 0;

        for (int message = 0; message < 50; ++message) {
            for (std::size_t each = 0; each < pool.size(); ++each) {
                pool[each].post([&done] { ++done; });
            }
            std::this_thread::yield();
        }
        const bool done_meanwhile = eventually([&done] { return done.load() == 100; });
        posted = true;
        poster.join();
        pool.wait();

        CHECK(done_meanwhile);
    });
}

TEST_CASE("what one item posts runs in that order on a pool of one loop, however much it is") {
    on_pools(1, [](io_pool& pool) {
        constexpr int count = 10'000;
        std::vector<int> order;
        order.reserve(count);

        pool.post([&] {
            for (int item = 0; item < count; ++item) {
                pool.post([&order, item] { order.push_back(item); });
            }
        });
        pool.wait();

        REQUIRE(order.size() == count);
        CHECK(std::is_sorted(order.begin(), order.end()));
    });
}

TEST_CASE("the end of a pool stops whatever still runs, children included") {
    std::atomic<int> canceled = 0;
    int pools = 0;
    on_pools(3, [&](io_pool& pool) {
        ++pools;
        for (int each = 0; each < 20; ++each) {
            launch(pool, with_children(canceled), or_terminate{});
        }
    });

    CHECK(canceled == pools * 40);
}

TEST_CASE("a pool is at rest beside coroutines in the background, and its end stops them") {
    std::atomic<int> ended = 0;
    int pools = 0;
    on_pools(2, [&](io_pool& pool) {
        ++pools;
        std::atomic<int> begun = 0;
        const auto serve = [&begun]() -> task<> {
            ++begun;
            static_cast<void>(co_await sleep_for(1h));
        };
        const auto count = [&ended](task_outcome<void>) { ++ended; };
        for (std::size_t each = 0; each < pool.size(); ++each) {
            launch_in_background(pool[each], serve(), count);
        }

        pool.wait();

        CHECK(begun == 2);
    });

    CHECK(ended == pools * 2);
}

TEST_CASE("a root that is stopped before any loop has begun it is stopped when it begins") {
    on_pools(1, [](io_pool& pool) {
        std::atomic<int> canceled = 0;
        std::latch asked{1};
        pool.post([&asked] { asked.wait(); });
        const stop_handle stop = launch(pool, sleep_long(canceled), or_terminate{});

        stop.request_stop();
        asked.count_down();
        pool.wait();

        CHECK(canceled == 1);
        CHECK(stop.ended());
    });
}

TEST_CASE("stop requests from other threads meet roots in every phase of their beginning") {
    on_pools(2, [](io_pool& pool) {
        std::atomic<int> canceled = 0;
        constexpr int count = 3000;
        std::vector<stop_handle> handles(count);
        std::atomic<int> launched_up_to = 0;
        std::thread stopper{[&] {
            for (int each = 0; each < count; ++each) {
                launched_up_to.wait(each);
                handles[static_cast<std::size_t>(each)].request_stop();
            }
        }};

        for (int each = 0; each < count; ++each) {
            handles[static_cast<std::size_t>(each)] =
                launch(pool, sleep_long(canceled), or_terminate{});
            launched_up_to = each + 1;
            launched_up_to.notify_one();
        }
        stopper.join();
        pool.wait();

        CHECK(canceled == count);
    });
}

namespace {

/// Hands control to and fro with its twin for ever: something is always ready.
task<> play(event& mine, event& other, std::atomic<int>& canceled) {
    for (;;) {
        other.set();
        const io_result<> heard = co_await mine.wait();
        mine.reset();
        if (!heard.ok()) break;
    }
    ++canceled;
}

task<> play_pair(std::atomic<int>& canceled) {
    event left;
    event right;
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(play(left, right, canceled));
        group.spawn(play(right, left, canceled));
        co_return;
    };
    co_await with_group(body);
}

}  // namespace

TEST_CASE("the end of a pool reaches coroutines that never leave their loop without work") {
    std::atomic<int> canceled = 0;
    int pools = 0;
    on_pools(2, [&](io_pool& pool) {
        ++pools;
        for (int each = 0; each < 4; ++each) launch(pool, play_pair(canceled), or_terminate{});
    });

    CHECK(canceled == pools * 8);
}

TEST_CASE("what comes from outside begins although items inside post themselves again and again") {
    on_pools(1, [](io_pool& pool) {
        struct restless {
            io_pool& pool;
            std::atomic<bool>& enough;
            std::atomic<int> runs = 0;

            void run() {
                ++runs;
                if (!enough.load()) pool.post([this] { run(); });
            }
        };
        std::atomic<bool> enough = false;
        restless one{pool, enough};
        restless two{pool, enough};
        pool.post([&] { one.run(); });
        pool.post([&] { two.run(); });
        std::atomic<bool> begun = false;
        // Both go round inside by now, so that what follows does not come in with them.
        CHECK(eventually([&] { return one.runs >= 1'000 && two.runs >= 1'000; }));

        pool.post([&] {
            begun = true;
            enough = true;
        });
        pool.wait();

        CHECK(begun);
    });
}

TEST_CASE("requesting the stop of a pool ends what runs and what begins later") {
    on_pools(2, [](io_pool& pool) {
        std::atomic<int> canceled = 0;
        for (int each = 0; each < 10; ++each) launch(pool, sleep_long(canceled), or_terminate{});

        pool.request_stop();
        for (int each = 0; each < 10; ++each) launch(pool, sleep_long(canceled), or_terminate{});
        pool.wait();

        CHECK(canceled == 20);
    });
}

TEST_CASE("a strand on a loop of a pool runs what all loops post to it one at a time, in order") {
    on_pools(3, [](io_pool& pool) {
        strand one_at_a_time{pool[1]};
        constexpr int posters = 3;
        constexpr int each_posts = 2'000;
        std::atomic<int> inside = 0;
        std::atomic<int> overlaps = 0;
        std::array<int, posters> last{};  // Only touched on the strand.
        int out_of_order = 0;
        int ran = 0;

        for (std::size_t poster = 0; poster < posters; ++poster) {
            pool[poster].post([&, poster] {
                for (int number = 1; number <= each_posts; ++number) {
                    one_at_a_time.post(io_context::make_work([&, poster, number] {
                        if (inside.fetch_add(1) != 0) ++overlaps;
                        if (number != last[poster] + 1) ++out_of_order;
                        last[poster] = number;
                        ++ran;
                        inside.fetch_sub(1);
                    }));
                }
            });
        }
        pool.wait();

        CHECK(ran == posters * each_posts);
        CHECK(overlaps == 0);
        CHECK(out_of_order == 0);
    });
}

TEST_CASE("threads of a pool have names, and a processor each if asked") {
    io_pool_options options;
    options.threads = 2;
    options.pin_threads = true;
    options.thread_name = "a name that is too long";
    std::mutex lock;
    std::set<std::string> names;
    std::atomic<int> pinned = 0;
    {
        io_pool pool{options};
        for (std::size_t each = 0; each < pool.size(); ++each) {
            pool[each].post([&] {
                std::array<char, 32> name{};
                ::pthread_getname_np(::pthread_self(), name.data(), name.size());
                cpu_set_t allowed;
                CPU_ZERO(&allowed);
                ::sched_getaffinity(0, sizeof allowed, &allowed);
                if (CPU_COUNT(&allowed) == 1) ++pinned;
                const std::lock_guard held{lock};
                names.insert(name.data());
            });
        }
        pool.wait();
    }

    CHECK(names == std::set<std::string>{"a name that i/0", "a name that i/1"});
    CHECK(pinned == 2);
}

TEST_CASE("a pool without a number of threads has one for each processor it may use") {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ::sched_getaffinity(0, sizeof allowed, &allowed);
    auto expected = static_cast<unsigned>(CPU_COUNT(&allowed));
    if (const unsigned quota = processors_by_quota(); quota != 0)
        expected = std::min(expected, quota);

    const io_pool pool;

    CHECK(pool.size() == expected);
}

TEST_CASE("a loop that looks for work before it sleeps runs everything, and counts how it went") {
    with_every_backend([](const io_context_options& each) {
        io_pool_options options;
        options.threads = 2;
        options.loop = each;
        options.loop.spin_max = 50us;
        io_pool pool{options};
        std::atomic<int> done = 0;

        for (int round = 0; round < 200; ++round) {
            pool.post([&done] { ++done; });
            pool[0].post([&done] { ++done; });
            pool.wait();
        }

        CHECK(done == 400);
        CHECK(pool[0].counters().spins_won + pool[0].counters().spins_lost > 0);
    });
}

TEST_CASE("the counters of a loop count what it did") {
    on_pools(1, [](io_pool& pool) {
        const loop_counters before = pool[0].counters();
        std::atomic<int> done = 0;
        std::uint64_t posted = 0;
        // Whether the loop has fallen asleep again by the time of a post is not ours to say.
        const auto unchanged = [&] {
            const loop_counters now = pool[0].counters();
            return now.wakeups == before.wakeups || now.visits == before.visits;
        };
        while (unchanged()) {
            pool[0].post([&done] { ++done; });
            ++posted;
            pool.wait();
        }

        const loop_counters after = pool[0].counters();

        CHECK(after.received - before.received == posted);
        CHECK(after.wakeups - before.wakeups <= posted);
        CHECK(after.turns > before.turns);
    });
}

TEST_CASE("a loop that is held up shows it by the age of its last turn") {
    on_pools(1, [](io_pool& pool) {
        std::latch held{1};
        std::latch go_on{1};
        pool.post([&] {
            held.count_down();
            go_on.wait();
        });
        held.wait();

        const time_point first = pool[0].last_turn();
        const bool asleep = pool[0].asleep();
        // However long we look, it makes no turn.
        const time_point until = std::chrono::steady_clock::now() + 5ms;
        CHECK(eventually([until] { return std::chrono::steady_clock::now() >= until; }));
        const time_point second = pool[0].last_turn();
        go_on.count_down();
        pool.wait();

        CHECK_FALSE(asleep);
        CHECK(first == second);
        CHECK(std::chrono::steady_clock::now() - second >= 5ms);
    });
}

TEST_CASE("a pool whose threads cannot be started says so, and ends what it was given") {
    with_every_backend([](const io_context_options& each) {
        std::atomic<int> posted = 0;
        std::atomic<int> canceled = 0;
        int ended = 0;
        {
            const thread_stacks none{thread_stacks::impossible};
            io_pool_options options;
            options.threads = 3;
            options.loop = each;
            io_pool pool{options};

            CHECK(pool.status() == errc::resource_unavailable);
            CHECK(pool.status().during() == activity::start_thread);
            CHECK(pool.size() == 3);
            pool.post([&pool, &posted] {
                ++posted;
                pool.post([&posted] { ++posted; });
            });
            pool[0].post([&posted] { ++posted; });
            launch(pool, with_children(canceled), [&ended](task_outcome<void> outcome) {
                outcome.get();
                ++ended;
            });
            pool.wait();
            pool.request_stop();
            CHECK(posted == 0);
        }

        CHECK(posted == 3);
        CHECK(canceled == 2);
        CHECK(ended == 1);
    });
}

TEST_CASE("a task that is sent to a pool without threads runs where it was sent from, stopped") {
    on_every_backend([](io_context&) -> task<> {
        const thread_stacks none{thread_stacks::impossible};
        io_pool_options options;
        options.threads = 2;
        io_pool pool{options};
        REQUIRE(pool.status() == errc::resource_unavailable);
        const auto sleeps = []() -> task<error> {
            co_return (co_await sleep_for(patience)).error();
        };

        const error slept = co_await on(pool, sleeps());

        CHECK(slept == errc::canceled);
    });
}

namespace {

// The address space that this process uses, in bytes.
rlim_t address_space_used() {
    std::ifstream status{"/proc/self/statm"};
    rlim_t pages = 0;
    status >> pages;
    return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

auto threads_here() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {});
}

}  // namespace

// There is room for two stacks and a half.
TEST_CASE("when not every thread of a pool can be started, those that were end again") {
    with_every_backend([](const io_context_options& each) {
        const child_report report = in_child([&each](child_process& me) {
            std::atomic<bool> over = false;
            std::thread first{[&over] { over.wait(false); }};  // ThreadSanitizer adds its own.
            constexpr rlim_t stack = rlim_t{1} << 30;
            const thread_stacks large{stack};
            const auto threads = threads_here();
            rlimit limit{};
            me.check(::getrlimit(RLIMIT_AS, &limit) == 0, "there is a limit");
            const rlim_t before =
                std::exchange(limit.rlim_cur, address_space_used() + 2 * stack + stack / 2);
            me.check(::setrlimit(RLIMIT_AS, &limit) == 0, "which can be lowered");
            io_pool_options options;
            options.threads = 4;
            options.loop = each;

            io_pool pool{options};

            limit.rlim_cur = before;
            me.check(::setrlimit(RLIMIT_AS, &limit) == 0, "and raised again");
            me.check(pool.status() == errc::resource_unavailable, "the pool tells");
            me.check(pool.size() == 4, "its loops are there");
            // A thread that was joined stands in /proc for a moment.
            me.check(eventually([threads] { return threads_here() == threads; }), "none stays");
            over = true;
            over.notify_one();
            first.join();
        });

        INFO(report.text);
        CHECK(report.passed());
    });
}
