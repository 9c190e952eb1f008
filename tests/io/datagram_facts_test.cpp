// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/datagram_facts.hpp promises: what is told of datagrams, and what is chosen for them.
#include <gyre/io/datagram_facts.hpp>

#include <gyre/io/udp_socket.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/test/world.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

struct bound_socket {
    explicit bound_socket(io_context& io, const ip_address& at = ipv4::loopback()) {
        io_result<udp_socket> opened = udp_socket::bind(io, {at, 0});
        REQUIRE(opened.ok());
        socket = opened.take();
        address = socket.local_endpoint().value();
    }

    udp_socket socket;
    endpoint address;
};

datagram_facts::system_time now() {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

// One datagram goes to `at`, with `choices`, and what is told of it is taken.
task<datagram_facts> told_of_one(udp_socket& from, udp_socket& to, endpoint at,
                                 datagram_choices choices = {}) {
    std::array<std::byte, 64> space{};
    const io_result<> sent = co_await from.send_to(bytes_of("datagram"), at, choices);
    CHECK_MESSAGE(sent.ok(), sent.error().message());
    const io_result<datagram_facts> got = co_await with_timeout(10s, to.receive_detailed(space));
    CHECK_MESSAGE(got.ok(), got.error().message());
    CHECK(text_of(const_buffer{space}.first(got.value().size)) == "datagram");
    co_return got.value();
}

// Over either family, with what each calls its loopback address.
void check_details(const ip_address& loopback) {
    INFO("address ", loopback.to_text());
    on_each_backend_of("datagrams of the kernel", [&](io_context& io) -> task<> {
        bound_socket from{io, loopback};
        bound_socket to{io, loopback};
        datagram_reports all;
        all.destination = all.arrival = all.hops = all.traffic_class = all.losses = true;
        CHECK(to.socket.report(all).ok());
        CHECK(from.socket.set_hops(17).ok());
        CHECK(from.socket.set_option(traffic_class{0x28}).ok());
        const network_interface lo = to.socket.find_interface("lo").value();

        const auto before = now();
        const datagram_facts told = co_await told_of_one(from.socket, to.socket, to.address);
        const auto after = now();

        CHECK(told.size == 8);
        CHECK_FALSE(told.truncated);
        CHECK(told.peer == from.address);
        REQUIRE(told.destination);
        CHECK(*told.destination == loopback);
        CHECK(told.through == lo);
        REQUIRE(told.arrival);
        CHECK(*told.arrival >= before - 1s);
        CHECK(*told.arrival <= after + 1s);
        CHECK_FALSE(told.hardware_arrival);
        CHECK(told.hops == 17);
        REQUIRE(told.traffic_class);
        CHECK(*told.traffic_class == 0x28);
        CHECK(told.segment_size == 0);
    });
}

}  // namespace

TEST_CASE("of an IPv4 datagram everything is told that was asked for") {
    check_details(ipv4::loopback());
}

TEST_CASE("of an IPv6 datagram everything is told that was asked for") {
    check_details(ipv6::loopback());
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"a detailed receive is cut, stopped and refused as a plain one",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         std::array<std::byte, 4> space{};
         udp_socket closed;

         const io_result<datagram_facts> in_vain =
             co_await with_timeout(5ms, to.socket.receive_detailed(space));
         const io_result<> sent = co_await from.socket.send_to(bytes_of("longer"), to.address);
         const io_result<datagram_facts> cut = co_await to.socket.receive_detailed(space);
         const io_result<datagram_facts> none = co_await closed.receive_detailed(space);

         CHECK(in_vain.error() == errc::timed_out);
         CHECK(sent.ok());
         CHECK(cut.value().size == 4);
         CHECK(cut.value().truncated);
         CHECK(none.error() == errc::closed);
     }},
};

