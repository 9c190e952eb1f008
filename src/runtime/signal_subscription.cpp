// SPDX-License-Identifier: BSL-1.0
//
// The registry behind include/gyre/runtime/signal_subscription.hpp.
//
// The handler may run at any moment on any thread, so it touches lock-free atomics and write(2)
// only (signal-safety(7)); subscribing and unsubscribing are under a lock. Nothing falls between
// the default action and a subscription: what one wants is said before the handler is there, and no
// longer after it has gone.
#include <gyre/runtime/signal_subscription.hpp>

#include <gyre/base/check.hpp>
#include <gyre/base/last_words.hpp>
#include <gyre/base/wait_briefly.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/waker.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <limits>
#include <mutex>

namespace gyre {
namespace {

constexpr std::int64_t without_end = std::numeric_limits<std::int64_t>::max();

struct subscription {
    std::atomic<std::uint64_t> wanted = 0;  // Bit n-1 for signal n.
    std::atomic<std::uint64_t> pending = 0;
    std::atomic<int> event = -1;
    std::atomic<std::int64_t> first_delivery = 0;         // When, by `monotonic_time`; 0 before it.
    std::atomic<std::int64_t> exits_after = without_end;  // Nanoseconds behind the first delivery.
    bool taken = false;                                   // Under `registry`.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

constexpr int signals_max = 64;

std::array<subscription, 32> subscriptions;
std::atomic<int> handlers = 0;  // Under way, on any threads.
std::mutex registry;
std::array<int, signals_max + 1> subscribers{};          // Under `registry`.
std::array<struct sigaction, signals_max + 1> before{};  // Under `registry`.

std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }

// Nanoseconds, by a function that a handler may call.
std::int64_t monotonic_time() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Whether this delivery comes late enough behind the first one.
bool ends_process(subscription& it) noexcept {
    const std::int64_t now = monotonic_time();
    std::int64_t first = 0;
    if (it.first_delivery.compare_exchange_strong(first, now, std::memory_order_relaxed))
        return false;
    return now - first >= it.exits_after.load(std::memory_order_relaxed);
}

void on_signal(int signal) {
    const int error_before = errno;
    handlers.fetch_add(1, std::memory_order_seq_cst);
    for (subscription& each : subscriptions) {
        if ((each.wanted.load(std::memory_order_seq_cst) & bit_of(signal)) == 0) continue;
        if (ends_process(each)) ::_exit(128 + signal);
        each.pending.fetch_or(bit_of(signal), std::memory_order_release);
        add_to_event(each.event.load(std::memory_order_relaxed));
    }
    handlers.fetch_sub(1, std::memory_order_release);
    errno = error_before;
}

// Either a handler finds a subscription ended, or its end finds the handler: both say first what
// they are about to do, and then look. A matter of instructions, since a handler waits for nothing;
// only then may the event be closed, whose number something else may get.
void await_handlers() noexcept {
    wait_briefly([] { return handlers.load(std::memory_order_seq_cst) == 0; });
}

bool take_over(int signal) noexcept {
    struct sigaction action{};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigfillset(&action.sa_mask);
    const auto index = static_cast<std::size_t>(signal);
    if (subscribers[index] == 0 && ::sigaction(signal, &action, &before[index]) != 0) return false;
    ++subscribers[index];
    return true;
}

void give_back(std::uint64_t signals) noexcept {
    for (int signal = 1; signal <= signals_max; ++signal) {
        const auto index = static_cast<std::size_t>(signal);
        if ((signals & bit_of(signal)) == 0 || --subscribers[index] > 0) continue;
        ::sigaction(signal, &before[index], nullptr);
    }
}

bool subscribe(subscription& it, int signal) noexcept {
    if (signal < 1 || signal > signals_max) return false;
    const std::uint64_t already = it.wanted.fetch_or(bit_of(signal), std::memory_order_seq_cst);
    if ((already & bit_of(signal)) != 0) return true;  // Named twice is named once.
    if (take_over(signal)) return true;
    it.wanted.fetch_and(~bit_of(signal), std::memory_order_seq_cst);
    return false;
}

// Signals are held back meanwhile, so that none is lost that comes to the child before it listens.
sigset_t blocked_before_fork{};
bool held_back = false;

void before_fork() noexcept {
    if (last_words::speaks_here()) return;  // See perform_process.cpp.
    registry.lock();
    sigset_t all;
    ::sigfillset(&all);
    held_back = ::pthread_sigmask(SIG_SETMASK, &all, &blocked_before_fork) == 0;
}

void after_fork() noexcept {
    if (last_words::speaks_here()) return;
    const sigset_t blocked = blocked_before_fork;
    const bool change = held_back;
    registry.unlock();
    if (change) ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

// Whether every number that this process may have is in use, `number` among them: the one that is closed is
// then the one that is had next.
bool is_one_of_all(int number) noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    if (static_cast<rlim_t>(number) >= limit.rlim_cur) return false;
    const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0) ::close(copy);
    return copy < 0 && errno == EMFILE;
}

// Gives the child an event of its own under the number of its parent's. False if there is none to be had:
// then the number stays the parent's, since a closed one is soon another file's.
bool replace_event(int number) noexcept {
    int own = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (own < 0 && errno == EMFILE && is_one_of_all(number)) {
        ::close(number);  // A child that only means to call exec.
        own = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        // The subscription closes it later, so it must be no other file's: it becomes a copy of one.
        if (own < 0) ::fcntl(number == 0 ? 1 : 0, F_DUPFD_CLOEXEC, 0);
    }
    if (own < 0 || own == number) return own >= 0;
    const bool replaced = ::dup3(own, number, O_CLOEXEC) >= 0;
    ::close(own);
    return replaced;
}

// The child hears its own signals: not those that its parent has not taken yet, nor by the parent's events,
// of which each would take what is meant for the other. Where it cannot, signals do to it what they would
// without the subscription: a child that is deaf to SIGTERM would be worse.
void begin_anew_in_child() noexcept {
    handlers.store(0, std::memory_order_relaxed);  // They ran on threads that are not there.
    for (subscription& each : subscriptions) {
        each.pending = 0;
        each.first_delivery = 0;
        if (each.event < 0 || replace_event(each.event)) continue;
        give_back(each.wanted.exchange(0, std::memory_order_seq_cst));
        each.event = -1;
    }
    after_fork();
}

[[maybe_unused]] const int forks_arranged =
    ::pthread_atfork(&before_fork, &after_fork, &begin_anew_in_child);

void unsubscribe(subscription& it) noexcept {
    give_back(it.wanted.load(std::memory_order_relaxed));
    it.wanted.store(0, std::memory_order_seq_cst);
    await_handlers();
    it.event = -1;
}

}  // namespace

