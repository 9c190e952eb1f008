// SPDX-License-Identifier: BSL-1.0
//
// shared_channel under load: from some threads to others, with random stops on both sides, nothing may be
// lost, doubled or reordered.
//
// Every item has a name, of its sender and of its number there. GYRE_CHANNEL_ITEMS says how many of them go
// through each storm on each backend; what took part is printed then, with the seed. docs/TESTING.md.
#include <gyre/sync/shared_channel.hpp>

#include <gyre/interop/future.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/pools.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

struct item {
    std::uint32_t sender = 0;
    std::uint32_t number = 0;

    bool operator==(const item&) const = default;
};

/// What one receiver has had. Each has its own, so that only the channel makes threads meet.
class ledger {
public:
    ledger(std::size_t senders, std::uint32_t items_each)
        : items_each_{items_each}, next_(senders), had_(senders * items_each) {}

    void note(const item& it) {
        if (it.sender >= next_.size() || it.number >= items_each_) return void(++unknown_);
        if (it.number < next_[it.sender]) ++reordered_;
        next_[it.sender] = it.number + 1;
        const auto place = had_.begin() + static_cast<std::ptrdiff_t>(index_of(it));
        if (*place) ++doubled_;
        *place = true;
    }

    /// Makes one ledger of those of all receivers.
    void add(const ledger& other) {
        for (std::size_t each = 0; each < had_.size(); ++each) {
            if (!other.had_[each]) continue;
            if (had_[each]) ++doubled_;
            had_[each] = true;
        }
        unknown_ += other.unknown_;
        reordered_ += other.reordered_;
        doubled_ += other.doubled_;
    }

    void check_complete() const {
        const auto there = std::count(had_.begin(), had_.end(), true);
        CHECK(had_.size() - static_cast<std::size_t>(there) == 0);  // Lost.
        CHECK(doubled_ == 0);
        CHECK(reordered_ == 0);
        CHECK(unknown_ == 0);
    }

private:
    [[nodiscard]] std::size_t index_of(const item& it) const {
        return std::size_t{it.sender} * items_each_ + it.number;
    }

    std::uint32_t items_each_;
    std::vector<std::uint32_t> next_;  // The least number that may come next, by sender.
    std::vector<bool> had_;
    std::uint64_t unknown_ = 0;
    std::uint64_t reordered_ = 0;
    std::uint64_t doubled_ = 0;
};

/// Who takes part: ends on loops of their own, and on threads that block.
struct crowd {
    std::size_t senders_on_loops = 0;
    std::size_t senders_on_threads = 0;
    std::size_t receivers_on_loops = 0;
    std::size_t receivers_on_threads = 0;

    [[nodiscard]] std::size_t senders() const { return senders_on_loops + senders_on_threads; }
    [[nodiscard]] std::size_t receivers() const {
        return receivers_on_loops + receivers_on_threads;
    }
};

struct stops {
    std::uint64_t of_sends = 0;
    std::uint64_t of_receives = 0;
};

/// One run through one channel.
class storm {
public:
    storm(const crowd& of, std::size_t capacity, bool stops_some, std::uint32_t items_each,
          unsigned seed)
        : of_{of},
          stops_some_{stops_some},
          items_each_{items_each},
          seed_{seed},
          channel_{capacity},
          ledgers_(of.receivers(), ledger{of.senders(), items_each}) {}

    stops run(io_pool& pool) {
        std::vector<std::future<void>> sending;
        std::vector<std::future<void>> receiving;
        std::size_t loop = 0;
        const auto begin = [&](std::vector<std::future<void>>& all, std::size_t on_loops,
                               std::size_t count, auto coroutine, auto function) {
            for (std::size_t each = 0; each < count; ++each) {
                all.push_back(each < on_loops
                                  ? to_future(pool[loop++ % pool.size()], (this->*coroutine)(each))
                                  : std::async(std::launch::async, function, this, each));
            }
        };
        begin(receiving, of_.receivers_on_loops, of_.receivers(), &storm::receive,
              &storm::receive_blocking);
        begin(sending, of_.senders_on_loops, of_.senders(), &storm::send, &storm::send_blocking);
        for (std::future<void>& each : sending) each.get();
        channel_.close();
        for (std::future<void>& each : receiving) each.get();
        check();
        return {stopped_sends_, stopped_receives_};
    }

private:
    task<> send(std::size_t sender) {
        std::mt19937 random{seed_ + static_cast<unsigned>(sender)};
        item next{static_cast<std::uint32_t>(sender)};
        while (next.number < items_each_) {
            io_result<item> sent;
            if (!is_stopped(random)) {
                sent = co_await channel_.send(next);
            } else if (random() % 2 == 0) {
                sent = co_await with_timeout(soon(random), channel_.send(next));
            } else {
                auto ended = co_await when_any(channel_.send(next), yield());
                sent = std::get<0>(ended.results);
            }
            note_sent(next, sent);
        }
    }

