// SPDX-License-Identifier: BSL-1.0
//
// Children whose number is not known beforehand, none of which outlives its parent's block.
//
// `co_await with_group(body)` is the only way to have a group, and it returns when the body and every
// child have ended, however the body was left. So whatever a child borrows from around the group is
// alive. when_all.hpp is simpler where the number is fixed.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/coro/branch.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_function.hpp>
#include <gyre/sync/child.hpp>
#include <gyre/sync/waiters.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// What ends the other children of a group, besides the parent's own stop.
enum class group_mode : std::uint8_t {
    collect,              ///< Nothing: each runs to its end. A user's exception still stops all.
    stop_on_first_error,  ///< A child, or the body, that yields an error.
    stop_on_exit          ///< The end of the body: children serve it and go when it goes.
};

/// What ends the children of a group, and how many it may have.
struct group_options {
    group_options() noexcept = default;
    explicit group_options(group_mode how) noexcept : mode{how} {}

    group_mode mode = group_mode::collect;
    std::size_t children_max = std::numeric_limits<std::size_t>::max();  ///< Bound for `try_spawn`.
};

/// What a child's end may be told to; see `task_group::spawn`.
template <class OnExit, class Result>
concept takes_value = std::invocable<OnExit&, Result>;
template <class OnExit, class Result>
concept takes_outcome =
    !takes_value<OnExit, Result> && std::invocable<OnExit&, task_outcome<Result>>;

/// Spawns children; lives only inside `with_group`. The loop's thread only. Does not move.
class task_group : public fork_point {
public:
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /// Starts `child`, in a later item of the loop. Its frame is freed the moment it ends.
    ///
    /// @param  child  Owned. `task<void>`, or `task<io_result<>>`, whose first error is kept.
    /// @pre    fewer than `children_max` children (see `try_spawn`).
    void spawn(task<> child) {
        start(child, [](nothing) noexcept {});
    }
    void spawn(task<io_result<>> child) {
        start(child, [this](io_result<> ended) noexcept { note(ended.error()); });
    }

    /// Not provided; the message says what to do.
    template <class Result>
    void spawn(task<Result>) {
        static_assert(sizeof(task<Result>) == 0,
                      "a child that yields a value is spawned with a function that takes it: "
                      "spawn(child, on_exit), or with a handle: spawn_child(child); only task<> "
                      "and task<io_result<>> need neither");
    }

    /// Starts `child`, whose value goes to `on_exit(value)`, called on the loop's thread. What instead takes
    /// a `task_outcome<Result>` is told of exceptions, too; those that it does not `get()` stop the group.
    template <class Result, class OnExit>
        requires(takes_value<OnExit, Result> || takes_outcome<OnExit, Result>)
    void spawn(task<Result> child, OnExit on_exit) {
        start(child, std::move(on_exit));
    }

    /// Starts what `coroutine` makes, as above, and keeps `coroutine` until that has ended. A lambda with
    /// captures is spawned like this, uncalled: `group.spawn([text]() -> task<> { ... })`.
    template <task_function Function>
    void spawn(Function coroutine) {
        spawn(call_and_keep(std::move(coroutine)));
    }
    template <task_function Function, class OnExit>
    void spawn(Function coroutine, OnExit on_exit) {
        spawn(call_and_keep(std::move(coroutine)), std::move(on_exit));
    }

    /// Starts `coroutine` and returns a handle of it, to stop it alone and to have its result: child.hpp.
    ///
    ///     child<io_result<report>> job = group.spawn_child(analyse(input));
    ///     if (outdated) job.request_stop();
    ///     auto [error, found] = co_await job.result();
    ///
    /// @param  coroutine  Owned. A task of anything, or a function that makes one, which is kept.
    /// @pre    fewer than `children_max` children.
    template <class Result>
    child<Result> spawn_child(task<Result> coroutine) {
        return child<Result>{start(coroutine, report<Result>{{env().loop}, this})};
    }
    template <task_function Function>
    auto spawn_child(Function coroutine) {
        return spawn_child(call_and_keep(std::move(coroutine)));
    }

    /// The same unless the bound is reached; false then, and `child` is destroyed unstarted.
    [[nodiscard]] bool try_spawn(task<> child) {
        if (children_ >= options_.children_max) return false;
        spawn(std::move(child));
        return true;
    }
    template <task_function Function>
    [[nodiscard]] bool try_spawn(Function coroutine) {
        return try_spawn(call_and_keep(std::move(coroutine)));
    }

    /// Asks every child, and the body, to end. Children spawned later begin stopped.
    void request_stop() noexcept { stop_branches(stop_level::stop); }
    /// Asks them to begin nothing new: see `stop_level::drain`.
    void request_drain() noexcept { stop_branches(stop_level::drain); }

