// SPDX-License-Identifier: BSL-1.0
//
// The untyped part of include/gyre/runtime/submit.hpp, and the end of handles.
#include <gyre/runtime/submit.hpp>

#include <gyre/runtime/handle.hpp>

#include <cerrno>
#include <utility>

namespace gyre {

bool pending_operation::start(operation& op, std::int32_t failure, std::coroutine_handle<> waiter,
                              const environment& given) noexcept {
    op_ = &op;
    waiter_ = waiter;
    op.env = &given;
    if (given.chain->level() >= ends_at_) failure = -ECANCELED;
    if (failure != 0) {
        op.result = failure;
        op.state.store(operation_state::done, std::memory_order_relaxed);
        if (given.loop->spend()) return false;
        given.loop->post(op);
        return true;
    }
    if (context_of(given).submit(op)) return false;
    given.chain->enter(*this);
    return true;
}

void pending_operation::request(stop_level level) noexcept {
    if (level >= ends_at_) op_->home->cancel(*op_);
}

void pending_operation::completed(work::function resume_on_executor) noexcept {
    const environment& given = *op_->env;
    given.chain->leave();
    // Where a worker has ended it, which may not touch the list.
    static_cast<list_link<descriptor_slot>&>(*op_).unlink();
    if (given.executor.refers_to(&context_of(given))) {
        gyre::resume(waiter_);
        return;
    }
    op_->run = resume_on_executor;  // The same record carries the coroutine to its strand.
    given.executor.post(*op_);
}

void pending_operation::abandon() noexcept {
    op_->env->chain->leave();
    context_of(*op_->env).reap(*op_);
}

int handle::close() noexcept { return close(std::exchange(opened_, {}), host_); }

int handle::close(opening what, host* on) noexcept {
    if (!what.lasts()) return -EBADF;
    descriptor_slot& it = *what.of;
    if (it.home != nullptr) it.home->detach(it);
    return on->close(it);
}

int handle::release() noexcept {
    if (!open()) return -1;
    descriptor_slot& it = *opened_.of;
    if (it.home != nullptr) it.home->detach(it);
    opened_ = {};
    return host_->release(it);
}

}  // namespace gyre