const std::vector<conformance_row> on_the_kernel{
    {"nothing is told that was not asked for, or is not asked for any more",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         datagram_reports some;
         some.arrival = some.destination = true;

         const datagram_facts plain = co_await told_of_one(from.socket, to.socket, to.address);
         CHECK(to.socket.report(some).ok());
         const datagram_facts more = co_await told_of_one(from.socket, to.socket, to.address);
         CHECK(to.socket.report({}).ok());
         const datagram_facts again = co_await told_of_one(from.socket, to.socket, to.address);

         CHECK_FALSE(plain.destination);
         CHECK_FALSE(plain.arrival);
         CHECK(more.destination);
         CHECK(more.arrival);
         CHECK_FALSE(more.hops);
         CHECK_FALSE(again.destination);
         CHECK_FALSE(again.arrival);
         CHECK(again.through == network_interface{});
         udp_socket closed;
         CHECK(closed.report(some).error() == errc::closed);
     }},
    {"an IPv6 socket tells of IPv4 datagrams as well, in its own family",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io, ipv6::any()};
         datagram_reports wanted;
         wanted.destination = wanted.hops = true;
         CHECK(to.socket.report(wanted).ok());
         CHECK(from.socket.set_hops(23).ok());

         const datagram_facts told = co_await told_of_one(
             from.socket, to.socket, endpoint{ipv4::loopback(), to.address.port()});

         REQUIRE(told.destination);
         CHECK(*told.destination == ip_address{ipv6::mapped(ipv4::loopback())});
         CHECK(told.hops == 23);
         CHECK(told.peer.address().unmapped() == ip_address{ipv4::loopback()});
     }},
    {"a datagram comes from the address of the host that was chosen for it",
     [](io_context& io) -> task<> {
         bound_socket from{io, ipv4::any()};
         bound_socket to{io};
         bound_socket wide{io, ipv6::any()};
         datagram_choices choices;
         choices.source = ipv4{{127, 0, 0, 77}};

         const datagram_facts told =
             co_await told_of_one(from.socket, to.socket, to.address, choices);
         const endpoint mapped{ipv6::mapped(ipv4::loopback()), to.address.port()};
         const datagram_facts by_v6 = co_await told_of_one(wide.socket, to.socket, mapped, choices);
         choices.source.reset();
         choices.through = to.socket.find_interface("lo").value();
         const datagram_facts through =
             co_await told_of_one(from.socket, to.socket, to.address, choices);
         choices.through = {};
         choices.source = ipv4{{192, 0, 2, 1}};
         const io_result<> foreign =
             co_await from.socket.send_to(bytes_of("x"), to.address, choices);
         choices.source = ipv6::loopback();
         const io_result<> other_family =
             co_await from.socket.send_to(bytes_of("x"), to.address, choices);

         CHECK(told.peer == endpoint{ipv4{{127, 0, 0, 77}}, from.address.port()});
         CHECK(by_v6.peer == endpoint{ipv4{{127, 0, 0, 77}}, wide.address.port()});
         CHECK(through.peer == endpoint{ipv4::loopback(), from.address.port()});
         const bool refused = foreign.error() == errc::invalid_argument ||
                              foreign.error() == errc::network_unreachable;
         CHECK_MESSAGE(refused, foreign.error().message());
         CHECK(other_family.error() == errc::invalid_argument);
     }},
    {"one send is cut into datagrams of one size, and arrives as such or in one piece",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket apart{io};
         bound_socket together{io};
         const std::vector<std::byte> bytes(2'500, std::byte{7});
         std::vector<std::byte> space(64 * 1024);
         datagram_choices choices;
         choices.segment_size = 1'000;
         datagram_reports coalesced;
         coalesced.coalesced = true;
         CHECK(together.socket.report(coalesced).ok());

         const io_result<> sent = co_await from.socket.send_to(bytes, apart.address, choices);
         std::vector<std::size_t> sizes;
         for (int each = 0; each < 3; ++each) {
             const io_result<datagram_facts> got =
                 co_await with_timeout(10s, apart.socket.receive_detailed(space));
             sizes.push_back(got.value().size);
             CHECK(got.value().segment_size == 0);
         }
         const io_result<> again = co_await from.socket.send_to(bytes, together.address, choices);
         const io_result<datagram_facts> whole =
             co_await with_timeout(10s, together.socket.receive_detailed(space));
         const std::vector<std::byte> many(200, std::byte{1});
         choices.segment_size = 1;
         const io_result<> too_many = co_await from.socket.send_to(many, apart.address, choices);

         CHECK(sent.ok());
         CHECK(sizes == std::vector<std::size_t>{1'000, 1'000, 500});
         CHECK(again.ok());
         CHECK(whole.value().size == 2'500);
         CHECK(whole.value().segment_size == 1'000);
         CHECK(too_many.error() == errc::invalid_argument);
     }},
    {"what a full socket has lost is told with the next datagram that came later",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         datagram_reports losses;
         losses.losses = true;
         CHECK(to.socket.report(losses).ok());
         CHECK(to.socket.set_option(receive_buffer{{4'096}}).ok());
         const std::vector<std::byte> large(1'000);
         std::vector<std::byte> space(2'000);
         std::uint32_t received = 0;
         constexpr std::uint32_t sent_count = 100;
         for (std::uint32_t each = 0; each < sent_count; ++each) {
             const io_result<> sent = co_await from.socket.send_to(large, to.address);
             CHECK(sent.ok());
         }

         for (;;) {
             const io_result<datagram_facts> got =
                 co_await with_timeout(20ms, to.socket.receive_detailed(space));
             if (!got.ok()) break;
             ++received;
         }
         const datagram_facts last = co_await told_of_one(from.socket, to.socket, to.address);

         CHECK(received < sent_count);
         REQUIRE(last.lost);

         CHECK(*last.lost == sent_count - received);
     }},
};

const conformance_suite on_each_machine_suite{"datagrams", on_each_machine};
const conformance_suite on_the_kernel_suite{"datagrams of the kernel", on_the_kernel};

}  // namespace

namespace {

// A control message as the kernel writes it, behind those in `space`.
template <class T>
std::size_t add_message(std::span<std::byte> space, int type, const T& value) {
    cmsghdr header{};
    header.cmsg_level = SOL_SOCKET;
    header.cmsg_type = type;
    header.cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(space.data(), &header, sizeof header);
    std::memcpy(space.data() + CMSG_LEN(0), &value, sizeof value);
    return CMSG_SPACE(sizeof value);
}

struct stamps {
    timespec software{};
    timespec unused{};
    timespec hardware{};
};

}  // namespace

TEST_CASE("times of the kernel and of the hardware are told apart, each by its own clock") {
    io_context io;
    std::array<std::byte, 8> bytes{};
    const mutable_buffer into{bytes};
    finish_datagram_facts finish{mutable_buffers{&into, 1}};
    message_operation op{opcode::receive_scatter};
    REQUIRE(finish.prepare(op, io) == 0);
    alignas(8) std::array<std::byte, 256> control{};
    const std::span<std::byte> space{control};
    stamps both;
    both.hardware = {37, 5};
    scm_ts_pktinfo stamper{};
    stamper.if_index = 4;
    std::size_t size = add_message(space, SCM_TIMESTAMPNS, timespec{1'700'000'000, 9});
    const std::size_t without_hardware = size;
    size += add_message(space.subspan(size), SCM_TIMESTAMPING_PKTINFO, stamper);
    size += add_message(space.subspan(size), SCM_TIMESTAMPING, both);
    op.message->msg_control = control.data();

    op.message->msg_controllen = size;
    const datagram_facts told = finish(op).value();
    op.message->msg_controllen = without_hardware;
    const datagram_facts less = finish(op).value();
    const std::size_t empty_stamps = add_message(space, SCM_TIMESTAMPING, stamps{});
    op.message->msg_controllen = empty_stamps;
    const datagram_facts nothing = finish(op).value();

    const datagram_facts::system_time arrival{1'700'000'000s + 9ns};
    CHECK(told.arrival == arrival);
    REQUIRE(told.hardware_arrival);
    CHECK(told.hardware_arrival->since_beginning == 37s + 5ns);
    CHECK(told.hardware_arrival->by == network_interface{4});
    CHECK(less.arrival == arrival);
    CHECK_FALSE(less.hardware_arrival);
    CHECK_FALSE(nothing.arrival);
    CHECK_FALSE(nothing.hardware_arrival);
}

TEST_CASE("what the kernel had no room to tell in whole is not told") {
    io_context io;
    std::array<std::byte, 8> bytes{};
    const mutable_buffer into{bytes};
    finish_datagram_facts finish{mutable_buffers{&into, 1}};
    message_operation op{opcode::receive_scatter};
    REQUIRE(finish.prepare(op, io) == 0);
    // Cut as put_cmsg of the kernel does it: the length says what there is.
    const auto told_of = [&](int level, int type, const auto& value) {
        alignas(8) std::array<std::byte, 128> control{};
        control.fill(std::byte{0x7f});
        const std::span<std::byte> space{control};
        scm_ts_pktinfo stamper{};
        stamper.if_index = 4;
        std::size_t size = add_message(space, SCM_TIMESTAMPING_PKTINFO, stamper);
        cmsghdr header{};
        std::memcpy(&header, space.data() + size, sizeof header);
        header.cmsg_level = level;
        header.cmsg_type = type;
        header.cmsg_len = CMSG_LEN(sizeof value) - 1;
        std::memcpy(space.data() + size, &header, sizeof header);
        size += header.cmsg_len;
        op.message->msg_control = control.data();
        op.message->msg_controllen = size;
        op.message->msg_flags = MSG_CTRUNC;
        return finish(op).value();
    };

    CHECK_FALSE(told_of(SOL_SOCKET, SCM_TIMESTAMPNS, timespec{}).arrival);
    CHECK_FALSE(told_of(SOL_SOCKET, SCM_TIMESTAMPING, stamps{}).hardware_arrival);
    CHECK_FALSE(told_of(SOL_SOCKET, SO_RXQ_OVFL, std::uint32_t{}).lost);
    CHECK_FALSE(told_of(IPPROTO_IP, IP_PKTINFO, in_pktinfo{}).destination);
    CHECK_FALSE(told_of(IPPROTO_IP, IP_TTL, int{}).hops);
    CHECK_FALSE(told_of(IPPROTO_IPV6, IPV6_PKTINFO, in6_pktinfo{}).destination);
    CHECK_FALSE(told_of(IPPROTO_IPV6, IPV6_TCLASS, int{}).traffic_class);
    CHECK(told_of(IPPROTO_UDP, UDP_GRO, int{}).segment_size == 0);
}

TEST_CASE("an interface says which times it can tell, and loopback that it has no hardware") {
    on_each_backend_of("datagrams of the kernel", [](io_context& io) -> task<> {
        bound_socket it{io};
        udp_socket closed;
        datagram_reports wanted;
        wanted.arrival = wanted.hardware_arrival = true;

        const io_result<timestamp_support> loopback = it.socket.find_timestamps("lo");
        CHECK(it.socket.report(wanted).ok());
        const datagram_facts told = co_await told_of_one(it.socket, it.socket, it.address);

        CHECK_MESSAGE(loopback.ok(), loopback.error().message());
        CHECK(loopback.value().software);
        CHECK_FALSE(loopback.value().hardware);
        CHECK_FALSE(loopback.value().every_packet);
        CHECK_FALSE(loopback.value().clock);
        CHECK(told.arrival);
        CHECK_FALSE(told.hardware_arrival);
        CHECK(it.socket.find_timestamps("nosuch0").error() == errc::no_such_device);
        CHECK(it.socket.find_timestamps("a-name-of-16-byt").error() == errc::name_too_long);
        CHECK(it.socket.find_timestamps("lo\0x"sv).error() == errc::no_such_device);
        CHECK(closed.find_timestamps("lo").error() == errc::closed);
    });
}

TEST_CASE("what an interface says of its times is read bit by bit") {
    constexpr std::uint32_t software = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    constexpr std::uint32_t hardware = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
    constexpr std::uint32_t all = 1U << HWTSTAMP_FILTER_ALL;
    constexpr std::uint32_t some = 1U << HWTSTAMP_FILTER_PTP_V2_EVENT;

    const auto full = timestamp_support::from_raw(software | hardware, all | some, 3);
    const auto partial = timestamp_support::from_raw(hardware, some, 0);
    const auto half = timestamp_support::from_raw(SOF_TIMESTAMPING_RX_HARDWARE, all, -1);

    CHECK(full.software);
    CHECK(full.hardware);
    CHECK(full.every_packet);
    CHECK(full.clock == 3);
    CHECK_FALSE(partial.software);
    CHECK(partial.hardware);
    CHECK_FALSE(partial.every_packet);
    CHECK(partial.clock == 0);
    CHECK(half == timestamp_support{});
}

TEST_CASE("in a world, too, an interface has the kernel's times alone") {
    test::world world;
    test::machine& machine = world.add("only");
    const udp_socket it = udp_socket::bind(machine.io(), machine.at(7000)).take();

    timestamp_support software;
    software.software = true;

    CHECK(it.find_timestamps("eth0").value() == software);
    CHECK(it.find_timestamps("nosuch0").error() == errc::no_such_device);
}
