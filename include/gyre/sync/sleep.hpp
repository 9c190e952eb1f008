// SPDX-License-Identifier: BSL-1.0
//
// Letting time pass, by the loop's clock.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/sync/waiters.hpp>

namespace gyre {

/// Waits for a moment; made by `sleep_for` and `sleep_until`.
class [[nodiscard]] sleep_awaiter final : public stop_target, private timer {
public:
    struct span {
        duration wait;
    };

    explicit sleep_awaiter(time_point until) noexcept : timer{&on_time}, until_{until} {}
    explicit sleep_awaiter(span length) noexcept
        : timer{&on_time}, wait_{length.wait}, relative_{true} {}
    sleep_awaiter(sleep_awaiter&& other) noexcept
        : timer{&on_time}, until_{other.until_}, wait_{other.wait_}, relative_{other.relative_} {}
    ~sleep_awaiter();

    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override { return "sleep"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept;
    io_result<> await_resume() noexcept { return outcome_; }

private:
    void end(error outcome) noexcept;
    static void on_time(timer& it) noexcept;

    resumption back_;
    time_point until_{};
    duration wait_{};
    error outcome_;
    bool relative_ = false;
    bool waiting_ = false;
};

/// Waits for `wait`, counted from the moment at which it is awaited. Zero or less yields to what else is
/// ready.
///
/// Errors:        none but cancellation.
/// Cancellation:  `errc::canceled`, at once.
/// Threads:       resumes on the caller's executor.
/// Cost:          no allocation; a reading of the clock, and an entry in the loop's heap.
[[nodiscard]] inline sleep_awaiter sleep_for(duration wait) noexcept {
    return sleep_awaiter{sleep_awaiter::span{wait}};
}

/// Waits until `moment`; one that has passed yields to what else is ready. As `sleep_for` else.
[[nodiscard]] inline sleep_awaiter sleep_until(time_point moment) noexcept {
    return sleep_awaiter{moment};
}

/// Made by `yield`.
class [[nodiscard]] yield_awaiter final {
public:
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle, const environment* given) noexcept {
        back_.post(handle, *given);
    }
    void await_resume() const noexcept {}

private:
    resumption back_;
};

/// Lets everything run that is ready, then goes on.
///
/// Errors:        none.
/// Cancellation:  ignored, it does not wait.
/// Threads:       resumes on the caller's executor.
/// Cost:          one post.
[[nodiscard]] inline yield_awaiter yield() noexcept { return {}; }

}  // namespace gyre
