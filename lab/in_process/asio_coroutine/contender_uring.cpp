// SPDX-License-Identifier: BSL-1.0
//
// Asio's coroutines on io_uring, with files.
#include <lab/in_process/asio_coroutine/files.hpp>
#include <lab/in_process/asio_coroutine/players.hpp>

#include <lab/in_process/coroutine_files.hpp>

namespace {

struct players : asio_lab::coroutine_players, lab::with_files<asio_lab::file_library> {};

}  // namespace

lab::contender lab::make_contender(std::string_view backend) {
    return asio_lab::make<players>("asio_coroutine", backend);
}
