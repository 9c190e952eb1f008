// SPDX-License-Identifier: BSL-1.0
//
// One thread's loop: the place where coroutines run and operations complete.
//
// It owns what that takes (the ready queue, the inbox for other threads, timers, a
// backend) and runs in turns: some ready work, then one visit to the kernel. Nothing in it is
// locked; a coroutine that stays on one io_context never needs a lock. The backend is chosen at run
// time behind loop_backend.hpp.
#pragma once

#include <gyre/base/single_writer_counter.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/environment.hpp>
#include <gyre/coro/frame_allocator.hpp>
#include <gyre/runtime/host.hpp>
#include <gyre/runtime/operation.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre {

struct chosen_backend;
class loop_backend;
class pool_member;
class receive_pool;
class thread_pool;
class timer_queue;
class wake_state;
class waker;

/// Which interpreter carries out operations.
enum class backend_choice : std::uint8_t {
    automatic,  ///< io_uring where the kernel lets us, else epoll.
    uring,      ///< io_uring at its best tier, or an error.
    uring_a,    ///< Completions run by this thread only (DEFER_TASKRUN, Linux 6.1).
    uring_b,    ///< Cooperative completions (COOP_TASKRUN, Linux 5.19).
    uring_c,    ///< The plain ring (Linux 5.15).
    epoll,
    none,   ///< Not to be chosen: there were no descriptors for any. See `io_context::status`.
    custom  ///< Not to be chosen: one of the program's own; see loop_backend.hpp.
};

/// What was chosen, and why.
struct backend_info {
    backend_choice kind = backend_choice::automatic;  ///< Never `automatic` or `uring`.
    std::string reason;                               ///< A sentence for a log.
};

/// The name used by `GYRE_BACKEND`: "uring-a", "epoll", ...; static storage.
[[nodiscard]] const char* describe(backend_choice choice) noexcept;

/// How a loop is made: its backend, its rings, its workers.
struct io_context_options {
    io_context_options() noexcept = default;

    /// `automatic` defers to the environment variable GYRE_BACKEND, if that is set.
    backend_choice backend = backend_choice::automatic;
    unsigned ring_submissions = 256;   ///< Entries; a power of two. io_uring only.
    unsigned ring_completions = 2048;  ///< Entries; a power of two. io_uring only.
    unsigned worker_threads_max = 4;   ///< For `blocking`; started on demand.

    /// How much later than its nearest timer a sleeping loop may wake up, so that timers close together
    /// are served by one awakening. The default is what Linux allows every program that sleeps
    /// (prctl(2), PR_SET_TIMERSLACK) but does not apply to waits on io_uring; there alone it is heeded.
    duration timer_slack = std::chrono::microseconds{50};

    /// How long to look for work before sleeping. Waking a thread takes the kernel 10 us and more, and a
    /// message that comes while we look is met awake; the price is a busy processor. Looking that has been
    /// in vain for a while is tried less often. 0: never.
    duration spin_max{};

    /// What stream_socket::read reads at most at once, and how many free blocks of that size the loop
    /// keeps. Apart from these, io_uring is offered blocks to receive into: one for each read that waits,
    /// but no more than are kept, rounded down to a power of two, and no more than 64. Pages of a block
    /// that no read has reached take no memory.
    std::size_t receive_block_size = 64 * 1024;
    std::size_t receive_blocks_kept = 64;
};

/// What a loop has done so far. Any thread may ask; figures are slightly old.
struct loop_counters {
    std::uint64_t turns = 0;       ///< Each: some ready work, then what the kernel has to say.
    std::uint64_t visits = 0;      ///< Calls of io_uring_enter, or of epoll_wait.
    std::uint64_t operations = 0;  ///< Submitted.
    std::uint64_t rearms = 0;      ///< Begun once more, because nothing was there after all.
    std::uint64_t shortages = 0;   ///< Leased reads for which the kernel had no block at hand.
    std::uint64_t received = 0;    ///< Items that other threads posted.
    std::uint64_t wakeups = 0;     ///< Times another thread had to wake it: one system call each.
    std::uint64_t spins_won =
        0;  ///< Times that work came while it looked for some before sleeping.
    std::uint64_t spins_lost = 0;  ///< Times it looked in vain.
};

/// What a loop's leased reads use; see stream_socket::read.
struct receive_memory_use {
    std::size_t block_size = 0;      ///< Bytes.
    std::size_t blocks_lent = 0;     ///< Held by leases.
    std::size_t blocks_kept = 0;     ///< Free, and ready for the next read.
    std::size_t blocks_offered = 0;  ///< With the kernel, for whichever read has bytes first.
    std::uint64_t blocks_made = 0;   ///< Fetched from malloc so far, none being free.
};

