// SPDX-License-Identifier: BSL-1.0
//
// What answers requests, and what stands around it.
//
// A server knows one handler; a router is one, and so is a handler with middleware around it. What does
// something before or after the next handler is a coroutine, and composing them is a function call.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include <functional>
#include <utility>

namespace gyre::http {

/// Answers a request.
///
/// The request is borrowed until the response has been sent; what is left of its body then is dropped. It is
/// called for many requests at the same time, on the connections' loops.
using handler = std::function<task<response>(request&)>;

/// A handler around another.
using middleware = std::function<handler(handler)>;

/// A coroutine around the next handler. `next` is borrowed, and lives as long as the coroutine may run.
using around_function = std::function<task<response>(request&, const handler& next)>;

/// The handler that runs `around` with `next` as its next one. Cost: a call; what a request costs is the
/// frame of `around`.
[[nodiscard]] handler wrap(around_function around, handler next);

/// The same as a middleware, for lists.
[[nodiscard]] middleware as_middleware(around_function around);

}  // namespace gyre::http
