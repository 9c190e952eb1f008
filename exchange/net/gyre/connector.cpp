// SPDX-License-Identifier: BSL-1.0
//
// Waiting for a connection or for the end of waiting: see connector.hpp.
#include <exchange/net/gyre/connector.hpp>

#include <gyre/sync/when_any.hpp>

#include <tuple>
#include <utility>

namespace exchange {

gyre::task<gyre::io_result<gyre::stream_socket>> gyre_connector::connect(gyre::endpoint peer) {
    canceled_.reset();
    auto ended = co_await gyre::when_any(gyre::stream_socket::connect(peer), canceled_.wait());
    co_return std::move(std::get<0>(ended.results));
}

}  // namespace exchange
