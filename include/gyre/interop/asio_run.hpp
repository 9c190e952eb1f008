// SPDX-License-Identifier: BSL-1.0
//
// A gyre task as an operation of Asio's: begun by a function that takes a completion token.
//
// Code that speaks Asio (handlers, `use_awaitable`, `use_future`, composed operations) can then call a
// coroutine that was ported already, cancel it through its own slots, and need not know what it is.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/interop/asio_error.hpp>
#include <gyre/interop/asio_guest.hpp>
#include <gyre/runtime/io_context.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <type_traits>
#include <utility>

namespace gyre {

/// Runs `it` on `loop` as an asynchronous operation with the signature
/// `void(boost::system::error_code, Values...)`.
///
/// @param  loop    Borrowed; must outlive the task. Run by any thread.
/// @param  where   Where the handler is posted unless it has an executor of its own.
/// @param  it      Owned. A user's exception ends the process: return errors.
/// @param  token   Any completion token of Asio's.
///
/// Errors:        those of the task, as `to_asio_error` names them.
/// Cancellation:  any cancellation requests a stop, whatever its type; the handler hears of what the
///                task makes of that.
/// Threads:       any. The task on the loop's, the handler on its executor.
/// Cost:          one block, and a post each way.
template <class Executor, class... Values, class Token>
auto async_run(io_context& loop, const Executor& where, task<io_result<Values...>> it,
               Token&& token);

/// The same on the loop of a guest, with the host's executor as `where`.
template <class... Values, class Token>
auto async_run(asio_guest& guest, task<io_result<Values...>> it, Token&& token);

// Implementation

/// Waits for the task's end on behalf of Asio, and keeps the handler's executor busy meanwhile.
template <class Handler, class Executor, class... Values>
class asio_run_end {
public:
    asio_run_end(Handler handler, const Executor& where)
        : work_{boost::asio::get_associated_executor(handler, where)},
          handler_{std::move(handler)} {}

    void operator()(task_outcome<io_result<Values...>> outcome) noexcept {
        auto executor = work_.get_executor();
        boost::asio::post(executor, [handler = std::move(handler_), work = std::move(work_),
                                     result = outcome.get()]() mutable {
            work.reset();
            const boost::system::error_code failure = to_asio_error(result.error());
            if constexpr (sizeof...(Values) == 0) {
                std::move(handler)(failure);
            } else if constexpr (sizeof...(Values) == 1) {
                std::move(handler)(failure, result.take());
            } else {
                auto [ignored, first, second] = std::move(result);
                std::move(handler)(failure, std::move(first), std::move(second));
            }
        });
    }

private:
    using executor_type = boost::asio::associated_executor_t<Handler, Executor>;

    boost::asio::executor_work_guard<executor_type> work_;
    Handler handler_;
};

/// What lies in a cancellation slot.
struct asio_run_stop {
    void operator()(boost::asio::cancellation_type) const noexcept { running.request_stop(); }

    stop_handle running;
};

template <class Executor, class... Values, class Token>
auto async_run(io_context& loop, const Executor& where, task<io_result<Values...>> it,
               Token&& token) {
    const auto begin = [](auto handler, io_context* on, Executor fallback,
                          task<io_result<Values...>> running) {
        using handler_type = decltype(handler);
        using end = asio_run_end<handler_type, Executor, Values...>;
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        asio_run_stop* on_cancel = nullptr;
        // Before the record, which owns itself: a slot that has no memory left throws.
        if (slot.is_connected()) on_cancel = &slot.template emplace<asio_run_stop>();
        auto* record = new launched<io_result<Values...>, end>{
            executor_ref{*on}, on, std::move(running), end{std::move(handler), fallback}};
        stop_handle stop{*record};
        if (on_cancel != nullptr) on_cancel->running = std::move(stop);
        record->post();  // Only now: on another thread it may be over before this returns.
    };
    return boost::asio::async_initiate<Token, void(boost::system::error_code, Values...)>(
        begin, token, &loop, where, std::move(it));
}

template <class... Values, class Token>
auto async_run(asio_guest& guest, task<io_result<Values...>> it, Token&& token) {
    return async_run(guest.loop(), guest.host().get_executor(), std::move(it),
                     std::forward<Token>(token));
}

}  // namespace gyre
