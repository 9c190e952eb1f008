// SPDX-License-Identifier: BSL-1.0
//
// What the memory model allows of the classical small programs, and what it forbids.
//
// Threads are numbered from 0; what each of them has seen is looked at in the end.
#include <runtime/orders/execution_space.hpp>

#include <runtime/orders/explored.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <string>

using namespace gyre::testing;

namespace {

struct shared_by_all {
    std::atomic<int> x = 0;
    std::atomic<int> y = 0;
    std::array<int, 4> saw{};
};

/// Runs `body(thread, shared)` on each thread. True if some execution ends so that `is_odd(saw)`.
template <class Body, class IsOdd>
bool happens(unsigned threads, const Body& body, const IsOdd& is_odd) {
    struct program {
        const Body* body;
        const IsOdd* is_odd;
        std::unique_ptr<shared_by_all> shared = std::make_unique<shared_by_all>();
        void run(unsigned thread) { (*body)(thread, *shared); }
        const char* wrong_at_end() const { return (*is_odd)(*shared) ? "odd" : nullptr; }
    };
    return explore(threads, [&] { return program{&body, &is_odd}; }) != "";
}

/// Dekker: each of two says something and then looks at what the other has said.
bool both_miss(std::memory_order says, std::memory_order looks) {
    return happens(
        2,
        [=](unsigned thread, shared_by_all& in) {
            (thread == 0 ? in.x : in.y).store(1, says);
            in.saw[thread] = (thread == 0 ? in.y : in.x).load(looks);
        },
        [](const shared_by_all& in) { return in.saw[0] == 0 && in.saw[1] == 0; });
}

/// A message: one fills x and says so in y, another one sees y.
bool message_is_torn(std::memory_order says, std::memory_order looks) {
    return happens(
        2,
        [=](unsigned thread, shared_by_all& in) {
            if (thread == 0) {
                in.x.store(1, std::memory_order_relaxed);
                in.y.store(1, says);
            } else {
                in.saw[0] = in.y.load(looks);
                in.saw[1] = in.x.load(std::memory_order_relaxed);
            }
        },
        [](const shared_by_all& in) { return in.saw[0] == 1 && in.saw[1] == 0; });
}

/// Two that look at what two others write see it in different orders.
bool readers_disagree(std::memory_order order) {
    const auto writes = order == std::memory_order_acquire ? std::memory_order_release : order;
    return happens(
        4,
        [=](unsigned thread, shared_by_all& in) {
            if (thread == 0) in.x.store(1, writes);
            if (thread == 1) in.y.store(1, writes);
            if (thread < 2) return;
            in.saw[thread - 2] = (thread == 2 ? in.x : in.y).load(order);
            in.saw[thread] = (thread == 2 ? in.y : in.x).load(order);
        },
        [](const shared_by_all& in) {
            return in.saw[0] == 1 && in.saw[2] == 0 && in.saw[1] == 1 && in.saw[3] == 0;
        });
}

}  // namespace

TEST_CASE("two threads that say and then look miss one another unless all four are ordered") {
    CHECK_FALSE(both_miss(std::memory_order_seq_cst, std::memory_order_seq_cst));
    CHECK(both_miss(std::memory_order_seq_cst, std::memory_order_acquire));
    CHECK(both_miss(std::memory_order_release, std::memory_order_seq_cst));
}

TEST_CASE("a message comes whole if it is released and acquired, and else may not") {
    CHECK_FALSE(message_is_torn(std::memory_order_release, std::memory_order_acquire));
    CHECK(message_is_torn(std::memory_order_relaxed, std::memory_order_acquire));
    CHECK(message_is_torn(std::memory_order_release, std::memory_order_relaxed));
}

TEST_CASE("readers agree on the order of independent writes if these are ordered") {
    CHECK_FALSE(readers_disagree(std::memory_order_seq_cst));
    CHECK(readers_disagree(std::memory_order_acquire));
}

TEST_CASE("no addition is lost, whatever its memory order") {
    const auto add = [](unsigned, shared_by_all& in) {
        in.x.fetch_add(1, std::memory_order_relaxed);
        in.x.fetch_add(1, std::memory_order_relaxed);
    };
    CHECK_FALSE(happens(3, add, [](const shared_by_all& in) { return in.x.load() != 6; }));
}

TEST_CASE("a release is carried on by additions, and ended by a store") {
    const auto carries = [](bool stores) {
        return !happens(
            3,
            [=](unsigned thread, shared_by_all& in) {
                if (thread == 0) {
                    in.x.store(1, std::memory_order_relaxed);
                    in.y.store(1, std::memory_order_release);
                } else if (thread == 1) {
                    if (in.y.load(std::memory_order_relaxed) != 1) return;
                    if (stores) return in.y.store(2, std::memory_order_relaxed);
                    in.y.fetch_add(1, std::memory_order_relaxed);
                } else if (in.y.load(std::memory_order_acquire) == 2) {
                    in.saw[0] = 1;
                    in.saw[1] = in.x.load(std::memory_order_relaxed);
                }
            },
            [](const shared_by_all& in) { return in.saw[0] == 1 && in.saw[1] == 0; });
    };
    CHECK(carries(false));
    CHECK_FALSE(carries(true));
}
