// SPDX-License-Identifier: BSL-1.0
//
// The turns of a loop: see include/gyre/runtime/io_context.hpp.
//
// A turn is: run what is ready, at most a turn's share (completions on the spot count too); then one visit
// to the kernel, which waits only if nothing is ready; then the timers that are due and what other
// threads have sent. How these wake it is in wake_state.hpp.
#include <gyre/runtime/io_context.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_dump.hpp>
#include <gyre/runtime/thread_pool.hpp>
#include <runtime/choose_backend.hpp>
#include <runtime/fork_count.hpp>
#include <runtime/pool_member.hpp>
#include <runtime/receive_pool.hpp>
#include <runtime/started_thread.hpp>
#include <runtime/timer_queue.hpp>
#include <runtime/wake_state.hpp>

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

namespace gyre {
namespace {

constexpr int shared_items_first = 16;

// A turn that has lasted so long ends where something else is due. The clock tells, and a reading costs 22 ns
// where many items take 2: so it is read after some items, and about once in this time where they take long.
constexpr duration turn_length_max = std::chrono::milliseconds{1};

// A wait that ends sooner is none: falling asleep and waking up take longer, and the timer's slack comes on
// top.
constexpr duration shortest_sleep = std::chrono::microseconds{2};

void stand_for_working_directory(descriptor_slot& it) noexcept {
    it.number = AT_FDCWD;
    it.stored = true;
    it.generation.store(1, std::memory_order_relaxed);
}
constexpr std::size_t items_before_first_reading = 16;
constexpr std::size_t items_per_reading_max = 64;

// How many items go on for so long, if `ran` of them took `took`, which is not less.
std::size_t items_in_a_turn(std::size_t ran, duration took) noexcept {
    const auto fit = static_cast<std::uint64_t>(turn_length_max.count()) * ran /
                     static_cast<std::uint64_t>(took.count());
    return std::clamp<std::size_t>(fit, 1, items_per_reading_max);
}

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// A failed check prints who was waiting for what on this thread's loop.
void dump_before_abort(loop& of) noexcept {
    const std::string text = dump_tasks(of);
    std::fprintf(stderr, "gyre: pending coroutines:\n%s", text.c_str());
}

}  // namespace

/// The time that a thread spends inside a loop: what is ambient is set on entry, put back on exit.
class io_context::run_guard {
public:
    explicit run_guard(io_context& in) noexcept
        : in_{in}, outer_{std::exchange(running_here, &in)} {
        expects(outer_ != &in,
                "run is not called from within itself; a coroutine awaits what it is to wait for");
        in_.notify_fork();
        expects(in_.wake_->enter(),
                "a loop is run by one thread at a time; io_pool has one for each thread");
        in_.bind_to_this_thread();
        in_.wake_->wake_up();
        static_cast<void>(in_.read_clock());
        in_.take_inbox();
        if (!hook_offered.load(std::memory_order_relaxed)) offer_hook();
    }
    run_guard(const run_guard&) = delete;
    run_guard& operator=(const run_guard&) = delete;
    ~run_guard() {
        in_.wake_->leave();  // Posts must now wake the waiter.
        running_here = outer_;
    }

private:
    // A hook of the program's own stays.
    static void offer_hook() noexcept {
        if (hook_offered.exchange(true, std::memory_order_relaxed)) return;
        const check_hook before = set_check_hook([](const check_failure&) noexcept {
            if (running_here != nullptr) dump_before_abort(*running_here);
        });
        if (before != nullptr) set_check_hook(before);
    }

    static inline std::atomic<bool> hook_offered = false;

    io_context& in_;
    loop* outer_;
};

// Addresses and numbers of threads that ended are used again.
std::uint64_t io_context::this_thread() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    thread_local const std::uint64_t name = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return name;
}

io_context::io_context(const io_context_options& options)
    : host_{choose_host()},
      timers_{std::make_unique<timer_queue>()},
      options_{options},
      waker_{std::make_shared<waker>()},
      wake_{std::make_unique<wake_state>()},
      fork_count_{fork_count()} {
    chosen_backend chosen = choose_backend(options, waker_);
    backend_ = std::move(chosen.backend);
    status_.store(chosen.status, std::memory_order_relaxed);
    info_ = backend_->info();
    backend_->attach(*this);
    wake_->set_backend(*backend_);
    stand_for_working_directory(working_directory_);
    static_cast<void>(read_clock());
}

