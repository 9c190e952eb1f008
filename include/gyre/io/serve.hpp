// SPDX-License-Identifier: BSL-1.0
//
// The accept loop of a server: its limits, its errors and its end.
//
// Bounded by the sessions it runs, in all and for each peer; waits when the process is out of descriptors. A
// drain closes the listener at once and lets sessions finish, a stop ends them too, and in both cases it
// returns only when the last session has ended; of those that a drain's grace was too short for it tells.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/peer_limits.hpp>
#include <gyre/io/session_list.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/rate_limiter.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/task_group.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
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
    std::atomic<std::uint64_t> refused_many = 0;   ///< Closed: the peer had as many as it may.
    std::atomic<std::uint64_t> refused_often = 0;  ///< Closed: the peer came too often.
};

/// What an exception that leaves a session ends.
enum class session_exception : std::uint8_t {
    ends_session,  ///< It is counted, and the server goes on: a peer that causes one cannot end the others.
    ends_server  ///< Every session is stopped, and the exception leaves `serve`.
};

/// The bounds of a server, and what it does at them and at its end.
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

    /// Connections accepted in a time, from all peers together: more wait in the kernel's queue. Refused
    /// ones count, so this bounds what a flood costs.
    std::optional<rate_limit> accepts;

    /// What each peer may have: a connection beyond that is closed at once and counted. Borrowed; may be
    /// null.
    peer_limits* peers = nullptr;

    /// Told of each connection that `peers` does not admit, on the loop that accepts. Peers that flood the
    /// server decide how often: write a line now and then, not for each.
    std::function<void(const endpoint&, peer_verdict)> on_refused;

    /// Told that every place is taken while a connection is there that wants one, or that descriptors are
    /// exhausted, so that the program may end a session which has nothing to do. Yields after what time it
    /// wants to be told again, 1 ms or more, if there is no room by then. With it one connection beyond
    /// `connections_max` is accepted, and waits for its place. On the loop that accepts; it must neither
    /// wait nor throw.
    std::function<duration()> on_full;

    /// Told of the sessions that are there still when a stop follows a drain, so when the grace of
    /// `run_until_signal` is over, before they are stopped. On the loop that accepts; it must neither
    /// wait nor throw. Not if the stop comes before intake has ended, as where there is no grace at all.
    std::function<void(const straggler_report&)> on_stragglers;
    std::size_t stragglers_told_max = 100;  ///< In detail; the oldest.

    serve_counters* counters = nullptr;  ///< Borrowed; may be null.
};

/// A connection and, where they are kept, its place among the sessions.
struct admitted_connection {
    admitted_connection() noexcept = default;
    explicit admitted_connection(stream_socket it) noexcept : socket{std::move(it)} {}

    stream_socket socket;
    std::unique_ptr<session_list::place> place;
};

/// The untyped part of `serve`: yields connections until intake ends or fails for good.
class connection_intake {
public:
    /// @param  on  The loop that it accepts on. All are borrowed.
    connection_intake(loop& on, stream_acceptor& from, const serve_options& options) noexcept;

    /// The next connection, when there is room for a session. The error ends the server;
    /// `errc::canceled` is the ordinary end.
    [[nodiscard]] task<io_result<admitted_connection>> next();

    /// A session has ended, and its descriptor is free by the time that `next` hears of it. Whether `failure`
    /// is to end the server.
    [[nodiscard]] bool session_ended(std::unique_ptr<session_list::place> place,
                                     const exception_slot& failure) noexcept;

    /// Waits until the sessions have ended, or are stopped: then tells of those that have not.
    class last_session_awaiter final : public waiter {
    public:
        explicit last_session_awaiter(connection_intake& of) noexcept
            : waiter{"sessions"}, of_{of} {}

        void request(stop_level level) noexcept override;
        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (of_.sessions_.empty()) return go_on(handle, *given);
            return wait_in(of_.last_session_, handle, *given);
        }
        void await_resume() const noexcept {}

    private:
        connection_intake& of_;
    };
    [[nodiscard]] last_session_awaiter last_session() noexcept {
        return last_session_awaiter{*this};
    }

