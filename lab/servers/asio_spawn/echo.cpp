// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio with coroutines that have a stack of their own: `boost::asio::spawn`, on Boost.Context.
//
// What libraries of the kind of libco offer, of which no registry has one. The completion token that takes an
// error code spares the exception at the end of a connection; the rest is as with the other coroutines. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/composition/spawn.html
#include <lab/servers/asio/server.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/spawn.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;

using yield = asio::basic_yield_context<servers::executor>;
using boost::system::error_code;

void echo(servers::stream& peer, std::size_t buffer_bytes, const yield& here) {
    std::vector<char> space(buffer_bytes);
    error_code error;
    for (;;) {
        const std::size_t size = peer.async_read_some(asio::buffer(space), here[error]);
        if (error) return;
        for (asio::const_buffer rest{space.data(), size}; rest.size() > 0;) {
            rest += peer.async_write_some(rest, here[error]);
            if (error) return;
        }
    }
}

void accept_all(servers::acceptor& from, const servers::job& wanted) {
    const auto accept_each = [&from, &wanted](const yield& here) {
        for (;;) {
            error_code failed;
            servers::stream accepted = from.async_accept(here[failed]);
            if (failed) continue;
            auto session = [peer = std::move(accepted), &wanted](const yield& there) mutable {
                echo(peer, wanted.buffer_bytes, there);
            };
            asio::spawn(from.get_executor(), std::move(session), asio::detached);
        }
    };
    asio::spawn(from.get_executor(), accept_each, asio::detached);
}

}  // namespace

int servers::serve_echo(const job& wanted) { return serve<accept_all>(wanted); }
