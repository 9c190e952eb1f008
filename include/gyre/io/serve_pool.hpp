// SPDX-License-Identifier: BSL-1.0
//
// A server on several threads: the two ways of bringing connections to the loops of a pool.
//
// One listener per loop on a shared port lets the kernel spread connections by their addresses, with no
// word between threads; it is the cheaper way, and good when there are many clients. One listener that
// hands each connection to the loop with the fewest sessions costs two messages a connection and keeps
// loops even when connections are few or long-lived. Either way a session lives on one loop.
#pragma once

#include <gyre/io/serve.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace gyre {

/// Listeners on one address, one for each loop of `pool` and in that order.
///
/// @param  local    With port 0 the kernel chooses one, which all of them share.
/// @param  options  `port_shared` is implied. Other programs of this user can join the port, a second
///                  copy of this one included: take a lock file where that must fail. A listener that is
///                  closed resets what its queue holds. Of Unix-domain sockets there can be only one:
///                  `serve` with one acceptor.
/// Errors:          as for one; none is left listening then.
[[nodiscard]] io_result<std::vector<stream_acceptor>> listen_on_each(
    io_pool& pool, const endpoint& local, const listen_options& options = {});

/// The untyped part: what part of the bounds each of several servers gets.
[[nodiscard]] serve_options share_of(serve_options whole, std::size_t servers) noexcept;

/// Serves each of `acceptors` on its loop of `pool`, as `serve` does, and returns when all have ended.
///
/// @param  pool       Borrowed.
/// @param  acceptors  Owned; as `listen_on_each` made them.
/// @param  session    Owned and copied for each loop: what copies share must be safe on several threads.
/// @param  options    `connections_max` is divided among the loops, one each at least; they share
///                    `counters` and `peers`. `accepts` is divided, too. The kernel spreads connections
///                    by a hash, so leave a margin: a loop that has its share lets further ones wait
///                    though others have room. `on_refused` and `on_stragglers` are called on each loop.
/// @return When intake has ended and every session has. The first error stops the other loops.
///
/// Errors, Cancellation: as for one acceptor, and io_pool::status. Threads: sessions on the loops.
/// Cost: a frame per loop.
template <session_function Session>
    requires std::copy_constructible<Session>
task<io_result<>> serve(io_pool& pool, std::vector<stream_acceptor> acceptors, Session session,
                        serve_options options = {}) {
    const error unusable = pool.status();
    if (unusable) co_return unusable;
    expects(acceptors.size() == pool.size(), "a listener for each loop");
    if (options.connections_max == 0) co_return error{errc::invalid_argument, activity::accept};
    const serve_options each = share_of(options, pool.size());
    const auto there = [&](io_context& where, stream_acceptor from) -> task<io_result<>> {
        const io_result<> served =
            co_await on(where, serve(std::move(from), Session{session}, each));
        co_return served;
    };
    const auto body = [&](task_group& group) -> task<io_result<>> {
        for (std::size_t index = 0; index < acceptors.size(); ++index) {
            group.spawn(there(pool[index], std::move(acceptors[index])));
        }
        co_await group.join();
        co_return group.first_error();
    };
    const io_result<> ended =
        co_await with_group(body, group_options{group_mode::stop_on_first_error});
    co_return ended;
}

/// Accepts from `acceptor` on the caller's loop and runs each session on the loop of `pool` that has the
/// fewest.
///
/// @param  pool      Borrowed. The caller's loop may be one of it.
/// @param  acceptor  Owned.
/// @param  session   Owned; called, and its tasks run, on the loops of the pool, several at a time.
///
/// Errors, Cancellation: as for `serve`, and io_pool::status. Threads: accepting here, sessions there.
/// Cost: beside a session, a frame here, two posts and up to two wake-ups for each connection.
template <session_function Session>
task<io_result<>> serve(io_pool& pool, stream_acceptor acceptor, Session session,
                        serve_options options = {}) {
    const error unusable = pool.status();
    if (unusable) co_return unusable;
    // NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): both outlive what is awaited here.
    const auto begin_there = [&session](stream_socket peer) -> task<> {
        co_await session(std::move(peer));
    };
    const auto hand_over = [&pool, &begin_there](stream_socket peer) -> task<> {
        co_await on(pool.least_loaded(), begin_there(std::move(peer)));
    };
    // NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)
    const io_result<> served = co_await serve(std::move(acceptor), hand_over, options);
    co_return served;
}

/// Not provided; the message says what to do.
template <class Acceptors, class Session>
    requires(!session_function<Session>)
task<io_result<>> serve(io_pool&, Acceptors, Session, serve_options = {}) {
    static_assert(session_function<Session>,
                  "a session is a coroutine gyre::task<>(gyre::stream_socket): it takes the "
                  "connection by value and yields nothing");
    co_return io_result<>{};
}

}  // namespace gyre