/// A post that a loop waits for; see `io_context::expect_post`. By default, none.
struct expected_post {
    unsigned life = 0;  ///< Of the loop: a forked child begins another one, and expects nothing.
    bool outside = false;
    unsigned forks = 0;  ///< The fork_count of the process that expects it.
};

/// How a loop that lives inside another one asks to be polled; see `io_context::set_wake_hook`.
struct wake_hook {
    /// Called on the thread that has posted, on several at once if they do; `poll` must follow, on the
    /// loop's own thread. Must not run anything inside the call, nor take the hook back.
    void (*wake)(wake_hook& self) noexcept;
};

/// A loop that belongs to one thread.
///
/// Posting is safe from every thread; everything else is for the thread that runs it. It binds to
/// the thread of its first `run`; another thread may run it only while nothing is in flight, which
/// is checked. Destroying it stops its roots and runs it until they have ended. Does not move.
class io_context final : public loop {
public:
    explicit io_context(const io_context_options& options = {});

    /// A loop on a backend of the caller's, such as a test's; see loop_backend.hpp.
    /// @param  on  Borrowed; outlives the loop and everything opened on it.
    io_context(std::unique_ptr<loop_backend> backend, host& on);

    ~io_context();

    /// Runs until no root is left but in the background and nothing is ready, or `stop`. Returns how many
    /// items ran.
    std::size_t run();

    /// The same for at most `limit`.
    std::size_t run_for(duration limit);

    /// Runs one item, waiting for it if need be. Returns 0 or 1.
    std::size_t run_one();

    /// Runs what is ready and visits the kernel without waiting, at most `turns_per_poll` times one after
    /// the other, so that coroutines which keep each other busy for ever cannot keep the caller, too.
    /// Then `next_deadline` says that something is left. Returns how many items ran.
    std::size_t poll();
    static constexpr int turns_per_poll = 16;

    /// For the outer loop's handlers that have something for this one: posts `item` to `where`, an executor
    /// of this loop, and runs what is ready, at most a turn's share. The kernel is not visited, so no
    /// system call is made; `next_deadline` tells whether a `poll` should follow. Returns how many items ran.
    std::size_t run_with(executor_ref where, work& item);

    /// Makes `run` return soon, with everything kept as it is. Any thread; what it ends may destroy the
    /// loop before it returns.
    void stop() noexcept;
    [[nodiscard]] bool stopped() const noexcept;

    /// Allows running again after `stop`.
    void restart() noexcept;

    /// Makes `item` ready. Any thread; what it ends may destroy the loop before it returns. From the
    /// loop's own thread 2-3 ns; from another one atomic exchange, and a wake-up only if the loop sleeps.
    void post(work& item) noexcept override {
        if (running_here == this) {
            ready_.push(item);
        } else {
            post_from_outside(item);
        }
    }

    /// The same in two halves; see `executor`.
    [[nodiscard]] sleeper* enqueue(work& item) noexcept;
    void wake_for_enqueued() noexcept override;

    /// Runs `function()` on the loop. Any thread. `function` must not throw; it is moved into a block
    /// from the frame cache.
    template <class Function>
        requires std::invocable<Function&>
    void post(Function function) {
        post(make_work(std::move(function)));
    }

    /// `function` as an item that may be posted once to any executor, and then frees itself.
    template <class Function>
        requires std::invocable<Function&>
    [[nodiscard]] static work& make_work(Function function) {
        return *new posted<Function>{std::move(function)};
    }

    [[nodiscard]] time_point read_clock() noexcept override;
    void retract(work& item) noexcept override;
    void arm(timer& t, time_point deadline) noexcept override;
    void disarm(timer& t) noexcept override;

    /// As an executor: the loop whose timers and operations its coroutines use is itself.
    [[nodiscard]] loop& home() noexcept { return *this; }

    /// Whether the calling thread is inside `run` or `poll` of this loop.
    [[nodiscard]] bool running_on_this_thread() const noexcept { return running_here == this; }

    /// The same of a loop that may be gone by now: the address is only compared.
    [[nodiscard]] static bool running_on_this_thread(const io_context* it) noexcept {
        return running_here == it;
    }

    /// What reads into leased memory use at the moment.
    [[nodiscard]] receive_memory_use receive_memory() const noexcept;

    [[nodiscard]] loop_counters counters() const noexcept;

    /// When the current turn began, or the last one if the loop sleeps: one that lies long ago while the
    /// loop is not asleep means that a coroutine holds it up. Any thread.
    [[nodiscard]] time_point last_turn() const noexcept {
        return time_point{duration{turn_began_.load(std::memory_order_relaxed)}};
    }

