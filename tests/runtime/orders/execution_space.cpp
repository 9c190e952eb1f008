// SPDX-License-Identifier: BSL-1.0
//
// The model of memory and the search through executions: see execution_space.hpp.
//
// Orders that differ only in steps that commute are taken once, by sleep sets (Godefroid 1996): what was
// tried first in a place is not tried again after another step, until something happens that it depends on.
#include <runtime/orders/execution_space.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

namespace gyre::testing {
namespace {

[[nodiscard]] bool acquires(std::memory_order order) noexcept {
    return order != std::memory_order_relaxed && order != std::memory_order_release;
}
[[nodiscard]] bool releases(std::memory_order order) noexcept {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}
[[nodiscard]] bool is_ordered(std::memory_order order) noexcept {
    return order == std::memory_order_seq_cst;
}
[[nodiscard]] constexpr unsigned bit(unsigned thread) noexcept { return 1U << thread; }

void check(bool holds, const char* otherwise) {
    if (holds) return;
    std::fprintf(stderr, "execution_space: %s\n", otherwise);
    std::abort();
}

}  // namespace

void execution_space::knowledge::add(const knowledge& other) noexcept {
    for (std::size_t each = 0; each < seen.size(); ++each) {
        seen[each] = std::max(seen[each], other.seen[each]);
    }
    for (std::size_t each = 0; each < happened.size(); ++each) {
        happened[each] = std::max(happened[each], other.happened[each]);
    }
    releases |= other.releases;
}

bool execution_space::commute(const access& one, const access& other) noexcept {
    if (one.at != other.at) return true;
    return !one.changes && !other.changes && !(one.is_ordered && other.is_ordered);
}

// An execution

void execution_space::begin_execution() {
    const unobserved here;
    for (unsigned each = 0; each < cells_used_; ++each) {
        cells_[each].history.clear();
        cells_[each].at = nullptr;
        cells_[each].ended = false;
        cells_[each].ordered = 0;
        cells_[each].accessed = {};
    }
    cells_used_ = releases_used_ = 0;
    threads_ = {};
    depth_ = 0;
    asleep_ = 0;
    alone_ = outside;
    gives_up_ = repeats_ = false;
    events_.clear();
}

void execution_space::run_threads(body run, void* of) {
    tell_release(&tokens_);
    const unobserved here;
    run_ = run;
    of_ = of;
    for (unsigned each = 0; each < size_; ++each) {
        fibers_[each].begin(
            [](void* space) { static_cast<execution_space*>(space)->run_this_thread(); }, this);
    }
    // Up to its first step each thread touches nothing that is shared.
    for (unsigned each = 0; each < size_; ++each) {
        if (threads_[each].next.at == nullptr && threads_[each].now == state::ready) pass_to(each);
    }
    const bool any_left = std::any_of(threads_.begin(), threads_.begin() + size_,
                                      [](auto& each) { return each.now != state::finished; });
    if (any_left) pass_to(choose_thread());
    for (unsigned each = 0; each < size_; ++each) tell_acquire(&threads_[each]);
}

// On the stack of the thread, which is left for good at the end.
void execution_space::run_this_thread() {
    const unsigned thread = running_;
    tell_acquire(&tokens_);
    run_(of_, thread);
    tell_release(&threads_[thread]);
    unsigned next = outside;
    {
        const unobserved here;
        self().now = state::finished;
        self().next = {};
        bool all_ended = true;
        bool all_began = true;
        for (unsigned each = 0; each < size_; ++each) {
            const bool ended = threads_[each].now == state::finished;
            all_ended = all_ended && ended;
            all_began = all_began && (ended || threads_[each].next.at != nullptr);
        }
        if (all_began && !all_ended) next = choose_thread();
    }
    pass_to(next);
}

bool execution_space::end_execution() {
    const unobserved here;
    ++(repeats_ ? found_.abandoned : found_.orders);
    found_.steps_max = std::max(found_.steps_max, events_.size());
    path_.resize(std::min(path_.size(), depth_));
    const bool goes_on = found_.wrong.empty() && next_path();
    found_.all = !goes_on && found_.wrong.empty();
    return goes_on;
}

bool execution_space::next_path() {
    for (; !path_.empty(); path_.pop_back()) {
        choice& last = path_.back();
        if (last.count != 0) {
            if (++last.chosen < last.count) return true;
            continue;
        }
        last.tried |= bit(last.chosen);
        const unsigned left = last.open & ~last.tried;
        if (left == 0) continue;
        last.chosen = static_cast<unsigned>(std::countr_zero(left));
        return true;
    }
    return false;
}

// Choices

unsigned execution_space::choose_value(unsigned count) {
    if (count == 1 || repeats_ || alone_ == running_) return 0;
    if (depth_ == path_.size()) path_.push_back({.chosen = 0, .count = count});
    return path_[depth_++].chosen;
}

unsigned execution_space::choose_thread() {
    unsigned left = 0;
    unsigned at_work = 0;
    for (unsigned each = 0; each < size_; ++each) {
        if (threads_[each].now == state::finished) continue;
        left |= bit(each);
        if (threads_[each].now == state::ready) at_work |= bit(each);
    }
    if (at_work == 0) return choose_when_all_wait();
    // What looks in vain is as if it had not looked yet; so once this run is one too many, it does not.
    return repeats_ ? static_cast<unsigned>(std::countr_zero(at_work)) : choose_among(left);
}

unsigned execution_space::choose_among(unsigned ready) {
    const unsigned open = ready & ~asleep_;
    if (open == 0) {
        abandon();
        return choose_thread();
    }
    unsigned tried = 0;
    unsigned chosen = static_cast<unsigned>(std::countr_zero(open));
    if ((open & (open - 1)) != 0) {
        if (depth_ == path_.size()) path_.push_back({.chosen = chosen, .open = open});
        chosen = path_[depth_].chosen;
        tried = path_[depth_].tried;
        ++depth_;
    }
    unsigned asleep = 0;
    for (unsigned each = 0; each < size_; ++each) {
        if (each == chosen || ((asleep_ | tried) & bit(each)) == 0) continue;
        if (commute(threads_[each].next, threads_[chosen].next)) asleep |= bit(each);
    }
    asleep_ = asleep;
    return chosen;
}

// They look one after the other at what is there now; if none is content, none ever will be.
unsigned execution_space::choose_when_all_wait() noexcept {
    for (unsigned each = 0; each < size_; ++each) {
        if (threads_[each].now == state::waiting) return alone_ = each;
    }
    gives_up_ = true;
    for (unsigned each = 0; each < size_; ++each) {
        if (threads_[each].now == state::stuck) return alone_ = each;
    }
    check(false, "no thread is left");
    return outside;
}

[[gnu::no_sanitize_thread]] void execution_space::pass_to(unsigned thread) noexcept {
    const unsigned from = running_;
    if (from == thread) return;
    running_ = thread;
    fiber::pass(fibers_[from], fibers_[thread]);
}

void execution_space::begin_look() noexcept {
    const unobserved here;
    if (self().now != state::stuck) self().now = state::waiting;
    self().looks = true;
}

execution_space::look execution_space::end_look(bool is_over) noexcept {
    const unobserved here;
    const bool was_alone = alone_ == running_;
    if (was_alone) alone_ = outside;
    self().looks = false;
    if (was_alone && !is_over && !gives_up_) {
        self().now = state::stuck;
        return look::again;
    }
    self().now = state::ready;
    if (is_over || gives_up_) {
        if (was_alone) asleep_ = 0;
        for (explored_thread& each : threads_) {
            if (each.now == state::stuck) each.now = state::waiting;
        }
        gives_up_ = false;
        return is_over ? look::is_over : look::is_useless;
    }
    abandon();
    return look::again;
}

void execution_space::fail(const char* what) {
    const unobserved here;
    if (!found_.wrong.empty()) return;
    found_.wrong = what;
    found_.wrong += ", after";
    for (const event& each : events_) {
        found_.wrong += "\n  thread " + std::to_string(each.thread) + " " + each.what + " " +
                        std::to_string(each.cell) + ": " + std::to_string(each.value);
    }
}

void execution_space::record(const char* what, const cell& it, std::uint64_t value) {
    check(events_.size() < steps_max, "an execution has no end");
    events_.push_back({running_, what, number_of(it), value});
}

// Memory

execution_space::cell& execution_space::cell_of(const void* at, std::uint64_t initial) {
    for (unsigned each = cells_used_; each-- > 0;) {
        if (cells_[each].at == at && !cells_[each].ended) return cells_[each];
    }
    check(cells_used_ < atomics_max, "too many atomics");
    cell& fresh = cells_[cells_used_++];
    fresh.at = at;
    fresh.history.push_back({.value = initial, .told = {}});
    return fresh;
}

// The next step of the thread that runs: it takes place when it is chosen.
execution_space::cell& execution_space::reach(const void* at, std::uint64_t initial, bool changes,
                                              bool is_ordered) {
    cell& it = cell_of(at, initial);
    self().next = {at, changes, is_ordered};
    const bool is_first = events_.empty() && self().knows.happened[running_] == 0;
    if (is_first) {
        ++self().knows.happened[running_];
        pass_to(outside);
    } else if (alone_ != running_) {
        pass_to(choose_thread());
    }
    if (self().looks && self().now == state::waiting) self().now = state::ready;
    if (it.ended) fail("an atomic is used after its end");
    it.accessed[running_] = ++self().knows.happened[running_];
    return it;
}

std::size_t execution_space::oldest_seen(const cell& it, std::memory_order order) const noexcept {
    const std::size_t known = threads_[running_].knows.seen[number_of(it)];
    return is_ordered(order) ? std::max(known, it.ordered) : known;
}

std::uint64_t execution_space::read(cell& it, std::size_t place, std::memory_order order) {
    const message& from = it.history[place];
    knowledge& knows = self().knows;
    if (acquires(order)) {
        for (std::uint64_t left = from.told.releases; left != 0; left &= left - 1) {
            tell_acquire(&tokens_[static_cast<std::size_t>(std::countr_zero(left))]);
        }
        knows.add(from.told);
    }
    std::uint8_t& seen = knows.seen[number_of(it)];
    seen = std::max(seen, static_cast<std::uint8_t>(place));
    if (is_ordered(order)) it.ordered = std::max(it.ordered, place);
    return from.value;
}

void execution_space::write(cell& it, std::uint64_t value, std::memory_order order,
                            const message* continues) {
    const std::size_t place = it.history.size();
    check(place < 256, "an atomic changes too often");
    knowledge& knows = self().knows;
    knows.seen[number_of(it)] = static_cast<std::uint8_t>(place);
    message next{.value = value, .told = continues != nullptr ? continues->told : knowledge{}};
    if (releases(order)) {
        check(releases_used_ < tokens_.size(), "too many releases");
        tell_release(&tokens_[releases_used_]);
        knows.releases |= std::uint64_t{1} << releases_used_++;
        next.told.add(knows);
    }
    it.history.push_back(next);
    if (is_ordered(order)) it.ordered = place;
}

std::uint64_t execution_space::load(const void* at, std::uint64_t initial,
                                    std::memory_order order) {
    const unobserved here;
    cell& it = reach(at, initial, false, is_ordered(order));
    const std::size_t oldest = oldest_seen(it, order);
    const std::size_t newest = it.history.size() - 1;
    const std::size_t age = choose_value(static_cast<unsigned>(newest - oldest + 1));
    const std::uint64_t value = read(it, newest - age, order);
    record(age == 0 ? "reads" : "reads an old", it, value);
    return value;
}

void execution_space::store(const void* at, std::uint64_t initial, std::uint64_t next,
                            std::memory_order order) {
    const unobserved here;
    cell& it = reach(at, initial, true, is_ordered(order));
    write(it, next, order, nullptr);
    record("writes", it, next);
}

std::uint64_t execution_space::last(const void* at, std::uint64_t initial,
                                    std::memory_order order) {
    const unobserved here;
    cell& it = reach(at, initial, true, is_ordered(order));
    return read(it, it.history.size() - 1, order);
}

void execution_space::replace_last(const void* at, std::uint64_t next, std::memory_order order) {
    const unobserved here;
    cell& it = cell_of(at, next);
    const message before = it.history.back();
    write(it, next, order, &before);
    record("changes", it, next);
}

bool execution_space::compare_exchange(const void* at, std::uint64_t initial,
                                       std::uint64_t& expected, std::uint64_t next,
                                       std::memory_order success, std::memory_order failure) {
    const unobserved here;
    cell& it = reach(at, initial, true, is_ordered(success) || is_ordered(failure));
    const std::size_t newest = it.history.size() - 1;
    const bool may_succeed = it.history.back().value == expected;
    std::array<std::size_t, 256> others{};
    unsigned count = 0;
    for (std::size_t each = newest + 1; each-- > oldest_seen(it, failure);) {
        if (it.history[each].value != expected) others[count++] = each;
    }
    const unsigned chosen = choose_value(count + (may_succeed ? 1 : 0));
    if (may_succeed && chosen == 0) {
        static_cast<void>(read(it, newest, success));
        const message before = it.history.back();
        write(it, next, success, &before);
        record("changes", it, next);
        return true;
    }
    expected = read(it, others[chosen - (may_succeed ? 1 : 0)], failure);
    record("leaves", it, expected);
    return false;
}

void execution_space::end(const void* at, std::uint64_t initial) {
    const unobserved here;
    cell& it = reach(at, initial, true, false);
    for (unsigned each = 0; each < size_; ++each) {
        if (it.accessed[each] > self().knows.happened[each])
            fail("an atomic is destroyed while another thread may use it");
    }
    it.ended = true;
    record("ends", it, 0);
}

}  // namespace gyre::testing