    void send_blocking(std::size_t sender) {
        std::mt19937 random{seed_ + static_cast<unsigned>(sender)};
        item next{static_cast<std::uint32_t>(sender)};
        while (next.number < items_each_) {
            note_sent(next, channel_.send_blocking(next, deadline(random)));
        }
    }

    // What was stopped is sent again: if it had been sent all the same, there would be two.
    void note_sent(item& it, const io_result<item>& sent) {
        if (sent.ok()) return void(++it.number);
        ++stopped_sends_;
        if (!is_stop(sent.error()) || sent.value() != it) ++wrong_;
    }

    task<> receive(std::size_t receiver) {
        std::mt19937 random{seed_ + 1000 + static_cast<unsigned>(receiver)};
        std::array<item, 7> some{};
        for (;;) {
            const std::span into = std::span{some}.first(1 + random() % some.size());
            io_result<std::size_t> got;
            if (is_stopped(random)) {
                if (random() % 2 == 0) {
                    got = co_await with_timeout(soon(random), channel_.receive_many(into));
                } else {
                    auto ended = co_await when_any(channel_.receive_many(into), yield());
                    got = std::get<0>(ended.results);
                }
            } else if (random() % 2 == 0) {
                got = co_await channel_.receive_many(into);
            } else {
                const io_result<item> one = co_await channel_.receive();
                some[0] = one.value();
                got = io_result<std::size_t>{one.error(), one.ok() ? std::size_t{1} : 0};
            }
            if (got.error() == errc::closed) co_return;
            note_received(receiver, into, got);
        }
    }

    void receive_blocking(std::size_t receiver) {
        std::mt19937 random{seed_ + 1000 + static_cast<unsigned>(receiver)};
        std::array<item, 7> some{};
        for (;;) {
            const std::span into = std::span{some}.first(1 + random() % some.size());
            const auto got = channel_.receive_many_blocking(into, deadline(random));
            if (got.error() == errc::closed) return;
            note_received(receiver, into, got);
        }
    }

    void note_received(std::size_t receiver, std::span<const item> some,
                       const io_result<std::size_t>& got) {
        if (got.ok() == (got.value() == 0)) ++wrong_;
        if (!got.ok()) {
            ++stopped_receives_;
            if (!is_stop(got.error())) ++wrong_;
        }
        for (const item& each : some.first(got.value())) ledgers_[receiver].note(each);
    }

    [[nodiscard]] static bool is_stop(const error& it) {
        return it == errc::timed_out || it == errc::canceled;
    }
    [[nodiscard]] bool is_stopped(std::mt19937& random) const {
        return stops_some_ && random() % 4 == 0;
    }
    [[nodiscard]] static duration soon(std::mt19937& random) {
        return std::chrono::microseconds{random() % 20};
    }
    [[nodiscard]] time_point deadline(std::mt19937& random) const {
        return is_stopped(random) ? std::chrono::steady_clock::now() + soon(random) : never;
    }

    void check() {
        CHECK(wrong_ == 0);
        CHECK(channel_.size() == 0);
        ledger all{of_.senders(), items_each_};
        for (const ledger& each : ledgers_) all.add(each);
        all.check_complete();
    }

    const crowd of_;
    const bool stops_some_;
    const std::uint32_t items_each_;
    const unsigned seed_;
    shared_channel<item> channel_;
    std::vector<ledger> ledgers_;
    std::atomic<std::uint64_t> wrong_ = 0;
    std::atomic<std::uint64_t> stopped_sends_ = 0;
    std::atomic<std::uint64_t> stopped_receives_ = 0;
};

constexpr std::array<std::size_t, 3> capacities{0, 1, 64};

/// A third of `items` at each capacity with stops, and a tenth as many without.
void check_storm(const crowd& of) {
    const char* const asked = std::getenv("GYRE_CHANNEL_ITEMS");
    const std::size_t items = asked == nullptr ? 6'000 : std::stoul(asked);
    const std::size_t share = items / capacities.size() / of.senders() + 1;
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    with_pools(3, [&](io_context& io, io_pool& pool) {
        for (const std::size_t capacity : capacities) {
            for (const bool stops_some : {false, true}) {
                CAPTURE(capacity);
                CAPTURE(stops_some);
                const auto items_each =
                    static_cast<std::uint32_t>(stops_some ? share : share / 10 + 1);
                const auto begun = std::chrono::steady_clock::now();
                const stops seen = storm{of, capacity, stops_some, items_each, seed}.run(pool);
                if (asked == nullptr) continue;
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
                MESSAGE(std::string{describe(io.backend().kind)}, ", ", of.senders(), ":",
                        of.receivers(), ", capacity ", capacity, ": ", of.senders() * items_each,
                        " items, ", seen.of_sends, " sends and ", seen.of_receives,
                        " receives stopped, ", took.count(), " s, seed ", seed);
            }
        }
    });
}

}  // namespace

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
