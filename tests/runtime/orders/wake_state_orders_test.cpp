// SPDX-License-Identifier: BSL-1.0
//
// Every execution of the threads that wake a loop, beside it: wake_state.hpp.
//
// In each of them the loop is on the heap, and its thread destroys it as soon as it has what it waited for.
#include <runtime/wake_state.hpp>

#include <runtime/orders/explored.hpp>

#include <array>
#include <memory>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// A loop on thread 0, and others that know it.
class beside_a_loop {
public:
    [[nodiscard]] const char* wrong_at_end() const noexcept { return nullptr; }

protected:
    template <class Condition>
    void run_until(const Condition& is_over) noexcept {
        require(loop_->turn_until(is_over), "a loop sleeps for ever");
        loop_.reset();
    }
    [[nodiscard]] wake_state& wake() const noexcept { return loop_->wake(); }

    // The others go by the address that it had.
    std::unique_ptr<modelled_loop> loop_ = std::make_unique<modelled_loop>();
};

struct counted : work {
    explicit counted(int& by) noexcept
        : work{[](work& item) noexcept { ++*static_cast<counted&>(item).by_; }}, by_{&by} {}
    int* by_;
};

struct stopping : beside_a_loop {
    wake_state& known = wake();
    void run(unsigned thread) {
        if (thread > 0) return known.stop();
        known.wake_up();  // It has run until now.
        run_until([this] { return known.stopped(); });
    }
};

struct stopping_and_posting : beside_a_loop {
    wake_state& known = wake();
    std::unique_ptr<int> ran = std::make_unique<int>(0);
    counted item{*ran};
    void run(unsigned thread) {
        if (thread == 1) return known.stop();
        if (thread == 2) return known.post(item);
        run_until([this] { return *ran == 1 && known.stopped(); });
    }
};

struct posting : beside_a_loop {
    wake_state& known = wake();
    std::unique_ptr<int> ran = std::make_unique<int>(0);
    counted item{*ran};
    void run(unsigned thread) {
        if (thread > 0) return known.post(item);
        run_until([this] { return *ran == 1; });
    }
};

/// Two posters, and a loop that never sleeps.
struct posting_to_an_awake_loop : beside_a_loop {
    wake_state& known = wake();
    std::unique_ptr<int> ran = std::make_unique<int>(0);
    std::array<counted, 2> items{counted{*ran}, counted{*ran}};
    posting_to_an_awake_loop() { known.wake_up(); }
    void run(unsigned thread) {
        if (thread > 0) return known.post(items[thread - 1]);
        while (*ran < 2) {
            const auto is_posted = [this] { return !known.inbox_empty(); };
            require(execution_space::here()->wait(is_posted), "what was posted is lost");
            loop_->take();
        }
        loop_.reset();
    }
};

struct guarding : beside_a_loop {
    wake_state& known = wake();
    guarding() { known.add_guard(); }
    void run(unsigned thread) {
        if (thread > 0) return known.release_guard();
        run_until([this] { return !known.guarded(); });
    }
};

/// The loop ends, and waits for what is expected and for nothing else.
struct expecting : beside_a_loop {
    wake_state& known = wake();
    std::unique_ptr<int> ran = std::make_unique<int>(0);
    counted item{*ran};
    bool posts;
    expected_post expected = known.expect_post(true);

    explicit expecting(bool it_posts) : posts{it_posts} {}
    void run(unsigned thread) {
        if (thread > 0) {
            if (posts) known.post(item);
            return known.posted_as_expected(expected);
        }
        run_until([this] { return !known.expects_posts(); });
    }
};

/// As a guest of another loop: between two polls a post calls the hook.
struct hooked : beside_a_loop {
    struct calling : wake_hook {
        calling() noexcept
            : wake_hook{
                  [](wake_hook& self) noexcept { static_cast<calling&>(self).calls.wake(); }} {}
        modelled_wait calls;
    };
    wake_state& known = wake();
    std::unique_ptr<int> ran = std::make_unique<int>(0);
    counted item{*ran};
    std::unique_ptr<calling> hook = std::make_unique<calling>();

    void run(unsigned thread) {
        if (thread > 0) return known.post(item);
        known.set_hook(hook.get());
        while (*ran == 0) {
            require(known.enter(), "a loop is entered by nobody else");
            known.wake_up();
            loop_->take();
            known.leave();
            if (*ran == 0 && known.nothing_posted())
                require(hook->calls.wait(), "no hook is called for what was posted");
        }
        known.set_hook(nullptr);
        hook.reset();
        loop_.reset();
    }
};

}  // namespace

TEST_CASE("in every execution a loop that falls asleep sees a stop, or is woken by it") {
    CHECK(explore(2, [] { return stopping{}; }) == "");
    if (more_orders()) CHECK(explore(3, [] { return stopping_and_posting{}; }) == "");
}

TEST_CASE("in every execution what was posted runs, and its posters touch no loop that is gone") {
    CHECK(explore(2, [] { return posting{}; }) == "");
    CHECK(explore(3, [] { return posting_to_an_awake_loop{}; }) == "");
}

TEST_CASE("in every execution the last guard wakes its loop and leaves it alone then") {
    CHECK(explore(2, [] { return guarding{}; }) == "");
}

TEST_CASE("in every execution a loop that ends learns that nothing more is expected") {
    CHECK(explore(2, [] { return expecting{false}; }) == "");
    CHECK(explore(2, [] { return expecting{true}; }) == "");
}

TEST_CASE("in every execution a post calls the hook, or is seen, and no hook that was taken away") {
    CHECK(explore(2, [] { return hooked{}; }) == "");
}
