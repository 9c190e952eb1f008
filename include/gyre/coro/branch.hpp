// SPDX-License-Identifier: BSL-1.0
//
// Awaitables awaited by a combinator instead of by a coroutine.
//
// when_all, when_any, groups, timeouts and shields all need the same things: for each awaitable below
// them a chain of its own to stop it by, an environment that names that chain and a hand-made
// continuation (a *branch*, which costs no frame); and above, one coroutine that goes on when the last
// branch has ended (the *fork*). Their policies differ, and those are all that sync/ has to add.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/coro/task.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// The untyped part of a branch: how it is stopped and how its end is heard of.
class branch_base : protected callback_frame {
public:
    stop_chain chain;  ///< Stops this branch alone.

protected:
    explicit branch_base(callback_frame::function on_done) noexcept : callback_frame{on_done} {}
    branch_base(branch_base&& other) noexcept : callback_frame{other} {}
    ~branch_base() = default;

    /// Gives the branch `parent`'s surroundings, but the chain of its own.
    void open(const environment& parent, stop_level inherited) noexcept {
        env_ = parent;
        env_.chain = &chain;
        chain.request(inherited);
    }

    /// Begins to await `it`, with this branch as continuation. False if it finished on the spot;
    /// `next`, if set, has to be resumed.
    template <class Awaitable>
    [[nodiscard]] bool begin(Awaitable& it, std::coroutine_handle<>& next) noexcept {
        return begin_for(callback_frame::handle(), it, next);
    }

    /// The same with `waiter` itself as continuation, for combinators of one branch.
    template <class Awaitable>
    [[nodiscard]] bool begin_for(std::coroutine_handle<> waiter, Awaitable& it,
                                 std::coroutine_handle<>& next) noexcept {
        if constexpr (is_task<Awaitable>) chain.top = it.node();
        return begin_await(it, waiter, &env_, next);
    }

    [[nodiscard]] const environment& env() const noexcept { return env_; }

private:
    environment env_;
};

/// Several branches below one suspended coroutine, which is resumed, by a post, when all have ended.
/// Stop requests go to every branch.
class fork_point : public stop_target {
public:
    void request(stop_level level) noexcept override {
        branches_.for_each([level](stop_chain& branch) { branch.request(level); });
    }
    [[nodiscard]] list<stop_chain>* branches() noexcept override { return &branches_; }

protected:
    fork_point() noexcept = default;
    fork_point(fork_point&&) noexcept : fork_point{} {}
    ~fork_point() = default;

    /// The coroutine `waiter` begins to wait for the branches that are started from now on.
    void open(std::coroutine_handle<> waiter, const environment& given) noexcept {
        back_.begin(waiter, given);
        level_ = given.chain->level();
        pending_ = 1;  // The start itself, so that branches that end at once do not end everything.
    }

    /// Before a branch begins, and after it has ended.
    void enter(stop_chain& branch) noexcept {
        ++pending_;
        branches_.push_back(branch);
    }
    void leave(stop_chain& branch) noexcept {
        branch.unlink();
        ended();
    }

    /// After the last branch was started. True if the coroutine stays suspended.
    [[nodiscard]] bool suspend() noexcept {
        if (pending_ > 1) {
            env().chain->enter(*this);
            entered_ = true;
            // A branch that has run already may have had us stopped before we could be told.
            const stop_level asked = env().chain->level();
            if (asked > level_) stop_branches(asked);
            --pending_;
            return true;
        }
        if (env().loop->spend()) return false;
        ended();
        return true;
    }

    /// Stops every branch, those included that are yet to begin.
    void stop_branches(stop_level level) noexcept {
        if (level > level_) level_ = level;
        request(level);
    }

    /// What a new branch inherits: the parent's level, or what the branches were told since.
    [[nodiscard]] stop_level inherited() const noexcept {
        const stop_level above = env().chain->level();
        return above > level_ ? above : level_;
    }

    [[nodiscard]] const environment& env() const noexcept { return back_.env(); }
    [[nodiscard]] std::size_t pending() const noexcept { return pending_; }

    /// The frame is destroyed while it waits: none is resumed, and the branches, which are destroyed next,
    /// are no longer to be stopped from here. The destructors of what has branches as members call it.
    void let_go() noexcept {
        branches_.for_each([](stop_chain& each) { each.unlink(); });
        if (entered_ && pending_ > 0) env().chain->leave();
    }

    /// Called once, when everything has ended.
    void ended() noexcept {
        if (--pending_ > 0) return;
        if (entered_) env().chain->leave();
        back_.post();
    }

private:
    resumption back_;
    list<stop_chain> branches_;
    std::size_t pending_ = 0;
    stop_level level_ = stop_level::none;
    bool entered_ = false;
};

/// What stands for the result of an awaitable that yields nothing.
struct nothing {
    friend bool operator==(nothing, nothing) = default;
};

template <class Awaitable>
using branch_result = std::conditional_t<std::is_void_v<awaited<Awaitable>>, nothing,
                                         std::remove_cvref_t<awaited<Awaitable>>>;

/// A branch that keeps its result for `Owner`, whose `branch_ended(branch&)` hears of its end.
template <class Awaitable, class Owner>
class branch : public branch_base {
public:
    explicit branch(Awaitable&& it) noexcept(std::is_nothrow_move_constructible_v<Awaitable>)
        : branch_base{&done}, it_{std::move(it)} {}
    branch(branch&& other) noexcept(std::is_nothrow_move_constructible_v<Awaitable>)
        : branch_base{std::move(other)}, it_{std::move(other.it_)} {}

    void start(Owner& owner, const environment& parent, stop_level inherited) noexcept {
        owner_ = &owner;
        open(parent, inherited);
        std::coroutine_handle<> next;
        if (!begin(it_, next)) {
            settle();
        } else if (next) {
            gyre::resume(next);
        }
    }

    /// Whether it ended with an exception or an error.
    [[nodiscard]] bool failed() const noexcept {
        if (!failure_.empty()) return true;
        if constexpr (is_io_result<branch_result<Awaitable>>) {
            return result_.has_value() && !result_->ok();
        } else {
            return false;
        }
    }

    [[nodiscard]] exception_slot& failure() noexcept { return failure_; }
    [[nodiscard]] branch_result<Awaitable> take() { return std::move(*result_); }
    [[nodiscard]] branch_result<Awaitable>& result() noexcept { return *result_; }

private:
    static void done(callback_frame* frame) {
        static_cast<branch*>(static_cast<branch_base*>(frame))->settle();
    }

    void settle() noexcept {
        run_catching(failure_, [this] {
            if constexpr (std::is_void_v<awaited<Awaitable>>) {
                it_.await_resume();
                result_.emplace();
            } else {
                result_.emplace(it_.await_resume());
            }
        });
        owner_->branch_ended(*this);
    }

    Awaitable it_;
    Owner* owner_ = nullptr;
    std::optional<branch_result<Awaitable>> result_;
    [[no_unique_address]] exception_slot failure_;
};

}  // namespace gyre
