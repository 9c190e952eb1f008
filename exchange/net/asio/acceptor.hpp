// SPDX-License-Identifier: BSL-1.0
//
// The listening side of the seam on Boost.Asio.
//
// executor_traits.hpp has the contract; gyre's acceptor is the model of every step.
#pragma once

#include <exchange/net/asio/io_result.hpp>
#include <exchange/net/asio/loop.hpp>
#include <exchange/net/asio/socket.hpp>
#include <exchange/net/asio/stream_socket.hpp>

#include <gyre/io/acceptor.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>

#include <utility>

namespace exchange {

using asio_listener = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol,
                                                         asio_loop::executor_type>;

class asio_acceptor : public asio_socket<asio_listener> {
public:
    asio_acceptor() noexcept = default;

    [[nodiscard]] static gyre::io_result<asio_acceptor> listen(
        asio_loop& on, const gyre::endpoint& local, const gyre::listen_options& options) {
        boost::system::error_code failure;
        asio_listener listener{on.executor()};
        listener.open({local.address_family(), 0}, failure);
        if (failure) return from_asio_error(failure, gyre::activity::open);

        asio_acceptor made{std::move(listener)};
        gyre::error failed;
        const auto step = [&](auto option) {
            if (!failed) failed = made.set_option(option).error();
        };
        if (local.kind() != gyre::endpoint::family::local) {
            step(gyre::no_delay{});  // Accepted sockets inherit it on Linux.
            if (options.address_reused) step(gyre::reuse_address{});
        }
        if (options.port_shared) step(gyre::reuse_port{});
        if (failed) return failed;

        made.open().bind(to_asio_endpoint<asio_listener::endpoint_type>(local), failure);
        if (failure) return from_asio_error(failure, gyre::activity::bind);
        made.open().listen(options.backlog_connections_max, failure);
        if (failure) return from_asio_error(failure, gyre::activity::listen);
        return made;
    }

    /// As gyre::stream_acceptor::adopt. What is no socket makes a closed one.
    [[nodiscard]] static asio_acceptor adopt(asio_loop& on, int number) {
        gyre::socket_address at;
        socklen_t size = gyre::socket_address::size_max;
        asio_listener listener{on.executor()};
        boost::system::error_code failure = boost::asio::error::bad_descriptor;
        if (::getsockname(number, reinterpret_cast<sockaddr*>(at.data), &size) == 0) {
            at.size = size;
            listener.assign({gyre::endpoint{at}.address_family(), 0}, number, failure);
        }
        if (failure) return {};
        asio_acceptor made{std::move(listener)};
        static_cast<void>(made.set_option(gyre::no_delay{}));  // Others than TCP have none.
        return made;
    }

    [[nodiscard]] auto accept() { return asio_operation<accepting>{accepting{open()}}; }

private:
    explicit asio_acceptor(asio_listener listening) noexcept : asio_socket{std::move(listening)} {}

    struct accepting {
        using result_type = gyre::io_result<asio_stream_socket>;

        explicit accepting(asio_listener& at) noexcept : listener{&at} {}

        template <class Handler>
        void begin(Handler handler) {
            listener->async_accept(asio_finish<Handler, accepting>{std::move(handler), *this});
        }
        [[nodiscard]] result_type finish(const boost::system::error_code& failure,
                                         asio_stream accepted) {
            if (failure) return from_asio_error(failure, gyre::activity::accept);
            return asio_stream_socket{std::move(accepted)};
        }

        asio_listener* listener;
    };
};

}  // namespace exchange
