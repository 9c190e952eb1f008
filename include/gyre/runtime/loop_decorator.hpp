// SPDX-License-Identifier: BSL-1.0
//
// What stands between every loop of a program and the kernel: fault injection, traces of operations.
//
// A loop with a backend of the caller's is made by hand (loop_backend.hpp). Whole programs make theirs
// inside of `run`, in pools and in guests, out of a test's reach; a decorator is asked about each of
// these. gyre::test::fused_loops is one.
#pragma once

#include <gyre/runtime/host.hpp>
#include <gyre/runtime/loop_backend.hpp>

#include <atomic>
#include <memory>

namespace gyre {

/// Replaces what a loop is given. Called on the threads that make loops, or run them.
class loop_decorator {
public:
    loop_decorator(const loop_decorator&) = delete;
    loop_decorator& operator=(const loop_decorator&) = delete;

    /// @param  machine  The process's.
    /// @return  `machine`, or what forwards to it; outlives the loop and everything opened on it.
    [[nodiscard]] virtual host& decorate(host& machine) noexcept = 0;

    /// Asked anew when a loop changes its backend: io_uring was withdrawn, or a child was forked. So one
    /// may come of a loop that is older than the decorator, whose host it was not asked about.
    /// @param  chosen  Not attached yet.
    /// @return  `chosen`, or what forwards to it. It is `chosen` that completes operations, so the
    ///          decorator sees beginnings, cancels and turns.
    [[nodiscard]] virtual std::unique_ptr<loop_backend> decorate(
        std::unique_ptr<loop_backend> chosen) noexcept = 0;

    /// Installs `it` for the loops that are made from now on; null: none. Any thread.
    /// @param  it  Borrowed; outlives the loops that are made until it is replaced.
    /// @return  The one before.
    static loop_decorator* install(loop_decorator* it) noexcept {
        return current.exchange(it, std::memory_order_acq_rel);
    }

    [[nodiscard]] static loop_decorator* installed() noexcept {
        return current.load(std::memory_order_acquire);
    }

protected:
    loop_decorator() noexcept = default;
    ~loop_decorator() = default;

private:
    [[gnu::visibility("default")]] static constinit std::atomic<loop_decorator*> current;
};

}  // namespace gyre