io_context::io_context(std::unique_ptr<loop_backend> backend, gyre::host& on)
    : host_{on},
      timers_{std::make_unique<timer_queue>()},
      backend_{std::move(backend)},
      wake_{std::make_unique<wake_state>()},
      fork_count_{fork_count()} {
    info_ = backend_->info();
    backend_->attach(*this);
    wake_->set_backend(*backend_);
    stand_for_working_directory(working_directory_);
    static_cast<void>(read_clock());
}

io_context::~io_context() {
    expects(running_here != this,
            "a loop is not destroyed by what runs on it; let the function that runs it own it");
    if (held_by_parent()) {
        leave_to_parent();
        return;
    }
    if (has_parents_backend()) {
        // Else what is pending would be begun here, and a send go out twice.
        descriptors_.for_each([this](descriptor_slot& on) {
            on.pending.for_each_shrinking([this](operation& op) { end_unseen(op); });
        });
    }
    notify_fork();
    if (has_work() || !roots().empty()) end_roots();
    expects(!wake_->guarded(), "a work_guard does not outlive its loop; declare it behind that");
    workers_.reset();
    wake_->wait_for_threads();  // First: one may still be waking the backend.
    disown_descriptors();
    if (received_into_ != nullptr) received_into_->close();
}

// Sockets may outlive their loop; all that is left to do with them is to close them.
void io_context::disown_descriptors() noexcept {
    descriptors_.for_each([](descriptor_slot& it) {
        it.pending.for_each(
            [](operation& op) { static_cast<list_link<descriptor_slot>&>(op).unlink(); });
        it.unlink();
        it.home = nullptr;
        it.registered = it.registered_for_writing = false;
    });
}

// In a child: their frames wait for threads that are not there.
void io_context::disown_roots() noexcept {
    roots().for_each([](root& each) { each.disown(); });
}

// In a child: the thread that ran the loop is not there, and may have been in the middle of anything.
void io_context::leave_to_parent() noexcept {
    backend_->leave_to_parent();
    disown_roots();
    disown_descriptors();
    // That thread may wait for its condition, whose end would wait for that thread.
    if (info_.kind == backend_choice::none) {
        [[maybe_unused]] const void* const waited_for = backend_.release();
    }
    [[maybe_unused]] const void* const left[] = {timers_.release(), workers_.release(),
                                                 wake_.release()};
}

// Stops every root and runs until none remains; a root that nothing could ever resume is a bug, and
// the failed check prints where it stands.
void io_context::end_roots() noexcept {
    const run_guard inside{*this};
    ends_ = true;
    for (;;) {
        restart();  // A handler may stop the loop as its root ends.
        take_inbox();
        if (stop_roots()) {
            run_ready(no_limit);
            turn(loop_backend::no_wait);
            continue;
        }
        if (roots().empty()) return;
        // In this order: what was expected first and is posted by now is seen by the second.
        const bool may_end = wake_->expects_posts() || can_move();
        if (!may_end && inherited_) return disown_roots();
        expects(
            may_end,
            "coroutines remain that nothing will ever resume; below stands what each waits for");
        turn(never);
    }
}

// Each time anew: a handler may launch while the loop dies. Returns whether anything is ready now.
bool io_context::stop_roots() noexcept {
    roots().for_each([](root& each) { each.chain.request(stop_level::stop); });
    return !ready_.empty();
}

// Whether something may still happen without a post.
bool io_context::can_move() const noexcept {
    return backend_->in_flight() > 0 || timers_->size() > 0 || !postponed_.empty() ||
           calls_in_flight_.load(std::memory_order_seq_cst) > 0 || !wake_->nothing_posted();
}

// Asked once it says that it sleeps: of those that would bring something, the last one wakes it, even if
// it brings nothing.
bool io_context::may_wait() noexcept {
    if (ends_) return wake_->expects_posts() || can_move();
    return member_ != nullptr || has_work();
}

// With nothing ready: whether only a post can give it something to do. When its pool
// ends, that holds for roots as well that wait for another loop.
bool io_context::rests(bool ending) noexcept {
    if (wake_->guarded()) return false;
    if (ending ? roots().empty() : !has_awaited_roots()) return true;
    return ending && !wake_->expects_posts_from_outside() && !can_move();
}

std::size_t io_context::run() { return run_until(never, no_limit); }

