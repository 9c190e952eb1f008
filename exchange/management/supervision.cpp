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
    ++children_[which].starts;
    children_[which].killed = false;
    enter(which, child_state::starting, now, gyre::deadline_after(now, how_[which].ready_within));
    orders_.push_back({which, child_action::start});
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

void supervision::on_ready(std::size_t which, gyre::time_point now) {
    if (children_[which].state != child_state::starting || children_[which].killed) return;
    enter(which, child_state::ready, now, gyre::never);
    if (!draining_) start_those_that_can(now);
}

void supervision::on_ended(std::size_t which, gyre::time_point now) {
    child& it = children_[which];
    if (draining_) {
        enter(which, child_state::ended, now, gyre::never);
        return ask_those_that_can(now);
    }
    if (it.state == child_state::draining) return start(which, now);  // It was asked to, alone.
    on_failure(which, now);
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
        if (now < children_[each].due) continue;
        children_[each].due = gyre::never;
        if (children_[each].state == child_state::backing_off) start(each, now);
        else if (is_running(children_[each].state)) kill(each);
    }
}

void supervision::kill(std::size_t which) {
    if (std::exchange(children_[which].killed, true)) return;
    children_[which].due = gyre::never;
    orders_.push_back({which, child_action::kill});
}

void supervision::ask_to_end(std::size_t which, gyre::time_point now) {
    enter(which, child_state::draining, now, gyre::deadline_after(now, how_[which].drain_within));
    orders_.push_back({which, child_action::ask_to_end});
}

void supervision::drain(gyre::time_point now) {
    if (std::exchange(draining_, true)) return;
    for (std::size_t each = 0; each < children_.size(); ++each)
        if (!is_running(children_[each].state)) enter(each, child_state::ended, now, gyre::never);
    ask_those_that_can(now);
}

// Each when all that stand behind it have ended.
void supervision::ask_those_that_can(gyre::time_point now) {
    for (std::size_t each = children_.size(); each-- > 0;) {
        const child_state state = children_[each].state;
        if (state != child_state::starting && state != child_state::ready) continue;
        bool needed = false;
        for (std::size_t other = each + 1; other < children_.size(); ++other)
            needed = needed || (children_[other].state != child_state::ended &&
                                std::ranges::count(how_[other].after, each) > 0);
        if (!needed) ask_to_end(each, now);
    }
}

void supervision::kill(gyre::time_point now) {
    drain(now);
    for (std::size_t each = 0; each < children_.size(); ++each)
        if (is_running(children_[each].state)) kill(each);
}

bool supervision::restart(std::size_t which, gyre::time_point now) {
    if (draining_ || children_[which].state != child_state::ready) return false;
    ask_to_end(which, now);
    return true;
}

std::vector<supervision::order> supervision::take_orders() { return std::exchange(orders_, {}); }

gyre::time_point supervision::deadline() const noexcept {
    gyre::time_point first = gyre::never;
    for (const child& each : children_) first = std::min(first, each.due);
    return first;
}

bool supervision::ready() const noexcept {
    return std::ranges::all_of(children_,
                               [](const child& it) { return it.state == child_state::ready; });
}

bool supervision::over() const noexcept {
    return draining_ && std::ranges::all_of(children_, [](const child& it) {
               return it.state == child_state::ended;
           });
}

}  // namespace exchange
