// SPDX-License-Identifier: BSL-1.0
//
// Control messages, written and read: see include/gyre/io/datagram_facts.hpp.
#include <gyre/io/datagram_facts.hpp>

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

namespace gyre {
namespace {

/// As SO_TIMESTAMPING tells them.
struct arrival_times {
    timespec software;
    timespec unused;
    timespec hardware;
};

// Room for one message with each of what may be told.
constexpr std::size_t told_max = CMSG_SPACE(sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(in6_pktinfo)) +
                                 CMSG_SPACE(sizeof(arrival_times)) + CMSG_SPACE(sizeof(timespec)) +
                                 CMSG_SPACE(sizeof(scm_ts_pktinfo)) + 4 * CMSG_SPACE(sizeof(int));

// Null if the kernel had no room for all of it, as where the program has set options that tell more.
template <class T>
std::optional<T> value_of(const cmsghdr& it) noexcept {
    T value{};
    if (it.cmsg_len < CMSG_LEN(sizeof value)) return std::nullopt;
    std::memcpy(&value, CMSG_DATA(&it), sizeof value);
    return value;
}

std::chrono::nanoseconds since_beginning(const timespec& it) noexcept {
    return std::chrono::seconds{it.tv_sec} + std::chrono::nanoseconds{it.tv_nsec};
}

ip_address address_of(const in_addr& it) noexcept {
    ipv4 made;
    std::memcpy(made.bytes.data(), &it, made.bytes.size());
    return made;
}

ip_address address_of(const in6_addr& it) noexcept {
    ipv6 made;
    std::memcpy(made.bytes.data(), &it, made.bytes.size());
    return made;
}

void take_ipv4(const cmsghdr& it, datagram_facts& into) noexcept {
    if (it.cmsg_type == IP_TTL) into.hops = value_of<int>(it);
    if (it.cmsg_type == IP_TOS) into.traffic_class = value_of<std::uint8_t>(it);
    // An IPv6 socket has told in its own family already.
    if (it.cmsg_type != IP_PKTINFO || into.destination) return;
    const auto info = value_of<in_pktinfo>(it);
    if (!info) return;
    into.destination = address_of(info->ipi_addr);
    into.through.index = static_cast<std::uint32_t>(info->ipi_ifindex);
}

void take_ipv6(const cmsghdr& it, datagram_facts& into) noexcept {
    if (it.cmsg_type == IPV6_HOPLIMIT) into.hops = value_of<int>(it);
    if (it.cmsg_type == IPV6_TCLASS) {
        if (const auto octet = value_of<int>(it))
            into.traffic_class = static_cast<std::uint8_t>(*octet);
    }
    if (it.cmsg_type != IPV6_PKTINFO) return;
    const auto info = value_of<in6_pktinfo>(it);
    if (!info) return;
    into.destination = address_of(info->ipi6_addr);
    into.through.index = info->ipi6_ifindex;
}

void take_times(const cmsghdr& it, datagram_facts& into) noexcept {
    const auto times = value_of<arrival_times>(it);
    const bool set = times && (times->hardware.tv_sec != 0 || times->hardware.tv_nsec != 0);
    if (!set) return;
    if (!into.hardware_arrival) into.hardware_arrival.emplace();
    into.hardware_arrival->since_beginning = since_beginning(times->hardware);
}

// It comes in front of the times, and only if there is one of the hardware's.
void take_stamping_interface(const cmsghdr& it, datagram_facts& into) noexcept {
    const auto stamper = value_of<scm_ts_pktinfo>(it);
    if (!stamper) return;
    if (!into.hardware_arrival) into.hardware_arrival.emplace();
    into.hardware_arrival->by.index = stamper->if_index;
}

void take(const cmsghdr& it, datagram_facts& into) noexcept {
    if (it.cmsg_level == IPPROTO_IP) return take_ipv4(it, into);
    if (it.cmsg_level == IPPROTO_IPV6) return take_ipv6(it, into);
    if (it.cmsg_level == IPPROTO_UDP && it.cmsg_type == UDP_GRO)
        into.segment_size = static_cast<std::size_t>(value_of<int>(it).value_or(0));
    if (it.cmsg_level != SOL_SOCKET) return;
    if (it.cmsg_type == SCM_TIMESTAMPNS) {
        if (const auto time = value_of<timespec>(it))
            into.arrival = datagram_facts::system_time{since_beginning(*time)};
    }
    if (it.cmsg_type == SCM_TIMESTAMPING) take_times(it, into);
    if (it.cmsg_type == SCM_TIMESTAMPING_PKTINFO) take_stamping_interface(it, into);
    if (it.cmsg_type == SO_RXQ_OVFL) into.lost = value_of<std::uint32_t>(it);
}

/// Puts control messages one behind the other.
class control_writer {
public:
    explicit control_writer(std::span<std::byte> space) noexcept : space_{space} {}

