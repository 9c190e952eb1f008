// SPDX-License-Identifier: BSL-1.0
//
// The listening side: connections come out one by one, as fast as they are asked for.
//
// serve.hpp runs a whole server on one of these, with bounds, back-off and draining.
#pragma once

#include <gyre/io/basic_socket.hpp>
#include <gyre/io/stream_socket.hpp>

#include <string>
#include <utility>

namespace gyre {

/// How an acceptor listens: its queue, and who else may have its address.
struct listen_options {
    listen_options() noexcept = default;

    int backlog_connections_max = 4096;  ///< Not yet accepted; the kernel caps it at somaxconn.
    bool address_reused = true;          ///< SO_REUSEADDR: restart without waiting for TIME-WAIT.
    bool port_shared = false;            ///< SO_REUSEPORT: several listeners on one port.

    /// IPV6_V6ONLY: an IPv6 listener takes no IPv4 clients, so another one may have the same port there.
    /// False is said to the kernel, too, whatever its default is.
    bool v6_only = false;

    /// Whether the file of a Unix-domain socket is removed on which nothing listens any more, as after a
    /// crash. A listener that is between its bind and its listen looks the same, so two programs that start
    /// at once on one path may both believe that they have it.
    bool stale_path_removed = true;

    /// The network interface that connections must come through (socket(7), SO_BINDTODEVICE); empty: any.
    std::string device;

    /// Called when the options above are set, and before the socket is bound.
    socket_setup setup;
};

/// Of an accept: owns the accepted socket until it is handed out, so that none is ever lost.
class finish_accept {
public:
    [[nodiscard]] std::int32_t prepare(accept_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<stream_socket> operator()(const accept_operation& op) noexcept;

private:
    gyre::host* host_ = nullptr;
};

class finish_accept_from {
public:
    [[nodiscard]] std::int32_t prepare(accept_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<stream_socket, endpoint> operator()(
        const accept_operation& op) noexcept;

private:
    gyre::host* host_ = nullptr;
    socket_address peer_;
};

/// A listening socket. Moves; closes at the latest when destroyed.
class stream_acceptor : public basic_socket {
public:
    stream_acceptor() noexcept = default;
    explicit stream_acceptor(handle listening) noexcept : basic_socket{std::move(listening)} {}

    /// Opens, binds and listens on `local`; port 0 lets the kernel choose (see `local_endpoint`).
    ///
    /// @param  on     The loop whose host it is opened on. Inside a coroutine leave it out and await.
    /// @param  local  Copied.
    /// Errors:        `errc::address_in_use`, `errc::permission_denied`, ...
    [[nodiscard]] static io_result<stream_acceptor> listen(
        io_context& on, const endpoint& local, const listen_options& options = {}) noexcept;

    /// The same, awaited: the environment provides the loop.
    ///
    /// Errors:        as above.
    /// Cancellation:  none; it completes at once.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          four system calls, no allocation.
    [[nodiscard]] static auto listen(const endpoint& local,
                                     const listen_options& options = {}) noexcept {
        return immediate{
            [local, options](io_context& on) noexcept { return listen(on, local, options); }};
    }

    /// Takes the next connection.
    ///
    /// @return The connected socket; closed unless ok. TCP sockets have `no_delay` set.
    ///
    /// Errors:        `errc::process_descriptors_exhausted`, `errc::connection_aborted`, ...;
    ///                `errc::invalid_argument` of what does not listen, or `errc::not_supported` of
    ///                datagrams; `errc::closed` if the acceptor was closed before it was awaited.
    /// Cancellation:  `errc::canceled`, by a drain too, since this is intake. A connection that had
    ///                been accepted is delivered instead.
    /// Threads:       resumes on the caller's executor. Several may wait; first come, first served.
    /// Cost:          no allocation; one system call, or an entry of the turn's batch.
    [[nodiscard]] auto accept() noexcept {
        return submission<accept_operation, finish_accept>{
            opened(), accept_operation{}, {}, stop_level::drain};
    }

    /// The same, with the peer's address beside it.
    [[nodiscard]] auto accept_from() noexcept {
        return submission<accept_operation, finish_accept_from>{
            opened(), accept_operation{}, {}, stop_level::drain};
    }

    // Of basic_descriptor. Here it stops listening: new connections are refused.
    using basic_descriptor::close;

    /// Takes ownership of a listening socket that no other code will close, for use on `on`. Connections that
    /// it accepts from now on have `no_delay` set, as those of `listen`.
    [[nodiscard]] static stream_acceptor adopt(io_context& on, int number) noexcept;
};

/// An acceptor of TCP connections; the type is the same for each kind of stream.
using tcp_acceptor = stream_acceptor;
/// An acceptor of connections to a Unix-domain name.
using local_acceptor = stream_acceptor;

}  // namespace gyre
