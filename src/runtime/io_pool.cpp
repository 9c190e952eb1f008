// SPDX-License-Identifier: BSL-1.0
//
// The threads of include/gyre/runtime/io_pool.hpp; pool_member.hpp is how they share work.
#include <gyre/runtime/io_pool.hpp>

#include <gyre/base/check.hpp>
#include <gyre/base/wait_briefly.hpp>
#include <runtime/fork_count.hpp>
#include <runtime/pool_member.hpp>
#include <runtime/processor_quota.hpp>
#include <runtime/started_thread.hpp>
#include <runtime/wake_state.hpp>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gyre {
namespace {

std::vector<int> processors_allowed() {
    std::vector<int> found;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
    for (int each = 0; each < CPU_SETSIZE; ++each) {
        if (CPU_ISSET(each, &allowed)) found.push_back(each);
    }
    return found;
}

void pin_to(int processor) noexcept {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    // Taken away meanwhile: then the thread runs wherever it may.
    ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
}

unsigned count_of(const io_pool_options& options) {
    if (options.threads != 0) return options.threads;
    auto count = static_cast<unsigned>(processors_allowed().size());
    if (const unsigned quota = processors_by_quota(); quota != 0) count = std::min(count, quota);
    return std::clamp(count, 1U, pool_state::members_max);
}

}  // namespace

io_pool::io_pool(const io_pool_options& options)
    : state_{std::make_unique<pool_state>()}, options_{options} {
    const unsigned count = count_of(options);
    expects(count <= pool_state::members_max, "a pool of at most 256 threads");
    state_->steal_threshold = options.steal_threshold;
    state_->forks = fork_count();
    plenty_ = std::min(16 * (count - 1), 512U);
    make_members(count, options.loop);
    if (is_mixed() && !status()) make_members_alike(count);
    const auto body = [](void* it) -> void* {
        const auto& member = *static_cast<pool_member*>(it);
        member.pool->run_member(member.number);
        return nullptr;
    };
    for (auto& each : state_->members) {
        each->pool = this;
        const started_thread made = start_with_signals_blocked(body, each.get());
        if (made.failed != 0) {
            undo_start(each->number, made.failed);
            return;
        }
        each->thread = made.thread;
    }
}

void io_pool::make_members(unsigned count, const io_context_options& options) {
    state_->members.clear();
    state_->lot.forget_members();
    for (unsigned number = 0; number < count; ++number) {
        state_->members.push_back(std::make_unique<pool_member>(*state_, number, options));
    }
}

void io_pool::make_members_alike(unsigned count) {
    std::string reason = "not every loop of the pool could be on io_uring";
    for (const auto& each : state_->members) {
        if (each->loop.backend().kind != backend_choice::epoll) continue;
        reason += ": " + each->loop.backend().reason;
        break;
    }
    io_context_options alike = options_.loop;
    alike.backend = backend_choice::epoll;
    make_members(count, alike);
    for (const auto& each : state_->members) each->loop.info_.reason = reason;
}

// Whether there was memory for the rings of some loops only.
bool io_pool::is_mixed() const noexcept {
    const auto kind = [](const auto& it) { return it->loop.backend().kind; };
    return std::ranges::adjacent_find(state_->members, std::not_equal_to{}, kind) !=
           state_->members.end();
}

// `started` threads run and the next one cannot: then none does. A pool of fewer loops would keep its
// promises too, but not those of a program that asked for as many, to give each a thing of its own.
void io_pool::undo_start(unsigned started, int failed) noexcept {
    not_started_ = error::from_errno(failed, activity::start_thread);
    state_->closing.store(true);
    for (unsigned number = 0; number < started; ++number) state_->members[number]->loop.stop();
    for (unsigned number = 0; number < started; ++number)
        ::pthread_join(state_->members[number]->thread, nullptr);
    for (auto& each : state_->members) {
        each->loop.leave_pool();
        each->loop.never_runs_ = true;
    }
}

