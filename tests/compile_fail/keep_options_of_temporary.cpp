// SPDX-License-Identifier: BSL-1.0
//
// A connection that is served later, by options that are gone by then; g++ has no warning of it.
//
// must not compile: will be destroyed at the end of the full-expression
#include <gyre/coro/task.hpp>
#include <gyre/http/serve_connection.hpp>

#include <utility>

gyre::task<> serve(gyre::any_stream peer, const gyre::http::handler& handle,
                   const gyre::http::connection_hooks& hooks) {
    auto later = gyre::http::serve_connection(std::move(peer), handle,
                                              gyre::http::connection_options{}, hooks);
    static_cast<void>(co_await std::move(later));
}
