// SPDX-License-Identifier: BSL-1.0
//
// Messages between processes of one host: Unix-domain sockets that keep their boundaries (unix(7)).
//
// `local_datagram_socket` talks to any that has a name; `local_packet_socket` is a connection of messages
// (SOCK_SEQPACKET), which begins and ends. Neither loses nor swaps any: what is sent waits for its receiver.
// A message that is longer than its buffer is cut, and says so. Bytes in order: stream_socket.hpp.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/io/basic_socket.hpp>
#include <gyre/io/datagram_message.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/passed_descriptors.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace gyre {

// Implementation: how raw results become results.

/// Of a receive that may meet the end of a connection, which looks like a message of no bytes; one of which
/// there was no room for any is cut.
struct finish_packet_receive : datagram_message {
    using datagram_message::datagram_message;
    [[nodiscard]] io_result<received_datagram> operator()(
        const message_operation& op) const noexcept {
        if (op.result < 0) return error_of(op);
        const received_datagram got = received(op);
        if (got.size == 0 && !got.truncated) return error{errc::eof, activity::read};
        return got;
    }
};

/// Of a send on such a connection: a message of no bytes would look like the end.
struct finish_packet_send : finish_datagram_send {
    using finish_datagram_send::finish_datagram_send;
    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context& on) noexcept;
};

/// What both kinds have in common; `Send` and `Receive` finish their messages. Never made by itself. Sends
/// and receives may overlap, several of each.
template <class Send, class Receive>
class local_message_socket : public basic_socket {
public:
    /// Buffers that one gathered or scattered message may have.
    static constexpr std::size_t buffers_max = datagram_message::parts_max;

    /// Sends one message to the peer.
    ///
    /// @param  bytes  Borrowed until completion. Empty ones exist between datagram sockets only
    ///                (`errc::invalid_argument`).
    ///
    /// Errors:        `errc::message_size` if it does not fit the send buffer, `errc::not_connected` without
    ///                a peer, `errc::connection_refused`, `errc::broken_pipe` or `errc::connection_reset` if
    ///                that has gone; `errc::closed` if the socket was closed before it was awaited.
    /// Cancellation:  `errc::canceled`; nothing was sent then.
    /// Threads:       resumes on the caller's executor. Waits while the peer has no room.
    /// Cost:          no allocation; usually one system call and no suspension.
    [[nodiscard]] auto send(const_buffer bytes GYRE_LIFETIMEBOUND) noexcept {
        return send(const_buffers{&bytes, 1});
    }

    /// The same, gathered from at most `buffers_max` buffers (more are `errc::invalid_argument`).
    [[nodiscard]] auto send(const_buffers parts) noexcept {
        return submission<message_operation, Send>{opened(), message_operation{opcode::send_gather},
                                                   Send{parts}};
    }

    /// The same, with open descriptors, of which the receiver gets its own: they may be closed here
    /// afterwards.
    ///
    /// @param  numbers  Copied; what they name is borrowed until completion. At most
    ///                  `passed_descriptors::count_max`, else `errc::invalid_argument`.
    /// Errors:          as above; `errc::bad_descriptor`; ETOOMANYREFS if this user has too many under way.
    [[nodiscard]] auto send(const_buffer bytes GYRE_LIFETIMEBOUND,
                            std::span<const int> numbers) noexcept {
        return submission<message_operation, finish_passing<Send>>{
            opened(), message_operation{opcode::send_gather},
            finish_passing<Send>{Send{const_buffers{&bytes, 1}}, numbers}};
    }

    /// Receives one message.
    ///
    /// @param  into  Borrowed until completion. What does not fit is lost, and reported. Descriptors that
    ///               came with it are closed by the kernel.
    /// @return Its size, and whether it was cut.
    ///
    /// Errors:        of a packet socket `errc::eof` at the end, `errc::connection_reset` if the peer had not
    ///                read everything; `errc::closed` if the socket was closed before it was awaited.
    /// Cancellation:  `errc::canceled` and no message lost: what had been received is reported instead.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation; one system call, or an entry of the turn's batch.
    [[nodiscard]] auto receive(read_space into) noexcept {
        const mutable_buffer whole = into;
        return receive(mutable_buffers{&whole, 1});
    }

    /// The same, scattered over at most `buffers_max` buffers.
    [[nodiscard]] auto receive(mutable_buffers parts) noexcept {
        return submission<message_operation, Receive>{
            opened(), message_operation{opcode::receive_scatter}, Receive{parts}};
    }

    /// The same, with the descriptors that came with it.
    ///
    /// @param  came  Borrowed until completion; what it held is closed when the receive begins.
    /// Cancellation:  as above, and no descriptor lost: each is in `came`, or was not received.
    [[nodiscard]] auto receive(read_space into, passed_descriptors& came) noexcept {
        const mutable_buffer whole = into;
        return submission<message_operation, finish_passed<Receive>>{
            opened(), message_operation{opcode::receive_scatter},
            finish_passed<Receive>{Receive{mutable_buffers{&whole, 1}}, came}};
    }

    /// The same as `receive`, and the message stays to be received.
    [[nodiscard]] auto peek(read_space into) noexcept {
        const mutable_buffer whole = into;
        return submission<message_operation, Receive>{
            opened(), message_operation{opcode::receive_scatter, message_operation::peeks},
            Receive{mutable_buffers{&whole, 1}}};
    }

protected:
    local_message_socket() noexcept = default;
    explicit local_message_socket(handle open) noexcept : basic_socket{std::move(open)} {
        note_messages_of_host();
    }
    local_message_socket(local_message_socket&&) noexcept = default;
    local_message_socket& operator=(local_message_socket&&) noexcept = default;
    ~local_message_socket() = default;
};

