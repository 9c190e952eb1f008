// SPDX-License-Identifier: BSL-1.0
//
// The seam's other side: Boost.Asio, with its coroutines, set up as its documentation says is fastest.
//
// executor_traits.hpp has the contract. Executors are typed everywhere, so nothing is type-erased; every
// operation is awaited as it is (io_result.hpp), so none has a coroutine around it.
#pragma once

#include <exchange/net/asio/acceptor.hpp>
#include <exchange/net/asio/connector.hpp>
#include <exchange/net/asio/datagram_batch.hpp>
#include <exchange/net/asio/event.hpp>
#include <exchange/net/asio/io_result.hpp>
#include <exchange/net/asio/loop.hpp>
#include <exchange/net/asio/signal_set.hpp>
#include <exchange/net/asio/stream_socket.hpp>
#include <exchange/net/asio/timer.hpp>
#include <exchange/net/asio/udp_socket.hpp>
#include <exchange/net/executor_traits.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <exception>
#include <initializer_list>
#include <utility>

namespace exchange {

/// What awaiting `Type` yields in a coroutine of Asio's.
template <class Type>
struct asio_awaited;
template <class Record>
struct asio_awaited<asio_operation<Record>> {
    using type = typename asio_operation<Record>::result_type;
};
template <class Result, class Executor>
struct asio_awaited<boost::asio::awaitable<Result, Executor>> {
    using type = Result;
};

struct asio_traits {
    using context = asio_loop;
    using context_options = asio_loop_options;
    template <class Result = void>
    using task = boost::asio::awaitable<Result, asio_loop::executor_type>;
    template <class Awaitable>
    using awaited = typename asio_awaited<Awaitable>::type;

    using stream_socket = asio_stream_socket;
    using connector = asio_connector;
    using acceptor = asio_acceptor;
    using udp_socket = asio_udp_socket;
    using datagram_batch = asio_datagram_batch;
    using timer = asio_timer;
    using event = asio_event;
    using signal_set = asio_signal_set;

    static void launch(context& on, task<> coroutine) {
        // co_spawn would begin at once if it is called on the loop.
        on.post([executor = on.executor(), it = std::move(coroutine)]() mutable {
            boost::asio::co_spawn(executor, std::move(it), [](std::exception_ptr thrown) noexcept {
                if (thrown) std::rethrow_exception(thrown);
            });
        });
    }
    [[nodiscard]] static gyre::time_point now(const context&) noexcept {
        return std::chrono::steady_clock::now();
    }

    [[nodiscard]] static gyre::io_result<acceptor> listen(
        context& on, const gyre::endpoint& local, const gyre::listen_options& options = {}) {
        return acceptor::listen(on, local, options);
    }
    [[nodiscard]] static acceptor adopt_listener(context& on, int number) {
        return acceptor::adopt(on, number);
    }
    [[nodiscard]] static auto connect(context& on, const gyre::endpoint& peer) {
        return stream_socket::connect(on, peer);
    }
    [[nodiscard]] static gyre::io_result<udp_socket> bind(context& on, const gyre::endpoint& local,
                                                          const gyre::udp_options& options = {}) {
        return udp_socket::bind(on, local, options);
    }
    [[nodiscard]] static gyre::io_result<signal_set> open_signals(
        context& on, std::initializer_list<int> signals) {
        return signal_set::open(on, signals);
    }
};

static_assert(executor_traits<asio_traits>);

}  // namespace exchange