    template <class Result, stop_level EndsAt>
    class join_awaiter final : public waiter {
    public:
        static constexpr bool heeds_stops = EndsAt != ignores_stop;

        explicit join_awaiter(task_group& of) noexcept : waiter{"children", EndsAt}, of_{of} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (of_.children_ == 0) return go_on(handle, *given);
            return wait_in(of_.joiners_, handle, *given);
        }
        Result await_resume() const noexcept {
            if constexpr (!std::is_void_v<Result>) return outcome();
        }

    private:
        task_group& of_;
    };

    /// Waits until there is no child, so that they may use what the body has, too.
    ///
    /// Errors:        none. Cancellation: ignored, so that a limit around it does not compile.
    /// Threads:       the loop's thread. Cost: no allocation.
    [[nodiscard]] join_awaiter<void, ignores_stop> join() noexcept {
        return join_awaiter<void, ignores_stop>{*this};
    }

    /// Waits until there is no child, or for as long as may be: `with_timeout(1s, join_unless_stopped())`.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`. The children go on unless they were stopped as well, and `with_group`
    ///                waits for them: what they use of the body's has to be `join`ed before it goes.
    /// Threads:       the loop's thread. Cost: no allocation.
    [[nodiscard]] join_awaiter<io_result<>, stop_level::stop> join_unless_stopped() noexcept {
        return join_awaiter<io_result<>, stop_level::stop>{*this};
    }

    /// Children that have not ended.
    [[nodiscard]] std::size_t size() const noexcept { return children_; }

    /// The first error that a `task<io_result<>>` child ended with.
    [[nodiscard]] error first_error() const noexcept { return first_error_; }

    [[nodiscard]] const char* waiting_for() const noexcept override { return "a group"; }

protected:
    explicit task_group(const group_options& options) noexcept : options_{options} {}
    task_group(task_group&& other) noexcept
        : fork_point{static_cast<fork_point&&>(other)}, options_{other.options_} {}
    ~task_group() = default;

    /// Of a frame that is destroyed while it waits; children have no owner then.
    void abandon() noexcept {
        expects(children_ == 0,
                "a frame is destroyed while its group has children: stop it and await its end");
        let_go();
    }

    void note(error failed) noexcept;
    void rethrow_first() { failure_.rethrow_if_any(); }
    void keep_failure(exception_slot& failed) noexcept;
    void child_ended() noexcept {
        if (--children_ == 0) joiners_.wake_all();
        ended();
    }

    group_options options_;

private:
    template <class Result>
    friend class task_set;
    template <class Task, class OnExit>
    class spawned;

    // Returns `on_exit` as the child's record keeps it.
    template <class Result, class OnExit>
    OnExit& start(task<Result>& it, OnExit on_exit);

    // Where a child with a handle leaves its result: there, or here if the handle has gone.
    template <class Result>
    struct report : child<Result>::link {
        task_group* group;

        void operator()(task_outcome<Result> ended) {
            if (this->handle != nullptr) {
                exception_slot failed = this->handle->end(ended).share();
                if (!failed.empty()) group->keep_failure(failed);
            } else if constexpr (std::is_same_v<Result, io_result<>>) {
                group->note(ended.get().error());
            } else {
                static_cast<void>(ended.get());
            }
        }
    };

    error first_error_;
    std::size_t children_ = 0;
    waiters joiners_;
    [[no_unique_address]] exception_slot failure_;
};

// Implementation

/// A child and what becomes of its value. Allocated from the frame cache; ends itself.
template <class Task, class OnExit>
class task_group::spawned final : private gyre::backlog_item, private branch_base {
    static_assert(alignof(OnExit) <= alignof(std::max_align_t),
                  "keep what is over-aligned elsewhere: frames are aligned as malloc's memory is");

public:
    spawned(task_group& group, Task& it, OnExit on_exit) noexcept
        : gyre::backlog_item{[](gyre::backlog_item& item) noexcept {
              static_cast<spawned&>(item).begin_now();
          }},
          branch_base{[](callback_frame* frame) {
              static_cast<spawned*>(static_cast<branch_base*>(frame))->end();
          }},
          group_{group},
          it_{std::move(it)},
          on_exit_{std::move(on_exit)} {
        if constexpr (requires { on_exit_.chain = &chain; }) on_exit_.chain = &chain;
        group_.enter(chain);
        chain.top = it_.node();
        open(group_.env(), group_.inherited());
        attach(group_.env());
        put_off_in_row();
    }

    static void* operator new(std::size_t size) noexcept { return frame_cache::allocate(size); }
    static void operator delete(void* memory, std::size_t size) noexcept {
        frame_cache::release(memory, size);
    }

    [[nodiscard]] OnExit& on_exit() noexcept { return on_exit_; }

private:
    using result = typename Task::result_type;
    static constexpr bool told_of_exceptions = takes_outcome<OnExit, result>;

