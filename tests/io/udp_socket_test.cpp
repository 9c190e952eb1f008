// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/udp_socket.hpp promises: datagrams whole or cut and said so, peers, groups, batches.
#include <gyre/io/udp_socket.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/skip.hpp>

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

const endpoint any_port{ipv4::loopback(), 0};

/// Bound to the loopback interface, and its address.
struct bound_socket {
    explicit bound_socket(io_context& io, const endpoint& at = any_port,
                          const udp_options& options = {}) {
        io_result<udp_socket> opened = udp_socket::bind(io, at, options);
        REQUIRE(opened.ok());
        socket = opened.take();
        address = socket.local_endpoint().value();
    }

    udp_socket socket;
    endpoint address;
};

std::string text_in(const std::array<std::byte, 64>& space, const received_datagram& got) {
    return std::string{text_of(const_buffer{space}.first(got.size))};
}

task<> note_receive(udp_socket& from, mutable_buffer into, io_result<received_datagram>& outcome) {
    outcome = co_await from.receive(into);
}

}  // namespace

// What the loopback interface cannot show is asked of the kernel.
TEST_CASE("how far datagrams to a group travel is set for either family") {
    const auto option = [](const udp_socket& of, int level, int name) {
        int value = -1;
        socklen_t size = sizeof value;
        REQUIRE(::getsockopt(of.native_handle(), level, name, &value, &size) == 0);
        return value;
    };
    with_every_backend([&](const io_context_options& options) {
        io_context io{options};
        bound_socket v4{io};
        bound_socket v6{io, endpoint{ipv6::loopback(), 0}};
        for (udp_socket* each : {&v4.socket, &v6.socket}) {
            CHECK(each->set_multicast_loopback(false).ok());
            CHECK(each->set_multicast_hops(7).ok());
            CHECK(each->set_hops(9).ok());
            CHECK(each->set_multicast_interface(each->find_interface("lo").value()).ok());
        }

        CHECK(option(v4.socket, IPPROTO_IP, IP_MULTICAST_LOOP) == 0);
        CHECK(option(v4.socket, IPPROTO_IP, IP_MULTICAST_TTL) == 7);
        CHECK(option(v4.socket, IPPROTO_IP, IP_TTL) == 9);
        CHECK(option(v6.socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP) == 0);
        CHECK(option(v6.socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS) == 7);
        CHECK(option(v6.socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS) == 9);
        CHECK(option(v6.socket, IPPROTO_IPV6, IPV6_MULTICAST_IF) ==
              static_cast<int>(v6.socket.find_interface("lo").value().index));
    });
}

namespace {

// Two senders with an address each, and a member of the group that they send to, on the loopback interface.
struct group_with_sources {
    explicit group_with_sources(io_context& io)
        : member{io, endpoint{ipv4::any(), 0}},
          good{io, endpoint{ipv4{{127, 0, 0, 11}}, 0}},
          bad{io, endpoint{ipv4{{127, 0, 0, 12}}, 0}},
          group{ipv4{{232, 1, 71, 9}}, member.address.port()},
          loopback{member.socket.find_interface("lo").value()} {
        // Another test may have joined the same group.
        CHECK(member.socket.set_option(all_groups{false}).ok());
        CHECK(good.socket.set_multicast_interface(loopback).ok());
        CHECK(bad.socket.set_multicast_interface(loopback).ok());
    }

    // One from each, the bad one first; what comes of it.
    task<std::string> heard() {
        std::array<std::byte, 64> space{};
        const io_result<> first = co_await bad.socket.send_to(bytes_of("bad "), group);
        const io_result<> second = co_await good.socket.send_to(bytes_of("good "), group);
        CHECK(first.ok());
        CHECK(second.ok());
        std::string all;
        for (;;) {
            const io_result<received_datagram> got =
                co_await with_timeout(5ms, member.socket.receive(space));
            if (!got.ok()) co_return all;
            all += text_in(space, got.value());
        }
    }

    bound_socket member;
    bound_socket good;
    bound_socket bad;
    endpoint group;
    network_interface loopback;
};

}  // namespace

