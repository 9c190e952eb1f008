// SPDX-License-Identifier: BSL-1.0
//
// Where a wait of shared_waiters.hpp goes on, chosen so that a test knows all about its moment.
//
// A place is an executor without a loop, and a sleeper: whoever ends the wait hands it over under a lock, and
// wakes the place afterwards. What a thread does by chance, sooner or later, a place does at a time of the
// test's: in the middle of the call that wakes it, or only when it is told.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/resume.hpp>

#include <coroutine>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>

namespace gyre::testing {

/// What places have in common: the surroundings of one wait, and the item that it goes on by.
class waiting_place : public sleeper {
public:
    waiting_place(const waiting_place&) = delete;
    waiting_place& operator=(const waiting_place&) = delete;

    void post(work& item) noexcept {
        item_ = &item;
        wake_for_enqueued();
    }
    [[nodiscard]] sleeper* enqueue(work& item) noexcept {
        item_ = &item;
        return this;
    }
    void retract(work&) noexcept { item_ = nullptr; }
    // An executor has a loop, but what waits here never asks for it.
    [[nodiscard]] gyre::loop& home() noexcept { fail_check("home", "a place has no loop"); }
    [[nodiscard]] const environment& env() const noexcept { return env_; }
    [[nodiscard]] stop_chain& chain() noexcept { return chain_; }

protected:
    waiting_place() noexcept = default;
    ~waiting_place() = default;

    void go_on() noexcept {
        work& item = *std::exchange(item_, nullptr);
        item.run(item);
    }

private:
    stop_chain chain_;
    environment env_{executor_ref{*this}, nullptr, &chain_};
    work* item_ = nullptr;
};

/// Goes on inside of the call that wakes it: as a thread that is faster than its waker.
class place_in_the_waker final : public waiting_place {
public:
    void wake_for_enqueued() noexcept override { go_on(); }
};

/// Goes on when `run` is called, after it was woken: as a thread that is slower than all others.
class place_by_hand final : public waiting_place {
public:
    void wake_for_enqueued() noexcept override {}
    void run() noexcept { go_on(); }
};

/// Goes on on a thread of its own, which its destructor joins.
class place_on_a_thread final : public waiting_place {
public:
    void wake_for_enqueued() noexcept override { woken_.release(); }

private:
    std::binary_semaphore woken_{0};
    std::jthread thread_{[this] {
        woken_.acquire();
        go_on();
    }};
};

/// A wait of `Awaiter` in a `Place`, whose result goes to `Ended`.
template <class Place, class Awaiter, class Ended>
class wait_in_place : private callback_frame {
public:
    wait_in_place(Awaiter it, const Ended& ended)
        : callback_frame{[](callback_frame* self) { static_cast<wait_in_place*>(self)->end(); }},
          ended_{ended},
          awaiter_{std::move(it)} {}

    /// Whether it waits; if not it has ended already.
    [[nodiscard]] bool begin() {
        if (awaiter_->await_suspend(callback_frame::handle(), &place_.env())) return true;
        end();
        return false;
    }
    [[nodiscard]] Place& place() noexcept { return place_; }

private:
    void end() {
        auto result = awaiter_->await_resume();
        awaiter_.reset();
        ended_(std::move(result));
    }

    const Ended& ended_;
    std::optional<Awaiter> awaiter_;
    Place place_;  // Goes first: it may join.
};

}  // namespace gyre::testing
