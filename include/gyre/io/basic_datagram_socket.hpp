// SPDX-License-Identifier: BSL-1.0
//
// What sockets of datagrams to other hosts have in common, with headers of their own or not: sending,
// receiving, what is told beside them, and groups of receivers.
//
// udp_socket.hpp is for datagrams with ports, raw_socket.hpp for those of any protocol.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/io/basic_socket.hpp>
#include <gyre/io/datagram_batch.hpp>
#include <gyre/io/datagram_facts.hpp>
#include <gyre/io/datagram_message.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace gyre {

// Implementation: how raw results become results.

/// Of a batch in either direction.
class finish_batch {
public:
    explicit finish_batch(datagram_batch& of) noexcept : batch_{&of} {}

    [[nodiscard]] std::int32_t prepare(batch_operation& op, io_context&) noexcept;
    [[nodiscard]] io_result<std::size_t> operator()(const batch_operation& op) noexcept;

private:
    static constexpr std::int32_t nothing_to_send = INT32_MIN;  // No errno value.

    datagram_batch* batch_;
};

/// A socket whose bytes go and come as datagrams, over IPv4 or IPv6. Never made by itself.
///
/// Sends and receives may overlap, several of each: every datagram goes out whole. Belongs to the loop
/// it is first used on.
class basic_datagram_socket : public basic_socket {
public:
    /// Buffers that one gathered or scattered datagram may have.
    static constexpr std::size_t buffers_max = datagram_message::parts_max;

    /// Fixes the peer: from here on only its datagrams are received, `send` goes to it, and what it
    /// refuses is reported: an ICMP error that a datagram comes back as (RFC 1122 4.1.3.3) ends the next send
    /// or receive, once, as `errc::connection_refused` or `errc::host_unreachable`. A socket without a fixed
    /// peer does not hear of them. May be called again. Never waits.
    /// Errors: `errc::network_unreachable`, `errc::address_family_not_supported`, `errc::closed`, ...
    io_result<> connect(const endpoint& peer) noexcept;

    /// Sends one datagram to the peer of `connect`.
    ///
    /// @param  bytes  Borrowed until completion. May be empty, which sends an empty datagram.
    /// @return Nothing beyond the error: a datagram goes out whole, or not at all. Success does
    ///         not mean that it has arrived.
    ///
    /// Errors:        `errc::message_size` if it is longer than the network takes,
    ///                `errc::not_connected` or `errc::destination_required` without a peer,
    ///                `errc::connection_refused` if an earlier one was answered so by the peer's host,
    ///                `errc::closed` if the socket was closed before it was awaited.
    /// Cancellation:  `errc::canceled`; nothing was sent then.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation; usually one system call and no suspension.
    [[nodiscard]] submission<message_operation, finish_datagram_send> send(
        const_buffer bytes GYRE_LIFETIMEBOUND) noexcept {
        return send_to(const_buffers{&bytes, 1}, endpoint{});
    }

    /// The same, gathered from at most `buffers_max` buffers; more are `errc::invalid_argument`, since
    /// a datagram can't be continued. The list itself is copied.
    [[nodiscard]] submission<message_operation, finish_datagram_send> send(
        const_buffers parts) noexcept {
        return send_to(parts, endpoint{});
    }

    /// Sends one datagram to `peer`, which is copied; as `send` in everything else.
    [[nodiscard]] submission<message_operation, finish_datagram_send> send_to(
        const_buffer bytes GYRE_LIFETIMEBOUND, const endpoint& peer) noexcept {
        return send_to(const_buffers{&bytes, 1}, peer);
    }
    [[nodiscard]] submission<message_operation, finish_datagram_send> send_to(
        const_buffers parts, const endpoint& peer) noexcept {
        return submission<message_operation, finish_datagram_send>{
            opened(), message_operation{opcode::send_gather}, finish_datagram_send{parts, peer}};
    }

    /// The same with choices that the routing table and the socket's options would make else: from which of
    /// the host's addresses and through which interface, and into how many datagrams of one size the bytes
    /// are cut (UDP_SEGMENT). Null for `peer` means that of `connect`.
    ///
    /// Errors:        as `send`; `errc::invalid_argument` or `errc::network_unreachable` where the source is
    ///                no address of this host, the first if there are more segments than the kernel takes.
    [[nodiscard]] submission<message_operation, finish_chosen_send> send_to(
        const_buffer bytes GYRE_LIFETIMEBOUND, const endpoint& peer,
        const datagram_choices& choices) noexcept {
        return submission<message_operation, finish_chosen_send>{
            opened(), message_operation{opcode::send_gather},
            finish_chosen_send{const_buffers{&bytes, 1}, peer, choices, family_}};
    }