TEST_CASE("sources of IPv6 groups are joined and blocked as well") {
    // The loopback interface has no route for them, so one is looked for that has; they stay on this host.
    const endpoint somewhere{ipv6::parse("ff31::7109").value(), 9};
    network_interface through;
    struct if_nameindex* const all = ::if_nameindex();
    for (auto* each = all; each->if_index != 0 && through.index == 0; ++each) {
        io_context io;
        bound_socket probe{io, endpoint{ipv6::any(), 0}};
        REQUIRE(probe.socket.set_multicast_interface({each->if_index}).ok());
        const sockaddr* to = reinterpret_cast<const sockaddr*>(somewhere.raw().data);
        if (::sendto(probe.socket.native_handle(), "x", 1, 0, to, somewhere.raw().size) == 1)
            through.index = each->if_index;
    }
    ::if_freenameindex(all);
    if (through.index == 0) return skip("no interface with IPv6 groups");

    on_each_backend_of("datagrams of the kernel", [&](io_context& io) -> task<> {
        bound_socket member{io, endpoint{ipv6::any(), 0}};
        bound_socket sender{io, endpoint{ipv6::any(), 0}};
        const endpoint group{somewhere.address(), member.address.port()};
        CHECK(sender.socket.set_multicast_interface(through).ok());
        std::array<std::byte, 64> space{};
        ip_address source;
        const auto hears = [&]() -> task<bool> {
            const io_result<> sent = co_await sender.socket.send_to(bytes_of("x"), group);
            CHECK_MESSAGE(sent.ok(), sent.error().message());
            const auto got = co_await with_timeout(20ms, member.socket.receive_from(space));
            if (got.ok()) source = got.template get<2>().address();
            co_return got.ok();
        };
        udp_socket& it = member.socket;

        CHECK(it.join(group, through).ok());
        const bool any = co_await hears();
        CHECK(it.block_source(group, source, through).ok());
        const bool blocked = co_await hears();
        CHECK(it.unblock_source(group, source, through).ok());
        const bool unblocked = co_await hears();
        CHECK(it.leave(group, through).ok());
        CHECK(it.join_source(group, ipv6::parse("2001:db8::1").value(), through).ok());
        const bool other = co_await hears();
        CHECK(it.join_source(group, source, through).ok());
        const bool joined = co_await hears();
        CHECK(it.leave_source(group, source, through).ok());
        const bool left = co_await hears();

        CHECK(any);
        CHECK_FALSE(blocked);
        CHECK(unblocked);
        CHECK_FALSE(other);
        CHECK(joined);
        CHECK_FALSE(left);
    });
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"a datagram arrives whole, with its sender's address, and can be answered",
     [](io_context& io) -> task<> {
         bound_socket asker{io};
         bound_socket answerer{io};
         std::array<std::byte, 64> space{};

         const io_result<> asked =
             co_await asker.socket.send_to(bytes_of("question"), answerer.address);
         auto question = co_await answerer.socket.receive_from(space);
         const std::string question_text = text_in(space, question.get<1>());
         const io_result<> answered =
             co_await answerer.socket.send_to(bytes_of("answer"), question.get<2>());
         auto answer = co_await asker.socket.receive_from(space);

         CHECK(asked.ok());
         CHECK(answered.ok());
         CHECK(question_text == "question");
         CHECK(question.get<2>() == asker.address);
         CHECK(text_in(space, answer.get<1>()) == "answer");
         CHECK(answer.get<2>() == answerer.address);
     }},
    {"a datagram is received into a char array or a string as it is",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         char letters[8] = {};
         std::string text(8, '-');
         static_cast<void>(co_await from.socket.send_to(bytes_of("one"), to.address));
         static_cast<void>(co_await from.socket.send_to(bytes_of("two"), to.address));

         auto first = co_await to.socket.receive(letters);
         auto second = co_await to.socket.receive_from(text);

         CHECK(first.value().size == 3);
         CHECK(std::string_view{letters} == "one");
         CHECK(second.get<1>().size == 3);
         CHECK(text == "two-----");
     }},
    {"IPv6 datagrams travel as well, and one of no bytes is a datagram, not an end",
     [](io_context& io) -> task<> {
         bound_socket from{io, endpoint{ipv6::loopback(), 0}};
         bound_socket to{io, endpoint{ipv6::loopback(), 0}};
         std::array<std::byte, 64> space{};

         const io_result<> empty = co_await from.socket.send_to(const_buffer{}, to.address);
         const io_result<> full = co_await from.socket.send_to(bytes_of("x"), to.address);
         auto first = co_await to.socket.receive_from(space);
         const io_result<received_datagram> second = co_await to.socket.receive(space);

         CHECK(empty.ok());
         CHECK(full.ok());
         CHECK(first.ok());
         CHECK(first.get<1>().size == 0);
         CHECK(first.get<2>() == from.address);
         CHECK(second.value().size == 1);
     }},
    {"what does not fit is lost and reported, and what fits exactly is not cut",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         std::array<std::byte, 4> space{};

         for (const char* each : {"four", "fives", "xy"}) {
             const io_result<> sent = co_await from.socket.send_to(bytes_of(each), to.address);
             CHECK(sent.ok());
         }
         const io_result<received_datagram> exact = co_await to.socket.receive(space);
         const io_result<received_datagram> cut = co_await to.socket.receive(space);
         const std::string cut_text{text_of(space)};
         const io_result<received_datagram> shorter = co_await to.socket.receive(space);

         CHECK(exact.value().size == 4);
         CHECK_FALSE(exact.value().truncated);
         CHECK(cut.value().size == 4);
         CHECK(cut.value().truncated);
         CHECK(cut_text == "five");
         CHECK(shorter.value().size == 2);
         CHECK_FALSE(shorter.value().truncated);
     }},
    {"a receive waits for a datagram, and a stop ends it without losing one",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         std::array<std::byte, 64> space{};
         io_result<received_datagram> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_receive(to.socket, space, outcome));
             co_await yield();
             CHECK(outcome.error() == errc::malformed);
             const io_result<> sent = co_await from.socket.send_to(bytes_of("later"), to.address);
             CHECK(sent.ok());
         };

         co_await with_group(body);
         const io_result<received_datagram> in_vain =
             co_await with_timeout(5ms, to.socket.receive(space));
         const io_result<> again = co_await from.socket.send_to(bytes_of("kept"), to.address);
         const io_result<received_datagram> kept = co_await to.socket.receive(space);

         CHECK(outcome.value().size == 5);
         CHECK(in_vain.error() == errc::timed_out);
         CHECK(again.ok());
         CHECK(text_in(space, kept.value()) == "kept");
     }},
    {"of sockets that share a port, the one with the sender as its peer gets what comes",
     [](io_context& io) -> task<> {
         udp_options shared;
         shared.port_shared = true;
         bound_socket any{io, endpoint{ipv4::any(), 0}, shared};
         const endpoint there{ipv4::loopback(), any.address.port()};
         bound_socket named{io, there, shared};
         bound_socket connected{io, there, shared};
         bound_socket friendly{io};
         bound_socket stranger{io};
         CHECK(connected.socket.connect(friendly.address).ok());
         std::array<std::byte, 64> space{};

         for (int each = 0; each < 8; ++each) {
             const auto one = co_await friendly.socket.send_to(bytes_of("friend"), there);
             const auto other = co_await stranger.socket.send_to(bytes_of("stranger"), there);
             CHECK(one.ok());
             CHECK(other.ok());
         }
         for (int each = 0; each < 8; ++each) {
             const auto of_friend = co_await with_timeout(5s, connected.socket.receive(space));
             CHECK(of_friend.ok());
             if (of_friend.ok()) CHECK(text_in(space, of_friend.value()) == "friend");
             const auto of_stranger = co_await with_timeout(5s, named.socket.receive(space));
             CHECK(of_stranger.ok());
             if (of_stranger.ok()) CHECK(text_in(space, of_stranger.value()) == "stranger");
         }
         const auto none = co_await with_timeout(1ms, any.socket.receive(space));
         CHECK(none.error() == errc::timed_out);
     }},
    {"connected sockets hear their peer only, send without an address, and learn of refusals",
     [](io_context& io) -> task<> {
         bound_socket left{io};
         bound_socket right{io};
         bound_socket stranger{io};
         std::array<std::byte, 64> space{};
         CHECK(left.socket.connect(right.address).ok());
         CHECK(left.socket.remote_endpoint().value() == right.address);

         const io_result<> ignored =
             co_await stranger.socket.send_to(bytes_of("psst"), left.address);
         const io_result<> sent = co_await right.socket.send_to(bytes_of("hello"), left.address);
         const io_result<received_datagram> heard = co_await left.socket.receive(space);
         const std::string heard_text = text_in(space, heard.value());
         const io_result<> reply = co_await left.socket.send(bytes_of("hi"));
         const io_result<received_datagram> replied = co_await right.socket.receive(space);
         CHECK(right.socket.close().ok());
         const io_result<> unheard = co_await left.socket.send(bytes_of("anybody?"));
         const io_result<received_datagram> refusal = co_await left.socket.receive(space);

         CHECK(ignored.ok());
         CHECK(sent.ok());
         CHECK(heard_text == "hello");
         CHECK(reply.ok());
         CHECK(text_in(space, replied.value()) == "hi");
         CHECK(unheard.ok());
         CHECK(refusal.error() == errc::connection_refused);
     }},
    {"without a peer, too long, in too many parts, closed: each has its own error",
     [](io_context& io) -> task<> {
         bound_socket socket{io};
         const std::vector<std::byte> huge(70'000);
         const std::vector<const_buffer> parts(udp_socket::buffers_max + 1, bytes_of("x"));
         const std::vector<const_buffer> enough(udp_socket::buffers_max, bytes_of("x"));

         const io_result<> without_peer = co_await socket.socket.send(bytes_of("x"));
         const io_result<> too_long = co_await socket.socket.send_to(huge, socket.address);
         const io_result<> too_many =
             co_await socket.socket.send_to(const_buffers{parts}, socket.address);
         const io_result<> gathered =
             co_await socket.socket.send_to(const_buffers{enough}, socket.address);
         const io_result<udp_socket> no_family = udp_socket::bind(io, endpoint{});
         const io_result<udp_socket> taken = udp_socket::bind(io, socket.address);
         udp_socket closed;

         CHECK(without_peer.error() == errc::destination_required);
         CHECK(too_long.error() == errc::message_size);
         CHECK(too_many.error() == errc::invalid_argument);
         CHECK(gathered.ok());
         CHECK(no_family.error() == errc::address_family_not_supported);
         CHECK(taken.error() == errc::address_in_use);
         CHECK(closed.connect(socket.address).error() == errc::closed);
         CHECK(closed.join(socket.address).error() == errc::closed);
         CHECK(closed.find_interface("lo").error() == errc::closed);
     }},
    {"a datagram is gathered from several buffers and scattered over several",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         const std::array out{bytes_of("head"), const_buffer{}, bytes_of("-"), bytes_of("body")};
         std::array<std::byte, 3> first{};
         std::array<std::byte, 64> second{};
         const std::array<mutable_buffer, 2> in{first, second};

         const io_result<> sent = co_await from.socket.send_to(const_buffers{out}, to.address);
         const io_result<received_datagram> got = co_await to.socket.receive(mutable_buffers{in});

         CHECK(sent.ok());
         CHECK(got.value().size == 9);
         CHECK(text_of(first) == "hea");
         CHECK(text_of(const_buffer{second}.first(6)) == "d-body");
     }},
    {"a group's datagrams reach those who joined it, by interface, until they leave",
     [](io_context& io) -> task<> {
         const endpoint group{ipv4{{239, 255, 71, 9}}, 0};
         bound_socket member{io, endpoint{ipv4::any(), 0}};
         bound_socket sender{io};
         const endpoint target{group.v4(), member.address.port()};
         const network_interface loopback = member.socket.find_interface("lo").value();
         std::array<std::byte, 64> space{};

         CHECK(member.socket.join(group, loopback).ok());
         CHECK(member.socket.join(group, loopback).error() == errc::address_in_use);
         CHECK(sender.socket.set_multicast_interface(loopback).ok());
         CHECK(sender.socket.set_multicast_hops(1).ok());
         const io_result<> sent = co_await sender.socket.send_to(bytes_of("to all"), target);
         auto got = co_await member.socket.receive_from(space);
         const std::string text = text_in(space, got.get<1>());

         CHECK(member.socket.leave(group, loopback).ok());
         CHECK(member.socket.leave(group, loopback).error() == errc::address_not_available);
         const io_result<> unheard = co_await sender.socket.send_to(bytes_of("gone"), target);
         const io_result<received_datagram> nothing =
             co_await with_timeout(5ms, member.socket.receive(space));

         CHECK(sent.ok());
         CHECK(text == "to all");
         CHECK(got.get<2>() == sender.address);
         CHECK(unheard.ok());
         CHECK(nothing.error() == errc::timed_out);
     }},
    {"interfaces are found by name, and what is none is said to be none",
     [](io_context& io) -> task<> {
         bound_socket any{io};

         CHECK(any.socket.find_interface("lo").value().index > 0);
         CHECK(any.socket.find_interface("nosuch0").error() == errc::no_such_device);
         CHECK(any.socket.find_interface("a-name-of-16-byt").error() == errc::name_too_long);
         CHECK(any.socket.find_interface("lo\0x"sv).error() == errc::no_such_device);
         CHECK(any.socket.join(any.address).error() == errc::invalid_argument);
         CHECK(any.socket.set_hops(0).error() == errc::invalid_argument);
         CHECK(any.socket.set_hops(255).ok());
         co_return;
     }},
    {"two sockets share a port where both ask for it",
     [](io_context& io) -> task<> {
         udp_options shared;
         shared.port_shared = true;
         bound_socket first{io, any_port, shared};

         const io_result<udp_socket> second = udp_socket::bind(io, first.address, shared);
         const io_result<udp_socket> unasked = co_await udp_socket::bind(first.address);

         CHECK(second.ok());
         CHECK(unasked.error() == errc::address_in_use);
     }},
    {"a batch carries many datagrams in one call, each with its own peer",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket left{io};
         bound_socket right{io};
         datagram_batch out{16, 64};
         datagram_batch in{16, 64};
         for (int each = 0; each < 10; ++each) {
             const endpoint& to = each % 2 == 0 ? left.address : right.address;
             CHECK(out.append(bytes_of("number " + std::to_string(each)), to));
         }

         const io_result<std::size_t> sent = co_await from.socket.send(out);
         const io_result<std::size_t> got = co_await left.socket.receive(in);

         CHECK(sent.value() == 10);
         CHECK(out.empty());
         CHECK(got.value() == 5);
         CHECK(in.size() == 5);
         for (std::size_t each = 0; each < in.size(); ++each) {
             CHECK(text_of(in[each]) == "number " + std::to_string(2 * each));
             CHECK(in.peer(each) == from.address);
             CHECK_FALSE(in.truncated(each));
         }
     }},
    {"receiving a batch waits for the first datagram, takes what is there, and can be stopped",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         datagram_batch in{2, 4};
         io_result<std::size_t> outcome{errc::malformed};
         const auto receive_one = [&]() -> task<> { outcome = co_await to.socket.receive(in); };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(receive_one());
             co_await yield();
             CHECK(outcome.error() == errc::malformed);
             const io_result<> sent = co_await from.socket.send_to(bytes_of("longer"), to.address);
             CHECK(sent.ok());
         };

         co_await with_group(body);
         const bool cut = in.truncated(0);
         const std::string text{text_of(in[0])};
         const io_result<std::size_t> in_vain = co_await with_timeout(5ms, to.socket.receive(in));
         for (int each = 0; each < 3; ++each) {
             const io_result<> sent = co_await from.socket.send_to(bytes_of("x"), to.address);
             CHECK(sent.ok());
         }
         const io_result<std::size_t> two = co_await to.socket.receive(in);
         const io_result<std::size_t> one = co_await to.socket.receive(in);

         CHECK(outcome.value() == 1);
         CHECK(cut);
         CHECK(text == "long");
         CHECK(in_vain.error() == errc::timed_out);
         CHECK(two.value() == 2);
         CHECK(one.value() == 1);
     }},
    {"a batch whose sending fails keeps what was not sent",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         datagram_batch out{4, 64};
         CHECK(out.append(bytes_of("fine"), to.address));
         CHECK(out.append(bytes_of("no address")));

         const io_result<std::size_t> first = co_await from.socket.send(out);
         const io_result<std::size_t> second = co_await from.socket.send(out);
         const std::size_t left = out.size();
         out.clear();
         const io_result<std::size_t> nothing = co_await from.socket.send(out);

         CHECK(first.value() == 1);
         CHECK(second.error() == errc::destination_required);
         CHECK(left == 1);
         CHECK(nothing.ok());
         CHECK(nothing.value() == 0);
     }},
    {"a datagram that is looked at stays, with its sender's address",
     [](io_context& io) -> task<> {
         bound_socket from{io};
         bound_socket to{io};
         std::array<std::byte, 64> space{};
         std::array<std::byte, 2> small{};
         const io_result<> one = co_await from.socket.send_to(bytes_of("one"), to.address);
         const io_result<> two = co_await from.socket.send_to(bytes_of("two"), to.address);

         const io_result<received_datagram> peeked = co_await to.socket.peek(small);
         auto again = co_await to.socket.peek_from(space);
         const std::string again_text = text_in(space, again.get<1>());
         const io_result<received_datagram> first = co_await to.socket.receive(space);
         const std::string first_text = text_in(space, first.value());
         const io_result<received_datagram> second = co_await to.socket.receive(space);
         const io_result<received_datagram> in_vain =
             co_await with_timeout(5ms, to.socket.peek(space));

         CHECK(one.ok());
         CHECK(two.ok());
         CHECK(peeked.value().size == 2);
         CHECK(peeked.value().truncated);
         CHECK(again_text == "one");
         CHECK(again.get<2>() == from.address);
         CHECK(first_text == "one");
         CHECK(text_in(space, second.value()) == "two");
         CHECK(in_vain.error() == errc::timed_out);
     }},
    {"broadcasting is refused until it was allowed",
     [](io_context& io) -> task<> {
         bound_socket from{io, endpoint{ipv4::any(), 0}};
         bound_socket to{io, endpoint{ipv4::any(), 0}};
         const endpoint everybody{ipv4{{127, 255, 255, 255}}, to.address.port()};
         std::array<std::byte, 64> space{};

         const io_result<> refused = co_await from.socket.send_to(bytes_of("all"), everybody);
         CHECK(from.socket.set_option(broadcast_allowed{}).ok());
         const io_result<> allowed = co_await from.socket.send_to(bytes_of("all"), everybody);
         const io_result<received_datagram> got =
             co_await with_timeout(10s, to.socket.receive(space));

         CHECK(refused.error() == errc::permission_denied);
         CHECK(allowed.ok());
         CHECK(got.value().size == 3);
     }},
};

