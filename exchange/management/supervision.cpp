// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/supervision.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

std::string_view describe(child_state state) noexcept {
    switch (state) {
        case child_state::waiting: return "waiting";
        case child_state::starting: return "starting";
        case child_state::ready: return "ready";
        case child_state::backing_off: return "backing_off";
        case child_state::draining: return "draining";
        case child_state::ended: return "ended";
    }
    return "unknown";
}

supervision::supervision(const std::vector<supervised_child>& children)
    : how_{children}, children_(children.size()) {}

void supervision::enter(std::size_t which, child_state state, gyre::time_point now,
                        gyre::time_point due) {
    child& it = children_[which];
    it.state = state;
    it.since = now;
    it.due = due;
}

void supervision::begin(gyre::time_point now) { start_those_that_can(now); }

void supervision::start(std::size_t which, gyre::time_point now) {
    child& it = children_[which];
    it.generation = ++it.starts;
    it.killed = false;
    enter(which, child_state::starting, now, gyre::deadline_after(now, how_[which].ready_within));
    orders_.push_back({which, it.generation, child_action::start});
}

void supervision::start_those_that_can(gyre::time_point now) {
    const auto is_ready = [this](std::size_t it) {
        return children_[it].state == child_state::ready;
    };
    for (std::size_t each = 0; each < children_.size(); ++each)
        if (children_[each].state == child_state::waiting &&
            std::ranges::all_of(how_[each].after, is_ready))
            start(each, now);
}

void supervision::on_ready(std::size_t which, unsigned generation, gyre::time_point now) {
    child& it = children_[which];
    if (generation == it.next.generation && !it.next.killed && !draining_)
        return take_place(which, now);
    if (generation != it.generation || it.state != child_state::starting || it.killed) return;
    enter(which, child_state::ready, now, gyre::never);
    if (!draining_) start_those_that_can(now);
}

/// The next generation is the child from here on.
void supervision::take_place(std::size_t which, gyre::time_point now) {
    child& it = children_[which];
    it.before = {it.generation, it.killed, gyre::deadline_after(now, how_[which].drain_within)};
    orders_.push_back({which, it.generation, child_action::ask_to_end});
    it.generation = it.next.generation;
    it.next = {};
    it.killed = false;
    enter(which, child_state::ready, now, gyre::never);
}

supervision::end_of supervision::on_ended(std::size_t which, unsigned generation,
                                          gyre::time_point now) {
    child& it = children_[which];
    if (generation == it.before.generation || generation == it.next.generation) {
        const bool was_next = generation == it.next.generation;
        auto& its = was_next ? it.next : it.before;
        its = {};
        if (draining_) ask_those_that_can(now);
        return was_next ? end_of::replacement : end_of::replaced;
    }
    if (draining_) {
        enter(which, child_state::ended, now, gyre::never);
        ask_those_that_can(now);
    } else if (it.next.generation != 0) {
        // Another one is on its way already, and is given the rest of its time.
        it.generation = it.next.generation;
        it.killed = it.next.killed;
        enter(which, child_state::starting, now, it.next.due);
        it.next = {};
    } else if (it.state == child_state::draining) {
        start(which, now);  // It was asked to, alone.
    } else {
        on_failure(which, now);
    }
    return end_of::child;
}

void supervision::on_failure(std::size_t which, gyre::time_point now) {
    child& it = children_[which];
    const supervised_child& how = how_[which];
    const bool was_healthy = it.state == child_state::ready && now - it.since >= how.healthy_after;
    it.failures = was_healthy ? 1 : it.failures + 1;
    if (it.failures > how.failures_max) {
        gave_up_ = which;
        enter(which, child_state::ended, now, gyre::never);
        return drain(now);
    }
    gyre::duration pause = how.restart_after;
    for (unsigned each = 1; each < it.failures && pause < how.restart_after_max; ++each) pause *= 2;
    pause = std::min(pause, how.restart_after_max);
    enter(which, child_state::backing_off, now, gyre::deadline_after(now, pause));
}

void supervision::on_timer(gyre::time_point now) {
    for (std::size_t each = 0; each < children_.size(); ++each) {
        kill_late(each, children_[each].next, now);
        kill_late(each, children_[each].before, now);
        if (now < children_[each].due) continue;
        children_[each].due = gyre::never;
        if (children_[each].state == child_state::backing_off) start(each, now);
        else if (is_running(children_[each].state)) kill(each);
    }
}

void supervision::kill(std::size_t which) {
    if (std::exchange(children_[which].killed, true)) return;
    children_[which].due = gyre::never;
    orders_.push_back({which, children_[which].generation, child_action::kill});
}

void supervision::kill(std::size_t which, second& beside) {
    beside.due = gyre::never;
    if (beside.generation == 0 || std::exchange(beside.killed, true)) return;
    orders_.push_back({which, beside.generation, child_action::kill});
}

void supervision::kill_late(std::size_t which, second& beside, gyre::time_point now) {
    if (now >= beside.due) kill(which, beside);
}

void supervision::ask_to_end(std::size_t which, gyre::time_point now) {
    enter(which, child_state::draining, now, gyre::deadline_after(now, how_[which].drain_within));
    orders_.push_back({which, children_[which].generation, child_action::ask_to_end});
}

void supervision::drain(gyre::time_point now) {
    if (std::exchange(draining_, true)) return;
    for (std::size_t each = 0; each < children_.size(); ++each) {
        kill(each, children_[each].next);  // It serves no client yet.
        if (!is_running(children_[each].state)) enter(each, child_state::ended, now, gyre::never);
    }
    ask_those_that_can(now);
}

// Each when all that stand behind it have ended.
void supervision::ask_those_that_can(gyre::time_point now) {
    for (std::size_t each = children_.size(); each-- > 0;) {
        const child_state state = children_[each].state;
        if (state != child_state::starting && state != child_state::ready) continue;
        bool needed = false;
        for (std::size_t other = each + 1; other < children_.size(); ++other)
            needed = needed ||
                     (lives(children_[other]) && std::ranges::count(how_[other].after, each) > 0);
        if (!needed) ask_to_end(each, now);
    }
}

void supervision::kill(gyre::time_point now) {
    drain(now);
    for (std::size_t each = 0; each < children_.size(); ++each) {
        kill(each, children_[each].before);
        if (is_running(children_[each].state)) kill(each);
    }
}

bool supervision::restart(std::size_t which, gyre::time_point now) {
    const child& it = children_[which];
    if (draining_ || it.state != child_state::ready || it.next.generation != 0) return false;
    ask_to_end(which, now);
    return true;
}

bool supervision::replace(std::size_t which, gyre::time_point now) {
    child& it = children_[which];
    const bool alone = it.next.generation == 0 && it.before.generation == 0;
    if (draining_ || it.state != child_state::ready || !alone) return false;
    it.next = {++it.starts, false, gyre::deadline_after(now, how_[which].ready_within)};
    orders_.push_back({which, it.next.generation, child_action::start});
    return true;
}

std::vector<supervision::order> supervision::take_orders() { return std::exchange(orders_, {}); }

gyre::time_point supervision::deadline() const noexcept {
    gyre::time_point first = gyre::never;
    for (const child& each : children_)
        first = std::min({first, each.due, each.next.due, each.before.due});
    return first;
}

bool supervision::ready() const noexcept {
    return std::ranges::all_of(children_,
                               [](const child& it) { return it.state == child_state::ready; });
}

bool supervision::over() const noexcept {
    return draining_ && std::ranges::none_of(children_, &supervision::lives);
}

}  // namespace exchange