// What was posted all the same is begun, asked to stop, and waited for on the last loop, which never ran.
void io_pool::end_after_failed_start() noexcept {
    io_context& last = state_->members.back()->loop;
    while (!state_->inbox.empty()) {
        state_->inbox.take_some(SIZE_MAX, [&last](work& item) noexcept { last.post(item); });
        last.end_roots();
    }
    state_->members.clear();  // While posting to the pool still finds an inbox.
}

void io_pool::run_member(unsigned number) noexcept {
    constexpr std::size_t name_max = 15;
    std::string name = "/" + std::to_string(number);
    name = options_.thread_name.substr(0, name_max - name.size()) + name;
    ::pthread_setname_np(::pthread_self(), name.c_str());
    if (options_.pin_threads) {
        const std::vector<int> allowed = processors_allowed();
        if (!allowed.empty()) pin_to(allowed[number % allowed.size()]);
    }
    // What stops one loop by itself stops nothing here: the pool's own end does.
    io_context& loop = state_->members[number]->loop;
    for (;;) {
        loop.run();
        if (state_->closing.load()) return;
        loop.restart();
        if (state_->closing.load()) return;
    }
}

io_pool::~io_pool() {
    if (state_->forks != fork_count()) {
        // Nothing in it runs, nor can be waited for, in a child.
        [[maybe_unused]] const pool_state* const left = state_.release();
        return;
    }
    if (not_started_) {
        end_after_failed_start();
        return;
    }
    request_stop();
    wait();
    for (auto& each : state_->members) {
        expects(!each->stuck.load(), "coroutines remain that nothing will ever resume");
    }
    state_->closing.store(true);
    for (auto& each : state_->members) each->loop.stop();
    for (auto& each : state_->members) ::pthread_join(each->thread, nullptr);
    for (auto& each : state_->members) each->loop.leave_pool();
    wait_briefly([this] { return state_->asking.load(std::memory_order_acquire) == 0; });
}

void io_pool::post(work& item) noexcept {
    io_context* const here = io_context::current();
    if (here != nullptr && here->member_ != nullptr && &here->member_->shared == state_.get()) {
        here->member_->share(item);
        return;
    }
    state_->inbox.push(item);
    state_->lot.wake_one();
}

void io_pool::wait() {
    for (auto& each : state_->members) {
        expects(!each->loop.running_on_this_thread(), "a pool's own thread cannot wait for it");
    }
    expects(state_->forks == fork_count(), "a pool has no threads in a forked child");
    if (not_started_) return;
    std::unique_lock lock{state_->mutex};
    state_->waiting.fetch_add(1);
    state_->rested.wait(lock, [this] { return state_->lot.at_rest(); });
    state_->waiting.fetch_sub(1);
}

void io_pool::request_stop() noexcept {
    state_->asking.fetch_add(1);
    state_->ending.store(true);
    // A loop that is awake looks in each turn.
    for (auto& each : state_->members) each->loop.wake_->wake_if_asleep();
    state_->asking.fetch_sub(1, std::memory_order_release);
}

bool io_pool::has_plenty(const io_context& from) const noexcept {
    const pool_member* const here = from.member_;
    return here != nullptr && &here->shared == state_.get() && here->queue.size() >= plenty_;
}

std::size_t io_pool::size() const noexcept { return state_->members.size(); }

io_context& io_pool::operator[](std::size_t index) noexcept {
    expects(index < size(), "a loop of the pool");
    return state_->members[index]->loop;
}

io_context& io_pool::least_loaded() noexcept {
    const std::size_t first = next_.fetch_add(1, std::memory_order_relaxed) % size();
    io_context* best = &(*this)[first];
    for (std::size_t step = 1; step < size(); ++step) {
        io_context& other = (*this)[(first + step) % size()];
        if (other.remote_tasks() < best->remote_tasks()) best = &other;
    }
    return *best;
}

error io_pool::status() const noexcept {
    if (not_started_) return not_started_;
    for (const auto& each : state_->members) {
        if (const error failed = each->loop.status()) return failed;
    }
    return {};
}

io_pool_counters io_pool::counters() const noexcept {
    io_pool_counters sum;
    for (const auto& each : state_->members) {
        sum.searches += each->searches.value();
        sum.stolen += each->stolen.value();
    }
    return sum;
}

}  // namespace gyre
