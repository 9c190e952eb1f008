// SPDX-License-Identifier: BSL-1.0
//
// A loop that does nothing by itself: its test says when it runs and what time it is.
//
// io_context would do for most tests of this layer, but it has a kernel below and a clock that moves;
// here each step is the test's own. One thread only.
#pragma once

#include <gyre/coro/environment.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace gyre::testing {

class manual_loop final : public loop {
public:
    manual_loop() noexcept {
        now_ = time_point{std::chrono::hours{1}};
        begin_item();  // What a test begins by itself has a share as well.
    }

    [[nodiscard]] time_point read_clock() noexcept override { return now_; }
    void post(work& item) noexcept override { ready_.push(item); }
    void retract(work& item) noexcept override { ready_.remove(item); }

    void arm(timer& t, time_point deadline) noexcept override {
        if (!t.armed()) armed_.push_back(&t);
        t.position = 0;
        t.deadline = deadline;
    }
    void disarm(timer& t) noexcept override {
        std::erase(armed_, &t);
        t.position = timer::idle;
    }
    [[nodiscard]] loop& home() noexcept { return *this; }

    /// Runs what is ready, and what that makes ready. Returns how many items ran.
    std::size_t run(std::size_t items_max = std::numeric_limits<std::size_t>::max()) noexcept {
        constexpr std::size_t planned_max = 64;
        budget_ = units_per_run;
        std::size_t ran = 0;
        while (ran < items_max && !ready_.empty()) {
            const std::size_t planned = std::min(items_max - ran, planned_max);
            items_left_ = static_cast<int>(planned);
            begin_item();
            work& item = ready_.pop();
            item.run(item);
            ran += 1 + planned - static_cast<std::size_t>(items_left_);
        }
        return ran;
    }

    /// Lets `passed` pass, as within an item that takes long: no timer fires before the next `advance`.
    void let_pass(duration passed) noexcept { now_ += passed; }

    /// Lets `passed` pass, fires what is due in the order of deadlines, and runs what that made ready.
    void advance(duration passed) {
        now_ += passed;
        for (;;) {
            const auto earlier = [](timer* a, timer* b) { return a->deadline < b->deadline; };
            const auto next = std::min_element(armed_.begin(), armed_.end(), earlier);
            if (next == armed_.end() || (*next)->deadline > now_) break;
            timer& due = **next;
            disarm(due);
            due.fired(due);
        }
        run();
    }

    [[nodiscard]] bool idle() const noexcept { return ready_.empty(); }
    [[nodiscard]] std::size_t timers() const noexcept { return armed_.size(); }

    int units_per_run = 1000;  ///< What `spend` takes from.

private:
    [[nodiscard]] bool runs_elsewhere() const noexcept override { return false; }

    std::vector<timer*> armed_;
};

}  // namespace gyre::testing
