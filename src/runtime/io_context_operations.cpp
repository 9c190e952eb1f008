// SPDX-License-Identifier: BSL-1.0
//
// The life of an operation on its loop, from submission to completion: see
// include/gyre/runtime/io_context.hpp.
//
// An operation moves through the states of operation_state, to the right only. Here it is handed to
// the backend or answered on the spot, cancelled from this loop or another, and made ready again,
// exactly once.
#include <gyre/runtime/io_context.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/loop_backend.hpp>
#include <gyre/runtime/thread_pool.hpp>
#include <runtime/fork_count.hpp>
#include <runtime/system_host.hpp>
#include <runtime/wake_state.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace gyre {
namespace {

bool sends(const operation& op) noexcept {
    return op.code == opcode::send || op.code == opcode::send_gather;
}

std::size_t bytes_sent(const operation& op) noexcept {
    if (op.result <= 0) return 0;
    if (op.code == opcode::send_batch) return static_cast<const batch_operation&>(op).size;
    return sends(op) ? static_cast<std::size_t>(op.result) : 0;
}

// After a send: less than was asked for means that the buffer is full.
void record_short_send(operation& op) noexcept {
    if (op.result <= 0 || !sends(op)) return;
    descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
    const std::size_t asked = op.code == opcode::send
                                  ? on.portion_of(static_cast<send_operation&>(op))
                                  : static_cast<message_operation&>(op).size;
    on.filled = static_cast<std::size_t>(op.result) < asked;
}

// `op` is over, on whichever thread. False if a cancel from another loop is on its way: the taker
// of that message makes the operation ready.
bool mark_done(operation& op) noexcept {
    for (;;) {
        operation_state now = operation_state::armed;
        if (op.state.compare_exchange_strong(now, operation_state::done)) return true;
        expects(now == operation_state::cancel_posted, "an operation completes exactly once");
        if (op.state.compare_exchange_strong(now, operation_state::awaiting_cancel)) return false;
        // The loop took the message in meanwhile, which only a worker can meet: it is armed again.
    }
}

// The same where no other thread can be canceling: without a locked instruction.
bool mark_done_alone(operation& op) noexcept {
    const operation_state now = op.state.load(std::memory_order_relaxed);
    const bool armed = now == operation_state::armed;
    expects(armed || now == operation_state::cancel_posted, "an operation completes exactly once");
    op.state.store(armed ? operation_state::done : operation_state::awaiting_cancel,
                   std::memory_order_relaxed);
    return armed;
}

}  // namespace

/// The loop acts on this thread, though its run is not the innermost there: a coroutine of another
/// loop closes a socket of it, or destroys a frame. What it does in its own name must not become a
/// message to itself. While the loop rests, threads that do so take turns.
class io_context::current_loop_scope {
public:
    explicit current_loop_scope(io_context& of) noexcept : of_{of} {
        if (of.wake_->entered()) {
            expects(of.running_on_this_thread() || of.bound_thread_ == this_thread(),
                    "a frame is destroyed, and a wait stopped, on the thread of its loop, or while "
                    "that rests");
        } else {
            expects(of.wake_->begin_visit(fork_count()), left_by_parent);
            visits_ = of.visited_ = true;
        }
        outer_ = std::exchange(running_here, &of);
    }
    current_loop_scope(const current_loop_scope&) = delete;
    current_loop_scope& operator=(const current_loop_scope&) = delete;
    ~current_loop_scope() {
        running_here = outer_;
        if (!visits_) {
            of_.wake_->wake_up();
            return;
        }
        of_.wake_->fall_asleep();
        of_.visited_ = false;
        // Wake-ups that came meanwhile are used up, and a poller of this loop must know what is
        // due.
        const bool is_due = due || !of_.ready_.empty() || !of_.wake_->nothing_posted();
        of_.wake_->end_visit();  // The hook is the program's.
        if (is_due) of_.wake_->wake_if_asleep();
    }

    bool due = false;  ///< The loop's poller has to poll.

private:
    io_context& of_;
    loop* outer_;
    bool visits_ = false;  // No thread is inside `run` or `poll`.
};

bool io_context::submit(operation& op) noexcept {
    op.home = this;
    op.state.store(operation_state::armed, std::memory_order_relaxed);
    operations_.add();
    if (op.code >= opcode::spawn_process) {
        if (backend_->takes(op) ? !backend_->submit(op) : begin_on_worker(op)) return false;
    } else {
        descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
        attach(on);
        if (const error refused = status()) {
            op.result = -static_cast<std::int32_t>(refused.code());
        } else {
            on.pending.push_back(op);
            if (!on.pending.is_only(op)) on.duplex = true;
            if (on.filled && sends(op)) {
                postpone(op);
                return false;
            }
            if (!hand_over(op)) {
                others_wait_ = true;
                return false;
            }
            static_cast<list_link<descriptor_slot>&>(op).unlink();
            record_short_send(op);
            // The other direction's next message carries the acknowledgement, which two messages
            // in a row would get as a packet of its own (docs/decisions/0005).
            if (on.duplex && sends(op)) streak_ = std::min(streak_, 1);
        }
    }
    op.state.store(operation_state::done, std::memory_order_relaxed);
    const bool goes_on =
        op.code == opcode::accept ? spend_on_accept() : spend(bytes_received(op), bytes_sent(op));
    if (goes_on) return true;
    ready_.push(op);  // The turn's share is used up: others come first.
    return false;
}