std::size_t io_context::run_for(duration limit) {
    return run_until(deadline_after(host_.now(), limit), no_limit);
}

std::size_t io_context::run_one() { return run_until(never, 1); }

std::size_t io_context::run_until(time_point limit, std::size_t items_max) {
    const run_guard inside{*this};
    // A few items at a time, again and again, would leave out everything else.
    if (ran_since_turn_ >= items_per_reading_max) turn(loop_backend::no_wait);
    std::size_t ran = 0;
    bool turned = false;  // Once at least, or a limit of nothing would look at nothing.
    while (!stopped()) {
        ran += run_ready(items_max - ran);
        if (ran >= items_max || (now_ >= limit && turned) || stopped()) break;
        if (member_ == nullptr && !has_work()) break;  // A pool's loop runs until it is stopped.
        turn(limit);
        turned = true;
    }
    ran_since_turn_ = turned ? 0 : ran_since_turn_ + ran;
    return ran;
}

std::size_t io_context::poll() {
    const run_guard inside{*this};
    std::size_t ran = 0;
    for (int each = 0; each < turns_per_poll; ++each) {
        ran += run_ready(no_limit);
        if (stopped()) break;
        turn(loop_backend::no_wait);
        if (ready_.empty() && postponed_.empty()) break;
    }
    return ran;
}

std::size_t io_context::run_with(executor_ref where, work& item) {
    const run_guard inside{*this};
    where.post(item);
    return run_ready(no_limit);
}

std::size_t io_context::run_ready(std::size_t items_max) noexcept {
    const time_point began = now_;
    std::size_t ran = 0;
    std::size_t interval = first_reading_;
    std::size_t next_reading = interval;
    budget_ = units_per_turn;
    accepts_left_ = accepts_per_turn;
    int shared_left = shared_items_first;
    std::size_t paced = 0;
    time_point paced_at = began;
    const auto record_pace = [&] {
        member_->pace.record(ran - paced, now_ - paced_at);
        paced = ran;
        paced_at = now_;
    };
    if (member_ != nullptr && !ready_.empty()) member_->pace.end();
    bool goes_on = true;
    while (goes_on && ran < items_max) {
        const int planned = static_cast<int>(std::min(next_reading, items_max) - ran);
        goes_on = run_items(planned, shared_left);
        ran += static_cast<std::size_t>(planned - items_left_);
        if (ran < next_reading) continue;
        if (member_ == nullptr && only_ready_items()) {
            next_reading = ran + interval;
            continue;
        }
        const duration took = read_clock() - began;
        const bool is_long = took >= turn_length_max;
        interval =
            is_long ? items_in_a_turn(ran, took) : std::min(2 * interval, items_per_reading_max);
        first_reading_ = std::min(interval, items_before_first_reading);
        if (is_long && others_are_due()) break;
        if (member_ != nullptr && ran - paced >= items_per_reading_max) record_pace();
        next_reading = ran + interval;
    }
    if (member_ != nullptr && ran > paced && member_->pace.believes_brisk()) {
        static_cast<void>(read_clock());
        record_pace();
    }
    return ran;
}

// So many items, those included that an item counts as. Whether there may be more in this turn.
bool io_context::run_items(int planned, int& shared_left) noexcept {
    items_left_ = planned;
    for (; items_left_ > 0; --items_left_) {
        if (budget_ <= 0 || wake_->stopped()) return false;
        work* const item = next_item(shared_left);
        if (item == nullptr) return false;
        --budget_;
        begin_item();
        item->run(*item);
    }
    return true;
}

// Whether a turn could bring nothing but what is ready, however long that takes.
bool io_context::only_ready_items() noexcept {
    return backend_->idle() && wake_->nothing_posted() && timers_->size() == 0;
}

// Whether anything but what is ready may have to be looked at.
bool io_context::others_are_due() noexcept {
    return !backend_->idle() || !wake_->nothing_posted() || timers_->next() <= now_;
}

work* io_context::next_item(int& shared_left) noexcept {
    if (member_ != nullptr || !due_.empty()) return next_of_several(shared_left);
    return ready_.empty() ? nullptr : &ready_.pop();
}

