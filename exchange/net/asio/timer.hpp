// SPDX-License-Identifier: BSL-1.0
//
// A deadline of the seam on Boost.Asio: one coroutine waits for it, others push it back.
//
// Asio ends a wait whose timer is moved. To push back a deadline with every packet would then resume a
// coroutine for each; so moving to later is a store here, and the wait looks again when it is over.
#pragma once

#include <exchange/net/asio/io_result.hpp>
#include <exchange/net/asio/loop.hpp>

#include <gyre/base/check.hpp>
#include <gyre/base/time.hpp>

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <utility>

namespace exchange {

/// See `executor_traits` for the contract.
class asio_timer {
public:
    explicit asio_timer(asio_loop& on) : timer_{on.executor()} {}

    void expire_at(gyre::time_point deadline) {
        due_ = deadline;
        if (waiting_ && due_ < armed_for_) timer_.cancel();  // The wait looks at `due_` then.
    }
    [[nodiscard]] auto wait() noexcept {
        gyre::expects(!waiting_, "one coroutine waits for a timer at a time");
        return asio_operation<waiting>{waiting{*this}};
    }
    [[nodiscard]] auto wait_until(gyre::time_point deadline) noexcept {
        expire_at(deadline);
        return wait();
    }
    void cancel() {
        if (!waiting_) return;
        canceled_ = true;
        timer_.cancel();
    }
    [[nodiscard]] gyre::time_point deadline() const noexcept { return due_; }

private:
    struct waiting {
        using result_type = gyre::io_result<>;

        explicit waiting(asio_timer& on) noexcept : of{&on} {}

        template <class Handler>
        void begin(Handler handler) {
            of->waiting_ = true;
            of->armed_for_ = of->due_;
            of->timer_.expires_at(of->due_);
            of->timer_.async_wait(asio_finish<Handler, waiting>{std::move(handler), *this});
        }
        [[nodiscard]] bool goes_on(const boost::system::error_code&) const noexcept {
            return !of->canceled_ && of->due_ > std::chrono::steady_clock::now();
        }
        [[nodiscard]] result_type finish(const boost::system::error_code&) const noexcept {
            of->waiting_ = false;
            if (std::exchange(of->canceled_, false)) return gyre::errc::canceled;
            return {};
        }

        asio_timer* of;
    };

    boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                      boost::asio::wait_traits<std::chrono::steady_clock>,
                                      asio_loop::executor_type>
        timer_;
    gyre::time_point due_ = gyre::never;
    gyre::time_point armed_for_ = gyre::never;  // What the wait of `timer_` is for.
    bool waiting_ = false;
    bool canceled_ = false;
};

}  // namespace exchange
