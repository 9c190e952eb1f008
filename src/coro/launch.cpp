// SPDX-License-Identifier: BSL-1.0
//
// The life of a root: see include/gyre/coro/launch.hpp.
#include <gyre/coro/launch.hpp>

#include <gyre/base/check.hpp>
#include <gyre/base/wait_briefly.hpp>
#include <gyre/coro/task_dump.hpp>

#include <string>

namespace gyre {

// Defined once, here: an inline variable is one for each shared object that RTLD_LOCAL keeps apart.
constinit thread_local void* noted_transfer = nullptr;
constinit thread_local loop* loop::running_here = nullptr;

void or_terminate::fail(const std::exception_ptr& thrown, const task_node* ended) const noexcept {
    std::string text = "an exception leaves a task that was launched with or_terminate: ";
    text += describe(thrown);
    if (ended != nullptr && ended->where.line() != 0) {
        text += "; the task was in ";
        text += coroutine_name(ended->where);
        text += " at ";
        text += ended->where.file_name();
        text += ':' + std::to_string(ended->where.line());
    }
    text += "; catch it in the task, or launch that with a handler that takes its task_outcome";
    fail_check("precondition", text.c_str(), launched_at_);
}

root::root(executor_ref where, gyre::loop* home, work::function on_start,
           callback_frame::function on_done, destroyer destroy, root_kind kind) noexcept
    : callback_frame{on_done},
      work{on_start},
      env_{where, home, &chain},
      destroy_{destroy},
      kind_{kind},
      settled_{home != nullptr} {}

// Either the request finds the root settled, or this finds the request: both are sequentially
// consistent.
void root::settle(executor_ref where, gyre::loop& home) noexcept {
    env_.executor = where;
    env_.loop = &home;
    settled_.store(true);
    chain.request(wanted_.load());
}

void root::enlist() noexcept {
    env_.loop->roots().push_back(*this);
    if (kind_ == root_kind::awaited) ++env_.loop->awaited_roots_;
}

void root::unlist() noexcept {
    if (!linked()) return;
    list_link<>::unlink();
    if (kind_ == root_kind::awaited) --env_.loop->awaited_roots_;
}

void root::disown() noexcept {
    unlist();
    ended_.store(true);
}

// The loop lives at least until this returns, so a thread that is posting to it is waited for: a matter of
// instructions. Either it finds the root ended, or it is found here.
void root::retire() noexcept {
    unlist();
    if (references_.load(std::memory_order_acquire) == 1) return;  // There is no handle to ask by.
    ended_.store(true);
    wait_briefly([this] { return requesters_.load() == 0; });
}

void root::drop() noexcept {
    // The holder of the only reference need not count it down: no other thread can add to it.
    if (references_.load(std::memory_order_acquire) == 1 ||
        references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        destroy_(*this);
    }
}

void root::request(stop_level level) noexcept {
    requesters_.fetch_add(1);
    if (!ended_.load()) post_stop(level);
    requesters_.fetch_sub(1, std::memory_order_release);
}

// A foreign request is a message to the loop, posted at most once at a time; the highest level asked
// for meanwhile is what the loop then carries out. It goes past the executor, which the root's owner may
// destroy when the root has ended.
void root::post_stop(stop_level level) noexcept {
    stop_level before = wanted_.load(std::memory_order_relaxed);
    while (before < level && !wanted_.compare_exchange_weak(before, level)) {
    }
    if (!settled_.load()) return;
    if (stop_posted_.exchange(true)) return;

    references_.fetch_add(1, std::memory_order_relaxed);
    env_.loop->post(stop_);
}

void root::carry_out_stop(work& item) noexcept {
    root& self = *static_cast<stop_message&>(item).target;
    self.stop_posted_.store(false);
    if (!self.ended_.load(std::memory_order_relaxed)) self.chain.request(self.wanted_.load());
    self.drop();
}

stop_handle::stop_handle(const stop_handle& other) noexcept : root_{other.root_} {
    if (root_ != nullptr) root_->references_.fetch_add(1, std::memory_order_relaxed);
}

stop_handle::~stop_handle() {
    if (root_ != nullptr) root_->drop();
}

void stop_handle::request_drain() const noexcept {
    if (root_ != nullptr) root_->request(stop_level::drain);
}

void stop_handle::request_stop() const noexcept {
    if (root_ != nullptr) root_->request(stop_level::stop);
}

bool stop_handle::ended() const noexcept {
    return root_ == nullptr || root_->ended_.load(std::memory_order_acquire);
}

}  // namespace gyre
