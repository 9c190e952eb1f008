// SPDX-License-Identifier: BSL-1.0
//
// Filling the bucket and serving from it: see include/gyre/sync/rate_limiter.hpp.
#include <gyre/sync/rate_limiter.hpp>

namespace gyre {

rate_limiter::rate_limiter(loop& on, const rate_limit& limit) noexcept
    : timer{[](timer& it) noexcept { static_cast<rate_limiter&>(it).serve(); }},
      on_{on},
      rate_{limit},
      bucket_{rate_, on.read_clock()} {}

rate_limiter::~rate_limiter() {
    if (timer::armed()) on_.disarm(*this);
}

bool rate_limiter::try_acquire(std::uint64_t tokens) noexcept {
    return waiting_.empty() && tokens <= rate_.burst() &&
           bucket_.take(rate_, on_.read_clock(), tokens);
}

std::uint64_t rate_limiter::available() noexcept {
    bucket_.refill(rate_, on_.read_clock());
    return bucket_.available(rate_);
}

void rate_limiter::serve() noexcept {
    while (!waiting_.empty()) {
        const std::uint64_t wanted = static_cast<acquire_awaiter&>(waiting_.front()).tokens_;
        if (!bucket_.take(rate_, on_.read_clock(), wanted)) {
            return on_.arm(*this, bucket_.ready_at(rate_, wanted));
        }
        waiting_.wake_one();
    }
    on_.disarm(*this);
}

// The next caller may want less, and have it sooner.
rate_limiter::acquire_awaiter::~acquire_awaiter() {
    const wait_state was = abandon();
    if (was == wait_state::woken) of_.bucket_.give_back(of_.rate_, tokens_);
    if (was != wait_state::none) of_.serve();
}

void rate_limiter::acquire_awaiter::request(stop_level level) noexcept {
    waiter::request(level);
    of_.serve();
}

bool rate_limiter::acquire_awaiter::await_suspend(std::coroutine_handle<> handle,
                                                  const environment* given) noexcept {
    expects(given->loop == &of_.on_, "tokens are waited for on the loop of their limiter");
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (tokens_ > of_.rate_.burst()) return go_on(handle, *given, errc::limit_exceeded);
    if (of_.try_acquire(tokens_)) return go_on(handle, *given);
    const bool suspended = wait_in(of_.waiting_, handle, *given);
    of_.serve();
    return suspended;
}

}  // namespace gyre
