// SPDX-License-Identifier: BSL-1.0
//
// A connection: bytes in order, both ways, over TCP or a Unix-domain socket.
//
// The family belongs to the endpoint, not to the type, so one server serves both and one set of tests
// covers both. Every method fills in an operation (runtime/operation.hpp); none knows a backend.
// acceptor.hpp makes these from the other side; stream/algorithms.hpp reads and writes whole messages.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/lease.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/basic_socket.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/passed_descriptors.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/io/transfer.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace gyre {

class finish_prepared_connect;
class stream_socket;

/// What is done to a socket before it connects.
struct connect_options {
    connect_options() noexcept = default;

    /// The address that it comes from; null: what the kernel chooses. With port 0 the kernel chooses the port
    /// when it connects.
    endpoint local;
    bool address_reused = false;  ///< SO_REUSEADDR: a port of `local` that is in TIME-WAIT.

    /// The network interface that it must use (socket(7), SO_BINDTODEVICE); empty: any.
    std::string device;

    /// Called when the socket is open, and before it is bound.
    socket_setup setup;
};

/// Which direction of a connection ends.
enum class shutdown_side : std::uint8_t { receive, send, both };

// Implementation: how raw results become results.

/// Of a leased read: owns the block until it is handed out, so that none is ever lost.
struct finish_lease {
    [[nodiscard]] std::int32_t prepare(lease_operation& op, io_context& on) const noexcept {
        on.provide_memory(op);
        return 0;
    }
    [[nodiscard]] io_result<buffer_lease> operator()(lease_operation& op) const noexcept {
        if (op.result < 0) return error_of(op);
        if (op.result == 0) return error{errc::eof, activity::read};
        return buffer_lease{*op.pool, op.block, static_cast<std::size_t>(op.result)};
    }
};

/// Of a connect: opens the socket first, and owns it until it is handed out.
class finish_connect {
public:
    explicit finish_connect(const endpoint& peer) noexcept : peer_{peer} {}

    [[nodiscard]] std::int32_t prepare(connect_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<stream_socket> operator()(const connect_operation& op) noexcept;

private:
    endpoint peer_;
    handle socket_;
};

/// Of a write with descriptors.
struct finish_passing_write : finish_passing<message_parts> {
    using finish_passing::finish_passing;
    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context& on) noexcept;
};

/// A connected socket, or none. Moves; closes at the latest when destroyed.
///
/// Belongs to the loop it is first used on. One writer at a time, which is checked, by `write_all` and its
/// like for whole messages; a stream is rarely of use to several readers, but they are served in their order.
class stream_socket : public basic_socket {
public:
    using message_writer = claimed_writer<stream_socket>;

    /// Not open: everything ends with `errc::closed`.
    stream_socket() noexcept = default;

    /// Takes charge of a connected socket.
    explicit stream_socket(handle connected) noexcept : basic_socket{std::move(connected)} {}

    /// Connects to `peer`.
    ///
    /// @param  peer  Copied.
    /// @return The connected socket; closed unless ok. TCP sockets have `no_delay` set.
    ///
    /// Errors:        the kernel's: `errc::connection_refused`, `errc::network_unreachable`, ...;
    ///                `errc::no_buffer_space` if a Unix-domain listener's queue is full.
    ///                `errc::connection_refused` also where nothing listens and the kernel has let the
    ///                socket connect to itself, unless `connect_options::local` asks for that port.
    /// Cancellation:  `errc::canceled`; the half-open connection is closed.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation; socket, option and connect calls.
    [[nodiscard]] static auto connect(const endpoint& peer) noexcept {
        return submission<connect_operation, finish_connect>{connect_operation{},
                                                             finish_connect{peer}};
    }

    /// The same from a certain address or network interface, or with options set before.
    ///
    /// @param  options  Owned.
    /// Errors:          as above; of the steps before it too, as in `errc::address_not_available`,
    ///                  `errc::address_in_use`, `errc::no_such_device`, or what `setup` has returned.
    [[nodiscard]] static submission<connect_operation, finish_prepared_connect> connect(
        const endpoint& peer, connect_options options) noexcept;