    template <class T>
    void add(int level, int type, const T& value) noexcept {
        cmsghdr header{};
        header.cmsg_level = level;
        header.cmsg_type = type;
        header.cmsg_len = CMSG_LEN(sizeof value);
        std::memcpy(space_.data() + used_, &header, sizeof header);
        std::memcpy(space_.data() + used_ + CMSG_LEN(0), &value, sizeof value);
        used_ += CMSG_SPACE(sizeof value);
    }

    [[nodiscard]] std::span<std::byte> written() const noexcept { return space_.first(used_); }

private:
    std::span<std::byte> space_;
    std::size_t used_ = 0;
};

void add_source(const datagram_choices& choices, control_writer& to) noexcept {
    in_pktinfo info{};
    info.ipi_ifindex = static_cast<int>(choices.through.index);
    if (choices.source) {
        const ipv4 source = choices.source->unmapped().v4();
        std::memcpy(&info.ipi_spec_dst, source.bytes.data(), source.bytes.size());
    }
    to.add(IPPROTO_IP, IP_PKTINFO, info);
}

void add_source_of_ipv6(const datagram_choices& choices, control_writer& to) noexcept {
    in6_pktinfo info{};
    info.ipi6_ifindex = choices.through.index;
    if (choices.source) {
        const ip_address& source = *choices.source;
        const ipv6 written = source.is_v4() ? ipv6::mapped(source.v4()) : source.v6();
        std::memcpy(&info.ipi6_addr, written.bytes.data(), written.bytes.size());
    }
    to.add(IPPROTO_IPV6, IPV6_PKTINFO, info);
}

}  // namespace

timestamp_support timestamp_support::from_raw(std::uint32_t times, std::uint32_t filters,
                                              std::int32_t device) noexcept {
    constexpr std::uint32_t by_software = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    constexpr std::uint32_t by_hardware =
        SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
    timestamp_support it;
    it.software = (times & by_software) == by_software;
    it.hardware = (times & by_hardware) == by_hardware;
    it.every_packet = it.hardware && (filters >> HWTSTAMP_FILTER_ALL & 1) != 0;
    if (device >= 0) it.clock = device;
    return it;
}

std::int32_t finish_datagram_facts::prepare(message_operation& op, io_context& on) noexcept {
    static_assert(sizeof control_ >= told_max);
    const std::int32_t failure = datagram_message::prepare(op, on);
    if (failure == 0) attach_control(op, control_);
    return failure;
}

io_result<datagram_facts> finish_datagram_facts::operator()(
    const message_operation& op) const noexcept {
    if (op.result < 0) return error_of(op);
    const received_datagram got = received(op);
    datagram_facts told;
    told.size = got.size;
    told.truncated = got.truncated;
    told.peer = peer();
    msghdr& message = *op.message;
    for (cmsghdr* it = CMSG_FIRSTHDR(&message); it != nullptr; it = CMSG_NXTHDR(&message, it))
        take(*it, told);
    // Whose clock it is was told, and for the time there was no room.
    if (told.hardware_arrival && told.hardware_arrival->since_beginning == std::chrono::seconds{0})
        told.hardware_arrival.reset();
    return told;
}

std::int32_t finish_chosen_send::prepare(message_operation& op, io_context& on) noexcept {
    static_assert(sizeof control_ >=
                  CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(std::uint16_t)));
    if (const std::int32_t failure = datagram_message::prepare(op, on); failure != 0)
        return failure;
    const bool v6 = family_ == endpoint::family::v6;
    if (!v6 && choices_.source && !choices_.source->unmapped().is_v4()) return -EINVAL;
    control_writer written{control_};
    if (choices_.source || choices_.through.index != 0) {
        if (v6) {
            add_source_of_ipv6(choices_, written);
        } else {
            add_source(choices_, written);
        }
    }
    if (choices_.segment_size != 0) written.add(IPPROTO_UDP, UDP_SEGMENT, choices_.segment_size);
    if (!written.written().empty()) attach_control(op, written.written());
    return 0;
}

}  // namespace gyre
