// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/raw_socket.hpp promises: packets of any protocol, with and without their headers.
//
// In networks of their own, where nobody else sends; that takes root, or a user namespace.
#include <gyre/io/raw_socket.hpp>

#include <gyre/sync/timeout.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/network_namespace.hpp>
#include <support/skip.hpp>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::uint8_t experimental = 253;  // For tests (RFC 3692 2.1).
constexpr std::size_t header_size = 20;

using body = std::function<task<>(io_context&, child_process&)>;

// Runs `it` on every backend in a network of its own, or skips the test.
void in_own_network(const body& it) {
    constexpr std::string_view no_network = "no network of its own\n";
    bool ran = true;
    with_every_backend([&](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            if (!enter_new_network() || std::system("ip link set lo up") != 0) {
                me.say("no network of its own");
                return;
            }
            io_context io{options};
            bool ended = false;
            launch(io, it(io, me), [&](task_outcome<void> outcome) {
                outcome.get();
                ended = true;
            });
            io.run_for(patience / 2);
            me.check(ended, "it has ended");
        });
        CHECK_MESSAGE(report.passed(), report.text);
        if (report.text == no_network) ran = false;
    });
    if (!ran) skip("no network of its own: it takes root, or a user namespace");
}

// What a header of IPv4 begins with, without what the kernel fills in.
std::array<std::byte, header_size + 4> packet_of(ipv4 from, ipv4 to, std::string_view four) {
    std::array<std::byte, header_size + 4> it{};
    it[0] = std::byte{0x45};  // Version 4, five words of header.
    it[8] = std::byte{17};    // Hop limit.
    it[9] = std::byte{experimental};
    const auto copy = [&](const auto& bytes, std::size_t at) {
        for (const auto each : bytes) it[at++] = static_cast<std::byte>(each);
    };
    copy(from.bytes, 12);
    copy(to.bytes, 16);
    copy(four, header_size);
    return it;
}

// Whether its checksum is right (RFC 1071), which may be 0 by the identification that the kernel has chosen.
bool sums_up(const_buffer header) {
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at < header.size(); at += 2) {
        sum += std::to_integer<std::uint32_t>(header[at]) << 8;
        sum += std::to_integer<std::uint32_t>(header[at + 1]);
    }
    return (sum >> 16) + (sum & 0xffff) == 0xffff;
}

raw_socket opened(io_context& io, endpoint::family family, child_process& me,
                  const raw_options& options = {}) {
    io_result<raw_socket> made = raw_socket::open(io, family, experimental, options);
    me.check(made.ok(), "opened: " + made.error().message());
    return made.take();
}

}  // namespace

TEST_CASE("a raw socket of IPv4 receives a packet with its header, and sends what follows it") {
    in_own_network([](io_context& io, child_process& me) -> task<> {
        raw_socket from = opened(io, endpoint::family::v4, me);
        raw_options here;
        here.address = ipv4{{127, 0, 0, 2}};
        here.device = "lo";
        raw_socket to = opened(io, endpoint::family::v4, me, here);
        std::array<std::byte, 64> space{};

        const io_result<> sent =
            co_await from.send_to(bytes_of("data"), endpoint{*here.address, 0});
        const io_result<received_datagram, endpoint> got =
            co_await with_timeout(10s, to.receive_from(space));

        me.check(sent.ok(), "sent: " + sent.error().message());
        const auto& [error, size, peer] = got;
        me.check(!error && size.size == header_size + 4 && !size.truncated, "header and payload");
        me.check(peer == endpoint{ipv4::loopback(), 0}, "its sender, whose port is 0");
        const const_buffer packet = const_buffer{space}.first(size.size);
        me.check(packet[0] == std::byte{0x45} && packet[9] == std::byte{experimental},
                 "the header says what it is");
        me.check(text_of(payload_of_ipv4(packet)) == "data", "and what follows it was sent");
        me.check(to.bound_device().value() == "lo", "through one interface");
    });
}

TEST_CASE(
    "a raw socket of IPv4 may write its own headers, of which the kernel completes what is 0") {
    in_own_network([](io_context& io, child_process& me) -> task<> {
        raw_options writing;
        writing.header_written = true;
        raw_socket from = opened(io, endpoint::family::v4, me, writing);
        raw_socket to = opened(io, endpoint::family::v4, me);
        datagram_reports wanted;
        wanted.hops = wanted.destination = wanted.arrival = true;
        me.check(to.report(wanted).ok(), "what is told beside it");
        const ipv4 claimed{{127, 0, 0, 9}};
        const auto packet = packet_of(claimed, ipv4::loopback(), "mine");
        std::array<std::byte, 64> space{};

        const io_result<> sent = co_await from.send_to(packet, endpoint{ipv4::loopback(), 0});
        const io_result<datagram_facts> got =
            co_await with_timeout(10s, to.receive_detailed(space));

        me.check(sent.ok(), "sent: " + sent.error().message());
        const datagram_facts& told = got.value();
        me.check(got.ok() && told.size == packet.size(), "received whole");
        me.check(told.peer == endpoint{claimed, 0}, "from whom the header says");
        me.check(
            told.hops == 17 && told.arrival && told.destination == ip_address{ipv4::loopback()},
            "with what is told of datagrams");
        const const_buffer whole = const_buffer{space}.first(told.size);
        me.check(whole[2] == std::byte{0} && whole[3] == std::byte{packet.size()}, "its length");
        me.check(sums_up(whole.first(header_size)), "and its checksum");
        me.check(text_of(payload_of_ipv4(whole)) == "mine", "and its payload");
    });
}