    /// Reads what is there, at least one byte, at most `into.size()`.
    ///
    /// Urgent data (RFC 9293 3.8.5, MSG_OOB) is neither sent nor received: its one byte is left out of what
    /// is read, and a read ends in front of it. RFC 6093 advises against it, and SO_OOBINLINE is not
    /// offered.
    ///
    /// @param  into  Borrowed until completion. Empty yields {ok, 0}.
    /// @return The bytes read; zero only with an error or an empty buffer.
    ///
    /// Errors:        `errc::eof` at the end of the stream, `errc::connection_reset`, ...;
    ///                `errc::closed` if the socket was closed before it was awaited.
    /// Cancellation:  `errc::canceled` and no byte lost: what had been read is reported instead.
    /// Threads:       resumes on the caller's executor. Several reads are served in their order.
    /// Cost:          no allocation; one system call, or an entry of the turn's batch.
    [[nodiscard]] auto read_some(read_space into) noexcept {
        return submission<receive_operation, finish_read>{opened(), receive_operation{into}};
    }

    /// The same into several buffers, filled in order; at most `buffers_per_call_max` of them.
    [[nodiscard]] auto read_some(mutable_buffers into) noexcept {
        return submission<message_operation, message_parts>{
            opened(), message_operation{opcode::receive_scatter}, message_parts{into}};
    }

    /// The same into one buffer, and what was read stays to be read: for telling protocols apart by how they
    /// begin. What is there already is told again at once, so for more of it than that, read it.
    [[nodiscard]] auto peek(read_space into) noexcept {
        receive_operation op{into};
        op.peeks = true;
        return submission<receive_operation, finish_read>{opened(), std::move(op)};
    }

    /// Of a Unix-domain socket: the same as `read_some`, with the descriptors that came with its first bytes.
    /// A plain read ends behind the bytes that brought some, which the kernel then closes.
    ///
    /// @param  came  Borrowed until completion; what it held is closed when the read begins.
    /// Cancellation:  as `read_some`, and no descriptor lost: each is in `came`, or was not received.
    [[nodiscard]] auto read_some(read_space into, passed_descriptors& came) noexcept {
        const mutable_buffer whole = into;
        return submission<message_operation, finish_passed<message_parts>>{
            opened(), message_operation{opcode::receive_scatter},
            finish_passed<message_parts>{message_parts{mutable_buffers{&whole, 1}}, came}};
    }

    /// Reads at least one byte into memory that the loop lends.
    ///
    /// The block is taken when there is something to read, so silent connections hold none: on epoll the
    /// loop takes it after the wait, on io_uring the kernel takes one of a few that all reads share. It is
    /// one that was returned lately, so it is warm. Prefer this to `read_some` where connections are many,
    /// and mostly silent or their messages large (docs/decisions/0007-leases.md).
    ///
    /// @return The lease: between 1 and `io_context_options::receive_block_size` bytes. Empty with an
    ///         error. It may be kept, moved and dropped anywhere; each one that is kept costs a block.
    ///
    /// Errors:        `errc::eof`, `errc::connection_reset`, `errc::closed`, ...
    /// Cancellation:  `errc::canceled` and no byte lost: what had been read is reported instead.
    /// Threads:       resumes on the caller's executor. Several reads are served in their order.
    /// Cost:          no allocation in steady state; an entry of the turn's batch, or one system call
    ///                when something is there. Where the kernel cannot take blocks by itself (epoll, Linux
    ///                before 5.19, more at once than it was offered) one call more after a wait.
    [[nodiscard]] auto read() noexcept {
        return submission<lease_operation, finish_lease>{opened(), lease_operation{}};
    }