private:
    [[nodiscard]] task<io_result<>> wait_for_place();
    [[nodiscard]] task<io_result<>> wait_for_last_place();
    [[nodiscard]] task<io_result<>> rest_after(error failed);
    [[nodiscard]] task<io_result<>> shed_one();
    [[nodiscard]] bool admits(const endpoint& peer);

    static constexpr std::uint64_t passing_failures_max =
        16;  // In a row, each tried again at once.

    loop& on_;
    stream_acceptor& from_;
    const serve_options& options_;
    const bool keeps_sessions_;  // Whether peers or stragglers matter.
    std::optional<rate_limiter> pace_;
    session_list sessions_;
    waiters last_session_;  // Invariant: empty if `sessions_` is.
    semaphore slots_;
    event descriptor_freed_;  // Since the last accept was asked for.
    serve_counters own_counters_;
    serve_counters& counters_ = options_.counters != nullptr ? *options_.counters : own_counters_;
    std::uint64_t failed_in_a_row_ = 0;  // For passing reasons, since the last connection.
    bool is_over_ = false;               // Closed by this; the last connection was taken.
    handle reserve_;  // A descriptor to give up when there is no other, so as to refuse politely.
};

/// What a session's end is told to; also told of its chain when it begins.
class session_exit {
public:
    /// Stored where a group puts the child's chain (task_group.hpp).
    class chain_note {
    public:
        explicit chain_note(session_list::place* of) noexcept : of_{of} {}
        chain_note& operator=(const stop_chain* began) noexcept {
            if (of_ != nullptr) of_->runs_in(*began);
            return *this;
        }

    private:
        session_list::place* of_;
    };

    session_exit(connection_intake& intake, std::unique_ptr<session_list::place> place) noexcept
        : chain{place.get()}, intake_{&intake}, place_{std::move(place)} {}

    void operator()(task_outcome<void> how) {
        exception_slot failure;
        run_catching(failure, [&how] { how.get(); });
        if (intake_->session_ended(std::move(place_), failure)) failure.rethrow_if_any();
    }

    chain_note chain;

private:
    connection_intake* intake_;
    std::unique_ptr<session_list::place> place_;
};

/// What runs for a connection, which it owns.
template <class Session>
concept session_function = std::invocable<Session&, stream_socket> &&
                           std::same_as<std::invoke_result_t<Session&, stream_socket>, task<>>;

/// Implementation: the body of a server's group.
template <session_function Session>
task<io_result<>> run_sessions(task_group& group, connection_intake& intake,
                               stream_acceptor& acceptor, Session& session) {
    error ended;
    exception_slot refusal;
    for (;;) {
        io_result<admitted_connection> next = co_await intake.next();
        if (!next.ok()) {
            ended = next.error();
            break;
        }
        admitted_connection taken = next.take();
        std::optional<task<>> begun;
        exception_slot failure;
        run_catching(failure, [&] { begun.emplace(session(std::move(taken.socket))); });
        if (begun) {
            group.spawn(std::move(*begun), session_exit{intake, std::move(taken.place)});
        } else if (intake.session_ended(std::move(taken.place), failure)) {
            refusal.keep_first(failure);
            break;
        }
    }
    static_cast<void>(acceptor.close());
    refusal.rethrow_if_any();
    co_await intake.last_session();
    co_return ended == errc::canceled ? error{} : ended;
}

/// Accepts connections from `acceptor` and runs `session(connection)` for each.
///
/// @param  acceptor  Owned; closed when intake ends, before sessions are waited for.
/// @param  session   Owned; `task<>(stream_socket)`. For its exceptions see `session_exception`.
/// @return When intake has ended and every session has: ok after a drain or stop.
///
/// Errors:        what made the acceptor useless, such as `errc::closed`; `errc::invalid_argument` if no
///                connection is allowed.
/// Cancellation:  a drain ends intake; a connection that was accepted when `on_full` was asked still gets
///                its place. A stop ends the sessions' pending operations as well. Not an error: that is
///                how a server ends.
/// Threads:       sessions on the caller's executor.
/// Cost:          three frames; one block per session beside its frame, two where `peers` or `on_stragglers`
///                is given.
template <session_function Session>
task<io_result<>> serve(stream_acceptor acceptor, Session session, serve_options options = {}) {
    if (options.connections_max == 0) co_return error{errc::invalid_argument, activity::accept};
    connection_intake intake{*io_context::current(), acceptor, options};
    const auto body = [&](task_group& group) {
        return run_sessions(group, intake, acceptor, session);
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