TEST_CASE("a raw socket of IPv6 receives a packet without its header, which it is told of") {
    in_own_network([](io_context& io, child_process& me) -> task<> {
        raw_socket from = opened(io, endpoint::family::v6, me);
        raw_options here;
        here.address = ipv6::loopback();
        raw_socket to = opened(io, endpoint::family::v6, me, here);
        datagram_reports wanted;
        wanted.hops = wanted.destination = true;
        me.check(to.report(wanted).ok(), "what is told beside it");
        me.check(from.connect(endpoint{ipv6::loopback(), 0}).ok(), "one peer");
        me.check(from.set_hops(23).ok(), "a hop limit");
        std::array<std::byte, 3> space{};

        const io_result<> sent = co_await from.send(bytes_of("data"));
        const io_result<datagram_facts> got =
            co_await with_timeout(10s, to.receive_detailed(space));

        me.check(sent.ok(), "sent: " + sent.error().message());
        const datagram_facts& told = got.value();
        me.check(got.ok() && told.size == 3 && told.truncated, "cut, and said so");
        me.check(text_of(space) == "dat", "the payload alone");
        me.check(told.hops == 23 && told.destination == ip_address{ipv6::loopback()},
                 "what its header said");
    });
}

TEST_CASE("a raw socket waits, is stopped and closed as others are") {
    in_own_network([](io_context& io, child_process& me) -> task<> {
        raw_socket it = opened(io, endpoint::family::v4, me);
        std::array<std::byte, 64> space{};

        const io_result<received_datagram> in_vain = co_await with_timeout(5ms, it.receive(space));
        auto late = it.receive(space);
        me.check(it.close().ok(), "closed");
        const io_result<received_datagram> after = co_await late;

        me.check(in_vain.error() == errc::timed_out, "nothing came");
        me.check(after.error() == errc::closed, "nothing begins any more");
    });
}

TEST_CASE("what cannot be opened as a raw socket says why") {
    in_own_network([](io_context& io, child_process& me) -> task<> {
        const auto why = [&](endpoint::family family, std::uint8_t protocol,
                             const raw_options& options = {}) {
            return raw_socket::open(io, family, protocol, options).error();
        };
        raw_options headed;
        headed.header_written = true;
        raw_options elsewhere;
        elsewhere.address = ipv4{{192, 0, 2, 1}};
        raw_options other_family;
        other_family.address = ipv6::loopback();
        raw_options nowhere;
        nowhere.device = "nosuch0";
        const io_result<raw_socket> awaited =
            co_await raw_socket::open(endpoint::family::v4, experimental, nowhere);

        me.check(why(endpoint::family::local, experimental) == errc::address_family_not_supported,
                 "no Unix-domain one");
        me.check(why(endpoint::family::v4, 0) == errc::protocol_not_supported, "no protocol 0");
        me.check(why(endpoint::family::v6, experimental, headed) == errc::invalid_argument,
                 "no headers of IPv6");
        me.check(why(endpoint::family::v4, experimental, elsewhere) == errc::address_not_available,
                 "no address of another host");
        me.check(why(endpoint::family::v4, experimental, other_family) ==
                     errc::address_family_not_supported,
                 "no address of another family");
        me.check(awaited.error() == errc::no_such_device, "no interface of that name");
    });
}

TEST_CASE("who may not have raw sockets is told so") {
    if (::getuid() != 0) return skip("it takes root to give up what root may do");
    const child_report report = in_child([](child_process& it) {
        it.check(::setgid(65534) == 0 && ::setuid(65534) == 0, "nobody");
        io_context io;
        const error refused = raw_socket::open(io, endpoint::family::v4, experimental).error();
        it.check(refused == errc::operation_not_permitted, refused.message());
    });

    CHECK_MESSAGE(report.passed(), report.text);
}

TEST_CASE("of a packet without a whole header nothing follows") {
    std::array<std::byte, 24> packet{};
    packet[0] = std::byte{0x46};  // Six words, so four bytes of options.
    packet[20] = std::byte{7};

    CHECK(payload_of_ipv4({}).empty());
    CHECK(payload_of_ipv4(const_buffer{packet}.first(23)).empty());
    CHECK(payload_of_ipv4(packet).empty());
    packet[0] = std::byte{0x45};
    CHECK(payload_of_ipv4(packet).size() == 4);
    CHECK(payload_of_ipv4(packet)[0] == std::byte{7});
    packet[0] = std::byte{0x44};
    CHECK(payload_of_ipv4(packet).empty());
}
