// SPDX-License-Identifier: BSL-1.0
//
// Asio's coroutines, wherever they wait. Players with sockets are those of ../coroutines.hpp; the others have
// a file here. A coroutine is one chain of handlers, so connections need no strand even where any thread may
// run any handler.
#pragma once

#include <lab/in_process/asio/contender.hpp>
#include <lab/in_process/asio_coroutine/channel.hpp>
#include <lab/in_process/asio_coroutine/dispatch.hpp>
#include <lab/in_process/asio_coroutine/fan_out.hpp>
#include <lab/in_process/coroutines.hpp>

namespace asio_lab {

struct coroutine_players : lab::with_coroutines<coroutine_library> {
    using items = coroutines;
    using parents = asio_lab::parents;
    using channel = asio_lab::channel;
};

}  // namespace asio_lab
