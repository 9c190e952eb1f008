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
#include <gyre/coro/backlog.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/coro/task.hpp>

#include <coroutine>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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
        const bool waits = begin_await(it, waiter, &env_, next);
        if constexpr (has_node_below<Awaitable>) chain.top = it.node_below();
        return waits;
    }

    /// Resumes `first` within what runs; the branch may be gone afterwards.
    void resume_nested(std::coroutine_handle<> first) const noexcept {
        backlog& running = env_.loop->backlog();
        running.descend();
        gyre::resume(first);
        running.ascend();
    }

    [[nodiscard]] const environment& env() const noexcept { return env_; }

private:
    environment env_;
};

/// Several branches below one suspended coroutine, which is resumed, by a post, when all have ended.
/// Stop requests go to every branch.
///
/// Branches begin on the spot while the turn's share lasts, and no more than `backlog::nesting_max` within
/// each other on the native stack. A fork that has begun some of them goes on with the rest in a later item,
/// after whatever these have put off. A branch's task is destroyed when its result has been taken.
class fork_point : public stop_target, private backlog_item {
public:
    void request(stop_level level) noexcept override {
        branches_.for_each([level](stop_chain& branch) { branch.request(level); });
    }
    [[nodiscard]] list<stop_chain>* branches() noexcept override { return &branches_; }

protected:
    fork_point() noexcept : backlog_item{&go_on} {}
    fork_point(fork_point&&) noexcept : fork_point{} {}
    ~fork_point() = default;

    /// Begins the branches that have not begun, until `begin` refuses one. True if all have begun. Called
    /// until it says so.
    [[nodiscard]] virtual bool begin_rest() noexcept { return true; }

    /// The coroutine `waiter` begins to wait for the branches that are started from now on.
    void open(std::coroutine_handle<> waiter, const environment& given) noexcept {
        attach(given);
        waiter_ = waiter;
        level_ = given.chain->level();
        pending_ = 1;  // The start itself, so that branches that end at once do not end everything.
    }

    /// Begins `one`, whose end `owner` hears of. False if that has to wait for a later item.
    template <class Branch, class Owner>
    [[nodiscard]] bool begin(Branch& one, Owner& owner) noexcept {
        if (!env().loop->may_begin()) return false;
        const std::size_t before = pending_;
        enter(one.chain);
        one.start(owner, env(), inherited());
        if (pending_ > before) env().loop->spend_on_begin();
        return true;
    }

    /// `begin_rest` for branches in a row.
    template <class... Branches, class Owner>
    [[nodiscard]] bool begin_rest_of(std::tuple<Branches...>& all, Owner& owner) noexcept {
        return std::apply(
            [&](auto&... each) {
                std::size_t index = 0;
                [[maybe_unused]] const auto begin_next = [&](auto& one) noexcept {
                    if (index++ < begun_) return true;
                    if (!begin(one, owner)) return false;
                    ++begun_;
                    return true;
                };
                return (begin_next(each) && ...);
            },
            all);
    }
    template <class Branch, class Owner>
    [[nodiscard]] bool begin_rest_of(std::vector<Branch>& all, Owner& owner) noexcept {
        for (; begun_ < all.size(); ++begun_) {
            if (!begin(all[begun_], owner)) return false;
        }
        return true;
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

    /// After the branches that could begin have. True if the coroutine stays suspended.
    [[nodiscard]] bool suspend(bool all_begun) noexcept {
        if (all_begun && pending_ == 1) {
            pending_ = 0;
            if (env().loop->spend()) return false;
            give_way();
            return true;
        }
        env().chain->enter(*this);
        entered_ = true;
        // A branch that has run already may have had us stopped before we could be told.
        const stop_level asked = env().chain->level();
        if (asked > level_) stop_branches(asked);
        if (all_begun) --pending_;
        else give_way();
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

    using backlog_item::env;
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
        put_off();
    }

private:
    // The share is used up: nothing else begins in this item.
    void give_way() noexcept {
        env().loop->backlog().close();
        put_off();
    }

    static void go_on(backlog_item& it) noexcept {
        auto& self = static_cast<fork_point&>(it);
        if (self.pending_ > 0) {
            if (!self.begin_rest()) return self.give_way();
            if (--self.pending_ > 0) return;
            self.env().chain->leave();
            if (!self.env().loop->spend()) return self.give_way();
        }
        gyre::resume(self.waiter_);
    }

    std::coroutine_handle<> waiter_;
    list<stop_chain> branches_;
    std::size_t pending_ = 0;  // Branches that have not ended, and 1 more until all have begun.
    std::size_t begun_ = 0;    // Of `begin_rest_of`.
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
        : branch_base{&done}, it_{std::in_place, std::move(it)} {}
    branch(branch&& other) noexcept(std::is_nothrow_move_constructible_v<Awaitable>)
        : branch_base{std::move(other)}, it_{std::move(other.it_)} {}

    void start(Owner& owner, const environment& parent, stop_level inherited) noexcept {
        owner_ = &owner;
        open(parent, inherited);
        std::coroutine_handle<> next;
        if (!begin(*it_, next)) {
            settle();
        } else if (next) {
            resume_nested(next);
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
                it_->await_resume();
                result_.emplace();
            } else {
                result_.emplace(it_->await_resume());
            }
        });
        it_.reset();  // Its frame is free for the next branch.
        owner_->branch_ended(*this);
    }

    std::optional<Awaitable> it_;  // Until it has ended.
    Owner* owner_ = nullptr;
    std::optional<branch_result<Awaitable>> result_;
    [[no_unique_address]] exception_slot failure_;
};

}  // namespace gyre
