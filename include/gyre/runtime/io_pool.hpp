// SPDX-License-Identifier: BSL-1.0
//
// Several loops on as many threads, sharing what has not begun yet.
//
// What is posted to or launched on the pool is begun by whichever loop comes first; once begun, a
// coroutine stays on that loop with its children, sockets and timers, and needs no lock there. So only
// beginnings are stolen, and everything below them costs what it costs on one thread; why not ready
// coroutines as well is in docs/decisions/0008-pools.md. remote_task.hpp sends a task to a loop of
// one's choice, sharded.hpp keeps an object on each.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/remote_task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace gyre {

struct pool_state;

/// How many loops a pool has, how each is made, and where their threads run.
struct io_pool_options {
    io_pool_options() noexcept = default;

    /// 0 to 256. 0: as many as processors that this process may use when the pool is made, by its affinity
    /// and by the processor time that its control groups leave it (cgroups(7)), rounded up: 3 of a container
    /// that may use 2.5. Where sandboxes let neither be read it is 1, or the limit that is known.
    unsigned threads = 0;

    io_context_options loop;  ///< Of each of them. If not all can be on io_uring, none is.

    /// Keeps the first thread on the first processor that this process may use, and so on.
    bool pin_threads = false;

    /// What the threads are called, with their number behind; the system shows 15 characters.
    std::string thread_name = "gyre";

    /// How many beginnings may wait on one loop without a sleeping one being woken to help: with 1, a lone
    /// one waits until its loop has time, however long that is. While items take less than a microsecond or
    /// so and a loop is awake, only what still waits a millisecond later wakes another one.
    unsigned steal_threshold = 0;
};

/// What a pool has done so far; see loop_counters for each of its loops.
struct io_pool_counters {
    std::uint64_t searches = 0;  ///< Times a loop without work looked into the others' queues.
    std::uint64_t stolen = 0;    ///< Items that it found there.
};

/// N loops on N threads, which run from construction to destruction. Does not move. The threads block
/// the signals that come from outside, so their handlers run on the program's own threads; what a fault
/// raises is handled where it happens.
///
/// Threads:  everything here is for any thread, unless it says otherwise.
class io_pool {
public:
    /// Starts the threads; whether they run is for `status` to say.
    explicit io_pool(const io_pool_options& options = {});
    io_pool(const io_pool&) = delete;
    io_pool& operator=(const io_pool&) = delete;

    /// Stops every root, waits until all have ended, ends the threads. Not on one of them. Roots that
    /// nothing could ever resume are a failed check.
    ~io_pool();

    /// Makes `item` ready on one of the loops. From a thread of the pool an array slot; from others an
    /// atomic exchange, and a wake-up only if a loop sleeps and none is looking for work; such
    /// calls must have returned before the pool is destroyed.
    void post(work& item) noexcept;

    /// Runs `function()` on one of the loops. It must not throw.
    template <class Function>
        requires std::invocable<Function&>
    void post(Function function) {
        post(io_context::make_work(std::move(function)));
    }

    /// Waits until no root is left and nothing is ready on any loop; after `request_stop`, until nothing
    /// is left but roots that nothing can resume. Not on one of them. The pool then goes on.
    void wait();

    /// Asks every root to stop, those included that begin later. There is no way back. What it ends may
    /// destroy the pool before it returns.
    void request_stop() noexcept;

    [[nodiscard]] std::size_t size() const noexcept;

    /// The loop of a thread of the pool.
    /// @pre  index < size().
    [[nodiscard]] io_context& operator[](std::size_t index) noexcept;

    /// The loop with the fewest remote tasks, those that were sent to it by name with `on`. In
    /// turns among equals.
    [[nodiscard]] io_context& least_loaded() noexcept;

    /// The error of the first loop whose required backend cannot run; see io_context::status. Or why not
    /// every thread could be started, as a rule `errc::resource_unavailable`: then none runs, `wait`
    /// returns at once, what is posted or launched all the same begins in the destructor, stopped, and tasks
    /// that are sent there run where they were sent from, stopped.
    [[nodiscard]] error status() const noexcept;

    [[nodiscard]] io_pool_counters counters() const noexcept;

    /// Whether `from`, whose thread this is, is a loop of this pool, and as much waits on it to be begun as
    /// the others can take off it for now: 16 items for each of them, 512 at most.
    [[nodiscard]] bool has_plenty(const io_context& from) const noexcept;

    /// As io_context::pool_identity.
    [[nodiscard]] const void* pool_identity() const noexcept { return state_.get(); }

    /// As io_context::never_runs.
    [[nodiscard]] bool never_runs() const noexcept { return static_cast<bool>(not_started_); }

private:
    void make_members(unsigned count, const io_context_options& options);
    void make_members_alike(unsigned count);
    [[nodiscard]] bool is_mixed() const noexcept;
    void run_member(unsigned number) noexcept;
    void undo_start(unsigned started, int failed) noexcept;
    void end_after_failed_start() noexcept;

    std::unique_ptr<pool_state> state_;
    io_pool_options options_;
    error not_started_;
    unsigned plenty_ = 0;
    std::atomic<unsigned> next_ = 0;
};

/// The executor that a root launched on a pool stays on: the loop that began it.
struct settling_here {
    [[nodiscard]] static io_context& here() noexcept { return *io_context::current(); }
};

/// Starts `coroutine` on whichever loop of `where` comes first, where it then stays.
///
/// As the other `launch`; the handler is called on that loop's thread.
template <class Result, class Handler>
stop_handle launch(io_pool& where, task<Result> coroutine, Handler handler) {
    using record_type = launched<Result, Handler, settling_here>;
    auto* record =
        new record_type{executor_ref{where}, nullptr, std::move(coroutine), std::move(handler)};
    stop_handle stop{*record};
    record->post();
    return stop;
}

/// Awaits `it`, run on whichever loop of `where` comes first; the caller resumes on its own executor.
///
/// On a loop of `where` on which plenty waits to be begun already, `it` begins at once below the caller, as
/// a task does that is awaited by itself. So a tree of tasks sent at each fork takes memory by its depth.
/// Everything else is as with one loop: see remote_task.hpp.
template <class Result>
[[nodiscard]] remote_task<io_pool, Result> on(io_pool& where, task<Result> it) noexcept {
    return {where, std::move(it)};
}

}  // namespace gyre
