// SPDX-License-Identifier: BSL-1.0
//
// Signals of the seam on a gyre loop: gyre's own set, and a way to end a wait from outside.
//
// gyre ends waits by stopping their coroutine, which Asio's coroutines have no cheap word for; what both
// have is an object that is told to let go.
#pragma once

#include <gyre/io/signals.hpp>
#include <gyre/sync/event.hpp>

#include <initializer_list>
#include <memory>

namespace exchange {

/// See `executor_traits` for the contract.
class gyre_signal_set {
public:
    gyre_signal_set() noexcept = default;

    [[nodiscard]] static gyre::io_result<gyre_signal_set> open(gyre::io_context& on,
                                                               std::initializer_list<int> signals);

    [[nodiscard]] gyre::task<gyre::io_result<int>> wait();
    void cancel() noexcept;

private:
    gyre::signal_set signals_;
    std::unique_ptr<gyre::event> canceled_;  // On the heap: those who wait point to it.
};

}  // namespace exchange
