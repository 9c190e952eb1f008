// SPDX-License-Identifier: BSL-1.0
//
// gyre's way to do each kind of case, and what its sessions have in common: a loop, and its counters.
#pragma once

#include <lab/kit/session.hpp>
#include <lab/kit/sockets.hpp>

#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <cstddef>
#include <deque>
#include <vector>

namespace gyre_lab {

using options = gyre::io_context_options;

// One for each kind of case, in the file of its suite.
lab::preparation prepare(const options& loop, const lab::dispatch_case& work);
lab::preparation prepare(const options& loop, const lab::shared_dispatch_case& work);
lab::preparation prepare(const options& loop, const lab::throughput_case& work);
lab::preparation prepare(const options& loop, const lab::threads_throughput_case& work);
lab::preparation prepare(const options& loop, const lab::latency_case& work);
lab::preparation prepare(const options& loop, const lab::http_case& work);
lab::preparation prepare(const options& loop, const lab::threads_http_case& work);
lab::preparation prepare(const options& loop, const lab::timers_case& work);
lab::preparation prepare(const options& loop, const lab::churn_case& work);
lab::preparation prepare(const options& loop, const lab::fan_out_case& work);

/// The counters that tell why a row is as it is.
[[nodiscard]] std::vector<lab::counter> counted_by(gyre::io_context& loop);
[[nodiscard]] std::vector<lab::counter> counted_by(gyre::io_pool& pool);

/// A session on one loop of one thread.
class loop_session : public lab::session {
public:
    explicit loop_session(const options& how) : loop_{how} {}

    std::vector<lab::counter> counted() override { return counted_by(loop_); }

protected:
    gyre::io_context loop_;
};

/// A session on several threads: an io_pool. What is posted goes to the pool, for whichever loop comes
/// first; a connection, which is a `Place`, stays with one loop, to which its tasks are launched.
template <class Place>
class pool_session : public lab::session {
public:
    pool_session(const options& how, std::size_t threads) : pool_{pool_of(how, threads)} {}

    std::vector<lab::counter> counted() override { return counted_by(pool_); }

private:
    static gyre::io_pool_options pool_of(const options& how, std::size_t threads) {
        gyre::io_pool_options wanted;
        wanted.threads = static_cast<unsigned>(threads);
        wanted.loop = how;
        return wanted;
    }

protected:
    // They outlive the pool: a socket that no loop is using any more may be closed on any thread.
    std::deque<Place> places_;
    gyre::io_pool pool_;
};

struct socket_pair {
    socket_pair(gyre::io_context& loop, lab::transport via)
        : socket_pair{loop, lab::connect_pair(via)} {}
    socket_pair(gyre::io_context& loop, lab::connected_pair pair)
        : client{gyre::stream_socket::adopt(loop, pair.client.release())},
          server{gyre::stream_socket::adopt(loop, pair.server.release())} {}

    gyre::stream_socket client;
    gyre::stream_socket server;
};

}  // namespace gyre_lab