// In a pool, a few of the shared items come first in each turn, so that a loop which is never out of
// work of its own does its part; the rest when nothing else is left.
work* io_context::next_of_several(int& shared_left) noexcept {
    if (member_ != nullptr && (shared_left > 0 || ready_.empty())) {
        if (work* const shared = member_->take()) {
            --shared_left;
            return shared;
        }
        shared_left = 0;
        // Its member may just have begun to keep watch, and what is ready may hold it up.
        if (!ready_.empty()) member_->pace.end();
    }
    if (!due_.empty()) return &next_of_both();
    return ready_.empty() ? nullptr : &ready_.pop();
}

void io_context::turn(time_point limit) noexcept {
    if (member_ != nullptr && member_->shared.ending.load(std::memory_order_acquire)) stop_roots();
    notify_fork();
    turns_.add();
    turn_began_.store(now_.time_since_epoch().count(), std::memory_order_relaxed);
    time_point deadline = loop_backend::no_wait;
    if (limit != loop_backend::no_wait && may_sleep()) {
        deadline = std::min(limit, timers_->next());
        // Once at a time: a clock that moves in waits only would stand still.
        if (deadline < now_ + shortest_sleep && std::exchange(stayed_awake_at_, now_) != now_)
            deadline = loop_backend::no_wait;
        else if (options_.spin_max > duration::zero()) look_for_work(deadline);
    }
    if (deadline != loop_backend::no_wait) {
        wake_->fall_asleep();
        // What ends the need for a sleep wakes a loop that is seen asleep; so look again.
        if (!wake_->nothing_posted() || stopped() || !ready_.empty() ||
            (member_ != nullptr && !member_->prepare_to_sleep()) || !may_wait()) {
            deadline = loop_backend::no_wait;
        } else if (member_ != nullptr) {
            deadline = std::min(deadline, member_->pace.alarm(now_));
        }
    }
    // With nothing in flight and no wish to wait, the kernel has nothing to say.
    if (deadline != loop_backend::no_wait || !backend_->idle()) {
        if (const error refusal = backend_->turn(deadline)) withdraw_backend(refusal);
    }
    wake_->wake_up();
    if (member_ != nullptr) member_->woke_up();
    others_wait_ = false;
    begin_postponed();
    static_cast<void>(read_clock());
    fire_timers();
    take_inbox();
    take_cancels();
}

// What timers make ready takes turns with what waits already, which may be hundreds of turns: neither has to
// wait for all of the other.
void io_context::fire_timers() noexcept {
    aside_.append(ready_);
    timers_->advance(now_);
    if (!aside_.empty()) due_.append(ready_);
    ready_.append(aside_);
    if (ready_.empty()) ready_.append(due_);
}

work& io_context::next_of_both() noexcept {
    due_next_ = !due_next_;
    work& item = due_next_ ? due_.pop() : ready_.pop();
    if (ready_.empty()) ready_.append(due_);
    return item;
}

// Whether nothing is left to do here; of what its pool shares it then takes something, if it can.
bool io_context::may_sleep() noexcept {
    if (!ready_.empty() || !postponed_.empty()) return false;
    if (member_ == nullptr) return true;
    // What it finds stays where it can be stolen again: it might wait behind an item that takes long.
    if (member_->has_own() || member_->search()) return false;
    return !member_->pace.expects_more() || !await_more();
}

// A poster that has to wake a loop for each handful of short items is busy with nothing else, and the two
// end up on one processor, in lock-step. Five microseconds are less than being woken takes. Giving way
// to the poster instead was tried: then so much piles up that it no longer fits the caches.
bool io_context::await_more() noexcept {
    constexpr int looks = 8;
    constexpr duration pause = std::chrono::nanoseconds{600};
    time_point now = host_.now();
    for (int look = 0; look < looks; ++look) {
        const time_point until = now + pause;
        while (now < until) now = host_.now();
        if (!wake_->nothing_posted() || stopped() || member_->shared.lot.work_in_sight())
            return true;
    }
    return false;
}

// Instead of sleeping at once. Where it has been in vain for long it is tried one time in sixteen, so that
// an idle program does not stay busy and one that wakes up is noticed.
void io_context::look_for_work(time_point deadline) noexcept {
    constexpr std::uint64_t out_of_luck_period = 16;
    if (spin_luck_ == 0 && turns_.value() % out_of_luck_period != 0) return;
    const time_point until = std::min(deadline, deadline_after(host_.now(), options_.spin_max));
    do {
        if (const error refusal = backend_->turn(loop_backend::no_wait)) withdraw_backend(refusal);
        if (!ready_.empty() || !wake_->nothing_posted() || stopped() ||
            (member_ != nullptr ? member_->shared.lot.work_in_sight() : !has_work())) {
            spin_luck_ = spin_luck_max;
            spins_won_.add();
            return;
        }
    } while (host_.now() < until);
    if (spin_luck_ > 0) --spin_luck_;
    spins_lost_.add();
}

