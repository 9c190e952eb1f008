// SPDX-License-Identifier: BSL-1.0
//
// What all servers on Boost.Asio agree on: how its fastest configuration is spelled.
//
// The context gets the concurrency hint that switches locking off, as one thread does all of its work;
// several threads have a context and a listener each. Executors and sockets have their concrete types, so
// that nothing is type-erased. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/concurrency_hint.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/basic_stream_socket.html
#pragma once

#include <lab/servers/seam.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <optional>

namespace servers {

namespace asio = boost::asio;

using asio::ip::tcp;
using executor = asio::io_context::executor_type;
using stream = asio::basic_stream_socket<tcp, executor>;
using acceptor = asio::basic_socket_acceptor<tcp, executor>;

/// Sockets inherit TCP_NODELAY from it.
[[nodiscard]] inline acceptor listen(asio::io_context& on, const job& wanted) {
    const tcp::endpoint local{asio::ip::address_v4::loopback(), wanted.port};
    acceptor from{on.get_executor(), local.protocol()};
    from.set_option(acceptor::reuse_address{true});
    from.set_option(tcp::no_delay{true});
    if (wanted.threads > 1) {
        from.set_option(asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>{true});
    }
    from.bind(local);
    from.listen(4'096);
    return from;
}

/// Runs a context on which `accept_all(acceptor&, job)` has begun, until SIGTERM. A context that spins is
/// asked without end, as by programs that cannot wait until they are woken; Asio has no option for that.
template <void (*accept_all)(acceptor&, const job&)>
void serve_here(const job& wanted) {
    asio::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    std::optional<asio::signal_set> signals;
    if (wanted.threads == 1) {  // Without locks no two contexts can have one.
        signals.emplace(context, SIGTERM);
        signals->async_wait([&](auto, auto) { context.stop(); });
    }
    acceptor from = listen(context, wanted);
    accept_all(from, wanted);
    say_ready(wanted);
    if (!wanted.backend.ends_with("_spin")) {
        context.run();
    } else {
        while (!context.stopped()) context.poll();
    }
}

template <void (*accept_all)(acceptor&, const job&)>
int serve(const job& wanted) {
    return serve_on_threads(wanted, serve_here<accept_all>);
}

}  // namespace servers
