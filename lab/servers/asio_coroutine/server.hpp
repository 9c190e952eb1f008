// SPDX-License-Identifier: BSL-1.0
//
// The server as a user of Boost.Asio writes it with coroutines: awaiting `deferred` operations needs no
// coroutine frame for each. asio/server.hpp has the rest of the configuration.
#pragma once

#include <lab/servers/asio/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <cstddef>
#include <utility>

namespace asio_coroutine {

namespace asio = boost::asio;

using task = asio::awaitable<void, servers::executor>;
using session = task (*)(servers::stream peer, std::size_t buffer_bytes);

inline constexpr auto result_of = asio::as_tuple(asio::deferred);

inline task accept_each(servers::acceptor& from, std::size_t buffer_bytes, session each) {
    for (;;) {
        auto [failed, peer] = co_await from.async_accept(result_of);
        if (failed) continue;
        asio::co_spawn(from.get_executor(), each(std::move(peer), buffer_bytes), asio::detached);
    }
}

template <session each>
void accept_all(servers::acceptor& from, const servers::job& wanted) {
    asio::co_spawn(from.get_executor(), accept_each(from, wanted.buffer_bytes, each),
                   asio::detached);
}

}  // namespace asio_coroutine
