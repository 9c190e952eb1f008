// SPDX-License-Identifier: BSL-1.0
//
// How backlogs are worked and parted: see include/gyre/coro/backlog.hpp.
#include <gyre/coro/backlog.hpp>

#include <gyre/coro/environment.hpp>

#include <algorithm>
#include <utility>

namespace gyre {
namespace {

// What is put off in order, as the children of a group are, runs in one go as it would from the queue; but
// others have their turn after so many.
constexpr std::uint16_t items_in_a_row_max = 256;

constexpr std::uint16_t patience_max = 32 * 1024;

}  // namespace

void backlog_item::link(backlog_item** place) noexcept {
    place_ = place;
    *place = this;
}

void backlog_item::queue_first(age so_far) noexcept {
    age_ = so_far;
    place_ = nullptr;
    queued_ = true;
    env_->loop->post_first(*this);
}

void backlog_item::queue_last(age so_far) noexcept {
    age_ = so_far;
    place_ = nullptr;
    queued_ = true;
    env_->executor.post(*this);
}

void backlog_item::put_off() noexcept {
    backlog& to = env_->loop->backlog();
    to.row_ = nullptr;
    if (to.end_ == nullptr) {
        to.executor_ = env_->executor;
        queue_last({});
    } else if (to.executor_ == env_->executor) {
        link(to.end_);
    } else {
        return queue_last({});
    }
    to.end_ = &below_;
}

void backlog_item::put_off_in_row() noexcept {
    backlog& to = env_->loop->backlog();
    if (to.row_ == nullptr || to.executor_ != env_->executor) {
        put_off();
        if (to.executor_ == env_->executor) to.row_ = this;
        return;
    }
    backlog_item*& last = to.row_->last_;
    next = this;
    if (last != nullptr) std::swap(next, last->next);
    last = this;
}

backlog_item& backlog_item::take_first(backlog_item*& last) noexcept {
    auto& first = static_cast<backlog_item&>(*last->next);
    last->next = first.next;
    if (&first == last) last = nullptr;
    return first;
}

void backlog_item::run(work& item) noexcept {
    auto* top = static_cast<backlog_item*>(&item);
    top->queued_ = false;
    loop& home = *top->env_->loop;
    const executor_ref executor = top->env_->executor;
    age so_far = top->age_;
    do {
        top = top->act_in(home, executor);
        if (top == nullptr) return;
        top->place_ = nullptr;
    } while (++so_far.in_a_row < items_in_a_row_max && executor.refers_to(&home) &&
             home.begin_another());
    top->take_turns(so_far, executor, home);
}

// What it puts off comes before what is beside and below it, and all of that is one backlog again afterwards,
// whose top is returned.
backlog_item* backlog_item::act_in(loop& home, executor_ref executor) noexcept {
    backlog& here = home.backlog();
    backlog_item* first = nullptr;
    backlog_item* rest = std::exchange(below_, nullptr);
    backlog_item* last = std::exchange(last_, nullptr);
    if (rest != nullptr) rest->place_ = &rest;
    here.end_ = &first;
    here.row_ = nullptr;
    here.executor_ = executor;

    act_(*this);  // From here on it may be gone.
    while (last != nullptr) {
        backlog_item& next = take_first(last);
        if (first != nullptr || !home.begin_another()) {
            next.last_ = last;
            next.put_off();
            break;
        }
        next.act_(next);
    }

    if (rest != nullptr) rest->link(here.end_);
    here.end_ = nullptr;
    return first;
}

void backlog_item::take_turns(age so_far, executor_ref executor, loop& home) noexcept {
    if (so_far.in_a_row < items_in_a_row_max && home.may_go_on() && executor.refers_to(&home)) {
        return queue_first(so_far);
    }
    so_far.in_a_row = 0;
    backlog_item* lower = nullptr;
    if (++so_far.rounds >= so_far.patience) {
        lower = part();
        so_far.rounds = 0;
        so_far.patience = std::min<std::uint16_t>(2 * so_far.patience, patience_max);
    }
    queue_last(so_far);
    if (lower != nullptr) lower->queue_last(so_far);
}

// The lower half, or null if there is but one.
backlog_item* backlog_item::part() noexcept {
    backlog_item* middle = this;
    for (const backlog_item* end = below_; end != nullptr && end->below_ != nullptr;
         end = end->below_->below_) {
        middle = middle->below_;
    }
    return std::exchange(middle->below_, nullptr);
}

// For frames that are destroyed. The one below a top that is queued takes its place.
void backlog_item::withdraw() noexcept {
    backlog& in = env_->loop->backlog();
    if (in.end_ == &below_) in.end_ = place_;
    if (queued_) env_->executor.retract(*this);
    if (place_ != nullptr) *place_ = below_;
    if (below_ == nullptr) return;
    if (place_ != nullptr) below_->place_ = place_;
    else below_->queue_last(age_);
}

}  // namespace gyre
