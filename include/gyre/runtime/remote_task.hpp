// SPDX-License-Identifier: BSL-1.0
//
// A task that runs on another loop and is awaited on this one.
//
// A coroutine never changes threads; work moves between loops as whole tasks. The one sent away is
// a root over there, so it appears in that loop's dump and keeps that loop running; what connects
// the two ends is one message each way, and one more if the waiting side is stopped.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// The waiting end, in the awaiting coroutine's frame. `Target` is where the task goes: it takes
/// work, has a `pool_identity`, and may have `remote_task_started`, `remote_task_ended` and `has_plenty`.
template <class Target, class Result>
class [[nodiscard]] remote_task final : private work, public stop_target {
    static constexpr bool may_stay =
        requires(const Target& it, const io_context& from) { it.has_plenty(from); };

public:
    remote_task(Target& where, task<Result> it) noexcept
        : work{[](work& item) noexcept { static_cast<remote_task&>(item).go_on(); }},
          where_{where},
          it_{std::move(it)} {}
    remote_task(remote_task&& other) noexcept : remote_task{other.where_, std::move(other.it_)} {}
    ~remote_task() { expects(!away_, "a frame is destroyed while its task runs on another loop"); }

    void request(stop_level level) noexcept override {
        if (!io_context::may_come(expected_)) return;
        if (level == stop_level::stop) {
            stop_.request_stop();
        } else {
            stop_.request_drain();
        }
    }
    [[nodiscard]] const char* waiting_for() const noexcept override { return "another loop"; }

    /// The task, while it runs below the caller, because its loops have plenty to begin; otherwise null.
    [[nodiscard]] task_node* node_below() const noexcept { return here_ ? it_.node() : nullptr; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter, const environment* given) noexcept {
        send(waiter, given);
    }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given) noexcept
        requires may_stay
    {
        io_context& home = context_of(*given);
        if (given->executor.refers_to(&home) && where_.has_plenty(home) && home.spend_in_memory()) {
            here_ = true;
            return it_.await_suspend(waiter, given);
        }
        send(waiter, given);
        return std::noop_coroutine();
    }
    Result await_resume() {
        if constexpr (may_stay) {
            if (here_) {
                task<Result> ended = std::move(it_);
                return ended.await_resume();
            }
        }
        failure_.rethrow_if_any();
        if constexpr (!std::is_void_v<Result>) return std::move(*result_);
    }

private:
    static constexpr bool counts_remote_tasks = requires(Target& it) { it.remote_task_started(); };
    using kept = std::conditional_t<std::is_void_v<Result>, bool, Result>;

    void send(std::coroutine_handle<> waiter, const environment* given) noexcept {
        waiter_ = waiter;
        parent_ = given;
        away_ = true;
        io_context& home = context_of(*given);
        const bool stays = where_.never_runs();
        if (!stays && static_cast<const void*>(&where_) != &home) {
            const void* const pool = where_.pool_identity();
            expected_ = home.expect_post(pool == nullptr || pool != home.pool_identity());
        }
        if constexpr (counts_remote_tasks) where_.remote_task_started();
        auto* there = new remote_root{*this, stays ? &home : nullptr, std::move(it_)};
        stop_ = stop_handle{*there};
        const stop_level asked = stays ? stop_level::stop : given->chain->level();
        if (asked != stop_level::none) request(asked);
        given->chain->enter(*this);
        there->post();
    }

    /// The running end: a root of its own over there.
    class remote_root final : public root {
    public:
        /// @param  instead  If there is one: where it runs instead of at the target.
        remote_root(remote_task& from, io_context* instead, task<Result> it) noexcept
            : root{instead != nullptr ? executor_ref{*instead} : executor_ref{from.where_},
                   instead != nullptr ? instead : home_of(from.where_), &start, &finish, &destroy},
              from_{from},
              it_{std::move(it)} {
            chain.top = it_.node();
            this->inherit(from.parent_->locals);
        }

        static void* operator new(std::size_t size) noexcept { return frame_cache::allocate(size); }
        static void operator delete(void* memory, std::size_t size) noexcept {
            frame_cache::release(memory, size);
        }

        using root::post;

    private:
        [[nodiscard]] static loop* home_of(Target& where) noexcept {
            if constexpr (executor<Target>) {
                return &where.home();
            } else {
                return nullptr;
            }
        }

        static void start(work& item) noexcept {
            auto& self = static_cast<remote_root&>(of(item));
            if constexpr (!executor<Target>) {
                io_context& here = *io_context::current();
                self.settle(here, here);
            }
            self.enlist();
            gyre::resume(self.it_.await_suspend(self.on_done(), &self.env()));
        }

        static void finish(callback_frame* frame) {
            auto& self = static_cast<remote_root&>(of(frame));
            self.retire();
            remote_task& back = self.from_;
            {
                // The task ends here, on the thread that it ran on, before its result is known.
                task<Result> ended = std::move(self.it_);
                run_catching(back.failure_, [&] {
                    if constexpr (std::is_void_v<Result>) {
                        ended.await_resume();
                    } else {
                        back.result_.emplace(ended.await_resume());
                    }
                });
            }
            if constexpr (counts_remote_tasks) back.where_.remote_task_ended();
            io_context& home = context_of(*back.parent_);
            const expected_post expected = back.expected_;
            if (!io_context::may_come(expected)) return self.drop();
            back.parent_->executor.post(back);  // From here on `back` may be gone.
            home.posted_as_expected(expected);
            self.drop();
        }

        static void destroy(root& self) noexcept { delete static_cast<remote_root*>(&self); }

        remote_task& from_;
        task<Result> it_;
    };

    void go_on() noexcept {
        parent_->chain->leave();
        away_ = false;
        gyre::resume(waiter_);
    }

    Target& where_;
    task<Result> it_;
    const environment* parent_ = nullptr;
    std::coroutine_handle<> waiter_;
    stop_handle stop_;
    std::optional<kept> result_;
    [[no_unique_address]] exception_slot failure_;
    bool away_ = false;
    bool here_ = false;
    expected_post expected_;
};

/// Awaits `it`, run on the loop `where`; the caller resumes on its own executor.
///
/// @param  where  Borrowed; the caller's own loop or another one, run by whatever thread.
/// @param  it     Owned. What it refers to must be safe to use on that thread; sockets of this loop
///                go with `release` and `adopt`.
/// @return Its result; its frame is gone by then. A user's exception travels back.
///
/// Errors:        those of `it`.
/// Cancellation:  a stop is passed on by message; the caller waits for the task's end all the same.
///                In a forked child neither loop hears of the other's: `io_context::notify_fork`.
/// Threads:       `it` on the thread of `where`, all of it.
/// Cost:          one block, two posts from outside, and a wake-up for each side that sleeps.
template <class Result>
[[nodiscard]] remote_task<io_context, Result> on(io_context& where, task<Result> it) noexcept {
    return {where, std::move(it)};
}

}  // namespace gyre

template <class Target, class Result>
struct std::tuple_size<gyre::remote_task<Target, Result>>
    : gyre::bound_before_awaited<gyre::remote_task<Target, Result>> {};