    /// Receives one datagram.
    ///
    /// @param  into  Borrowed until completion. What does not fit is lost, and reported.
    /// @return Its size, and whether it was cut.
    ///
    /// Errors:        on a connected socket `errc::connection_refused`, for something sent earlier;
    ///                `errc::closed` if the socket was closed before it was awaited.
    /// Cancellation:  `errc::canceled` and no datagram lost: what had been received is reported instead.
    /// Threads:       resumes on the caller's executor. Several may wait; any of them gets the next one,
    ///                also one that asked later.
    /// Cost:          no allocation; one system call, or an entry of the turn's batch.
    [[nodiscard]] submission<message_operation, finish_datagram_receive> receive(
        read_space into) noexcept {
        const mutable_buffer whole = into;
        return receive(mutable_buffers{&whole, 1});
    }

    /// The same, scattered over at most `buffers_max` buffers (more are `errc::invalid_argument`).
    [[nodiscard]] submission<message_operation, finish_datagram_receive> receive(
        mutable_buffers parts) noexcept {
        return submission<message_operation, finish_datagram_receive>{
            opened(), message_operation{opcode::receive_scatter}, finish_datagram_receive{parts}};
    }

    /// The same, with the sender's address beside it.
    [[nodiscard]] submission<message_operation, finish_datagram_receive_from> receive_from(
        read_space into) noexcept {
        const mutable_buffer whole = into;
        return receive_from(mutable_buffers{&whole, 1});
    }
    [[nodiscard]] submission<message_operation, finish_datagram_receive_from> receive_from(
        mutable_buffers parts) noexcept {
        return submission<message_operation, finish_datagram_receive_from>{
            opened(), message_operation{opcode::receive_scatter},
            finish_datagram_receive_from{parts}};
    }

    /// The same as `receive`, and the datagram stays to be received: for deciding by its beginning who takes
    /// it.
    [[nodiscard]] submission<message_operation, finish_datagram_receive> peek(
        read_space into) noexcept {
        const mutable_buffer whole = into;
        return submission<message_operation, finish_datagram_receive>{
            opened(), message_operation{opcode::receive_scatter, message_operation::peeks},
            finish_datagram_receive{mutable_buffers{&whole, 1}}};
    }

    /// The same as `receive_from`, and the datagram stays.
    [[nodiscard]] submission<message_operation, finish_datagram_receive_from> peek_from(
        read_space into) noexcept {
        const mutable_buffer whole = into;
        return submission<message_operation, finish_datagram_receive_from>{
            opened(), message_operation{opcode::receive_scatter, message_operation::peeks},
            finish_datagram_receive_from{mutable_buffers{&whole, 1}}};
    }

    /// Has the kernel tell more of each datagram from now on, or no more of it: see `receive_detailed`. Of
    /// what had arrived before, the kernel may tell less, and as its arrival the time at which it is
    /// received.
    /// Errors: `errc::no_protocol_option` where the kernel is too old for one of them, `errc::closed`.
    io_result<> report(const datagram_reports& wanted) noexcept;

    /// The same as `receive`, with whatever `report` has asked for, and the sender's address.
    ///
    /// Cost:          no allocation; 300 bytes of the frame more.
    [[nodiscard]] submission<message_operation, finish_datagram_facts> receive_detailed(
        read_space into) noexcept {
        const mutable_buffer whole = into;
        return submission<message_operation, finish_datagram_facts>{
            opened(), message_operation{opcode::receive_scatter},
            finish_datagram_facts{mutable_buffers{&whole, 1}}};
    }

    /// Receives what is there, at least one datagram, at most `batch.capacity()`, with one call.
    ///
    /// @param  batch  Borrowed until completion; what it held is forgotten when the receive begins.
    /// @return How many there are in it now.
    ///
    /// Errors, cancellation, threads:  as `receive`.
    /// Cost:          no allocation; one system call, after a wait that is an entry on io_uring.
    [[nodiscard]] auto receive(datagram_batch& batch) noexcept {
        return submission<batch_operation, finish_batch>{
            opened(), batch_operation{opcode::receive_batch}, finish_batch{batch}};
    }

    /// Sends at least one datagram of `batch`, usually all, with one call. Those that went out leave the
    /// batch; call again until it is empty. A datagram that can't be sent at all stays first in it:
    /// `drop_first`, and those behind it may still go out.
    ///
    /// @param  batch  Borrowed until completion. If empty, nothing happens.
    /// @return How many went out.
    ///
    /// Errors:        of the first one in the batch, which stays in it. Those behind it were not tried.
    ///                `errc::closed` as above.
    /// Cancellation:  `errc::canceled`; nothing was sent then.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation; usually one system call and no suspension.
    [[nodiscard]] auto send(datagram_batch& batch) noexcept {
        return submission<batch_operation, finish_batch>{
            opened(), batch_operation{opcode::send_batch}, finish_batch{batch}};
    }

