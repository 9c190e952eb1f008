// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio's side of the seam as the laws see it.
#pragma once

#include <exchange/net/asio/traits.hpp>

#include <gyre/base/time.hpp>
#include <support/harness.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace exchange::testing {

/// Stops a loop that does not end in time, from a thread of its own: with a limit Asio runs item by item, and
/// forgets its cache of free blocks after each.
class loop_watchdog {
public:
    /// @param  over  Borrowed; outlives this.
    loop_watchdog(asio_loop& over, gyre::duration limit)
        : thread_{[this, &over, limit] { watch(over, limit); }} {}
    loop_watchdog(const loop_watchdog&) = delete;
    loop_watchdog& operator=(const loop_watchdog&) = delete;
    ~loop_watchdog() { static_cast<void>(call_off()); }

    /// The loop has ended. True if that was not this one's doing.
    [[nodiscard]] bool call_off() {
        {
            const std::scoped_lock alone{mutex_};
            called_off_ = true;
        }
        changed_.notify_one();
        if (thread_.joinable()) thread_.join();
        return !has_stopped_it_;
    }

private:
    void watch(asio_loop& over, gyre::duration limit) {
        std::unique_lock alone{mutex_};
        if (changed_.wait_for(alone, limit, [this] { return called_off_; })) return;
        has_stopped_it_ = true;
        over.stop();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool called_off_ = false;
    bool has_stopped_it_ = false;
    std::thread thread_;  // Begins when all else is there.
};

struct asio_side {
    using traits = asio_traits;

    static constexpr bool events_die_first = true;

    template <class Body>
    static void each_context_options(const Body& body) {
        INFO("Asio");
        body(asio_loop_options{});
    }

    template <class Body>
    static void each_context(const Body& body) {
        INFO("Asio");
        asio_loop context;
        body(context);
    }

    /// Runs until nothing is left, or the harness' patience ends. True if nothing is left.
    [[nodiscard]] static bool run_to_rest(asio_loop& context,
                                          gyre::duration limit = gyre::testing::patience) {
        loop_watchdog limited{context, limit};
        context.run();
        return limited.call_off();
    }
};

}  // namespace exchange::testing
