// SPDX-License-Identifier: BSL-1.0
//
// How code that is not a coroutine starts one.
//
// Inside coroutines children live in groups; `launch` is for callbacks, main and tests, and demands
// a handler, because a coroutine whose end goes unnoticed is how programs leak. Every launched
// coroutine is a *root*: its loop lists it until it ends, `run` returns when none is left but those in the
// background, and the task dump starts from this list. io/run.hpp builds `run` and `run_until_signal` on it.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/coro/task_function.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// How a launched task ended: its value, or a user's exception.
template <class Result>
class task_outcome {
public:
    explicit task_outcome(task<Result>& ended) noexcept
        : ended_{ended.slot()}, node_{ended.node()} {}
    explicit task_outcome(result_slot<Result>& ended) noexcept : ended_{ended} {}

    /// The value; rethrows the exception if the task ended with one. At most once.
    Result get() { return ended_.take(); }

    /// The place that the task had in the tree of awaits; null if that is not known.
    [[nodiscard]] const task_node* node() const noexcept { return node_; }

private:
    result_slot<Result>& ended_;
    const task_node* node_ = nullptr;
};

/// Keeps what a task has yielded, or the exception that it ended with, until it is asked for.
template <class Result>
class kept_outcome {
public:
    void operator()(task_outcome<Result> outcome) noexcept {
        run_catching(failure_, [&] {
            if constexpr (std::is_void_v<Result>) {
                outcome.get();
            } else {
                value_.emplace(outcome.get());
            }
        });
    }

    /// The value; rethrows the exception. Once.
    [[nodiscard]] Result take() {
        failure_.rethrow_if_any();
        if constexpr (!std::is_void_v<Result>) {
            expects(value_.has_value(),
                    "the loop was stopped before the task had ended; stop the task instead, by the "
                    "handle that launch returns");
            return std::move(*value_);
        }
    }
    [[nodiscard]] const exception_slot& failure() const noexcept { return failure_; }

private:
    struct none {};

    std::optional<std::conditional_t<std::is_void_v<Result>, none, Result>> value_;
    [[no_unique_address]] exception_slot failure_;
};

/// A handler for roots with no result worth reading; a user's exception is a failed check, which tells the
/// exception, the task, and where that was launched.
class or_terminate {
public:
    explicit or_terminate(
        std::source_location launched_at = std::source_location::current()) noexcept
        : launched_at_{launched_at} {}

    template <class Result>
    void operator()(task_outcome<Result> outcome) const noexcept {
        exception_slot thrown;
        const bool ended_well = run_catching(thrown, [&] { static_cast<void>(outcome.get()); });
        if (!ended_well) fail(thrown.take(), outcome.node());
    }

private:
    [[noreturn]] void fail(const std::exception_ptr& thrown, const task_node* ended) const noexcept;

    std::source_location launched_at_;
};

/// Whether a loop's `run` waits for a root.
enum class root_kind : std::uint8_t { awaited, background };

/// The record of one launched coroutine. Kept alive by its run and by each stop_handle.
class root : public list_link<>, protected callback_frame, protected work {
public:
    stop_chain chain;

    root(const root&) = delete;
    root& operator=(const root&) = delete;

    /// For a forked child, inside of its loop: carries out at once what was asked for.
    /// @param  take_back  Called with the message of threads that were asking, which are not there; true if
    ///                    it was posted, and is not any more.
    template <class Taker>
    void go_on_in_child(const Taker& take_back) noexcept {
        if (requesters_.exchange(0) != 0) {
            if (take_back(stop_)) drop();
            stop_posted_.store(false);
        }
        chain.request(wanted_.load());
    }

    /// For a forked child: its loop ends without it. Handles ask for nothing any more.
    void disown() noexcept;

protected:
    using destroyer = void (*)(root&) noexcept;

