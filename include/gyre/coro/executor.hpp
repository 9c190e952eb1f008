// SPDX-License-Identifier: BSL-1.0
//
// Where a coroutine runs, and a type-erased reference to it.
//
// An executor takes a `work` and runs it later, once, in its own place: a loop on its thread, a
// strand one at a time. Coroutines are always resumed through the executor of their environment.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/coro/work.hpp>

#include <concepts>
#include <cstdint>

namespace gyre {

class loop;

/// What sleeps until something is posted: a loop, a thread that blocks.
class sleeper {
public:
    /// The second half of a post, whose first half was `enqueue`: called once for each `enqueue` that has
    /// returned this, soon and without a lock. Any thread. The sleeper lives until it returns.
    virtual void wake_for_enqueued() noexcept = 0;

protected:
    sleeper() noexcept = default;
    sleeper(const sleeper&) = default;
    sleeper& operator=(const sleeper&) = default;
    ~sleeper() = default;
};

/// Takes work and runs it later, once.
///
/// `post(item)` is callable from any thread, never runs `item` inside the call, never allocates and
/// never fails.
template <class Target>
concept post_target = requires(Target& target, work& item) {
    { target.post(item) } noexcept;
};

/// A place for coroutines.
///
/// Items posted by one thread run in the order of posting, one at a time. `home()` is the loop whose
/// timers and operations coroutines on this executor use. `retract(item)`, on the thread of that loop, takes
/// back what was posted and has not run; it may be linear. An io_pool is no executor: what it begins stays on
/// one of its loops, and that one is.
///
/// It may have `sleeper* enqueue(item)`, too: a post in two halves, for callers under a lock, which they had
/// better not hold while a thread is woken. When it returns the item is where `retract` finds it. Any thread.
template <class Executor>
concept executor = post_target<Executor> && requires(Executor& target, work& item) {
    { target.home() } noexcept -> std::same_as<loop&>;
    { target.retract(item) } noexcept;
};

/// A borrowed executor of any type, or what stands for one until a coroutine begins; two words. Two
/// references are equal when they mean the same object.
class executor_ref {
public:
    executor_ref() noexcept = default;

    template <post_target Target>
        requires(!std::same_as<Target, executor_ref> && !std::same_as<Target, const executor_ref>)
    executor_ref(Target& target) noexcept
        : target_{&target}, act_{[](void* it, work& item, action what) noexcept -> sleeper* {
              auto& to = *static_cast<Target*>(it);
              if (what == action::post) [[likely]] {
                  to.post(item);
              } else if (what == action::enqueue) {
                  if constexpr (requires { to.enqueue(item); }) return to.enqueue(item);
                  to.post(item);
              } else if constexpr (executor<Target>) {
                  to.retract(item);
              } else {
                  fail_check("unreachable", "what is no executor has nothing to retract");
              }
              return nullptr;
          }} {}

    /// @pre  refers to an executor, or to what stands for one.
    void post(work& item) const noexcept { act_(target_, item, action::post); }

    /// Posts, but leaves it to the caller to wake what it returns, if that is anything: its
    /// `wake_for_enqueued` is to be called once the caller's lock is free again. Any thread.
    /// @pre  refers to an executor, or to what stands for one.
    [[nodiscard]] sleeper* enqueue(work& item) const noexcept {
        return act_(target_, item, action::enqueue);
    }

    /// Takes back what was posted to it and has not run, on the thread of its loop. For destructors.
    /// @pre  refers to an executor.
    void retract(work& item) const noexcept { act_(target_, item, action::retract); }

    [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
    [[nodiscard]] bool refers_to(const void* target) const noexcept { return target_ == target; }

    [[nodiscard]] friend bool operator==(executor_ref left, executor_ref right) noexcept {
        return left.target_ == right.target_;
    }

private:
    enum class action : std::uint8_t { post, enqueue, retract };

    void* target_ = nullptr;
    sleeper* (*act_)(void*, work&, action) noexcept = nullptr;
};

}  // namespace gyre