// At a position of what is no file: a device has it at once, and what has no positions says so now, though it
// may not be ready.
bool io_context::ended_at_once(operation& op) noexcept {
    op.result = host_.perform_now(op);
    return op.result != -EAGAIN && op.result != -EINTR;
}

// To what carries it out. True if it is over already.
bool io_context::hand_over(operation& op) noexcept {
    if (op.code < opcode::read) return backend_->submit(op);
    if (!is_file_work(op)) return (has_position(op) && ended_at_once(op)) || backend_->submit(op);
    if (backend_->takes(op)) return backend_->submit(op);
    return host_.perform_at_hand(op) || !begin_on_worker(op);
}

// False if there is no thread to run it: then `op.result` says why.
bool io_context::begin_on_worker(operation& op) noexcept {
    calls_in_flight_.fetch_add(1, std::memory_order_relaxed);
    op.on_worker = true;
    op.forks = static_cast<std::uint8_t>(fork_count_);
    const int failed = workers().submit(op);
    if (failed == 0) return true;
    calls_in_flight_.fetch_sub(1, std::memory_order_relaxed);
    op.on_worker = false;
    op.result = -failed;
    return false;
}

// The socket has no room, but its reader may run on this very thread: after the next turn a try is
// likely to succeed, where now it would fail and the kernel would have to tell.
void io_context::postpone(operation& op) noexcept {
    static_cast<descriptor_operation&>(op).target->filled = false;
    op.postponed = true;
    postponed_.push(op);
}

void io_context::begin_postponed() noexcept {
    constexpr std::size_t sent_max = 64 * 1024;
    std::size_t sent = 0;
    while (!postponed_.empty() && sent < sent_max) {
        auto& op = static_cast<operation&>(postponed_.pop());
        op.postponed = false;
        if (!begin(op)) continue;
        if (op.result > 0) sent += static_cast<std::size_t>(op.result);
        complete(op, op.result);
    }
}

bool io_context::begin(operation& op) noexcept {
    const error refused = status();
    if (!refused) return hand_over(op);
    op.result = -static_cast<std::int32_t>(refused.code());
    return true;
}

void io_context::attach(descriptor_slot& it) noexcept {
    if (it.home == this) [[likely]]
        return;
    expects(it.home == nullptr, "a socket is used on its own loop; release() and adopt() move it");
    expects(it.open(), "what is not open is never begun on");
    it.home = this;
    descriptors_.push_back(it);
}

void io_context::cancel(operation& op) noexcept {
    if (running_here == this) return cancel_here(op);
    if (running_here != nullptr) {
        // From another loop: a message that points into a frame. `complete` waits for it.
        operation_state now = operation_state::armed;
        if (!op.state.compare_exchange_strong(now, operation_state::cancel_posted)) return;
        wake_->post_cancel(op);
        return;
    }
    // Outside of `run` and `poll`, as when another framework's handler closes a socket: what it leads to
    // waits for the next turn, of which the poller must be told.
    current_loop_scope here{*this};
    cancel_here(op);
    here.due = true;
}

void io_context::cancel_here(operation& op) noexcept {
    // A cancel that was requested before the fork is not carried out in the child.
    if (!op.pending() || (op.cancel_requested && !has_parents_backend())) return;
    if (op.state.load(std::memory_order_relaxed) == operation_state::awaiting_cancel)
        return;  // Over.
    op.cancel_requested = true;
    end_early(op);
}

// In a forked child, until the loop has a backend of its own. One that is not the kernel's is.
bool io_context::has_parents_backend() const noexcept {
    return fork_count_ != fork_count() && waker_ != nullptr;
}

// In a forked child that goes on with the loop: no thread here ends it.
bool io_context::left_on_worker(const operation& op) const noexcept {
    return inherited_ && op.on_worker && op.forks != static_cast<std::uint8_t>(fork_count_);
}

void io_context::end_early(operation& op) noexcept {
    if (has_parents_backend()) return end_unseen(op);
    if (op.on_worker) {
        if (workers().withdraw(op)) complete(op, -ECANCELED);
        return;
    }
    if (op.postponed) {
        postponed_.remove(op);
        op.postponed = false;
        complete(op, -ECANCELED);
        return;
    }
    backend_->cancel(op);
}

// Ends `op` in this process alone: the parent's backend and its workers are not asked.
void io_context::end_unseen(operation& op) noexcept {
    const operation_state now = op.state.load(std::memory_order_relaxed);
    if (now != operation_state::armed && now != operation_state::cancel_posted) {
        // A worker has ended it. If that had not come to post it, it never will here.
        static_cast<list_link<descriptor_slot>&>(op).unlink();
        return;
    }
    if (op.postponed) postponed_.remove(op);
    op.postponed = op.in_line = false;
    complete(op, -ECANCELED);
}