    /// @param  home  The loop of `where`; null for a root that will `settle` when it starts.
    root(executor_ref where, gyre::loop* home, work::function on_start,
         callback_frame::function on_done, destroyer destroy,
         root_kind kind = root_kind::awaited) noexcept;
    ~root() = default;

    /// Posts the start.
    void post() noexcept { env_.executor.post(*this); }

    /// The first thing in a start that any of several loops may have run: `home` is where the
    /// coroutine stays. Carries out what was asked for meanwhile.
    void settle(executor_ref where, gyre::loop& home) noexcept;

    /// Before the start: it has what is bound there, which outlives it.
    void inherit(const local_frame* locals) noexcept { env_.locals = locals; }

    /// On the loop's thread: joins and leaves the loop's list of roots.
    void enlist() noexcept;
    void unlist() noexcept;  // If it is there.
    void retire() noexcept;

    /// Gives up one reference.
    void drop() noexcept;

    [[nodiscard]] static root& of(callback_frame* frame) noexcept {
        return *static_cast<root*>(frame);
    }
    [[nodiscard]] static root& of(work& item) noexcept { return static_cast<root&>(item); }
    [[nodiscard]] std::coroutine_handle<> on_done() noexcept { return callback_frame::handle(); }
    [[nodiscard]] const environment& env() const noexcept { return env_; }

private:
    friend class stop_handle;

    /// The message by which a foreign thread asks for a stop.
    struct stop_message : work {
        explicit stop_message(root& it) noexcept : work{&carry_out_stop}, target{&it} {}
        root* target;
    };

    void request(stop_level level) noexcept;
    void post_stop(stop_level level) noexcept;
    static void carry_out_stop(work& item) noexcept;

    environment env_;
    destroyer destroy_;
    const root_kind kind_;
    stop_message stop_{*this};
    std::atomic<bool> settled_;        // `env_` is final.
    std::atomic<int> references_ = 2;  // The run's, and that of the handle that launch returns.
    std::atomic<stop_level> wanted_ = stop_level::none;
    std::atomic<bool> stop_posted_ = false;
    std::atomic<bool> ended_ = false;
    std::atomic<int> requesters_ =
        0;  // Threads inside `request`; a root does not end before they left.
};

/// Asks one launched coroutine to end, from any thread, any number of times. Copies share; may
/// outlive the coroutine and its loop (requests then do nothing), which may end during a request.
class stop_handle {
public:
    stop_handle() noexcept = default;

    /// Takes over the reference that a new root holds for its first handle.
    explicit stop_handle(root& fresh) noexcept : root_{&fresh} {}
    stop_handle(const stop_handle& other) noexcept;
    stop_handle(stop_handle&& other) noexcept : root_{std::exchange(other.root_, nullptr)} {}
    stop_handle& operator=(stop_handle other) noexcept {
        std::swap(root_, other.root_);
        return *this;
    }
    ~stop_handle();

    /// Intake ends: accepts and waits marked idle complete with `errc::canceled`.
    void request_drain() const noexcept;

    /// Everything pending below the root completes with `errc::canceled` as soon as it can.
    void request_stop() const noexcept;

    /// True once the coroutine has ended and its handler is about to be called.
    [[nodiscard]] bool ended() const noexcept;

private:
    root* root_ = nullptr;
};

/// Starts `coroutine` on `where`; it begins when the loop next runs.
///
/// @param  where      The executor it runs on. Borrowed; must outlive the coroutine.
/// @param  coroutine  Owned until it has ended.
/// @param  handler    Called as `handler(task_outcome<Result>)` on the loop's thread after the
///                    coroutine has ended and before its frame is destroyed. Must not throw.
/// @return A handle to stop it by.
///
/// Threads:  any.
/// Cost:     one block from the frame cache.
template <executor Executor, class Result, class Handler>
stop_handle launch(Executor& where, task<Result> coroutine, Handler handler);

