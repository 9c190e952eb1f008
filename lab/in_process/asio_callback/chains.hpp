// SPDX-License-Identifier: BSL-1.0
//
// Chains of completion handlers that several suites begin: send all, receive all, receive a message.
#pragma once

#include <lab/in_process/asio/library.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/payloads.hpp>

#include <cstddef>
#include <span>

namespace asio_lab {

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

}  // namespace asio_lab
