// SPDX-License-Identifier: BSL-1.0
//
// A connection of the seam on Boost.Asio: over TCP or a Unix-domain socket, as gyre's stream_socket.
//
// executor_traits.hpp has the contract. What each operation needs beyond Asio's own is in the record that
// the awaiting frame holds.
#pragma once

#include <exchange/net/asio/buffers.hpp>
#include <exchange/net/asio/io_result.hpp>
#include <exchange/net/asio/loop.hpp>
#include <exchange/net/asio/socket.hpp>

#include <gyre/io/stream_socket.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include <optional>
#include <utility>

namespace exchange {

using asio_stream = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                                     asio_loop::executor_type>;

class asio_stream_socket : public asio_socket<asio_stream> {
public:
    asio_stream_socket() noexcept = default;
    explicit asio_stream_socket(asio_stream connected) noexcept
        : asio_socket{std::move(connected)} {}

    [[nodiscard]] static auto connect(asio_loop& on, const gyre::endpoint& peer) {
        return asio_operation<connecting>{connecting{on, peer}};
    }

    /// Opens `socket`, which is closed, and connects it. The handler is called later, never inside.
    template <class Handler>
    static void begin_connect(asio_stream& socket, const gyre::endpoint& peer, Handler handler) {
        if (const boost::system::error_code failure = open_for(socket, peer)) {
            boost::asio::post(socket.get_executor(),
                              boost::asio::append(std::move(handler), failure));
            return;
        }
        socket.async_connect(to_asio_endpoint<asio_stream::endpoint_type>(peer),
                             std::move(handler));
    }

    [[nodiscard]] auto read_some(gyre::mutable_buffer into) {
        return open().async_read_some(asio_buffer(into), as_io_result{gyre::activity::read});
    }
    [[nodiscard]] auto write_some(gyre::const_buffer from) {
        return open().async_write_some(asio_buffer(from), as_io_result{gyre::activity::write});
    }
    [[nodiscard]] auto write_some(gyre::const_buffers from) {
        return open().async_write_some(asio_buffers{from}, as_io_result{gyre::activity::write});
    }

    [[nodiscard]] gyre::io_result<> shutdown(gyre::shutdown_side side) noexcept {
        if (!is_open()) return closed(gyre::activity::shutdown);
        boost::system::error_code failure;
        open().shutdown(static_cast<boost::asio::socket_base::shutdown_type>(side), failure);
        return from_asio_error(failure, gyre::activity::shutdown);
    }

    [[nodiscard]] gyre::io_result<gyre::endpoint> remote_endpoint() const noexcept {
        if (!is_open()) return closed(gyre::activity::endpoint);
        boost::system::error_code failure;
        const auto found = open().remote_endpoint(failure);
        if (failure) return from_asio_error(failure, gyre::activity::endpoint);
        return from_asio_endpoint(found);
    }

private:
    [[nodiscard]] static boost::system::error_code open_for(asio_stream& socket,
                                                            const gyre::endpoint& peer) {
        if (peer.kind() == gyre::endpoint::family::none) {
            return {boost::system::errc::invalid_argument, boost::system::system_category()};
        }
        boost::system::error_code failure;
        socket.open({peer.address_family(), 0}, failure);
        if (failure || peer.kind() == gyre::endpoint::family::local) return failure;
        const int on = 1;
        socket.set_option(
            asio_option{gyre::no_delay::level(), gyre::no_delay::name(), &on, sizeof on}, failure);
        return failure;
    }

    /// Opens a socket, and owns it until it is handed out.
    class connecting {
    public:
        using result_type = gyre::io_result<asio_stream_socket>;

        connecting(asio_loop& on, const gyre::endpoint& peer)
            : socket_{on.executor()}, peer_{peer} {}

        template <class Handler>
        void begin(Handler handler) {
            begin_connect(socket_, peer_,
                          asio_finish<Handler, connecting>{std::move(handler), *this});
        }
        [[nodiscard]] result_type finish(const boost::system::error_code& failure) {
            if (failure) return from_asio_error(failure, gyre::activity::connect);
            return asio_stream_socket{std::move(socket_)};
        }

    private:
        asio_stream socket_;
        gyre::endpoint peer_;
    };
};

static_assert(static_cast<int>(gyre::shutdown_side::receive) ==
              boost::asio::socket_base::shutdown_receive);
static_assert(static_cast<int>(gyre::shutdown_side::send) ==
              boost::asio::socket_base::shutdown_send);
static_assert(static_cast<int>(gyre::shutdown_side::both) ==
              boost::asio::socket_base::shutdown_both);

}  // namespace exchange