    /// Whether it sleeps in the kernel, or is not being run. Any thread.
    [[nodiscard]] bool asleep() const noexcept;

    /// Tasks that were sent to this very loop with `on` and have not ended. Any thread.
    [[nodiscard]] std::size_t remote_tasks() const noexcept {
        return remote_tasks_.load(std::memory_order_relaxed);
    }

    /// Which backend serves this loop, the reason for it, and what of it the kernel refuses.
    [[nodiscard]] const backend_info& backend() const noexcept { return info_; }

    /// Set if the backend that was required cannot run, or the process is out of descriptors for one: every
    /// operation then completes with this error, while posts and timers go on working. Any thread.
    [[nodiscard]] error status() const noexcept { return status_.load(std::memory_order_relaxed); }

    /// For life inside another loop: a descriptor that poll(2) reports readable when `poll` has
    /// something to do. Ask again after a change of backend. Also wait until `next_deadline`.
    [[nodiscard]] int native_wait_handle() noexcept;

    /// When `poll` is due at the latest: now if something is ready or the kernel has not been told of
    /// something yet, `never` if nothing waits.
    [[nodiscard]] time_point next_deadline() noexcept;

    /// Whether `run` would go on: something is ready, a root that it waits for has not ended, or a guard
    /// lives.
    [[nodiscard]] bool has_work() noexcept;

    /// From now on, a post that comes while this loop is not run calls `hook` instead of making the
    /// descriptor readable. Null ends that, and returns when no thread is inside the old hook any more.
    ///
    /// Of the posts between two polls one calls. A poster that was held up may call after a `poll` that
    /// has run its item already, so there may be calls for which nothing is left to do; there is never
    /// one too few. Calls of `native_wait_handle` count as polls here.
    ///
    /// @param  hook  Borrowed until it is replaced.
    /// Threads:  the loop's; others may post meanwhile.
    void set_wake_hook(wake_hook* hook) noexcept;

    /// For a child that was forked inside of `run` and goes on with this loop: before it uses the loop or
    /// anything of it. Elsewhere the next `run`, `poll` or the destructor does the same by itself.
    ///
    /// In the child the loop gets a backend of its own. What was pending in both processes at the fork is
    /// pending in both: each reads from its own copy of a socket, and it is for the program to close one.
    /// Operations that need a thread of the parent's never complete in the child: calls handed to workers,
    /// and tasks on other loops, also where the child runs those. The destructor leaves these as they are. An
    /// io_pool is only good for being destroyed, and so is a loop that another thread was inside of at the
    /// fork, to run it or to end something on it: using it is a failed check, and what was on it is left as
    /// it was.
    void notify_fork() noexcept;

