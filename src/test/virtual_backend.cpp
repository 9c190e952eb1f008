// SPDX-License-Identifier: BSL-1.0
//
// Tries, and waits that are none: see virtual_backend.hpp.
#include <test/virtual_backend.hpp>

#include <gyre/base/check.hpp>
#include <test/virtual_host.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace gyre::test {
namespace {

bool reads(const operation& op) noexcept {
    switch (op.code) {
        case opcode::receive:
        case opcode::receive_scatter:
        case opcode::receive_lease:
        case opcode::receive_batch:
        case opcode::read:
        case opcode::read_scatter:
        case opcode::accept: return true;
        default: return false;
    }
}

// Whether `later` must not be served before `earlier` on the same descriptor.
bool in_one_line(const operation& earlier, const operation& later) noexcept {
    if (earlier.code == opcode::wait_ready || later.code == opcode::wait_ready) return false;
    return reads(earlier) == reads(later);
}

}  // namespace

virtual_backend::virtual_backend(virtual_time& time, virtual_host& on) : time_{time}, host_{on} {
    time_.add(*this);
}

virtual_backend::~virtual_backend() {
    time_.remove(*this);
    host_.backend_gone();
}

void virtual_backend::attach(io_context& owner) noexcept { loop_ = &owner; }

const std::string& virtual_backend::name() const noexcept { return host_.name(); }

bool virtual_backend::submit(operation& op) noexcept {
    if (op.code == opcode::call) return begin_call(static_cast<call_operation&>(op));
    if (try_to_end(op)) return true;
    ++waiting_;
    return false;
}

bool virtual_backend::begin_call(call_operation& op) noexcept {
    const duration length = time_.options().call_length;
    if (length <= duration::zero()) {
        op.function(op.argument);
        op.result = 0;
        return true;
    }
    ++waiting_;
    calls_->begun.emplace(++calls_->count, &op);
    time_.after(length, [all = calls_, name = calls_->count] {
        // It may have been taken back.
        if (const auto found = all->begun.extract(name)) all->over.push_back(found.mapped());
    });
    return false;
}

// False if it has to wait: for its own turn, or for a change.
bool virtual_backend::try_to_end(operation& op) noexcept {
    if (op.code < opcode::spawn_process) {
        descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
        const operation* const first = on.pending.find([&op](operation& each) {
            return &each == &op || (each.pending() && in_one_line(each, op));
        });
        if (first != &op) return false;
    }
    op.result = host_.perform(op);
    op.retried = true;
    return op.result != -EAGAIN;
}

void virtual_backend::cancel(operation& op) noexcept {
    if (op.code == opcode::call) {
        auto* const it = static_cast<call_operation*>(&op);
        std::erase_if(calls_->begun, [it](const auto& each) { return each.second == it; });
        std::erase(calls_->over, it);
    }
    --waiting_;
    loop_->complete(op, -ECANCELED);
}

void virtual_backend::forget(descriptor_slot& it) noexcept { std::erase(changed_, &it); }

void virtual_backend::note_change(descriptor_slot& it) noexcept {
    if (it.pending.empty() || std::ranges::find(changed_, &it) != changed_.end()) return;
    changed_.push_back(&it);
}

error virtual_backend::turn(time_point deadline) noexcept {
    visits_.add();
    time_.run_events();
    if (serve_changes() || deadline == no_wait) return {};
    wait(deadline);
    serve_changes();
    return {};
}

bool virtual_backend::serve_changes() noexcept {
    bool any = false;
    std::vector<call_operation*> over;
    over.swap(calls_->over);
    for (call_operation* const each : over) {
        --waiting_;
        any = true;
        each->function(each->argument);
        loop_->complete(*each, 0);
    }
    std::vector<descriptor_slot*> changed;
    changed.swap(changed_);
    if (time_.options().shuffled) {
        time_.chance().shuffle(changed);
        // Some are heard of in the next turn only; not all, or this one would have been in vain.
        while (changed.size() > 1 && time_.chance().chance(0.25)) {
            changed_.push_back(changed.back());
            changed.pop_back();
        }
    }
    for (descriptor_slot* const each : changed) any |= serve(*each);
    return any;
}

// Tries what waits for it, oldest first.
bool virtual_backend::serve(descriptor_slot& it) noexcept {
    bool any = false;
    it.pending.for_each([&](operation& op) {
        if (op.postponed || !op.pending() || !try_to_end(op)) return;
        --waiting_;
        any = true;
        loop_->complete(op, op.result);
    });
    return any;
}

void virtual_backend::wake() noexcept {
    woken_.store(true, std::memory_order_release);
    time_.note_post();
}

bool virtual_backend::something_came() noexcept {
    return woken_.exchange(false, std::memory_order_acquire) || holds_back() || loop_->stopped();
}

// The world goes on until there is something for this loop.
void virtual_backend::wait(time_point deadline) noexcept {
    const bool outermost = !std::exchange(inside_, true);
    while (!something_came() && time_.now() < deadline) {
        if (time_.run_ready()) {
            if (!time_.spins()) continue;
            time_.forgive_spinning();
            report_hang(describe(ending::spun));
            break;
        }
        const time_point next = std::min(deadline, time_.next_moment());
        if (next != never) {
            time_.advance_to(next);
            time_.run_events();
            hung_ = false;
        } else if (!time_.hear_from_threads()) {
            report_hang(describe(ending::hung));
            break;
        }
    }
    if (outermost) inside_ = false;
}

// The loop's run returns. If it only waits again, it is its destructor that does, which would do so for ever.
void virtual_backend::report_hang(const char* why) noexcept {
    time_.hang = why + ("; seed " + std::to_string(time_.options().seed)) + "\n" + time_.dump();
    std::fprintf(stderr, "gyre: %s", time_.hang.c_str());
    expects(!std::exchange(hung_, true), "a loop of a world hangs");
    loop_->stop();
}

bool virtual_backend::due() noexcept {
    if (inside_ || loop_ == nullptr || loop_->stopped()) return false;
    return loop_->next_deadline() <= time_.now();
}

void virtual_backend::poll() noexcept {
    inside_ = true;
    loop_->poll();
    inside_ = false;
    hung_ = false;
}

time_point virtual_backend::next_timer() noexcept {
    return inside_ || loop_ == nullptr || loop_->stopped() ? never : loop_->next_deadline();
}

}  // namespace gyre::test