time_point io_context::read_clock() noexcept { return now_ = host_.now(); }

bool io_context::has_work() noexcept {
    return !ready_.empty() || has_awaited_roots() || wake_->guarded() || !wake_->inbox_empty();
}

void io_context::stop() noexcept { wake_->stop(); }
void io_context::restart() noexcept { wake_->restart(); }
bool io_context::stopped() const noexcept { return wake_->stopped(); }
bool io_context::asleep() const noexcept { return wake_->asleep(); }
void io_context::add_guard() noexcept { wake_->add_guard(); }
void io_context::release_guard() noexcept { wake_->release_guard(); }
expected_post io_context::expect_post(bool outside) noexcept {
    expected_post made = wake_->expect_post(outside);
    made.forks = fork_count();
    return made;
}
void io_context::posted_as_expected(expected_post it) noexcept { wake_->posted_as_expected(it); }
bool io_context::may_come(expected_post it) noexcept {
    return it.life == 0 || it.forks == fork_count();
}
void io_context::post_from_outside(work& item) noexcept { wake_->post(item); }
void io_context::wake_for_enqueued() noexcept { wake_->wake_as_first(); }
void io_context::set_wake_hook(wake_hook* hook) noexcept {
    // In a child: threads of the parent's may have been calling the one before, and one that was
    // inside has left a loop without pollers.
    if (held_by_parent()) return;
    notify_fork();
    wake_->set_hook(hook);
}

sleeper* io_context::enqueue(work& item) noexcept {
    if (running_here != this) return wake_->push(item) ? this : nullptr;
    ready_.push(item);
    return nullptr;
}

void io_context::take_inbox() noexcept {
    wake_->take_inbox([this](work& item) noexcept {
        received_.add();
        ready_.push(item);
    });
}

void io_context::retract(work& item) noexcept {
    const bool found = take_back(item);
    audit([found] { return found; }, "what is retracted was posted here, and has not run");
}

bool io_context::take_back(work& item) noexcept {
    take_inbox();
    const bool found = ready_.remove(item) || due_.remove(item) || aside_.remove(item);
    if (ready_.empty()) ready_.append(due_);
    return found;
}

void io_context::arm(timer& t, time_point deadline) noexcept { timers_->arm(t, deadline); }

void io_context::disarm(timer& t) noexcept { timers_->disarm(t); }

// The kernel refuses the backend (a seccomp filter that came late): whatever was in flight is begun
// again on the next one, or told so where io_uring was required, or where epoll is refused as well.
void io_context::withdraw_backend(error refusal) noexcept {
    expects(waker_ != nullptr, "only the kernel's backends can be withdrawn");
    backend_->abandon();
    withdrawn_.push_back(replace_backend(choose_next_backend(info_, options_, waker_, refusal)));
    begin_all_anew();
}

void io_context::notify_fork() noexcept {
    if (fork_count_ == fork_count()) return;
    expects(!held_by_parent(), left_by_parent);
    carry_out_stops();
    fork_count_ = fork_count();
    inherited_ = true;
    if (bound_thread_ != 0) bound_thread_ = this_thread();
    calls_in_flight_.store(0, std::memory_order_relaxed);  // No thread will end them here.
    // Its threads, on which it would wait, are not there.
    [[maybe_unused]] const thread_pool* const left = workers_.release();
    wake_->forget_threads();
    if (waker_ != nullptr) begin_in_child();  // Else the backend is copied memory.
}

// Before what is pending is begun anew: what is to end would take there what its parent waits for.
void io_context::carry_out_stops() noexcept {
    loop* const outer = std::exchange(running_here, this);
    const auto taken_back = [this](work& message) noexcept { return take_back(message); };
    roots().for_each([&](root& each) { each.go_on_in_child(taken_back); });
    take_cancels();
    running_here = outer;
}

