// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio as its coroutine users write it: `awaitable`, `co_spawn`, `deferred`.
//
// Awaiting `deferred` operations is the variant without a coroutine frame per operation. A short
// write or read is continued in the loop that awaits it, which spares the composed operations.
// ../asio/sockets.hpp has the rest of the configuration. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/deferred.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/composition/cpp20_coroutines.html
#include <lab/in_process/asio/contender.hpp>

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    return asio_lab::make("asio_coroutine", backend);
}
