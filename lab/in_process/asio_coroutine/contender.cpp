// SPDX-License-Identifier: BSL-1.0
//
// Asio's coroutines on epoll, where it has no files.
#include <lab/in_process/asio_coroutine/players.hpp>

lab::contender lab::make_contender(std::string_view backend) {
    return asio_lab::make<asio_lab::coroutine_players>("asio_coroutine", backend);
}
