// SPDX-License-Identifier: BSL-1.0
//
// The timeouts of idle connections, the same for both of Asio's styles: no coroutine is suspended on them, so
// they have handlers in both, and setting a new moment cancels the wait for the old one.
#pragma once

#include <lab/in_process/asio/library.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/timer_load.hpp>

#include <chrono>
#include <cstddef>
#include <deque>

namespace asio_lab {

class timeouts {
public:
    timeouts(asio::io_context& context, std::size_t count) : context_{context} {
        for (std::size_t i = 0; i < count; ++i) all_.emplace_back(context);
    }

    /// The next moments count from a time that is read anew.
    void arm(std::size_t which, std::chrono::nanoseconds delay) {
        all_[which].expires_after(delay);
        all_[which].async_wait([](error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
        });
    }

    void disarm(std::size_t which) { all_[which].cancel(); }

    /// Ends the run, though all are still waited for.
    void leave_armed() { context_.stop(); }

private:
    asio::io_context& context_;
    std::deque<timer> all_;
};

}  // namespace asio_lab
