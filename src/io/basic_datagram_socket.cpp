// SPDX-License-Identifier: BSL-1.0
//
// Datagrams as operations: see include/gyre/io/basic_datagram_socket.hpp.
#include <gyre/io/basic_datagram_socket.hpp>

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace gyre {

std::int32_t finish_batch::prepare(batch_operation& op, io_context&) noexcept {
    if (op.code == opcode::receive_batch) {
        batch_->prepare_receive(op);
        return 0;
    }
    batch_->prepare_send(op);
    return batch_->empty() ? nothing_to_send : 0;
}

io_result<std::size_t> finish_batch::operator()(const batch_operation& op) noexcept {
    batch_->note_end(op);
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

io_result<handle> basic_datagram_socket::open_socket(io_context& on, endpoint::family family,
                                                     int type, int protocol) noexcept {
    if (family != endpoint::family::v4 && family != endpoint::family::v6)
        return error{errc::address_family_not_supported, activity::open};
    open_socket_operation op{family == endpoint::family::v6 ? AF_INET6 : AF_INET, type, protocol};
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    return handle{on.host(), op.result};
}

io_result<> basic_datagram_socket::connect(const endpoint& peer) noexcept {
    if (!is_open()) return error{errc::closed, activity::connect};
    socket_address address = peer.raw();
    address_operation op{opcode::set_peer, slot(), address};
    return perform_now(op);
}

int basic_datagram_socket::level() const noexcept {
    return family_ == endpoint::family::v6 ? IPPROTO_IPV6 : IPPROTO_IP;
}

// RFC 3678 5.1: one request for both families.
io_result<> basic_datagram_socket::change_membership(int name, const endpoint& group,
                                                     network_interface through) noexcept {
    group_req request{};
    request.gr_interface = through.index;
    static_assert(sizeof request.gr_group >= socket_address::size_max);
    std::memcpy(&request.gr_group, group.raw().data, group.raw().size);
    return apply(opcode::set_option, option_key{level(), name}, &request, sizeof request);
}

io_result<> basic_datagram_socket::change_source(int name, const endpoint& group,
                                                 const ip_address& source,
                                                 network_interface through) noexcept {
    const endpoint from{source, 0};
    if (from.kind() != group.kind()) return error{errc::invalid_argument, activity::set_option};
    group_source_req request{};
    request.gsr_interface = through.index;
    std::memcpy(&request.gsr_group, group.raw().data, group.raw().size);
    std::memcpy(&request.gsr_source, from.raw().data, from.raw().size);
    return apply(opcode::set_option, option_key{level(), name}, &request, sizeof request);
}

io_result<> basic_datagram_socket::join_source(const endpoint& group, const ip_address& source,
                                               network_interface through) noexcept {
    return change_source(MCAST_JOIN_SOURCE_GROUP, group, source, through);
}

io_result<> basic_datagram_socket::leave_source(const endpoint& group, const ip_address& source,
                                                network_interface through) noexcept {
    return change_source(MCAST_LEAVE_SOURCE_GROUP, group, source, through);
}

io_result<> basic_datagram_socket::block_source(const endpoint& group, const ip_address& source,
                                                network_interface through) noexcept {
    return change_source(MCAST_BLOCK_SOURCE, group, source, through);
}

io_result<> basic_datagram_socket::unblock_source(const endpoint& group, const ip_address& source,
                                                  network_interface through) noexcept {
    return change_source(MCAST_UNBLOCK_SOURCE, group, source, through);
}

io_result<> basic_datagram_socket::report(const datagram_reports& wanted) noexcept {
    const auto set = [this](const option_numbers& numbers, int value) {
        return apply(opcode::set_option, numbers, &value, sizeof value);
    };
    int stamps = 0;
    if (wanted.hardware_arrival)
        stamps |= SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
                  SOF_TIMESTAMPING_OPT_PKTINFO;
    const struct {
        option_numbers numbers;
        int value;
    } options[] = {
        {{{IPPROTO_IP, IP_PKTINFO}, {IPPROTO_IPV6, IPV6_RECVPKTINFO}}, wanted.destination},
        {{{IPPROTO_IP, IP_RECVTTL}, {IPPROTO_IPV6, IPV6_RECVHOPLIMIT}}, wanted.hops},
        {{{IPPROTO_IP, IP_RECVTOS}, {IPPROTO_IPV6, IPV6_RECVTCLASS}}, wanted.traffic_class},
        {{{SOL_SOCKET, SO_TIMESTAMPNS}, {}}, wanted.arrival},
        {{{SOL_SOCKET, SO_TIMESTAMPING}, {}}, stamps},
        {{{SOL_SOCKET, SO_RXQ_OVFL}, {}}, wanted.losses},
        {{{IPPROTO_UDP, UDP_GRO}, {}}, wanted.coalesced},
    };
    for (const auto& each : options) {
        io_result<> done = set(each.numbers, each.value);
        // What it does not know it does not tell: raw sockets have nothing of UDP's, nor old kernels of what
        // is newer.
        if (each.value == 0 && done.error() == errc::no_protocol_option) continue;
        if (!done.ok()) return done;
    }
    return {};
}

io_result<> basic_datagram_socket::join(const endpoint& group, network_interface through) noexcept {
    return change_membership(MCAST_JOIN_GROUP, group, through);
}

io_result<> basic_datagram_socket::leave(const endpoint& group,
                                         network_interface through) noexcept {
    return change_membership(MCAST_LEAVE_GROUP, group, through);
}

io_result<> basic_datagram_socket::set_multicast_interface(network_interface through) noexcept {
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

namespace {

// A name of an interface as the kernel wants it; one that is too long would be cut, or at its NUL, and
// another one's.
class interface_name {
public:
    explicit interface_name(std::string_view name) noexcept {
        if (name.size() >= text_.size()) {
            failure_ = {errc::name_too_long, activity::get_option};
        } else if (name.find('\0') != std::string_view::npos) {
            failure_ = {errc::no_such_device, activity::get_option};
        } else {
            name.copy(text_.data(), name.size());
        }
    }
    [[nodiscard]] error failure() const noexcept { return failure_; }
    [[nodiscard]] const char* text() const noexcept { return text_.data(); }

private:
    std::array<char, 16> text_{};
    error failure_;
};

}  // namespace

io_result<network_interface> basic_datagram_socket::find_interface(
    std::string_view name) const noexcept {
    if (!is_open()) return error{errc::closed, activity::get_option};
    const interface_name wanted{name};
    if (wanted.failure()) return wanted.failure();
    interface_operation op{slot(), wanted.text()};
    if (const error failed = perform_now(op)) return failed;
    return network_interface{static_cast<std::uint32_t>(op.result)};
}

io_result<timestamp_support> basic_datagram_socket::find_timestamps(
    std::string_view name) const noexcept {
    if (!is_open()) return error{errc::closed, activity::get_option};
    const interface_name wanted{name};
    if (wanted.failure()) return wanted.failure();
    timestamping_operation op{slot(), wanted.text()};
    if (const error failed = perform_now(op)) return failed;
    return timestamp_support::from_raw(op.times, op.filters, op.clock);
}

}  // namespace gyre
