// SPDX-License-Identifier: BSL-1.0
//
// What a coroutine is in all suites of asio_coroutine, and how it is started.
#pragma once

#include <lab/in_process/asio/sockets.hpp>

#include <lab/kit/fail.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <exception>
#include <utility>

namespace asio_lab {

using task = asio::awaitable<void, executor>;

// Unlike `detached`, ends the run when a coroutine ended with an exception.
inline void expect_success(std::exception_ptr error) {
    lab::require(!error, "asio: a coroutine threw");
}

inline void spawn(executor queue, task it) { asio::co_spawn(queue, std::move(it), expect_success); }

inline void spawn(asio::io_context& context, task it) {
    spawn(context.get_executor(), std::move(it));
}

}  // namespace asio_lab
