// SPDX-License-Identifier: BSL-1.0
//
// What each operation of asio_udp_socket needs while it lasts, held by the frame that awaits it.
//
// Asio drops what recvmsg(2) says about truncation, leaves out parts of a datagram that its own list has
// no room for, and knows no batches: each is dealt with here.
#pragma once

#include <exchange/net/asio/buffers.hpp>
#include <exchange/net/asio/datagram_batch.hpp>
#include <exchange/net/asio/io_result.hpp>
#include <exchange/net/asio/loop.hpp>
#include <exchange/net/asio/socket.hpp>

#include <gyre/io/udp_socket.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace exchange {

using asio_datagrams =
    boost::asio::basic_datagram_socket<boost::asio::ip::udp, asio_loop::executor_type>;

/// Makes the kernel report a datagram's whole length, however much of it there was room for.
[[nodiscard]] int whole_length_flag() noexcept;

/// Whether Asio's endpoints of datagrams have room for this one.
[[nodiscard]] inline bool is_internet(const gyre::endpoint& peer) noexcept {
    return peer.kind() == gyre::endpoint::family::v4 || peer.kind() == gyre::endpoint::family::v6;
}

/// Ends an operation that can't begin.
template <class Finish>
void asio_fail(asio_datagrams& on, boost::system::errc::errc_t why, Finish finish) {
    const boost::system::error_code failure{why, boost::system::system_category()};
    boost::asio::post(on.get_executor(), boost::asio::append(std::move(finish), failure));
}

/// Sends `buffers` to `peer`, or to the peer of a connected socket if that is null.
template <class Buffers, class Finish>
void begin_asio_send(asio_datagrams& on, const Buffers& buffers, const gyre::endpoint& peer,
                     Finish finish) {
    if (peer.kind() == gyre::endpoint::family::none) {
        on.async_send(buffers, std::move(finish));
    } else if (is_internet(peer)) {
        on.async_send_to(buffers, to_asio_endpoint<asio_datagrams::endpoint_type>(peer),
                         std::move(finish));
    } else {
        asio_fail(on, boost::system::errc::address_family_not_supported, std::move(finish));
    }
}

/// Of a receive: tells what was cut.
class asio_receive {
public:
    using result_type = gyre::io_result<gyre::received_datagram>;

    asio_receive(asio_datagrams& on, gyre::mutable_buffer into) noexcept : on_{&on}, into_{into} {}

    template <class Handler>
    void begin(Handler handler) {
        on_->async_receive(asio_buffer(into_), whole_length_flag(),
                           asio_finish<Handler, asio_receive>{std::move(handler), *this});
    }
    [[nodiscard]] result_type finish(const boost::system::error_code& failure, std::size_t length) {
        if (failure) return from_asio_error(failure, gyre::activity::read);
        return gyre::received_datagram{std::min(length, into_.size()), length > into_.size()};
    }

private:
    asio_datagrams* on_;
    gyre::mutable_buffer into_;
};

/// The same, with the sender's address.
class asio_receive_from {
public:
    using result_type = gyre::io_result<gyre::received_datagram, gyre::endpoint>;

    asio_receive_from(asio_datagrams& on, gyre::mutable_buffer into) noexcept
        : on_{&on}, into_{into} {}

    template <class Handler>
    void begin(Handler handler) {
        on_->async_receive_from(asio_buffer(into_), from_, whole_length_flag(),
                                asio_finish<Handler, asio_receive_from>{std::move(handler), *this});
    }
    [[nodiscard]] result_type finish(const boost::system::error_code& failure, std::size_t length) {
        if (failure) return from_asio_error(failure, gyre::activity::read);
        const gyre::received_datagram got{std::min(length, into_.size()), length > into_.size()};
        return {gyre::error{}, got, from_asio_endpoint(from_)};
    }

private:
    asio_datagrams* on_;
    gyre::mutable_buffer into_;
    asio_datagrams::endpoint_type from_;
};

/// Of one datagram, gathered.
class asio_send {
public:
    using result_type = gyre::io_result<>;

    asio_send(asio_datagrams& on, gyre::const_buffers parts, const gyre::endpoint& peer) noexcept
        : on_{&on}, parts_{parts}, peer_{peer} {}

    template <class Handler>
    void begin(Handler handler) {
        asio_finish<Handler, asio_send> finish{std::move(handler), *this};
        // Asio would leave out what does not fit into its own list.
        if (parts_.size() > gyre::udp_socket::buffers_max) {
            return asio_fail(*on_, boost::system::errc::invalid_argument, std::move(finish));
        }
        begin_asio_send(*on_, asio_buffers{parts_}, peer_, std::move(finish));
    }
    [[nodiscard]] result_type finish(const boost::system::error_code& failure, std::size_t = 0) {
        return from_asio_error(failure, gyre::activity::write);
    }

private:
    asio_datagrams* on_;
    gyre::const_buffers parts_;
    gyre::endpoint peer_;
};

/// Of a batch: one datagram after the other.
class asio_send_batch {
public:
    using result_type = gyre::io_result<std::size_t>;

    asio_send_batch(asio_datagrams& on, asio_datagram_batch& batch) noexcept
        : on_{&on}, batch_{&batch} {}

    template <class Handler>
    void begin(Handler handler) {
        asio_finish<Handler, asio_send_batch> finish{std::move(handler), *this};
        if (batch_->empty())
            return asio_fail(*on_, boost::system::errc::success, std::move(finish));
        begin_asio_send(*on_, asio_buffer((*batch_)[0]), batch_->peer(0), std::move(finish));
    }
    [[nodiscard]] bool goes_on(const boost::system::error_code& failure, std::size_t) {
        if (failure) return false;
        ++sent_;
        batch_->drop_first();
        return !batch_->empty();
    }
    [[nodiscard]] result_type finish(const boost::system::error_code& failure, std::size_t = 0) {
        // A failure behind datagrams that went out is reported by the next call.
        if (failure && sent_ == 0) return from_asio_error(failure, gyre::activity::write);
        return sent_;
    }

private:
    asio_datagrams* on_;
    asio_datagram_batch* batch_;
    std::size_t sent_ = 0;
};

}  // namespace exchange
