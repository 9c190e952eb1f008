// SPDX-License-Identifier: BSL-1.0
//
// Both ends of the connections of asio_callback in `throughput` and `http`.
//
// What a connection does is the same on the one thread of asio_callback.cpp and on the several of
// asio_callback_threads.cpp, so that their rows can be compared.
#pragma once

#include <lab/contenders/asio_sockets.hpp>

#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace asio_lab {

using error_code = boost::system::error_code;

template <class Next>
void send_all(stream& socket, std::span<const std::byte> bytes, Next next) {
    socket.async_write_some(buffer_of(bytes),
                            [&socket, bytes, next](error_code error, std::size_t size) {
                                lab::require(!error, "asio: write");
                                if (size < bytes.size())
                                    return send_all(socket, bytes.subspan(size), next);
                                next();
                            });
}

template <class Next>
void receive_all(stream& socket, std::span<std::byte> space, Next next) {
    socket.async_read_some(buffer_of(space),
                           [&socket, space, next](error_code error, std::size_t size) {
                               lab::require(!error, "asio: read");
                               if (size < space.size())
                                   return receive_all(socket, space.subspan(size), next);
                               next();
                           });
}

template <class Next>
void receive_message(stream& socket, lab::http_inbox& inbox, Next next) {
    socket.async_read_some(buffer_of(inbox.space()),
                           [&socket, &inbox, next](error_code error, std::size_t size) {
                               lab::require(!error, "asio: read");
                               if (!inbox.received(size))
                                   return receive_message(socket, inbox, next);
                               next();
                           });
}

// One direction of `throughput`: two independent chains of handlers.
struct direction {
    void begin(std::uint64_t size, lab::verification how) {
        outgoing.begin(size);
        incoming.begin(size, how);
        write();
        read();
    }

    void write() {
        const auto next = outgoing.next();
        if (next.empty()) return;

        from.async_write_some(buffer_of(next), [this](error_code error, std::size_t size) {
            lab::require(!error, "asio: write");
            outgoing.sent(size);
            write();
        });
    }

    void read() {
        const auto space = incoming.space();
        if (space.empty()) return;

        to.async_read_some(buffer_of(space), [this](error_code error, std::size_t size) {
            lab::require(!error, "asio: read");
            incoming.received(size);
            read();
        });
    }

    stream& from;
    stream& to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;
};

class http_connection {
public:
    explicit http_connection(asio::io_context& context) : sockets_{context, lab::transport::tcp} {}

    void begin(std::uint64_t requests, lab::histogram& latency) {
        timer_.emplace(latency);
        to_ask_ = requests;
        to_answer_ = requests;
        answer();
        ask();
    }

private:
    void ask() {
        if (to_ask_-- == 0) return;
        send_all(sockets_.client, lab::bytes_of(lab::http_request), [this] {
            receive_message(sockets_.client, responses_, [this] {
                timer_->lap();
                ask();
            });
        });
    }

    void answer() {
        if (to_answer_-- == 0) return;
        receive_message(sockets_.server, requests_, [this] {
            send_all(sockets_.server, lab::bytes_of(lab::http_response), [this] { answer(); });
        });
    }

    stream_pair sockets_;
    lab::http_inbox requests_{lab::http_request};
    lab::http_inbox responses_{lab::http_response};
    std::optional<lab::lap_timer> timer_;
    std::uint64_t to_ask_ = 0;
    std::uint64_t to_answer_ = 0;
};

}  // namespace asio_lab
