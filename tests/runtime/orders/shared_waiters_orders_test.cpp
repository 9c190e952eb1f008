// SPDX-License-Identifier: BSL-1.0
//
// Every execution of a spin lock's users, and of threads that wait in shared_waiters.hpp and are woken.
//
// Here the last one to go on destroys what was waited for, as in tests/sync/last_woken_test.cpp.
#include <gyre/sync/shared_waiters.hpp>

#include <gyre/base/spin_lock.hpp>
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/notify.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/shared_semaphore.hpp>
#include <gyre/sync/watch.hpp>
#include <runtime/orders/explored.hpp>
#include <support/waiting_places.hpp>

#include <memory>
#include <mutex>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// Where an explored thread waits, until another one has called it.
class explored_place final : public waiting_place {
public:
    void wake_for_enqueued() noexcept override { called_.wake(); }
    void go_on_when_called() noexcept {
        require(called_.wait(), "a wait never ends");
        go_on();
    }

private:
    modelled_wait called_;
};

template <class Awaiter, class Ended>
void wait_for(Awaiter it, const Ended& ended) {
    wait_in_place<explored_place, Awaiter, Ended> waiting{std::move(it), ended};
    if (waiting.begin()) waiting.place().go_on_when_called();
}

/// Counts under a lock, which goes with the last of `size` threads.
struct locking {
    struct counter {
        unsigned count = 0;
        spin_lock lock;
    };
    unsigned size;
    std::unique_ptr<counter> shared = std::make_unique<counter>();

    void run(unsigned) {
        counter& it = *shared;
        std::unique_lock hold{it.lock};
        const bool is_last = ++it.count == size;
        hold.unlock();
        if (is_last) shared.reset();
    }
    [[nodiscard]] const char* wrong_at_end() const noexcept {
        return shared != nullptr ? "an addition is lost" : nullptr;
    }
};

/// The last thread wakes; each of the others waits, and the last of these destroys what it has waited for.
template <class Shared, class Wait, class Wake>
struct last_destroys {
    unsigned waiters;
    std::unique_ptr<Shared> shared;
    const Wait* wait;
    const Wake* wake;
    std::unique_ptr<std::atomic<unsigned>> left = std::make_unique<std::atomic<unsigned>>(waiters);

    void run(unsigned thread) {
        if (thread == waiters) return (*wake)(*shared);
        wait_for((*wait)(*shared), [this](auto result) {
            require(result.ok(), "a wait ends with an error");
            {
                [[maybe_unused]] const auto dropped = std::move(result);
            }
            if (left->fetch_sub(1) == 1) shared.reset();
        });
    }
    [[nodiscard]] const char* wrong_at_end() const noexcept {
        return shared != nullptr ? "a wait is lost" : nullptr;
    }
};

template <class Make, class Wait, class Wake>
std::string explore_last(unsigned waiters, const Make& make, const Wait& wait, const Wake& wake) {
    using shared = typename decltype(make())::element_type;
    return explore(waiters + 1, [&] {
        return last_destroys<shared, Wait, Wake>{waiters, make(), &wait, &wake};
    });
}

/// A wait is stopped by its own thread while another one ends it.
struct stopping {
    std::unique_ptr<shared_semaphore> shared = std::make_unique<shared_semaphore>(0U);

    void run(unsigned thread) {
        if (thread == 1) return shared->release();
        using awaiter = decltype(shared->acquire());
        const auto ended = [](auto result) {
            require(result.ok() || result.error() == errc::canceled, "a wait ends oddly");
        };
        wait_in_place<explored_place, awaiter, decltype(ended)> waiting{shared->acquire(), ended};
        if (!waiting.begin()) return;
        waiting.place().chain().request(stop_level::stop);
        waiting.place().go_on_when_called();
    }
    [[nodiscard]] const char* wrong_at_end() const noexcept {
        return shared->try_acquire().count() == 1 ? nullptr : "a permit is lost";
    }
};

}  // namespace

TEST_CASE(
    "in every execution the users of a spin lock exclude one another, and the last destroys it") {
    CHECK(explore(2, [] { return locking{2}; }) == "");
    CHECK(explore(3, [] { return locking{3}; }) == "");
}

TEST_CASE(
    "in every execution all that one release serves go on, and the last destroys the semaphore") {
    const auto make = [] { return std::make_unique<shared_semaphore>(0U); };
    const auto wait = [](shared_semaphore& of) { return of.acquire(); };
    CHECK(explore_last(1, make, wait, [](shared_semaphore& of) { of.release(); }) == "");
    if (!more_orders()) return;
    CHECK(explore_last(2, make, wait, [](shared_semaphore& of) { of.release(2); }) == "");
}

TEST_CASE("in every execution all that pass a latch go on, and the last destroys it") {
    const auto make = [] { return std::make_unique<latch>(1U); };
    const auto wait = [](latch& of) { return of.wait(); };
    const auto wake = [](latch& of) { of.count_down(); };
    CHECK(explore_last(1, make, wait, wake) == "");
    CHECK(explore_last(2, make, wait, wake) == "");
}

TEST_CASE("in every execution a notification reaches the one that waits, before or after") {
    const auto make = [] { return std::make_unique<notify>(); };
    const auto wait = [](notify& of) { return of.wait(); };
    CHECK(explore_last(1, make, wait, [](notify& of) { of.notify_one(); }) == "");
}

TEST_CASE(
    "in every execution a watch tells those that wait of its value, and the last destroys it") {
    const auto make = [] { return std::make_unique<watch<int>>(1); };
    const auto wait = [](watch<int>& of) { return of.changed(1); };
    const auto wake = [](watch<int>& of) { of.set(2); };
    CHECK(explore_last(1, make, wait, wake) == "");
    if (more_orders()) CHECK(explore_last(2, make, wait, wake) == "");
}

TEST_CASE("in every execution what is sent is received, and the receiver destroys the channel") {
    using channel = shared_channel<int>;
    const auto wait = [](channel& of) { return of.receive(); };
    const auto wake = [](channel& of) {
        int value = 1;
        require(of.try_send(value), "there is room");
    };
    CHECK(explore_last(1, [] { return std::make_unique<channel>(1U); }, wait, wake) == "");
}

TEST_CASE(
    "in every execution what a full channel makes wait is received, and its sender destroys it") {
    using channel = shared_channel<int>;
    const auto wait = [](channel& of) { return of.send(1); };
    const auto wake = [](channel& of) {
        wait_for(of.receive(), [](auto got) { require(got.ok(), "nothing is received"); });
    };
    CHECK(explore_last(1, [] { return std::make_unique<channel>(0U); }, wait, wake) == "");
}

TEST_CASE("in every execution a wait that is stopped and woken ends once, and no permit is lost") {
    CHECK(explore(2, [] { return stopping{}; }) == "");
}
