// SPDX-License-Identifier: BSL-1.0
//
// The accept loop of a server: its limits, its errors and its end.
//
// Bounded by the sessions it runs; waits when the process is out of descriptors. A drain closes the listener
// at once and lets sessions finish, a stop ends them too, and in both cases it returns only when the
// last session has ended.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/task_group.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

namespace gyre {

/// What `serve` counts. Any thread may read, and servers on several loops may share it.
struct serve_counters {
    std::atomic<std::uint64_t> accepted = 0;  ///< Connections handed to sessions.
    std::atomic<std::uint64_t> shed = 0;      ///< Closed unserved, for lack of descriptors.
    std::atomic<std::uint64_t> exhausted =
        0;  ///< Accepts that failed for lack of descriptors or memory.
    std::atomic<std::uint64_t> failed = 0;  ///< Accepts that failed for another, passing reason.
    std::atomic<std::uint64_t> threw = 0;   ///< Sessions that ended with an exception.
};

/// What an exception that leaves a session ends.
enum class session_exception : std::uint8_t {
    ends_session,  ///< It is counted, and the server goes on: a peer that causes one cannot end the others.
    ends_server  ///< Every session is stopped, and the exception leaves `serve`.
};

struct serve_options {
    serve_options() noexcept = default;

    /// Sessions at the same time, at least 1; further connections wait in the kernel's queue, which resets
    /// them when a drain closes the listener.
    std::size_t connections_max = 10'000;

    /// How long to wait, after an accept that failed for lack of descriptors, for a session to end and free
    /// one, before a connection is refused; and the pause after an accept that failed for a passing reason
    /// where the sixteen before it have as well. Neither can spin.
    duration exhausted_pause = std::chrono::milliseconds{100};

    session_exception on_exception = session_exception::ends_session;

    serve_counters* counters = nullptr;  ///< Borrowed; may be null.
};

/// The untyped part of `serve`: yields connections until intake ends or fails for good.
class connection_intake {
public:
    connection_intake(stream_acceptor& from, const serve_options& options) noexcept
        : from_{from}, options_{options}, slots_{options.connections_max} {}

    /// The next connection, when there is room for a session. The error ends the server;
    /// `errc::canceled` is the ordinary end.
    [[nodiscard]] task<io_result<stream_socket>> next();

    /// A session has ended, and its descriptor is free by the time that `next` hears of it. Whether `failure`
    /// is to end the server.
    [[nodiscard]] bool session_ended(const exception_slot& failure) noexcept {
        slots_.release();
        descriptor_freed_.set();
        if (failure.empty()) return false;
        ++counters_.threw;
        return options_.on_exception == session_exception::ends_server;
    }

private:
    [[nodiscard]] task<io_result<>> rest_after(error failed);
    [[nodiscard]] task<io_result<>> shed_one();

    static constexpr std::uint64_t passing_failures_max =
        16;  // In a row, each tried again at once.

    stream_acceptor& from_;
    const serve_options& options_;
    semaphore slots_;
    event descriptor_freed_;  // Since the last accept was asked for.
    serve_counters own_counters_;
    serve_counters& counters_ = options_.counters != nullptr ? *options_.counters : own_counters_;
    std::uint64_t failed_in_a_row_ = 0;  // For passing reasons, since the last connection.
    handle reserve_;  // A descriptor to give up when there is no other, so as to refuse politely.
};

/// What runs for a connection, which it owns.
template <class Session>
concept session_function = std::invocable<Session&, stream_socket> &&
                           std::same_as<std::invoke_result_t<Session&, stream_socket>, task<>>;

/// Accepts connections from `acceptor` and runs `session(connection)` for each.
///
/// @param  acceptor  Owned; closed when intake ends, before sessions are waited for.
/// @param  session   Owned; `task<>(stream_socket)`. For its exceptions see `session_exception`.
/// @return When intake has ended and every session has: ok after a drain or stop.
///
/// Errors:        what made the acceptor useless, such as `errc::closed`; `errc::invalid_argument` if no
///                connection is allowed.
/// Cancellation:  a drain ends intake; a stop ends the sessions' pending operations as well. Not an
///                error: that is how a server ends.
/// Threads:       sessions on the caller's executor.
/// Cost:          three frames; one block per session beside its frame.
template <session_function Session>
task<io_result<>> serve(stream_acceptor acceptor, Session session, serve_options options = {}) {
    if (options.connections_max == 0) co_return error{errc::invalid_argument, activity::accept};
    connection_intake intake{acceptor, options};
    const auto on_exit = [&intake](task_outcome<void> how) {
        exception_slot failure;
        run_catching(failure, [&how] { how.get(); });
        if (intake.session_ended(failure)) failure.rethrow_if_any();
    };
    const auto body = [&](task_group& group) -> task<io_result<>> {
        error ended;
        exception_slot refusal;
        for (;;) {
            io_result<stream_socket> next = co_await intake.next();
            if (!next.ok()) {
                ended = next.error();
                break;
            }
            std::optional<task<>> begun;
            exception_slot failure;
            run_catching(failure, [&] { begun.emplace(session(next.take())); });
            if (begun) {
                group.spawn(std::move(*begun), on_exit);
            } else if (intake.session_ended(failure)) {
                refusal.keep_first(failure);
                break;
            }
        }
        static_cast<void>(acceptor.close());
        refusal.rethrow_if_any();
        co_return ended == errc::canceled ? error{} : ended;
    };
    const io_result<> served = co_await with_group(body);
    co_return served;
}

/// Not provided; the message says what to do.
template <class Session>
    requires(!session_function<Session>)
task<io_result<>> serve(stream_acceptor, Session, serve_options = {}) {
    static_assert(session_function<Session>,
                  "a session is a coroutine gyre::task<>(gyre::stream_socket): it takes the "
                  "connection by value and yields nothing");
    co_return io_result<>{};
}

}  // namespace gyre