    /// Writes at least one byte of `from`.
    ///
    /// @param  from  Borrowed until completion. Empty yields {ok, 0}.
    /// @return The bytes the kernel took; zero only with an error or an empty buffer. Of more than that
    ///         TCP is given 65,000 at once, a full packet of segmentation offload: larger calls
    ///         are slower, not faster (docs/decisions/0005-fast-paths.md). With its first write of 32 KiB a
    ///         TCP socket gets a limit of 128 KiB for what the peer has no room for yet
    ///         (TCP_NOTSENT_LOWAT), unless it has one (docs/decisions/0024-large-messages.md).
    ///
    /// Errors:        `errc::broken_pipe`, `errc::connection_reset`, ... Never raises SIGPIPE.
    ///                `errc::closed` if the socket was closed before it was awaited.
    ///                `errc::busy` while another write is under way: a message that several coroutines
    ///                write parts of would be torn, so they take turns with a mutex or a channel.
    /// Cancellation:  `errc::canceled`; nothing was sent then.
    /// Threads:       resumes on the caller's executor. One write at a time.
    /// Cost:          no allocation; usually one system call and no suspension.
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return submission<send_operation, finish_write>{opened(), send_operation{from}};
    }

    /// The same from several buffers, in order; at most `buffers_per_call_max` of them.
    [[nodiscard]] auto write_some(const_buffers from) noexcept {
        return submission<message_operation, message_parts>{
            opened(), message_operation{opcode::send_gather}, message_parts{from}};
    }

    /// Of a Unix-domain socket: the same, with open descriptors that go with the first byte. The receiver
    /// gets its own of each: they may be closed here afterwards.
    ///
    /// @param  from     As above, and not empty (`errc::invalid_argument`).
    /// @param  numbers  Copied; what they name is borrowed until completion. At most
    ///                  `passed_descriptors::count_max`, else `errc::invalid_argument`.
    /// Errors:          as above; `errc::bad_descriptor`, and of a TCP socket `errc::not_supported`.
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND,
                                  std::span<const int> numbers) noexcept {
        return submission<message_operation, finish_passing_write>{
            opened(), message_operation{opcode::send_gather},
            finish_passing_write{message_parts{const_buffers{&from, 1}}, numbers}};
    }

    /// Ends one direction: the peer reads `errc::eof` once it has read what was sent. Outside of
    /// coroutines too.
    /// Errors: `errc::not_connected`, `errc::closed`.
    [[nodiscard]] io_result<> shutdown(shutdown_side side) noexcept;

    /// The name that streams of every kind have for it (stream/concepts.hpp).
    [[nodiscard]] io_result<> shutdown_send() noexcept { return shutdown(shutdown_side::send); }

    /// A number that changes whenever the peer's machine has taken bytes that were written before: for limits
    /// on silence (stream/silence.hpp). Bytes of TCP count when they are acknowledged, those of a Unix-domain
    /// socket when all that one call had written is read. 0 if it is not open. Cost: a system call or two.
    [[nodiscard]] std::uint64_t traffic() const noexcept;

    // Of basic_descriptor. Here unread input makes `close` send a reset, which may destroy what the peer
    // has not read yet: see `close_gracefully`.
    using basic_descriptor::close;

    /// Ends the connection so that the peer gets everything: shuts the sending side, reads and drops
    /// what still comes until the peer has closed too, then closes. It is what SO_LINGER with a time is
    /// for, without a close(2) that blocks the loop.
    ///
    /// @param  limit  How long to wait for the peer.
    ///
    /// Errors:        `errc::timed_out` if the peer did not close in time, `errc::connection_reset`,
    ///                `errc::closed`, ... It is closed in every case, wherever it was moved to; if it is
    ///                closed or destroyed meanwhile, `errc::canceled`.
    /// Cancellation:  ignored; `limit` bounds it.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          two frames.
    [[nodiscard]] task<io_result<>> close_gracefully(duration limit) {
        return close_gracefully(opened(), is_open() ? &on() : nullptr, limit);
    }

    /// Two Unix-domain sockets that are each other's peer, without names. Outside of coroutines too.
    /// Errors: `errc::process_descriptors_exhausted`, ...
    [[nodiscard]] static io_result<stream_socket, stream_socket> connected_pair(
        io_context& on) noexcept;

    /// Takes ownership of a connected stream socket that no other code will close, for use on `on`.
    [[nodiscard]] static stream_socket adopt(io_context& on, int number) noexcept {
        return stream_socket{handle{on.host(), number}};
    }

private:
    friend message_writer;
    friend class finish_prepared_connect;

    [[nodiscard]] static task<io_result<>> close_gracefully(opening it, host* on, duration limit);

    [[nodiscard]] auto write_claimed(const_buffer from, write_claim& by) noexcept {
        return submission<send_operation, finish_claimed<finish_write>>{
            opened(), send_operation{from, true}, {finish_write{}, by}};
    }
    [[nodiscard]] auto write_claimed(const_buffers from, std::size_t skipped,
                                     write_claim& by) noexcept {
        return submission<message_operation, finish_claimed<message_parts>>{
            opened(), message_operation{opcode::send_gather}, {message_parts{from, skipped}, by}};
    }
};

/// Of a connect with options: the same, with what is to be done in between.
class finish_prepared_connect {
public:
    finish_prepared_connect(const endpoint& peer, connect_options options) noexcept
        : peer_{peer}, options_{std::move(options)} {}

    [[nodiscard]] std::int32_t prepare(connect_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<stream_socket> operator()(const connect_operation& op) noexcept;

private:
    endpoint peer_;
    connect_options options_;
    stream_socket socket_;
};

inline submission<connect_operation, finish_prepared_connect> stream_socket::connect(
    const endpoint& peer, connect_options options) noexcept {
    return submission<connect_operation, finish_prepared_connect>{
        connect_operation{}, finish_prepared_connect{peer, std::move(options)}};
}

/// Names for what a stream socket is used as; the type is one.
using tcp_socket = stream_socket;
/// A connection over a Unix-domain name.
using local_socket = stream_socket;

}  // namespace gyre
