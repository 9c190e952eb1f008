// SPDX-License-Identifier: BSL-1.0
//
// What the seam promises of datagrams.
#pragma once

#include <exchange/tests/net/law.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace exchange::testing {

using datagram_result = io_result<gyre::received_datagram>;
using datagram_from = io_result<gyre::received_datagram, endpoint>;

inline constexpr std::size_t longer_than_ip_takes = 65'520;

/// Packets to groups that leave through the loopback interface come back whatever is set.
[[nodiscard]] inline bool has_multicast_loopback(int number) {
    int on = 0;
    socklen_t size = sizeof on;
    REQUIRE(::getsockopt(number, IPPROTO_IP, IP_MULTICAST_LOOP, &on, &size) == 0);
    return on != 0;
}

[[nodiscard]] inline std::string text_in(std::span<const std::byte> space,
                                         const gyre::received_datagram& got) {
    return std::string{text_of(space.first(got.size))};
}

TEST_CASE_TEMPLATE_DEFINE("a datagram arrives whole, gathered, with its sender's address", Side,
                          datagram_arrives) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        auto receiver = the::bound(on);
        const std::array<const_buffer, 3> parts{bytes_of("head"), const_buffer{}, bytes_of("tail")};
        const endpoint to = receiver.local_endpoint().value();
        std::array<std::byte, 64> space;

        const io_result<> sent = co_await sender.send_to(parts, to);
        auto [failed, got, from] = co_await receiver.receive_from(space);

        CHECK(sent.ok());
        CHECK_FALSE(failed);
        CHECK(text_in(space, got) == "headtail");
        CHECK_FALSE(got.truncated);
        CHECK(from == sender.local_endpoint().value());
    });
}

TEST_CASE_TEMPLATE_DEFINE(
    "what does not fit is lost and reported, and what fits exactly is not cut", Side,
    datagram_truncated) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        auto receiver = the::bound(on);
        CHECK(sender.connect(receiver.local_endpoint().value()).ok());
        const std::array<const_buffer, 1> text{bytes_of("12345678")};
        const std::array<const_buffer, 0> none{};
        std::array<std::byte, 8> space;
        const mutable_buffer small = std::span{space}.first(3);

        for (int each = 0; each < 3; ++each) {
            const io_result<> sent = co_await sender.send(text);
            CHECK(sent.ok());
        }
        const io_result<> sent_empty = co_await sender.send(none);
        const datagram_result cut = co_await receiver.receive(small);
        const datagram_from cut_from = co_await receiver.receive_from(small);
        const datagram_result whole = co_await receiver.receive(space);
        const datagram_result empty = co_await receiver.receive(space);

        CHECK(sent_empty.ok());
        CHECK(cut.value().size == 3);
        CHECK(cut.value().truncated);
        CHECK(text_in(small, cut_from.get<1>()) == "123");
        CHECK(cut_from.get<1>().truncated);
        CHECK(whole.value().size == 8);
        CHECK_FALSE(whole.value().truncated);
        CHECK(empty.ok());
        CHECK(empty.value().size == 0);
    });
}

