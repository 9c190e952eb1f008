// SPDX-License-Identifier: BSL-1.0
//
// What is done with values while a lock of ours is held: nothing that they hold ends there.
//
// The values of these tests end by using what they were sent through, as a deleter may that sends a block
// back. It looks from another thread, so that a lock which is held is a failed check and not a hang.
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/watch.hpp>
#include <support/harness.hpp>
#include <support/waiting_places.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// Whether `use` ends while the calling thread stays where it is: whether no lock is held here that it needs.
bool can_be_used(const std::function<void()>& use) {
    const auto used = std::make_shared<std::promise<void>>();
    const std::future<void> seen = used->get_future();
    std::thread user{[use, used] {
        use();
        used->set_value();
    }};
    const bool free = seen.wait_for(2s) == std::future_status::ready;
    free ? user.join() : user.detach();  // It will get the lock a moment later.
    return free;
}

/// Ends a value by `use`, and counts what could be done.
struct looking {
    std::function<void()>* use = nullptr;
    int* ends = nullptr;

    void operator()(int* it) const {
        delete it;
        if (use == nullptr) return;
        CHECK(can_be_used(*use));
        ++*ends;
    }
};

using watched = std::unique_ptr<int, looking>;

/// A type of the time before moves: it copies, and what is copied keeps what it holds.
struct copied {
    copied() = default;
    explicit copied(std::shared_ptr<int> it) noexcept : held{std::move(it)} {}
    copied(const copied&) = default;
    copied& operator=(const copied&) = default;

    std::shared_ptr<int> held;
};
static_assert(std::is_nothrow_move_constructible_v<copied>);

struct looking_fixture {
    std::function<void()> use;
    int ends = 0;

    watched make(int value) { return {new int{value}, looking{&use, &ends}}; }
};

}  // namespace

TEST_CASE_FIXTURE(looking_fixture,
                  "old values in a span end before many are received under a lock") {
    shared_channel<watched> values{8};
    use = [&values] { static_cast<void>(values.size()); };
    std::array<watched, 4> into;
    for (watched& each : into) each = make(1);
    for (int value = 2; value < 5; ++value) {
        watched it = make(value);
        CHECK(values.try_send(it));
    }

    const io_result<std::size_t> received = values.receive_many_blocking(into);

    CHECK(received.value() == 3);
    CHECK(ends == 3);
    CHECK(*into[0] == 2);
    CHECK(*into[2] == 4);
    REQUIRE(into[3] != nullptr);  // Nothing came to its place.
    CHECK(*into[3] == 1);
    use = [] {};
}

TEST_CASE_FIXTURE(looking_fixture, "old values in a span end without a lock after a wait, too") {
    shared_channel<watched> values{8};
    use = [&values] { static_cast<void>(values.size()); };
    std::array<watched, 4> into;
    for (watched& each : into) each = make(1);
    std::size_t received = 0;
    const auto arrived = [&](io_result<std::size_t> result) { received = result.value(); };
    wait_in_place<place_by_hand, shared_channel<watched>::receive_many_awaiter, decltype(arrived)>
        receiving{values.receive_many(into), arrived};
    REQUIRE(receiving.begin());
    for (int value = 2; value < 5; ++value) {
        watched it = make(value);
        CHECK(values.try_send(it));
    }

    receiving.place().run();

    CHECK(received == 3);
    CHECK(ends == 3);
    CHECK(*into[0] == 2);
    CHECK(*into[2] == 4);
    use = [] {};
}

TEST_CASE_FIXTURE(looking_fixture, "a stopped receive of many leaves the span as it was") {
    shared_channel<watched> values{8};
    use = [] {};
    std::array<watched, 1> into{make(1)};
    watched sent = make(2);
    CHECK(values.try_send(sent));

    const io_result<std::size_t> received = values.receive_many_blocking(into, time_point{});
    const std::size_t left = values.size();

    CHECK((received.ok() || *into[0] == 1));
    CHECK(left == (received.ok() ? 0U : 1U));
}

TEST_CASE_FIXTURE(looking_fixture, "a value that a broadcast forgets ends without its lock") {
    using shared = std::shared_ptr<int>;
    broadcast<shared> feed{1};
    use = [&feed] { static_cast<void>(feed.subscribe()); };
    CHECK(feed.send(shared{make(1)}));

    CHECK(feed.send(shared{make(2)}));

    CHECK(ends == 1);
    feed.close();
    CHECK(!feed.send(shared{make(3)}));
    CHECK(ends == 2);
    use = [] {};
}

TEST_CASE_FIXTURE(looking_fixture, "a value that a watch forgets ends without its lock") {
    watch<watched> latest{make(1)};
    use = [&latest] { static_cast<void>(latest.get()); };

    latest.set(make(2));

    CHECK(ends == 1);
    use = [] {};
}

namespace {

/// Moves by `use`: what no lock may be held for.
struct moving {
    moving() = default;
    explicit moving(std::function<void()>& by) noexcept : use{&by} {}
    moving(moving&& other) noexcept : use{other.use} {
        if (use != nullptr) CHECK(can_be_used(*use));
    }
    moving& operator=(moving&&) = default;

    std::function<void()>* use = nullptr;
};

}  // namespace

TEST_CASE("the value of a oneshot moves and ends without its lock") {
    const auto state = std::make_shared<oneshot_state<moving>>();
    oneshot_sender<moving> sender{state};
    oneshot_receiver<moving> receiver{state};
    std::function<void()> use = [state] { const std::lock_guard hold{state->lock}; };

    CHECK(sender.send(moving{use}).ok());
    CHECK(receiver.try_receive().has_value());

    const auto refusing = std::make_shared<oneshot_state<moving>>();
    oneshot_sender<moving> late{refusing};
    oneshot_receiver<moving>{refusing}.close();
    use = [refusing] { const std::lock_guard hold{refusing->lock}; };
    const io_result<moving> refused = late.send(moving{use});
    CHECK(refused.error() == errc::closed);
    CHECK(refused.value().use == &use);
}

TEST_CASE("nothing of a value that copies stays in a shared channel that is empty") {
    shared_channel<copied> values{2};
    std::array<copied, 2> into;
    auto held = std::make_shared<int>(7);
    for (int each = 0; each < 2; ++each) {
        CHECK(values.send_blocking(copied{held}).ok());
    }
    const auto receive_each_way = [&] {
        CHECK(values.receive_blocking().value().held == held);
        CHECK(values.try_receive()->held == held);
        copied again{held};
        CHECK(values.try_send(again));
        CHECK(values.receive_many_blocking(into).value() == 1);
        CHECK(into[0].held == held);
        into = {};
    };

    receive_each_way();

    CHECK(values.size() == 0);
    CHECK(held.use_count() == 1);
}

TEST_CASE("nothing of a value that copies stays with a sender that has handed it over") {
    shared_channel<copied> values{0};
    auto held = std::make_shared<int>(7);
    const auto sent = [](auto) {};
    wait_in_place<place_by_hand, shared_channel<copied>::send_awaiter, decltype(sent)> sending{
        values.send(copied{held}), sent};
    REQUIRE(sending.begin());

    CHECK(values.receive_blocking().value().held == held);

    CHECK(held.use_count() == 1);
    sending.place().run();
}
