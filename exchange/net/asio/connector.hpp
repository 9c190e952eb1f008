// SPDX-License-Identifier: BSL-1.0
//
// Connecting on Boost.Asio in a way that can be ended from outside: by closing the socket that connects.
//
// executor_traits.hpp has the contract. `asio_stream_socket::connect` keeps its socket in the frame that
// awaits, where no other code finds it; here it is a member.
#pragma once

#include <exchange/net/asio/stream_socket.hpp>

#include <utility>

namespace exchange {

class asio_connector {
public:
    explicit asio_connector(asio_loop& on) : socket_{on.executor()} {}
    asio_connector(const asio_connector&) = delete;
    asio_connector& operator=(const asio_connector&) = delete;

    [[nodiscard]] auto connect(const gyre::endpoint& peer) {
        return asio_operation<connecting>{connecting{socket_, peer}};
    }
    void cancel() noexcept {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }

private:
    struct connecting {
        using result_type = gyre::io_result<asio_stream_socket>;

        connecting(asio_stream& with, const gyre::endpoint& peer) : socket{&with}, to{peer} {}

        template <class Handler>
        void begin(Handler handler) {
            asio_stream_socket::begin_connect(
                *socket, to, asio_finish<Handler, connecting>{std::move(handler), *this});
        }
        [[nodiscard]] result_type finish(const boost::system::error_code& failure) {
            // It may have been closed between its success and this handler.
            const bool canceled = !failure && !socket->is_open();
            const gyre::error error =
                canceled ? gyre::error{gyre::errc::canceled, gyre::activity::connect}
                         : from_asio_error(failure, gyre::activity::connect);
            if (!error) return asio_stream_socket{std::move(*socket)};
            boost::system::error_code ignored;
            socket->close(ignored);
            return error;
        }

        asio_stream* socket;
        gyre::endpoint to;
    };

    asio_stream socket_;
};

}  // namespace exchange
