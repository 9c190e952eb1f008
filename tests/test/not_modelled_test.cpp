// SPDX-License-Identifier: BSL-1.0
//
// What a world has no model of is refused, so that no test passes because nothing happened.
#include <gyre/test/world.hpp>

#include <gyre/io/file.hpp>
#include <gyre/io/icmp_socket.hpp>
#include <gyre/io/local_message_socket.hpp>
#include <gyre/io/process.hpp>
#include <gyre/io/raw_socket.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/io/udp_socket.hpp>

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <vector>

using namespace gyre;

namespace {

struct one_machine {
    test::world world;
    test::machine& here = world.add("here");
    io_context& io = here.io();
    endpoint any = here.at(0);

    udp_socket bound() { return udp_socket::bind(io, any).take(); }

    template <class Result>
    Result run(task<Result> work) {
        auto outcome = world.run(here, std::move(work));
        CHECK_MESSAGE(outcome.ok(), outcome.text());
        return outcome.take();
    }
};

struct refusal {
    const char* of;
    error (*asked)(one_machine& on);
    errc with;
};

task<error> send_with_choices(udp_socket& from, endpoint to, datagram_choices choices) {
    const io_result<> sent = co_await from.send_to(bytes_of("one two"), to, choices);
    co_return sent.error();
}

error report_to(one_machine& on, bool datagram_reports::* what) {
    udp_socket it = on.bound();
    datagram_reports wanted;
    wanted.*what = true;
    return it.report(wanted).error();
}

const std::vector<refusal> refusals{
    {"a pair of packet sockets",
     [](one_machine& on) { return local_packet_socket::connected_pair(on.io).error(); },
     errc::not_supported},
    {"a listener for packet sockets",
     [](one_machine& on) {
         return local_packet_acceptor::listen(on.io, endpoint::parse("unix:@it").value()).error();
     },
     errc::not_supported},
    {"echo requests",
     [](one_machine& on) { return icmp_socket::open(on.io, endpoint::family::v4).error(); },
     errc::not_supported},
    {"a raw socket",
     [](one_machine& on) { return raw_socket::open(on.io, endpoint::family::v4, 17).error(); },
     errc::not_supported},
    {"descriptors with a message",
     [](one_machine& on) {
         auto [failed, one, other] = local_datagram_socket::connected_pair(on.io);
         const std::array numbers{one.native_handle()};
         const auto send = [&]() -> task<error> {
             const auto sent = co_await one.send(bytes_of("take it"), numbers);
             co_return sent.error();
         };
         return on.run(send());
     },
     errc::not_supported},
    {"descriptors with bytes",
     [](one_machine& on) {
         auto [failed, one, other] = stream_socket::connected_pair(on.io);
         const std::array numbers{one.native_handle()};
         const auto send = [&]() -> task<error> {
             const auto sent = co_await one.write_some(bytes_of("take it"), numbers);
             co_return sent.error();
         };
         return on.run(send());
     },
     errc::not_supported},
    {"a source of a group",
     [](one_machine& on) {
         udp_socket it = on.bound();
         return it.join_source({ipv4{{232, 1, 2, 3}}, 0}, ipv4{{10, 0, 0, 9}}).error();
     },
     errc::not_supported},
    {"a chosen source",
     [](one_machine& on) {
         udp_socket it = on.bound();
         datagram_choices choices;
         choices.source = on.here.v4();
         return on.run(send_with_choices(it, it.local_endpoint().value(), choices));
     },
     errc::not_supported},
    {"datagrams cut by the kernel",
     [](one_machine& on) {
         udp_socket it = on.bound();
         datagram_choices choices;
         choices.segment_size = 4;
         return on.run(send_with_choices(it, it.local_endpoint().value(), choices));
     },
     errc::not_supported},
    {"datagrams cut by an option",
     [](one_machine& on) { return on.bound().set_option(segment_size{4}).error(); },
     errc::no_protocol_option},
    {"telling the destination",
     [](one_machine& on) { return report_to(on, &datagram_reports::destination); },
     errc::no_protocol_option},
    {"telling the arrival",
     [](one_machine& on) { return report_to(on, &datagram_reports::arrival); },
     errc::no_protocol_option},
    {"telling the arrival at the interface",
     [](one_machine& on) { return report_to(on, &datagram_reports::hardware_arrival); },
     errc::no_protocol_option},
    {"telling the hops", [](one_machine& on) { return report_to(on, &datagram_reports::hops); },
     errc::no_protocol_option},
    {"telling the traffic class",
     [](one_machine& on) { return report_to(on, &datagram_reports::traffic_class); },
     errc::no_protocol_option},
    {"telling the losses", [](one_machine& on) { return report_to(on, &datagram_reports::losses); },
     errc::no_protocol_option},
    {"datagrams put together",
     [](one_machine& on) { return report_to(on, &datagram_reports::coalesced); },
     errc::no_protocol_option},
    {"a file",
     [](one_machine& on) {
         const auto open = []() -> task<error> {
             const auto opened = co_await file::open("/etc/passwd");
             co_return opened.error();
         };
         return on.run(open());
     },
     errc::not_supported},
    {"a program",
     [](one_machine& on) {
         const auto start = []() -> task<error> {
             const auto started = co_await process::start("true");
             co_return started.error();
         };
         return on.run(start());
     },
     errc::not_supported},
};

}  // namespace

TEST_CASE("what a world has no model of is refused, and nothing stays open") {
    for (const refusal& each : refusals) {
        INFO(each.of);
        one_machine on;

        const error refused = each.asked(on);

        CHECK_MESSAGE(refused == each.with, refused.message());
        CHECK(on.here.open_descriptors() == 0);
    }
}

TEST_CASE("a socket of a world that reports nothing says so without an error") {
    one_machine on;
    udp_socket it = on.bound();

    CHECK(it.report({}).ok());
}