    /// Keeps `run` from returning for lack of work while it lives.
    class work_guard {
    public:
        work_guard() noexcept = default;  ///< Guards nothing.
        explicit work_guard(io_context& of) noexcept : of_{&of} { of_->add_guard(); }
        work_guard(work_guard&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
        work_guard& operator=(work_guard&& other) noexcept {
            std::swap(of_, other.of_);
            return *this;
        }
        ~work_guard() {
            if (of_ != nullptr) of_->release_guard();
        }

        [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

    private:
        io_context* of_ = nullptr;
    };

    // For submit.hpp, handle.hpp, remote_task.hpp and the backends.

    /// The loop whose run is innermost on the calling thread, so a coroutine's own; null outside of loops.
    [[nodiscard]] static io_context* current() noexcept {
        return static_cast<io_context*>(running_here);
    }

    void remote_task_started() noexcept { remote_tasks_.fetch_add(1, std::memory_order_relaxed); }
    void remote_task_ended() noexcept { remote_tasks_.fetch_sub(1, std::memory_order_relaxed); }

    /// Another thread will post an item, unseen from here until then; the loop lives until it says
    /// that it has.
    /// @param  outside  Not a thread of the same pool.
    /// @return For `posted_as_expected`.
    [[nodiscard]] expected_post expect_post(bool outside) noexcept;
    void posted_as_expected(expected_post it) noexcept;

    /// False of a post that was expected in a parent process. Its loop may be gone here: nothing is posted.
    [[nodiscard]] static bool may_come(expected_post it) noexcept;

    /// Whether there is no thread for it, of those that its pool was to have.
    [[nodiscard]] bool never_runs() const noexcept { return never_runs_; }

    /// What tells the loops of one pool from others; null for a loop on its own. Only compared.
    [[nodiscard]] const void* pool_identity() const noexcept;

    [[nodiscard]] gyre::host& host() noexcept { return host_; }

    /// Begins `op`. True if it finished on the spot and the caller may go on at once; otherwise
    /// `op.run` is called from the ready queue when it has completed.
    [[nodiscard]] bool submit(operation& op) noexcept;

    /// Asks for the end of a pending `op` of this loop; see operation.hpp. Any thread of its pool. If the
    /// loop is in none: its own thread, any thread while it rests, and for calls one inside of another loop
    /// at any time.
    void cancel(operation& op) noexcept;

    /// Cancels `op` and waits on the spot until the kernel, or the worker that has it, has let go of it;
    /// afterwards it is not in the ready queue either. For frames that are destroyed. The loop's own thread;
    /// if `op` is over, any thread while the loop rests.
    /// @pre  no function of the program's that a worker runs.
    void reap(operation& op) noexcept;

    /// Called by the backend: `op` is over. It becomes ready unless a foreign cancel points to it.
    void complete(operation& op, std::int32_t result) noexcept;

    /// Called by the backend, which has let go of `op`, a file's: a worker carries it out. False if there is
    /// no thread for it; then `op.result` says why.
    [[nodiscard]] bool continue_on_worker(operation& op) noexcept { return begin_on_worker(op); }

    /// Called by the backend: it tells something else of itself now.
    void renew_backend_info() noexcept;

    /// Called by a worker: `op` is over.
    void complete_on_worker(operation& op, std::int32_t result) noexcept;

    /// Makes `it` a descriptor of this loop; a failed check if it is another loop's.
    void attach(descriptor_slot& it) noexcept;

    /// Ends what is pending on `it` and makes this loop forget it, so that it may close or leave.
    void detach(descriptor_slot& it) noexcept;

    /// The number of `it`, of this loop's life before a fork, was closed in the child: what was pending ends.
    void lose(descriptor_slot& it) noexcept;

    /// What operations on names are for that are looked up from where the process works.
    [[nodiscard]] descriptor_slot& working_directory() noexcept { return working_directory_; }

    /// Whether anything besides the current item is ready to run.
    [[nodiscard]] bool busy() const noexcept { return !ready_.empty(); }

    /// Whether its backend tries what may have to wait, for which sockets had better not block.
    [[nodiscard]] bool tries_first() const noexcept;

    /// Tells `op` where to take its memory from.
    void provide_memory(lease_operation& op) noexcept;

    /// The workers behind `blocking`; started on first use.
    [[nodiscard]] thread_pool& workers();

private:
    template <class Function>
    struct posted : work {
        static_assert(
            alignof(Function) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
            "keep what is over-aligned elsewhere: frames are aligned as malloc's memory is");

        explicit posted(Function f) : work{&invoke}, function{std::move(f)} {}

        static void invoke(work& item) noexcept {
            auto* self = static_cast<posted*>(&item);
            Function call = std::move(self->function);
            delete self;  // First, so that what `call` posts finds the block again.
            call();
        }
        static void* operator new(std::size_t size) noexcept { return frame_cache::allocate(size); }
        static void operator delete(void* memory, std::size_t size) noexcept {
            frame_cache::release(memory, size);
        }

        Function function;
    };

    class run_guard;
    class current_loop_scope;
    friend class pool_member;
    friend struct pool_state;
    friend class io_pool;

    std::size_t run_until(time_point limit, std::size_t items_max);
    std::size_t run_ready(std::size_t items_max) noexcept;
    [[nodiscard]] bool run_items(int planned, int& shared_left) noexcept;
    void turn(time_point limit) noexcept;
    [[nodiscard]] bool only_ready_items() noexcept;
    [[nodiscard]] bool others_are_due() noexcept;
    void fire_timers() noexcept;
    [[nodiscard]] work* next_item(int& shared_left) noexcept;
    [[nodiscard]] work* next_of_several(int& shared_left) noexcept;
    [[nodiscard]] work& next_of_both() noexcept;
    [[nodiscard]] bool may_sleep() noexcept;
    [[nodiscard]] bool await_more() noexcept;
    void look_for_work(time_point deadline) noexcept;
    void take_inbox() noexcept;
    void take_cancels() noexcept;
    [[nodiscard]] bool hand_over(operation& op) noexcept;
    [[nodiscard]] bool ended_at_once(operation& op) noexcept;
    [[nodiscard]] bool begin_on_worker(operation& op) noexcept;
    [[nodiscard]] bool take_back(work& item) noexcept;
    [[nodiscard]] bool has_parents_backend() const noexcept;
    [[nodiscard]] bool left_on_worker(const operation& op) const noexcept;
    void end_early(operation& op) noexcept;
    void end_unseen(operation& op) noexcept;
    void wait_on_the_spot() noexcept;
    void end_pending(descriptor_slot& it) noexcept;
    void post_from_outside(work& item) noexcept;
    void add_guard() noexcept;
    void release_guard() noexcept;
    void end_roots() noexcept;
    bool stop_roots() noexcept;
    [[nodiscard]] bool can_move() const noexcept;
    [[nodiscard]] bool may_wait() noexcept;
    [[nodiscard]] bool rests(bool ending) noexcept;
    void join_pool(pool_member& as) noexcept { member_ = &as; }
    void leave_pool() noexcept { member_ = nullptr; }
    [[nodiscard]] bool runs_elsewhere() const noexcept override;
    [[nodiscard]] bool held_by_parent() const noexcept;
    [[nodiscard]] bool let_go(descriptor_slot& it) noexcept;
    void cancel_here(operation& op) noexcept;
    /// Names the calling thread for good.
    [[nodiscard]] static std::uint64_t this_thread() noexcept;
    void bind_to_this_thread() noexcept;
    void withdraw_backend(error why) noexcept;
    std::unique_ptr<loop_backend> replace_backend(chosen_backend next) noexcept;
    void begin_all_anew() noexcept;
    void carry_out_stops() noexcept;
    void begin_in_child() noexcept;
    void leave_to_parent() noexcept;
    void disown_roots() noexcept;
    void disown_descriptors() noexcept;
    void postpone(operation& op) noexcept;
    void begin_postponed() noexcept;
    [[nodiscard]] bool begin(operation& op) noexcept;

    gyre::host& host_;
    std::unique_ptr<timer_queue> timers_;
    std::unique_ptr<loop_backend> backend_;
    work_queue postponed_;                                  // Operations that the next turn begins.
    std::vector<std::unique_ptr<loop_backend>> withdrawn_;  // Kept: threads may be waking them.
    descriptor_slot working_directory_;                     // Stands for AT_FDCWD; is never closed.
    list<descriptor_slot> descriptors_;  // Those this loop has used and that are still open.
    bool visited_ = false;  // While it rests: a thread does something in its name, as wake_ knows.
    std::atomic<error> status_;  // Written by this loop, read by any thread.
    static_assert(std::atomic<error>::is_always_lock_free, "read for each operation");
    backend_info info_;
    io_context_options options_;
    std::shared_ptr<waker> waker_;  // Wakes the backend; a withdrawn one may still be woken by it.
    std::unique_ptr<wake_state> wake_;  // What other threads touch.
    std::unique_ptr<thread_pool> workers_;
    pool_member* member_ = nullptr;          // What it shares with the other loops of an io_pool.
    receive_pool* received_into_ = nullptr;  // Made on first use; may outlive the loop.
    std::atomic<std::uint64_t> bound_thread_ = 0;  // The name of the one that runs it; first 0.
    work_queue due_;         // By timers, while others wait in `ready_`: empty where that is.
    work_queue aside_;       // What was in `ready_`, while timers fire; they may retract it.
    bool due_next_ = false;  // The next item is one of these.
    bool never_runs_ = false;
    bool ends_ = false;  // Its roots were stopped for good; it waits only for what may still come.
    bool inherited_ =
        false;  // In a forked child: what its parent's threads were to end may never end.
    std::size_t ran_since_turn_ = 0;  // By calls of `run` and its like that made no turn.
    std::size_t first_reading_ = 16;  // Items of a turn before the clock is read.
    unsigned fork_count_;             // That of the process whose backend it has.
    int spin_luck_ = spin_luck_max;   // How worthwhile spinning has been of late.
    time_point stayed_awake_at_{};    // The last time that a timer was too near for a sleep.
    static constexpr int spin_luck_max = 16;

    // Written by this loop, read by any thread.
    single_writer_counter turns_;
    single_writer_counter operations_;
    single_writer_counter received_;
    single_writer_counter spins_won_;
    single_writer_counter spins_lost_;
    std::atomic<duration::rep> turn_began_ = 0;

    alignas(64) std::atomic<int> calls_in_flight_ = 0;  // Workers count them down.
    std::atomic<std::size_t> remote_tasks_ = 0;         // So does any thread with these.
};

/// The io_context that `env` belongs to; there is no other kind of loop.
[[nodiscard]] inline io_context& context_of(const environment& env) noexcept {
    return static_cast<io_context&>(*env.loop);
}

/// The same of `this_task::loop`.
[[nodiscard]] inline io_context& context_of(loop& it) noexcept {
    return static_cast<io_context&>(it);
}

}  // namespace gyre