const std::vector<conformance_row> on_the_kernel{
    {"of a group that was joined for a source only that source is heard",
     [](io_context& io) -> task<> {
         group_with_sources it{io};
         udp_socket& member = it.member.socket;
         const ip_address good = it.good.address.address();
         const ip_address bad = it.bad.address.address();

         CHECK(member.join_source(it.group, good, it.loopback).ok());
         const std::string one = co_await it.heard();
         CHECK(member.join_source(it.group, good, it.loopback).error() ==
               errc::address_not_available);
         CHECK(member.join_source(it.group, bad, it.loopback).ok());
         const std::string both = co_await it.heard();
         CHECK(member.leave_source(it.group, good, it.loopback).ok());
         const std::string other = co_await it.heard();
         CHECK(member.leave_source(it.group, bad, it.loopback).ok());
         const std::string none = co_await it.heard();

         CHECK(one == "good ");
         CHECK(both == "bad good ");
         CHECK(other == "bad ");
         CHECK(none.empty());
         CHECK(member.leave_source(it.group, bad, it.loopback).error() == errc::invalid_argument);
         CHECK(member.join_source(it.group, ipv6::loopback(), it.loopback).error() ==
               errc::invalid_argument);
         CHECK(udp_socket{}.join_source(it.group, good).error() == errc::closed);
     }},
    {"a source of a joined group is blocked, and heard again",
     [](io_context& io) -> task<> {
         group_with_sources it{io};
         udp_socket& member = it.member.socket;
         const ip_address bad = it.bad.address.address();
         CHECK(member.block_source(it.group, bad, it.loopback).error() == errc::invalid_argument);

         CHECK(member.join(it.group, it.loopback).ok());
         const std::string both = co_await it.heard();
         CHECK(member.block_source(it.group, bad, it.loopback).ok());
         const std::string one = co_await it.heard();
         CHECK(member.block_source(it.group, bad, it.loopback).error() ==
               errc::address_not_available);
         CHECK(member.unblock_source(it.group, bad, it.loopback).ok());
         const std::string again = co_await it.heard();

         CHECK(both == "bad good ");
         CHECK(one == "good ");
         CHECK(again == "bad good ");
     }},
};

const conformance_suite on_each_machine_suite{"datagrams", on_each_machine};
const conformance_suite on_the_kernel_suite{"datagrams of the kernel", on_the_kernel};

}  // namespace
