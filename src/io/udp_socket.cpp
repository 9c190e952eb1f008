// SPDX-License-Identifier: BSL-1.0
//
// Datagrams as operations: see include/gyre/io/udp_socket.hpp.
#include <gyre/io/udp_socket.hpp>

#include <io/socket_steps.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace gyre {

static_assert(sizeof(msghdr) == 7 * sizeof(std::uint64_t));

void datagram_message::add(const void* data, std::size_t size) noexcept {
    if (count_ == parts_max) {
        too_many_ = true;
        return;
    }
    // iovec has no const; sendmsg(2) does not write through it.
    parts_[count_++] = {const_cast<void*>(data), size};
    bytes_ += size;
}

datagram_message::datagram_message(const_buffers from, const endpoint& to) noexcept
    : peer_{to.raw()} {
    for (const const_buffer& each : from) add(each.data(), each.size());
}

datagram_message::datagram_message(mutable_buffers into) noexcept {
    for (const mutable_buffer& each : into) add(each.data(), each.size());
}

std::int32_t datagram_message::prepare(message_operation& op, io_context&) noexcept {
    static_assert(sizeof(part) == sizeof(iovec) && offsetof(iovec, iov_len) == sizeof(void*));
    if (too_many_) return -EINVAL;
    const bool receiving = op.code == opcode::receive_scatter;
    msghdr header{};
    header.msg_iov = reinterpret_cast<iovec*>(parts_.data());
    header.msg_iovlen = count_;
    if (receiving || peer_.size != 0) {
        header.msg_name = peer_.data;
        header.msg_namelen = receiving ? socket_address::size_max : peer_.size;
    }
    std::memcpy(header_.data(), &header, sizeof header);
    op.message = reinterpret_cast<msghdr*>(header_.data());
    op.size = bytes_;
    return 0;
}

received_datagram datagram_message::received(const message_operation& op) const noexcept {
    msghdr header;
    std::memcpy(&header, header_.data(), sizeof header);
    return {static_cast<std::size_t>(op.result), (header.msg_flags & MSG_TRUNC) != 0};
}

endpoint datagram_message::peer() const noexcept {
    msghdr header;
    std::memcpy(&header, header_.data(), sizeof header);
    socket_address found = peer_;
    found.size = header.msg_namelen;
    return endpoint{found};
}

std::int32_t finish_batch::prepare(batch_operation& op, io_context&) noexcept {
    if (op.code == opcode::receive_batch) {
        batch_->prepare_receive(op);
        return 0;
    }
    batch_->prepare_send(op);
    return batch_->empty() ? nothing_to_send : 0;
}

io_result<std::size_t> finish_batch::operator()(const batch_operation& op) noexcept {
    if (op.result == nothing_to_send) return std::size_t{0};
    if (op.result < 0) return error_of(op);
    const auto count = static_cast<std::size_t>(op.result);
    if (op.code == opcode::receive_batch) {
        batch_->note_received(count);
    } else {
        batch_->note_sent(count);
    }
    return count;
}

io_result<udp_socket> udp_socket::bind(io_context& on, const endpoint& local,
                                       const udp_options& options) noexcept {
    const endpoint::family family = local.kind();
    if (family != endpoint::family::v4 && family != endpoint::family::v6) {
        return error{errc::address_family_not_supported, activity::open};
    }
    open_socket_operation open{local.address_family(), SOCK_DGRAM};
    open.result = on.host().perform_now(open);
    if (const error failed = error_of(open)) return failed;

    udp_socket socket{handle{on.host(), open.result}, family};
    socket_steps steps{on.host(), socket.slot()};
    if (options.address_reused) steps.set(reuse_address{});
    if (options.port_shared) steps.set(reuse_port{});
    if (family == endpoint::family::v6) {
        steps.set(v6_only{options.v6_only});
    }
    steps.bind(local);
    if (steps.failure()) return steps.failure();
    return socket;
}

io_result<> udp_socket::connect(const endpoint& peer) noexcept {
    if (!is_open()) return error{errc::closed, activity::connect};
    socket_address address = peer.raw();
    address_operation op{opcode::set_peer, slot(), address};
    return perform_now(op);
}

int udp_socket::level() const noexcept {
    return family_ == endpoint::family::v6 ? IPPROTO_IPV6 : IPPROTO_IP;
}

// RFC 3678 5.1: one request for both families.
io_result<> udp_socket::change_membership(int name, const endpoint& group,
                                          network_interface through) noexcept {
    group_req request{};
    request.gr_interface = through.index;
    static_assert(sizeof request.gr_group >= socket_address::size_max);
    std::memcpy(&request.gr_group, group.raw().data, group.raw().size);
    return apply(opcode::set_option, option_key{level(), name}, &request, sizeof request);
}

io_result<> udp_socket::join(const endpoint& group, network_interface through) noexcept {
    return change_membership(MCAST_JOIN_GROUP, group, through);
}

io_result<> udp_socket::leave(const endpoint& group, network_interface through) noexcept {
    return change_membership(MCAST_LEAVE_GROUP, group, through);
}

io_result<> udp_socket::set_multicast_interface(network_interface through) noexcept {
    int index = static_cast<int>(through.index);
    if (family_ == endpoint::family::v6) {
        return apply(opcode::set_option, option_key{IPPROTO_IPV6, IPV6_MULTICAST_IF}, &index,
                     sizeof index);
    }
    ip_mreqn request{};
    request.imr_ifindex = index;
    return apply(opcode::set_option, option_key{IPPROTO_IP, IP_MULTICAST_IF}, &request,
                 sizeof request);
}

io_result<network_interface> udp_socket::find_interface(std::string_view name) const noexcept {
    if (!is_open()) return error{errc::closed, activity::get_option};
    std::array<char, 16> text{};
    if (name.size() >= text.size()) return error{errc::name_too_long, activity::get_option};
    name.copy(text.data(), name.size());
    interface_operation op{slot(), text.data()};
    if (const error failed = perform_now(op)) return failed;
    return network_interface{static_cast<std::uint32_t>(op.result)};
}

}  // namespace gyre
