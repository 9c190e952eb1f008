// SPDX-License-Identifier: BSL-1.0
//
// What every socket of Asio's has in the seam's words: closing, addresses, options.
//
// The counterpart of gyre's basic_socket; stream_socket.hpp, acceptor.hpp and udp_socket.hpp
// add what each of them is for.
#pragma once

#include <exchange/net/asio/io_result.hpp>

#include <gyre/base/check.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/socket_options.hpp>

#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace exchange {

/// The same address as one of Asio's; of a family that `Endpoint` can hold.
template <class Endpoint>
[[nodiscard]] Endpoint to_asio_endpoint(const gyre::endpoint& from) {
    Endpoint to;
    std::memcpy(to.data(), from.raw().data, from.raw().size);
    to.resize(from.raw().size);
    return to;
}

template <class Endpoint>
[[nodiscard]] gyre::endpoint from_asio_endpoint(const Endpoint& from) noexcept {
    gyre::socket_address raw;
    raw.size = static_cast<std::uint32_t>(from.size());
    std::memcpy(raw.data, from.data(), raw.size);
    return gyre::endpoint{raw};
}

/// Bytes for setsockopt(2), as Asio wants to be handed them.
struct asio_option {
    template <class Protocol>
    [[nodiscard]] int level(const Protocol&) const noexcept {
        return at;
    }
    template <class Protocol>
    [[nodiscard]] int name(const Protocol&) const noexcept {
        return number;
    }
    template <class Protocol>
    [[nodiscard]] const void* data(const Protocol&) const noexcept {
        return value;
    }
    template <class Protocol>
    [[nodiscard]] std::size_t size(const Protocol&) const noexcept {
        return bytes;
    }

    int at;
    int number;
    const void* value;  // Borrowed.
    std::size_t bytes;
};

/// A socket of Asio's, or none. Never made by itself.
template <class Socket>
class asio_socket {
public:
    gyre::io_result<> close() noexcept {
        if (!is_open()) return closed(gyre::activity::close);
        boost::system::error_code failure;
        socket_->close(failure);
        return from_asio_error(failure, gyre::activity::close);
    }

    [[nodiscard]] bool is_open() const noexcept { return socket_ && socket_->is_open(); }

    [[nodiscard]] gyre::io_result<gyre::endpoint> local_endpoint() const noexcept {
        if (!is_open()) return closed(gyre::activity::endpoint);
        boost::system::error_code failure;
        const auto found = socket_->local_endpoint(failure);
        if (failure) return from_asio_error(failure, gyre::activity::endpoint);
        return from_asio_endpoint(found);
    }

    template <gyre::socket_option Option>
    gyre::io_result<> set_option(Option option) noexcept {
        const auto raw = option.to_raw();
        return set_raw({Option::level(), Option::name(), &raw, sizeof raw});
    }

    /// The descriptor, still owned by the socket; -1 if closed.
    [[nodiscard]] int native_handle() noexcept { return is_open() ? socket_->native_handle() : -1; }

    /// Asio's own, to begin an operation on: also for who brings handlers. @pre  is_open().
    [[nodiscard]] Socket& open() noexcept {
        gyre::expects(is_open(), "the socket is open");
        return *socket_;
    }
    [[nodiscard]] const Socket& open() const noexcept { return *socket_; }

protected:
    asio_socket() noexcept = default;
    explicit asio_socket(Socket open) noexcept : socket_{std::move(open)} {}
    asio_socket(asio_socket&&) noexcept = default;
    asio_socket& operator=(asio_socket&&) noexcept = default;
    ~asio_socket() = default;

    [[nodiscard]] static gyre::error closed(gyre::activity during) noexcept {
        return {gyre::errc::closed, during};
    }

    gyre::io_result<> set_raw(const asio_option& option) noexcept {
        if (!is_open()) return closed(gyre::activity::set_option);
        boost::system::error_code failure;
        socket_->set_option(option, failure);
        return from_asio_error(failure, gyre::activity::set_option);
    }

private:
    std::optional<Socket> socket_;
};

}  // namespace exchange