TEST_CASE_TEMPLATE_DEFINE(
    "too long, in too many parts, without a peer, to another family: each has its error", Side,
    datagram_refused) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        const endpoint to = sender.local_endpoint().value();
        const endpoint other_family{gyre::ipv6::loopback(), 7};
        const endpoint path = endpoint::local("/nowhere").value();
        const bytes much(longer_than_ip_takes);
        const std::array<const_buffer, 1> one{const_buffer{much}};
        const std::vector<const_buffer> many(the::udp_socket::buffers_max + 1, bytes_of("x"));
        const std::array<const_buffer, 1> fine{bytes_of("x")};
        std::array<std::byte, 16> space;

        const io_result<> too_long = co_await sender.send_to(one, to);
        const io_result<> too_many = co_await sender.send_to(many, to);
        const io_result<> without_peer = co_await sender.send(fine);
        const io_result<> to_v6 = co_await sender.send_to(fine, other_family);
        const io_result<> to_path = co_await sender.send_to(fine, path);
        const io_result<> sent = co_await sender.send_to(fine, to);
        const datagram_result got = co_await sender.receive(space);

        CHECK(too_long.error() == errc::message_size);
        CHECK(too_many.error() == errc::invalid_argument);
        CHECK(without_peer.error() == errc::destination_required);
        CHECK(to_v6.error() == errc::address_family_not_supported);
        CHECK_FALSE(to_path.ok());
        CHECK(sent.ok());
        CHECK(got.value().size == 1);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a connected socket hears that its peer is not there", Side,
                          datagram_unheard) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        auto gone = the::bound(on);
        CHECK(sender.connect(gone.local_endpoint().value()).ok());
        CHECK(gone.close().ok());
        const std::array<const_buffer, 1> text{bytes_of("x")};
        std::array<std::byte, 8> space;

        const io_result<> sent = co_await sender.send(text);
        const datagram_result answer = co_await sender.receive(space);

        CHECK(sent.ok());
        CHECK(answer.error() == errc::connection_refused);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a receive that waits ends as canceled when its socket is closed", Side,
                          closed_below_receive) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto socket = the::bound(on);
        std::array<std::byte, 8> space;
        datagram_from waiting;
        typename the::event ended;
        Side::traits::launch(on,
                             the::note([&] { return socket.receive_from(space); }, waiting, ended));
        co_await the::settle(on);

        CHECK(socket.close().ok());
        static_cast<void>(co_await ended.wait());

        CHECK(waiting.error() == errc::canceled);
        CHECK(socket.connect(any_port()).error() == errc::closed);
        CHECK(socket.join(any_port()).error() == errc::closed);
        CHECK(socket.find_interface("lo").error() == errc::closed);
    });
}

TEST_CASE_TEMPLATE_DEFINE("an address in use is not bound twice, unless both agree, nor is a path",
                          Side, bind_refused) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        gyre::udp_options shared;
        shared.port_shared = true;
        auto alone = the::bound(on);
        auto first = the::bound(on, shared);

        auto second = Side::traits::bind(on, alone.local_endpoint().value(), {});
        auto agreed = Side::traits::bind(on, first.local_endpoint().value(), shared);
        auto path = Side::traits::bind(on, endpoint::local("/nowhere").value(), {});

        CHECK(second.error() == errc::address_in_use);
        CHECK(agreed.ok());
        CHECK(path.error() == errc::address_family_not_supported);
        co_return;
    });
}

TEST_CASE_TEMPLATE_DEFINE("a batch owns what it is given, and all of it arrives in order", Side,
                          batch_arrives) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        auto receiver = the::bound(on);
        const endpoint to = receiver.local_endpoint().value();
        typename the::datagram_batch batch{3, 16};
        std::array<std::byte, 32> space;
        for (int each = 0; each < 3; ++each) {
            const std::string number = std::to_string(each);
            const std::array<const_buffer, 2> parts{bytes_of("number "), bytes_of(number)};
            CHECK(batch.append(parts, to));
        }

        CHECK(batch.full());
        CHECK_FALSE(batch.append(bytes_of("x"), to));
        std::size_t sent = 0;
        while (!batch.empty()) {
            const count_result went = co_await sender.send(batch);
            REQUIRE(went.ok());
            REQUIRE(went.value() > 0);
            sent += went.value();
        }
        const count_result nothing = co_await sender.send(batch);

        CHECK(sent == 3);
        CHECK((nothing.ok() && nothing.value() == 0));
        CHECK_FALSE(batch.full());
        CHECK_FALSE(batch.append(bytes_of("longer than sixteen"), to));
        CHECK(batch.empty());
        for (int each = 0; each < 3; ++each) {
            const datagram_result got = co_await receiver.receive(space);
            CHECK(text_in(space, got.value()) == "number " + std::to_string(each));
        }
    });
}

