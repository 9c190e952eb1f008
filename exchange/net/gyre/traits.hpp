// SPDX-License-Identifier: BSL-1.0
//
// The seam's own side: gyre, whose objects are what the seam asks for already.
//
// executor_traits.hpp has the contract. Only what gyre ends by stops (timers, waits for signals) needed
// an object that can be told so from outside.
#pragma once

#include <exchange/net/executor_traits.hpp>
#include <exchange/net/gyre/connector.hpp>
#include <exchange/net/gyre/signal_set.hpp>
#include <exchange/net/gyre/timer.hpp>

#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>

#include <initializer_list>
#include <utility>

namespace exchange {

struct gyre_traits {
    using context = gyre::io_context;
    using context_options = gyre::io_context_options;
    template <class Result = void>
    using task = gyre::task<Result>;
    template <class Awaitable>
    using awaited = gyre::awaited<Awaitable>;

    using stream_socket = gyre::stream_socket;
    using connector = gyre_connector;
    using acceptor = gyre::stream_acceptor;
    using udp_socket = gyre::udp_socket;
    using datagram_batch = gyre::datagram_batch;
    using timer = gyre_timer;
    using event = gyre::event;
    using signal_set = gyre_signal_set;

    static void launch(context& on, task<> coroutine) {
        gyre::launch(on, std::move(coroutine), gyre::or_terminate{});
    }
    [[nodiscard]] static gyre::time_point now(const context& on) noexcept { return on.now(); }

    [[nodiscard]] static gyre::io_result<acceptor> listen(
        context& on, const gyre::endpoint& local,
        const gyre::listen_options& options = {}) noexcept {
        return acceptor::listen(on, local, options);
    }
    [[nodiscard]] static acceptor adopt_listener(context& on, int number) noexcept {
        return acceptor::adopt(on, number);
    }
    [[nodiscard]] static auto connect(context&, const gyre::endpoint& peer) noexcept {
        return stream_socket::connect(peer);
    }
    [[nodiscard]] static gyre::io_result<udp_socket> bind(
        context& on, const gyre::endpoint& local, const gyre::udp_options& options = {}) noexcept {
        return udp_socket::bind(on, local, options);
    }
    [[nodiscard]] static gyre::io_result<signal_set> open_signals(
        context& on, std::initializer_list<int> signals) {
        return signal_set::open(on, signals);
    }
};

static_assert(executor_traits<gyre_traits>);

}  // namespace exchange
