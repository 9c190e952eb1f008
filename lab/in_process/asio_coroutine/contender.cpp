// SPDX-License-Identifier: BSL-1.0
//
// Asio's coroutines. Players with sockets are those of ../coroutines.hpp; the others have a file here. A
// coroutine is one chain of handlers, so connections need no strand even where any thread may run any
// handler.
#include <lab/in_process/asio/contender.hpp>
#include <lab/in_process/asio_coroutine/dispatch.hpp>
#include <lab/in_process/asio_coroutine/fan_out.hpp>
#include <lab/in_process/coroutines.hpp>

namespace {

struct players : lab::with_coroutines<asio_lab::coroutine_library> {
    using items = asio_lab::coroutines;
    using parents = asio_lab::parents;
};

}  // namespace

lab::contender lab::make_contender(std::string_view backend) {
    return asio_lab::make<players>("asio_coroutine", backend);
}