void io_context::begin_in_child() noexcept {
    // The descriptors of what is left first: there may be no others.
    backend_->leave_to_parent();
    withdrawn_.clear();
    waker_->renew();
    replace_backend(choose_backend(options_, waker_));
    descriptors_.for_each([](descriptor_slot& on) {
        on.pending.for_each([](operation& op) {
            if (op.pending()) op.on_worker = false;  // The parent's.
        });
    });
    if (bound_thread_ != 0) {
        if (const error refusal = backend_->bind_thread()) return withdraw_backend(refusal);
    }
    begin_all_anew();
}

// Returns the one before, which other threads may still be waking.
std::unique_ptr<loop_backend> io_context::replace_backend(chosen_backend next) noexcept {
    status_.store(next.status, std::memory_order_relaxed);
    info_ = next.backend->info();
    next.backend->attach(*this);
    next.backend->count_on_from(*backend_);
    wake_->set_backend(*next.backend);
    return std::exchange(backend_, std::move(next.backend));
}

void io_context::begin_all_anew() noexcept {
    descriptors_.for_each([this](descriptor_slot& on) {
        on.maybe_readable = on.maybe_writable = true;
        on.registered = on.registered_for_writing = false;
        on.pending.for_each([this](operation& op) {
            if (op.postponed || op.on_worker || !op.pending()) return;
            op.retried = op.in_line = false;
            if (op.cancel_requested) {
                complete(op, -ECANCELED);
            } else if (begin(op)) {
                complete(op, op.result);
            }
        });
    });
}

void io_context::renew_backend_info() noexcept { info_ = backend_->info(); }

bool io_context::runs_elsewhere() const noexcept {
    return wake_->entered() && bound_thread_ != this_thread();
}

// In a forked child: whether a thread of the parent's was inside of it at the fork, to run it or to end
// something on it.
bool io_context::held_by_parent() const noexcept {
    return fork_count_ != fork_count() &&
           (runs_elsewhere() || wake_->visited_by_parent(fork_count()));
}

void io_context::bind_to_this_thread() noexcept {
    const std::uint64_t here = this_thread();
    if (bound_thread_ == here) return;
    expects(bound_thread_ == 0 || backend_->in_flight() == 0,
            "a loop moves to another thread only with nothing in flight");
    bound_thread_ = here;
    if (const error refusal = backend_->bind_thread()) withdraw_backend(refusal);
}

int io_context::native_wait_handle() noexcept {
    if (running_here == this) return backend_->wait_handle();
    const run_guard inside{*this};
    // What is prepared counts only once the kernel has it; the watch on the waker, for one.
    if (!backend_->idle()) turn(loop_backend::no_wait);
    return backend_->wait_handle();
}

time_point io_context::next_deadline() noexcept {
    if (!ready_.empty() || !postponed_.empty() || !wake_->nothing_posted()) return now_;
    if (backend_->holds_back()) return now_;
    return timers_->next();
}

bool io_context::tries_first() const noexcept { return backend_->tries_first(); }

void io_context::provide_memory(lease_operation& op) noexcept {
    if (received_into_ == nullptr) {
        received_into_ =
            new receive_pool{*this, options_.receive_block_size, options_.receive_blocks_kept};
    }
    op.pool = received_into_;
    op.size = received_into_->block_size();
}

const void* io_context::pool_identity() const noexcept {
    return member_ == nullptr ? nullptr : &member_->shared;
}

receive_memory_use io_context::receive_memory() const noexcept {
    if (received_into_ == nullptr) return {options_.receive_block_size};
    return {received_into_->block_size(), received_into_->lent(), received_into_->kept(),
            received_into_->offered(), received_into_->made()};
}

loop_counters io_context::counters() const noexcept {
    loop_counters now;
    now.turns = turns_.value();
    const loop_backend& backend = wake_->backend();
    now.visits = backend.visits();
    now.rearms = backend.rearms();
    now.shortages = backend.shortages();
    now.operations = operations_.value();
    now.received = received_.value();
    now.wakeups = wake_->wakeups();
    now.spins_won = spins_won_.value();
    now.spins_lost = spins_lost_.value();
    return now;
}

thread_pool& io_context::workers() {
    if (workers_ == nullptr) {
        // A pool's own threads block more than its program does.
        workers_ = std::make_unique<thread_pool>(
            options_.worker_threads_max,
            member_ == nullptr ? signal_mask() : member_->shared.blocked_by_maker);
    }
    return *workers_;
}

}  // namespace gyre
