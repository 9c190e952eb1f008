// SPDX-License-Identifier: BSL-1.0
//
// Echo requests and their answers: see include/gyre/io/icmp_socket.hpp.
#include <gyre/io/icmp_socket.hpp>

#include <gyre/io/raw_socket.hpp>
#include <gyre/sync/timeout.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <span>

namespace gyre {
namespace {

constexpr std::byte request_of_v4{8};
constexpr std::byte reply_of_v4{0};
constexpr std::byte request_of_v6{128};
constexpr std::byte reply_of_v6{129};

// Where the fields of an echo message are.
constexpr std::size_t checksum_at = 2;
constexpr std::size_t identifier_at = 4;
constexpr std::size_t sequence_at = 6;

void put(std::span<std::byte> into, std::size_t at, std::uint16_t value) noexcept {
    into[at] = static_cast<std::byte>(value >> 8);
    into[at + 1] = static_cast<std::byte>(value & 0xff);
}

std::uint16_t get(const_buffer from, std::size_t at) noexcept {
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(from[at]) << 8 |
                                      std::to_integer<unsigned>(from[at + 1]));
}

// RFC 1071, of an even number of bytes.
std::uint16_t checksum(const_buffer of) noexcept {
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at < of.size(); at += 2) sum += get(of, at);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

time_point clock_of(io_context& on) noexcept { return on.read_clock(); }

/// While it lives, a ping is under way on what is open there.
class asking {
public:
    explicit asking(opening on) noexcept : on_{on} { on_.of->writer = this; }
    asking(const asking&) = delete;
    asking& operator=(const asking&) = delete;
    ~asking() {
        if (on_.lasts()) on_.of->writer = nullptr;
    }

private:
    opening on_;
};

}  // namespace

icmp_socket::icmp_socket(handle open, endpoint::family family, bool raw) noexcept
    : basic_datagram_socket{std::move(open), family},
      raw_{raw},
      identifier_{static_cast<std::uint16_t>(on().entropy())},
      sequence_{static_cast<std::uint16_t>(on().entropy())} {}

io_result<icmp_socket> icmp_socket::open(io_context& on, endpoint::family family) noexcept {
    const int protocol = family == endpoint::family::v6 ? int{IPPROTO_ICMPV6} : int{IPPROTO_ICMP};
    io_result<handle> opened = open_socket(on, family, SOCK_DGRAM, protocol);
    const bool raw = !opened.ok();
    if (raw) opened = open_socket(on, family, SOCK_RAW, protocol);
    if (!opened.ok()) return opened.error();

    icmp_socket made{opened.take(), family, raw};
    datagram_reports wanted;
    wanted.hops = true;
    if (const io_result<> told = made.report(wanted); !told.ok()) return told.error();
    return made;
}

icmp_socket::request icmp_socket::request_of(const question& it, host& on) noexcept {
    request made{};
    made[0] = it.family == endpoint::family::v6 ? request_of_v6 : request_of_v4;
    put(made, identifier_at, it.identifier);
    put(made, sequence_at, it.sequence);
    for (std::size_t at = header_size; at < made.size(); at += 8) {
        std::uint64_t bits = on.entropy();
        for (std::size_t each = at; each < at + 8; ++each, bits >>= 8)
            made[each] = static_cast<std::byte>(bits & 0xff);
    }
    // Of IPv6 the kernel writes it, because it covers the addresses (RFC 3542 3.1).
    if (it.family == endpoint::family::v4) put(made, checksum_at, checksum(made));
    return made;
}

// A socket of datagrams hears the answers to its own identifier only, which the kernel has chosen.
bool icmp_socket::is_answer(const_buffer message, const question& to) noexcept {
    const std::byte kind = to.family == endpoint::family::v6 ? reply_of_v6 : reply_of_v4;
    if (message.size() < header_size || message[0] != kind) return false;
    if (to.raw && get(message, identifier_at) != to.identifier) return false;
    return get(message, sequence_at) == to.sequence;
}

task<io_result<echo_reply>> icmp_socket::ask(question it, endpoint to) {
    const request sent = request_of(it, io_context::current()->host());
    const const_buffer bytes{sent};
    const time_point begun = co_await immediate{&clock_of};
    submission<message_operation, finish_datagram_send> sending{
        it.of, message_operation{opcode::send_gather},
        finish_datagram_send{const_buffers{&bytes, 1}, to}};
    const io_result<> left = co_await sending;
    if (!left.ok()) co_return left.error();

    std::array<std::byte, 60 + header_size + payload_size> space{};  // With a header of IPv4.
    const mutable_buffer whole{space};
    for (;;) {
        submission<message_operation, finish_datagram_facts> receiving{
            it.of, message_operation{opcode::receive_scatter},
            finish_datagram_facts{mutable_buffers{&whole, 1}}};
        const io_result<datagram_facts> got = co_await receiving;
        if (!got.ok()) co_return got.error();
        const const_buffer packet = const_buffer{space}.first(got.value().size);
        const bool headed = it.raw && it.family == endpoint::family::v4;
        const const_buffer message = headed ? payload_of_ipv4(packet) : packet;
        if (!is_answer(message, it)) continue;
        const time_point ended = co_await immediate{&clock_of};
        echo_reply reply;
        reply.round_trip = ended - begun;
        reply.from = got.value().peer.address();
        reply.hops = got.value().hops;
        reply.intact = std::ranges::equal(message.subspan(header_size), bytes.subspan(header_size));
        co_return reply;
    }
}

task<io_result<echo_reply>> icmp_socket::ping(question it, ip_address to, duration limit) {
    if (!it.of.lasts()) co_return error{errc::closed, activity::write};
    if (it.of.of->writer != nullptr) co_return error{errc::busy, activity::write};
    const endpoint peer{to, 0};
    if (peer.kind() != it.family)
        co_return error{errc::address_family_not_supported, activity::write};
    const asking under_way{it.of};
    const io_result<echo_reply> answered = co_await with_timeout(limit, ask(it, peer));
    co_return answered;
}

}  // namespace gyre
