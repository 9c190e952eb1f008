// SPDX-License-Identifier: BSL-1.0
//
// Doing something once that takes a while, for its first caller: opening a connection, reading a file.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/sync/shared_semaphore.hpp>

#include <atomic>
#include <concepts>
#include <utility>

namespace gyre {

/// Must outlive its calls.
///
/// Threads:  everything here is for any thread.
class once {
public:
    /// Returns when it was done: by `initialise()`, unless another call's has done it or does it just now.
    /// What was done before is seen by all whose call returns ok.
    ///
    /// @param  initialise  Owned. Called at most once, by this coroutine; makes a `task<io_result<>>`.
    ///
    /// Errors:        those of `initialise`, for its own call only: the next one tries then. So it is after
    ///                a cancellation or an exception, which is rethrown here.
    /// Cancellation:  `errc::canceled` while another call is at it; that goes on.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          one frame.
    template <std::invocable Initialise>
        requires std::same_as<std::invoke_result_t<Initialise&>, task<io_result<>>>
    [[nodiscard]] task<io_result<>> call(Initialise initialise) {
        if (done()) co_return io_result<>{};
        auto turn = co_await turn_.acquire();
        if (!turn.ok()) co_return turn.error();
        if (done()) co_return io_result<>{};

        const io_result<> outcome = co_await initialise();
        if (outcome.ok()) done_.store(true, std::memory_order_release);
        co_return outcome;
    }

    /// Whether it was done.
    [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> done_ = false;
    shared_semaphore turn_{1};
};

}  // namespace gyre