/// Starts what `function` makes, as the `launch` of tasks on `where` does, and keeps `function` until that
/// has ended. A lambda with captures is launched like this, uncalled.
template <class Target, task_function Function, class Handler>
stop_handle launch(Target& where, Function function, Handler handler) {
    return launch(where, call_and_keep(std::move(function)), std::move(handler));
}

/// Not provided; the message says what to do.
template <class Target, class Coroutine>
    requires is_task<Coroutine> || task_function<Coroutine>
stop_handle launch(Target&, Coroutine) {
    static_assert(sizeof(Coroutine) == 0,
                  "launch takes a handler, called as handler(gyre::task_outcome<Result>) when the "
                  "coroutine has ended: launch(where, coroutine, gyre::or_terminate{}) if there is "
                  "nothing to do then");
    return {};
}

/// Starts `coroutine` in the background: as `launch` does, but `run` does not wait for it. For what serves
/// other coroutines and has nothing to do without them, such as the reader of a connection that they share.
///
/// It goes on only while the loop is run, and ends with the loop at the latest, which stops it: its handler
/// is called then. What it must not leave undone belongs to an awaited root, or behind a `work_guard`.
///
/// @param  where, coroutine, handler  As for `launch`.
/// @return A handle to stop it by.
///
/// Threads, Cost:  as `launch`.
template <executor Executor, class Result, class Handler>
stop_handle launch_in_background(Executor& where, task<Result> coroutine, Handler handler);

// Implementation

/// How most roots start: on the loop that was named when they were launched.
struct settled_before {};

/// `Settling` is that, or has `here()`, which returns the executor that runs the start.
template <class Result, class Handler, class Settling = settled_before>
class launched final : public root {
    static_assert(alignof(Handler) <= alignof(std::max_align_t),
                  "keep what is over-aligned elsewhere: frames are aligned as malloc's memory is");

public:
    launched(executor_ref where, gyre::loop* home, task<Result> coroutine, Handler handler,
             root_kind kind = root_kind::awaited) noexcept
        : root{where, home, &start, &finish, &destroy, kind},
          coroutine_{std::move(coroutine)},
          handler_{std::move(handler)} {
        chain.top = coroutine_.node();
    }

    static void* operator new(std::size_t size) noexcept { return frame_cache::allocate(size); }
    static void operator delete(void* memory, std::size_t size) noexcept {
        frame_cache::release(memory, size);
    }

    using root::post;

private:
    static void start(work& item) noexcept {
        auto& self = static_cast<launched&>(of(item));
        if constexpr (!std::same_as<Settling, settled_before>) {
            auto& here = Settling::here();
            self.settle(here, here.home());
        }
        self.enlist();
        gyre::resume(self.coroutine_.await_suspend(self.on_done(), &self.env()));
    }

    static void finish(callback_frame* frame) {
        auto& self = static_cast<launched&>(of(frame));
        self.retire();
        {
            // Both end here, on the loop's thread, however long a handle keeps the record.
            task<Result> ended = std::move(self.coroutine_);
            (*self.handler_)(task_outcome<Result>{ended});
            self.handler_.reset();
        }
        self.drop();
    }

    static void destroy(root& self) noexcept { delete static_cast<launched*>(&self); }

    task<Result> coroutine_;
    std::optional<Handler> handler_;  // Until it was called.
};

template <executor Executor, class Result, class Handler>
stop_handle launch(Executor& where, task<Result> coroutine, Handler handler) {
    auto* record = new launched<Result, Handler>{executor_ref{where}, &where.home(),
                                                 std::move(coroutine), std::move(handler)};
    stop_handle stop{*record};
    record->post();
    return stop;
}

template <executor Executor, class Result, class Handler>
stop_handle launch_in_background(Executor& where, task<Result> coroutine, Handler handler) {
    auto* record =
        new launched<Result, Handler>{executor_ref{where}, &where.home(), std::move(coroutine),
                                      std::move(handler), root_kind::background};
    stop_handle stop{*record};
    record->post();
    return stop;
}

}  // namespace gyre
