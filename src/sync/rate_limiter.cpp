// SPDX-License-Identifier: BSL-1.0
//
// Filling the bucket and serving from it: see include/gyre/sync/rate_limiter.hpp.
#include <gyre/sync/rate_limiter.hpp>

#include <limits>

namespace gyre {

rate_limiter::rate_limiter(loop& on, const rate_limit& limit) noexcept
    : timer{[](timer& it) noexcept { static_cast<rate_limiter&>(it).serve(); }},
      on_{on},
      gain_{limit.tokens},
      price_{static_cast<std::uint64_t>(limit.per.count())},
      burst_{limit.burst},
      credit_{burst_ * price_},
      filled_{on.read_clock()} {
    constexpr std::uint64_t units_max = std::numeric_limits<std::int64_t>::max();
    expects(limit.tokens > 0 && limit.per > duration::zero() && limit.burst > 0,
            "a rate is some tokens in some time, and at least one of them at once");
    expects(burst_ <= units_max / price_ && gain_ <= units_max,
            "the rate or the burst is too large to be counted exactly");
}

rate_limiter::~rate_limiter() {
    if (timer::armed()) on_.disarm(*this);
}

bool rate_limiter::try_acquire(std::uint64_t tokens) noexcept {
    return waiting_.empty() && tokens <= burst_ && take(tokens);
}

std::uint64_t rate_limiter::available() noexcept {
    refill();
    return credit_ / price_;
}

bool rate_limiter::take(std::uint64_t tokens) noexcept {
    refill();
    if (credit_ < tokens * price_) return false;
    credit_ -= tokens * price_;
    return true;
}

void rate_limiter::refill() noexcept {
    const time_point now = on_.read_clock();
    const auto passed = static_cast<std::uint64_t>(time_left(now, filled_).count());
    const std::uint64_t missing = burst_ * price_ - credit_;
    // Compared first, so that the product cannot overflow.
    credit_ += passed > missing / gain_ ? missing : passed * gain_;
    filled_ = now;
}

void rate_limiter::serve() noexcept {
    while (!waiting_.empty()) {
        const std::uint64_t wanted = static_cast<acquire_awaiter&>(waiting_.front()).tokens_;
        if (!take(wanted)) {
            const std::uint64_t missing = wanted * price_ - credit_;
            const std::uint64_t wait = (missing + gain_ - 1) / gain_;
            return on_.arm(*this, deadline_after(filled_, duration{wait}));
        }
        waiting_.wake_one();
    }
    on_.disarm(*this);
}

// Whoever comes next may want less, and have it sooner.
rate_limiter::acquire_awaiter::~acquire_awaiter() {
    if (leave_queue()) of_.serve();
}

void rate_limiter::acquire_awaiter::request(stop_level level) noexcept {
    waiter::request(level);
    of_.serve();
}

bool rate_limiter::acquire_awaiter::await_suspend(std::coroutine_handle<> handle,
                                                  const environment* given) noexcept {
    expects(given->loop == &of_.on_, "tokens are waited for on the loop of their limiter");
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (tokens_ > of_.burst_) return go_on(handle, *given, errc::limit_exceeded);
    if (of_.try_acquire(tokens_)) return go_on(handle, *given);
    const bool suspended = wait_in(of_.waiting_, handle, *given);
    of_.serve();
    return suspended;
}

}  // namespace gyre