    void begin_now() noexcept {
        gyre::resume(it_.await_suspend(callback_frame::handle(), &branch_base::env()));
    }

    void end() noexcept {
        task_group& group = group_;
        exception_slot& failed = it_.slot().failure();
        if (told_of_exceptions || failed.empty()) {
            run_catching(failed, [this] {
                if constexpr (told_of_exceptions) {
                    on_exit_(task_outcome<result>{it_});
                } else if constexpr (std::is_void_v<result>) {
                    on_exit_(nothing{});
                } else {
                    on_exit_(it_.await_resume());
                }
            });
        }
        if (!failed.empty()) group.keep_failure(failed);
        chain.unlink();
        delete this;  // Before the group hears of it: the frame is free for the next child.
        group.child_ended();
    }

    task_group& group_;
    Task it_;
    [[no_unique_address]] OnExit on_exit_;
};

template <class Result, class OnExit>
OnExit& task_group::start(task<Result>& it, OnExit on_exit) {
    expects(
        env().loop->may_touch_here(),
        "a group's children are spawned on its loop; to spawn there is for a task that on(loop, "
        "task) sends");
    expects(children_ < options_.children_max,
            "the group is full; raise children_max, or use try_spawn, which tells");
    ++children_;
    auto* record = new spawned<task<Result>, OnExit>{*this, it, std::move(on_exit)};
    return record->on_exit();
}

/// What `with_group` runs.
template <class Body>
concept group_body =
    std::invocable<Body&, task_group&> && is_task<std::invoke_result_t<Body&, task_group&>>;

/// Made by `with_group`.
template <class Body>
class [[nodiscard]] group_scope final : public task_group {
public:
    static_assert(group_body<Body>,
                  "the body of a group is a coroutine gyre::task<...>(gyre::task_group&); a lambda "
                  "says -> gyre::task<>, and co_return where it awaits nothing");
    using body_task = std::invoke_result_t<Body&, task_group&>;
    using result_type = typename body_task::result_type;

    group_scope(Body body,
                const group_options& options) noexcept(std::is_nothrow_move_constructible_v<Body>)
        : task_group{options}, body_{std::move(body)} {}
    group_scope(group_scope&& other) noexcept(std::is_nothrow_move_constructible_v<Body>)
        : task_group{std::move(static_cast<task_group&>(other))}, body_{std::move(other.body_)} {}
    ~group_scope() { abandon(); }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        open(waiter, *given);
        exception_slot failed;  // Before there was a coroutine.
        run_catching(failed, [this] { running_.emplace(body_(static_cast<task_group&>(*this))); });
        if (!running_) keep_failure(failed);
        return suspend(begin_rest());
    }

    [[nodiscard]] bool begin_rest() noexcept override {
        return !running_ || begin(*running_, *this);
    }

    result_type await_resume() {
        rethrow_first();
        if constexpr (std::is_void_v<result_type>) {
            return;
        } else {
            result_type result = running_->take();
            if constexpr (is_io_result<result_type>) {
                if (options_.mode == group_mode::stop_on_first_error && result.ok()) {
                    result.set_error(first_error());
                }
            }
            return result;
        }
    }

    void branch_ended(branch<body_task, group_scope>& body) noexcept {
        if (!body.failure().empty()) keep_failure(body.failure());
        if (options_.mode == group_mode::stop_on_exit ||
            (options_.mode == group_mode::stop_on_first_error && body.failed())) {
            request_stop();
        }
        leave(body.chain);
    }

private:
    Body body_;
    std::optional<branch<body_task, group_scope>> running_;
};

/// Runs `body(group)` and every child it spawns; resumes when all have ended.
///
/// @param  body  Owned; a callable that returns a task. Its captures live as long as the group, its
///               locals until it returns. docs/guide/compilers.md: give a capturing lambda a name first.
/// @return What the body yields; in mode `stop_on_first_error` with the first child's error if the
///         body had none.
///
/// Errors:        as above. A user's exception from the body or a child stops all of them and is
///                rethrown when all have ended.
/// Cancellation:  reaches the body and every child; the group still waits for them.
/// Threads:       the body and the children on the caller's executor.
/// Cost:          one frame for the body; one block per child beside its frame.
template <class Body>
[[nodiscard]] group_scope<std::decay_t<Body>> with_group(Body&& body,
                                                         const group_options& options = {}) {
    return {std::forward<Body>(body), options};
}

/// The same, for what g++ 12 may destroy twice.
template <maybe_destroyed_twice Body>
[[nodiscard,
  deprecated(
      "g++ 12 destroys a temporary lambda twice in a co_await: give it a name, and pass that")]]
group_scope<Body> with_group(Body&& body, const group_options& options = {}) {
    return {std::forward<Body>(body), options};
}

}  // namespace gyre