    // Groups of receivers. None of this waits. All: `errc::closed`; and what the kernel says.

    /// Receives what is sent to `group` (its port means nothing here) and arrives through `through`.
    /// Errors: `errc::invalid_argument` if it is no group, `errc::address_not_available` if it is one of the
    /// other family, `errc::address_in_use` if joined already,
    /// `errc::no_such_device`, ...
    io_result<> join(const endpoint& group, network_interface through = {}) noexcept;

    /// No longer. Errors: `errc::address_not_available` if it was not joined.
    io_result<> leave(const endpoint& group, network_interface through = {}) noexcept;

    /// Receives what `source` sends to `group`; of other sources nothing, unless they are joined, too
    /// (RFC 4607, RFC 3678). May be called for several sources. The kernel delivers what another socket of
    /// this host has joined as well unless `all_groups` is off.
    /// Errors: as `join`; `errc::invalid_argument` if all sources of the group are joined already, or if
    /// `source` is of the other family; `errc::address_not_available` if it is joined already.
    io_result<> join_source(const endpoint& group, const ip_address& source,
                            network_interface through = {}) noexcept;

    /// No longer. Errors: `errc::address_not_available` if it was not joined, `errc::invalid_argument` if no
    /// source of the group was.
    io_result<> leave_source(const endpoint& group, const ip_address& source,
                             network_interface through = {}) noexcept;

    /// Of a group that was joined with `join`: nothing from `source` any more.
    /// Errors: `errc::address_not_available` if it is blocked already, `errc::invalid_argument` if the group
    /// was not joined.
    io_result<> block_source(const endpoint& group, const ip_address& source,
                             network_interface through = {}) noexcept;

    /// From it, too, again. Errors: `errc::address_not_available` if it was not blocked.
    io_result<> unblock_source(const endpoint& group, const ip_address& source,
                               network_interface through = {}) noexcept;

    /// Through which interface datagrams to groups leave.
    io_result<> set_multicast_interface(network_interface through) noexcept;

    /// Whether datagrams to groups come back to sockets of this host that joined; on by default.
    io_result<> set_multicast_loopback(bool on) noexcept {
        return set_option(multicast_loopback{on});
    }

    /// How many routers a datagram to a group may pass, plus 1: 0 stays on this host, 1 (the default) on
    /// this network; at most 255.
    io_result<> set_multicast_hops(int hops) noexcept {
        return set_option(multicast_hop_limit{hops});
    }

    /// The same for datagrams to one receiver: 1 to 255.
    io_result<> set_hops(int hops) noexcept { return set_option(hop_limit{hops}); }

    /// The interface of this name, such as "eth0" or "lo".
    /// Errors: `errc::no_such_device`, `errc::name_too_long` past 15 bytes.
    [[nodiscard]] io_result<network_interface> find_interface(std::string_view name) const noexcept;

    /// Which times of what arrives the interface of this name can tell, and by which clock.
    /// Errors: as `find_interface`; `errc::not_supported` where its driver does not say.
    [[nodiscard]] io_result<timestamp_support> find_timestamps(
        std::string_view name) const noexcept;

protected:
    basic_datagram_socket() noexcept = default;
    basic_datagram_socket(handle open, endpoint::family family) noexcept
        : basic_socket{std::move(open)}, family_{family} {
        slot().datagrams = true;
    }
    basic_datagram_socket(const basic_datagram_socket&) = delete;  // It moves: take() of a result.
    basic_datagram_socket(basic_datagram_socket&&) noexcept = default;
    basic_datagram_socket& operator=(basic_datagram_socket&&) noexcept = default;
    ~basic_datagram_socket() = default;

    /// Opens one of SOCK_* `type` for `protocol`.
    /// Errors: `errc::address_family_not_supported` for others than v4 and v6, ...
    [[nodiscard]] static io_result<handle> open_socket(io_context& on, endpoint::family family,
                                                       int type, int protocol) noexcept;

    [[nodiscard]] endpoint::family family() const noexcept { return family_; }

private:
    [[nodiscard]] io_result<> change_membership(int name, const endpoint& group,
                                                network_interface through) noexcept;
    [[nodiscard]] io_result<> change_source(int name, const endpoint& group,
                                            const ip_address& source,
                                            network_interface through) noexcept;
    [[nodiscard]] int level() const noexcept;

    endpoint::family family_ = endpoint::family::none;
};

}  // namespace gyre
