// SPDX-License-Identifier: BSL-1.0
//
// Time that passes when nothing else can: see virtual_time.hpp.
#include <test/virtual_time.hpp>

#include <gyre/coro/task_dump.hpp>
#include <test/virtual_backend.hpp>
#include <test/virtual_network.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace gyre::test {
namespace {

std::uint64_t chosen_seed(std::uint64_t seed) noexcept {
    if (seed != 0) return seed;
    const char* const text = std::getenv("GYRE_TEST_SEED");
    const std::uint64_t said = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    return said != 0 ? said : 1;
}

}  // namespace

const char* describe(ending how) noexcept {
    switch (how) {
        case ending::ended: return "ended";
        case ending::hung: return "nothing can go on, and no timer is set";
        case ending::spun: return "it goes on and on, and no time passes";
        case ending::endless: return "it goes on and on, beyond steps_of_a_run_max";
        case ending::time_is_up: return "the limit has passed";
    }
    return "unknown";
}

std::uint64_t dice::draw() noexcept {
    std::uint64_t bits = state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

bool dice::chance(double share) noexcept {
    if (share <= 0) return false;  // Without a draw: what is left out does not change the rest.
    constexpr double span = static_cast<double>(std::uint64_t{1} << 53);
    return static_cast<double>(draw() >> 11) / span < share;
}

virtual_time::virtual_time(const world_options& options)
    : options_{options},
      dice_{chosen_seed(options.seed)},
      network_{std::make_unique<virtual_network>(*this)} {
    options_.seed = chosen_seed(options.seed);
}

virtual_time::~virtual_time() = default;

void virtual_time::after(duration wait, std::function<void()> happen) {
    if (wait <= duration::zero()) return happen();
    at(deadline_after(now_, wait), std::move(happen));
}

void virtual_time::at(time_point when, std::function<void()> happen) {
    const std::uint64_t tie = options_.shuffled ? dice_.draw() : 0;
    events_.emplace(moment{std::max(when, now_), tie, ++planned_}, std::move(happen));
}

void virtual_time::run_events() {
    while (!events_.empty() && events_.begin()->first.when <= now_) {
        const auto next = events_.extract(events_.begin());
        next.mapped()();
    }
}

void virtual_time::add(virtual_backend& loop) { loops_.push_back(&loop); }

void virtual_time::remove(virtual_backend& loop) noexcept { std::erase(loops_, &loop); }

bool virtual_time::run_ready() {
    run_events();
    std::vector<virtual_backend*> due;
    for (virtual_backend* const each : loops_) {
        if (each->due()) due.push_back(each);
    }
    if (options_.shuffled) dice_.shuffle(due);
    for (virtual_backend* const each : due) {
        if (std::ranges::find(loops_, each) != loops_.end()) each->poll();
    }
    if (!due.empty()) ++polls_at_moment_;
    return !due.empty();
}

time_point virtual_time::next_moment() noexcept {
    time_point next = events_.empty() ? never : events_.begin()->first.when;
    for (virtual_backend* const each : loops_) next = std::min(next, each->next_timer());
    return next;
}

void virtual_time::advance_to(time_point when) noexcept {
    if (when <= now_) return;
    now_ = when;
    polls_at_moment_ = 0;
}

void virtual_time::note_post() noexcept {
    const std::lock_guard lock{mutex_};
    posted_ = true;
    posts_.notify_one();
}

bool virtual_time::hear_from_threads() noexcept {
    const time_point until =
        deadline_after(std::chrono::steady_clock::now(), options_.patience_for_threads);
    std::unique_lock lock{mutex_};
    posts_.wait_until(lock, until, [this] { return posted_; });
    return std::exchange(posted_, false);
}

std::string virtual_time::dump() {
    std::string text;
    for (virtual_backend* const each : loops_) {
        text += "on " + each->name() + ":\n" + dump_tasks(each->loop());
    }
    return text;
}

}  // namespace gyre::test