/// Datagrams over Unix names, or none. Moves; closes at the latest when destroyed.
class local_datagram_socket
    : public local_message_socket<finish_datagram_send, finish_datagram_receive> {
public:
    local_datagram_socket() noexcept = default;

    /// Takes charge of an open socket.
    explicit local_datagram_socket(handle open) noexcept : local_message_socket{std::move(open)} {}

    /// Opens one at `local`, a path or an abstract name; null: without a name, so that no peer can answer. A
    /// path stays when the socket is closed; the next `bind` removes it if nothing is there any more.
    /// Errors: `errc::address_in_use`, `errc::address_family_not_supported` if it is no Unix name, ...
    [[nodiscard]] static io_result<local_datagram_socket> bind(io_context& on,
                                                               const endpoint& local) noexcept;

    /// Fixes the peer: `send` goes to it, and only its messages are received. Never waits.
    /// Errors: `errc::no_such_file` or `errc::connection_refused` if no socket is there, `errc::closed`, ...
    io_result<> connect(const endpoint& peer) noexcept;

    using local_message_socket::receive;
    using local_message_socket::send;

    /// Sends one message to `peer`, which is copied; as `send`, but it does not wait for the peer to have
    /// room, of which the kernel tells a connected socket only.
    /// Errors: as `send`; `errc::no_buffer_space` if the peer has no room: try again later, or `connect`.
    [[nodiscard]] submission<message_operation, finish_datagram_send> send_to(
        const_buffer bytes GYRE_LIFETIMEBOUND, const endpoint& peer) noexcept {
        return submission<message_operation, finish_datagram_send>{
            opened(), message_operation{opcode::send_gather},
            finish_datagram_send{const_buffers{&bytes, 1}, peer}};
    }

    /// The same as `receive`, with the sender's address beside it; null if it has none.
    [[nodiscard]] submission<message_operation, finish_datagram_receive_from> receive_from(
        read_space into) noexcept {
        const mutable_buffer whole = into;
        return submission<message_operation, finish_datagram_receive_from>{
            opened(), message_operation{opcode::receive_scatter},
            finish_datagram_receive_from{mutable_buffers{&whole, 1}}};
    }

    /// Two that are each other's peer, without names. Outside of coroutines too.
    /// Errors: `errc::process_descriptors_exhausted`, ...
    [[nodiscard]] static io_result<local_datagram_socket, local_datagram_socket> connected_pair(
        io_context& on) noexcept;
};

class finish_packet_connect;

/// A connection of messages, or none. Moves; closes at the latest when destroyed.
class local_packet_socket : public local_message_socket<finish_packet_send, finish_packet_receive> {
public:
    local_packet_socket() noexcept = default;

    /// Takes charge of a connected socket.
    explicit local_packet_socket(handle open) noexcept : local_message_socket{std::move(open)} {}

    /// Connects to the `local_packet_acceptor` at `peer`, which is copied.
    ///
    /// Errors:        `errc::connection_refused` or `errc::no_such_file` if no acceptor is there,
    ///                `errc::no_buffer_space` if its queue is full.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation; socket and connect calls.
    [[nodiscard]] static submission<connect_operation, finish_packet_connect> connect(
        const endpoint& peer) noexcept;

    /// As that of local_datagram_socket.
    [[nodiscard]] static io_result<local_packet_socket, local_packet_socket> connected_pair(
        io_context& on) noexcept;
};

/// Of a connect: opens the socket first, and owns it until it is handed out.
class finish_packet_connect {
public:
    explicit finish_packet_connect(const endpoint& peer) noexcept : peer_{peer} {}

    [[nodiscard]] std::int32_t prepare(connect_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<local_packet_socket> operator()(const connect_operation& op) noexcept;

private:
    endpoint peer_;
    handle socket_;
};

inline submission<connect_operation, finish_packet_connect> local_packet_socket::connect(
    const endpoint& peer) noexcept {
    return submission<connect_operation, finish_packet_connect>{connect_operation{},
                                                                finish_packet_connect{peer}};
}

/// Of an accept: owns the accepted socket until it is handed out.
class finish_packet_accept {
public:
    [[nodiscard]] std::int32_t prepare(accept_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<local_packet_socket> operator()(const accept_operation& op) noexcept;

private:
    gyre::host* host_ = nullptr;
};

/// Listens for connections of messages. Moves; closes at the latest when destroyed.
class local_packet_acceptor : public basic_socket {
public:
    local_packet_acceptor() noexcept = default;
    explicit local_packet_acceptor(handle listening) noexcept
        : basic_socket{std::move(listening)} {}

    /// Listens at `local`, a path or an abstract name; a stale path is removed, as by stream_acceptor.
    /// Errors: `errc::address_in_use`, `errc::address_family_not_supported` if it is no Unix name, ...
    [[nodiscard]] static io_result<local_packet_acceptor> listen(
        io_context& on, const endpoint& local, int backlog_connections_max = 4096) noexcept;

    /// Takes the next connection.
    ///
    /// Errors:        `errc::process_descriptors_exhausted`, ...; `errc::invalid_argument` of what does not
    ///                listen; `errc::closed` if it was closed before it was awaited.
    /// Cancellation:  `errc::canceled`, by a drain too. A connection that had been accepted is delivered
    ///                instead.
    /// Threads:       resumes on the caller's executor. Several may wait; first come, first served.
    /// Cost:          no allocation; one system call, or an entry of the turn's batch.
    [[nodiscard]] auto accept() noexcept {
        return submission<accept_operation, finish_packet_accept>{
            opened(), accept_operation{}, {}, stop_level::drain};
    }
};

}  // namespace gyre