io_result<signal_subscription> signal_subscription::open(io_context& on,
                                                         std::initializer_list<int> signals) {
    if (!on.host().has_signals()) return error{errc::not_supported, activity::signal};

    const std::lock_guard lock{registry};
    std::size_t slot = 0;
    while (slot < subscriptions.size() && subscriptions[slot].taken) ++slot;
    if (slot == subscriptions.size()) return error{errc::limit_exceeded, activity::signal};

    const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0) return error::from_errno(errno, activity::signal);
    signal_subscription made;
    made.event_ = handle{on.host(), event};

    subscription& it = subscriptions[slot];
    it.pending = 0;
    it.first_delivery = 0;
    it.exits_after = without_end;
    it.event = event;
    for (const int signal : signals) {
        if (subscribe(it, signal)) continue;
        unsubscribe(it);
        return error{errc::invalid_argument, activity::signal};
    }
    it.taken = true;
    made.slot_ = static_cast<int>(slot);
    return io_result<signal_subscription>{std::move(made)};
}

signal_subscription::~signal_subscription() {
    if (slot_ < 0) return;
    const std::lock_guard lock{registry};
    subscription& it = subscriptions[static_cast<std::size_t>(slot_)];
    unsubscribe(it);
    it.taken = false;
}

void signal_subscription::exit_on_second(duration gap) noexcept {
    if (slot_ < 0) return;
    subscriptions[static_cast<std::size_t>(slot_)].exits_after =
        std::max<std::int64_t>(0, gap.count());
}

bool signal_subscription::delivery::hears() const noexcept {
    return subscriptions[static_cast<std::size_t>(slot)].event >= 0;
}

int signal_subscription::delivery::take() noexcept {
    subscription& it = subscriptions[static_cast<std::size_t>(slot)];
    if (!hears()) return 0;
    const int number = event.of->number;
    // The event first, the bits second: a signal in between is found here and announced again.
    std::uint64_t count = 0;
    static_cast<void>(!::read(number, &count, sizeof count));
    const std::uint64_t pending = it.pending.load(std::memory_order_acquire);
    if (pending == 0) return 0;

    const int signal = std::countr_zero(pending) + 1;
    it.pending.fetch_and(~bit_of(signal), std::memory_order_acq_rel);
    if ((pending & ~bit_of(signal)) != 0) add_to_event(number);
    return signal;
}

}  // namespace gyre