void io_context::take_cancels() noexcept {
    wake_->take_cancels([this](operation& op) noexcept {
        operation_state now = operation_state::cancel_posted;
        if (op.state.compare_exchange_strong(now, operation_state::armed)) {
            cancel_here(op);
            return;
        }
        op.state.store(operation_state::done, std::memory_order_relaxed);
        ready_.push(op);  // It completed first and has waited for this message.
    });
}

void io_context::complete(operation& op, std::int32_t result) noexcept {
    op.result = result;
    if (op.on_worker) calls_in_flight_.fetch_sub(1, std::memory_order_relaxed);
    static_cast<list_link<descriptor_slot>&>(op).unlink();
    record_short_send(op);
    // A loop on its own is asked for cancels by its own thread while it runs, but for those of calls.
    const bool others_cancel = member_ != nullptr || op.on_worker || visited_;
    if (others_cancel ? mark_done(op) : mark_done_alone(op)) ready_.push(op);
}

void io_context::complete_on_worker(operation& op, std::int32_t result) noexcept {
    op.result = result;
    if (mark_done(op)) post(op);
    // Only now: the destructor waits for the posted item, the message or this count, and for this thread.
    if (calls_in_flight_.fetch_sub(1, std::memory_order_seq_cst) == 1) wake_->wake_if_asleep();
}

void io_context::reap(operation& op) noexcept {
    // A ring belongs to its thread, and would be lost to another one that waits on it.
    expects(!op.pending() || bound_thread_ == 0 || bound_thread_ == this_thread() ||
                has_parents_backend(),
            "a frame is destroyed while it waits, on another thread than its loop's; stop it, and "
            "await its end");
    const current_loop_scope here{*this};
    if (has_parents_backend() || left_on_worker(op)) {
        // Messages about it may be there; those that threads were about to post never will be.
        op.on_worker = false;
        end_unseen(op);
        take_cancels();
        static_cast<void>(take_back(op));
        return;
    }
    if (op.pending()) {
        cancel_here(op);
        // What the kernel does for a worker has an end. The program's own function may wait for this thread.
        expects(!op.pending() || op.code != opcode::call,
                "a frame is destroyed while the function that it has given to blocking() runs; "
                "await its end");
        while (op.pending()) wait_on_the_spot();
    }
    if (!op.on_worker) return retract(op);
    // A worker that has ended it leaves it in the list, and may not have come to post it.
    static_cast<list_link<descriptor_slot>&>(op).unlink();
    while (!take_back(op)) wait_on_the_spot();
}

// For a completion, for a worker's post, or for a message from another loop: a thread that brings one finds
// us asleep, or is found. Of several only the first wakes us, so all of them are taken.
void io_context::wait_on_the_spot() noexcept {
    wake_->fall_asleep();
    const time_point deadline = wake_->nothing_posted() ? never : loop_backend::no_wait;
    if (const error refusal = backend_->turn(deadline)) withdraw_backend(refusal);
    take_inbox();
    take_cancels();
}

void io_context::detach(descriptor_slot& it) noexcept {
    expects(let_go(it),
            "a socket is closed on its own loop's thread; on(loop, task) sends a task there");
}

// Outside of `run` any thread may close an idle socket, as long as the loop rests meanwhile. False if this
// one may not close `it`.
bool io_context::let_go(descriptor_slot& it) noexcept {
    const bool at_rest = !wake_->entered();
    const bool at_home = running_here == this || bound_thread_ == this_thread() ||
                         (at_rest && has_parents_backend());
    if (!at_home && !at_rest) return false;
    const current_loop_scope here{*this};
    if (!it.pending.empty()) {
        if (!at_home) return false;
        end_pending(it);
    }
    if (!has_parents_backend()) backend_->forget(it);
    it.unlink();
    it.home = nullptr;
    return true;
}

void io_context::lose(descriptor_slot& it) noexcept {
    if (fork_count_ == fork_count()) return;  // It is in use here: the number has two owners.
    const bool left = held_by_parent();
    it.pending.for_each_shrinking([this, left](operation& op) {
        if (!left) return end_unseen(op);
        static_cast<list_link<descriptor_slot>&>(op).unlink();
    });
    it.unlink();
    it.home = nullptr;
}

// A cancel may take results in, and with them any other operation off the list.
void io_context::end_pending(descriptor_slot& it) noexcept {
    it.pending.for_each_shrinking([this](operation& op) { cancel_here(op); });
    for (;;) {
        // What a worker has ended is ready, or on its way to here, and leaves the list by itself only later.
        it.pending.for_each_shrinking([](operation& op) {
            if (op.pending()) return;
            // The number is closed next: after what the worker did with it.
            static_cast<void>(op.state.load(std::memory_order_acquire));
            static_cast<list_link<descriptor_slot>&>(op).unlink();
        });
        if (it.pending.empty()) return;
        wait_on_the_spot();
    }
}

}  // namespace gyre