TEST_CASE_TEMPLATE_DEFINE(
    "a batch to a fixed peer goes out up to what can't be sent, and further once that is dropped",
    Side, batch_refused) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        auto receiver = the::bound(on);
        CHECK(sender.connect(receiver.local_endpoint().value()).ok());
        typename the::datagram_batch batch{4, longer_than_ip_takes};
        const bytes much(longer_than_ip_takes);
        CHECK(batch.append(bytes_of("first"), {}));
        CHECK(batch.append(const_buffer{much}, {}));
        CHECK(batch.append(bytes_of("behind"), {}));
        std::array<std::byte, 32> space;

        const count_result one = co_await sender.send(batch);
        const count_result none = co_await sender.send(batch);
        const datagram_result got = co_await receiver.receive(space);

        CHECK((one.ok() && one.value() == 1));
        CHECK(none.error() == errc::message_size);
        CHECK(none.value() == 0);
        CHECK(batch.size() == 2);
        CHECK(text_in(space, got.value()) == "first");

        batch.drop_first();
        const count_result other = co_await sender.send(batch);
        const datagram_result behind = co_await receiver.receive(space);
        CHECK((other.ok() && other.value() == 1));
        CHECK(batch.empty());
        CHECK(text_in(space, behind.value()) == "behind");

        CHECK(batch.append(const_buffer{much}, {}));
        batch.drop_first();
        CHECK(batch.empty());
        CHECK_FALSE(batch.full());
        CHECK(batch.append(bytes_of("one"), {}));
        batch.clear();
        CHECK(batch.empty());
    });
}

TEST_CASE_TEMPLATE_DEFINE("a group's datagrams reach who joined it, by interface, until they leave",
                          Side, groups) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        auto member = Side::traits::bind(on, endpoint{ipv4::any(), 0}, {}).take();
        const std::uint16_t port = member.local_endpoint().value().port();
        const endpoint group{ipv4{{239, 255, 17, 4}}, port};
        const endpoint direct{ipv4::loopback(), port};
        const gyre::network_interface loopback = sender.find_interface("lo").value();
        const std::array<const_buffer, 1> to_all{bytes_of("to all")};
        const std::array<const_buffer, 1> to_you{bytes_of("to you")};
        std::array<std::byte, 32> space;
        CHECK(member.join(group, loopback).ok());
        CHECK(member.join(group, loopback).error() == errc::address_in_use);
        CHECK(sender.set_multicast_interface(loopback).ok());
        CHECK(sender.set_multicast_hops(1).ok());

        const io_result<> sent = co_await sender.send_to(to_all, group);
        const datagram_result heard = co_await member.receive(space);
        CHECK(sent.ok());
        CHECK(text_in(space, heard.value()) == "to all");

        CHECK(member.leave(group, loopback).ok());
        CHECK(member.leave(group, loopback).error() == errc::address_not_available);
        static_cast<void>(co_await sender.send_to(to_all, group));
        static_cast<void>(co_await sender.send_to(to_you, direct));
        const datagram_result not_heard = co_await member.receive(space);
        CHECK(text_in(space, not_heard.value()) == "to you");
    });
}

TEST_CASE_TEMPLATE_DEFINE("interfaces are found by name, and what is no group can't be joined",
                          Side, interfaces) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto socket = the::bound(on);
        auto six = Side::traits::bind(on, endpoint{gyre::ipv6::any(), 0}, {});
        const endpoint other_family = endpoint::parse("[ff02::1]:7").value();

        CHECK(socket.find_interface("lo").value().index != 0);
        CHECK(socket.find_interface("no such").error() == errc::no_such_device);
        CHECK(socket.find_interface("longer than a name").error() == errc::name_too_long);
        CHECK(socket.join(any_port()).error() == errc::invalid_argument);
        CHECK(socket.join(other_family).error() == errc::invalid_argument);
        CHECK_FALSE(socket.connect(endpoint::local("/nowhere").value()).ok());
        CHECK(has_multicast_loopback(socket.native_handle()));
        CHECK(socket.set_multicast_loopback(false).ok());
        CHECK_FALSE(has_multicast_loopback(socket.native_handle()));
        if (six.ok()) {
            auto wide = six.take();
            CHECK(wide.set_multicast_interface(wide.find_interface("lo").value()).ok());
            CHECK(wide.set_multicast_loopback(false).ok());
            CHECK(wide.set_multicast_hops(7).ok());
        }
        co_return;
    });
}

}  // namespace exchange::testing
