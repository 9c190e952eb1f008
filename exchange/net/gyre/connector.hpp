// SPDX-License-Identifier: BSL-1.0
//
// Connecting, on a gyre loop, in a way that can be ended from outside.
//
// gyre ends a wait by stopping its coroutine. Code that has only an object to speak to, as on the
// seam's other side, waits for a flag beside it: signal_set.hpp does the same.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>

namespace exchange {

/// See `executor_traits` for the contract.
class gyre_connector {
public:
    explicit gyre_connector(gyre::io_context&) noexcept {}

    [[nodiscard]] gyre::task<gyre::io_result<gyre::stream_socket>> connect(gyre::endpoint peer);
    void cancel() noexcept { canceled_.set(); }

private:
    gyre::event canceled_;
};

}  // namespace exchange
