// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/icmp_socket.hpp promises: hosts that answer, hosts that do not, and who may ask.
#include <gyre/io/icmp_socket.hpp>

#include <gyre/sync/task_group.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/network_namespace.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// False, and the test is skipped, where this process may not ask.
bool may_ask(endpoint::family family) {
    io_context io;
    const io_result<icmp_socket> opened = icmp_socket::open(io, family);
    if (opened.ok()) return true;
    skip("no echo requests here: " + opened.error().message());
    return false;
}

void check_answer(const ip_address& who) {
    const endpoint::family family = endpoint{who, 0}.kind();
    if (!may_ask(family)) return;
    on_every_backend([&](io_context& io) -> task<> {
        icmp_socket socket = icmp_socket::open(io, family).take();
        for (int each = 0; each < 3; ++each) {
            const io_result<echo_reply> answer = co_await socket.ping(who, 10s);

            CHECK_MESSAGE(answer.ok(), answer.error().message());
            CHECK(answer.value().from == who);
            CHECK(answer.value().intact);
            CHECK(answer.value().hops == 64);
            CHECK(answer.value().round_trip > 0ns);
            CHECK(answer.value().round_trip < 10s);
        }
    });
}

}  // namespace

TEST_CASE("a host that is there answers an echo request, over IPv4") {
    check_answer(ipv4::loopback());
}

TEST_CASE("a host that is there answers an echo request, over IPv6") {
    check_answer(ipv6::loopback());
}

TEST_CASE("an echo request without an answer times out, and the next one is not confused by it") {
    if (!may_ask(endpoint::family::v4)) return;
    on_every_backend([](io_context& io) -> task<> {
        icmp_socket socket = icmp_socket::open(io, endpoint::family::v4).take();
        CHECK(socket.set_option(broadcast_allowed{}).ok());

        // Hosts do not answer to broadcasts (net.ipv4.icmp_echo_ignore_broadcasts).
        const io_result<echo_reply> in_vain =
            co_await socket.ping(ipv4{{127, 255, 255, 255}}, 20ms);
        const io_result<echo_reply> too_soon = co_await socket.ping(ipv4::loopback(), 0ns);
        const io_result<echo_reply> answered = co_await socket.ping(ipv4::loopback(), 10s);

        CHECK(in_vain.error() == errc::timed_out);
        CHECK((too_soon.error() == errc::timed_out || too_soon.ok()));
        CHECK(answered.ok());
        CHECK(answered.value().intact);
    });
}

TEST_CASE("one ping at a time, of the family of its socket, until it is stopped") {
    if (!may_ask(endpoint::family::v4)) return;
    on_every_backend([](io_context& io) -> task<> {
        icmp_socket socket = icmp_socket::open(io, endpoint::family::v4).take();
        CHECK(socket.set_option(broadcast_allowed{}).ok());
        icmp_socket closed;
        io_result<echo_reply> stopped{errc::malformed};
        const auto ask_nobody = [&]() -> task<> {
            stopped = co_await socket.ping(ipv4{{127, 255, 255, 255}}, 60s);
        };
        io_result<echo_reply> second{errc::malformed};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(ask_nobody());
            co_await settle();
            second = co_await socket.ping(ipv4::loopback(), 10s);
            group.request_stop();
        };
        co_await with_group(body);
        const io_result<echo_reply> other = co_await socket.ping(ipv6::loopback(), 10s);
        const io_result<echo_reply> none = co_await closed.ping(ipv4::loopback(), 10s);
        const io_result<echo_reply> after = co_await socket.ping(ipv4::loopback(), 10s);

        CHECK(stopped.error() == errc::canceled);
        CHECK(second.error() == errc::busy);
        CHECK(other.error() == errc::address_family_not_supported);
        CHECK(none.error() == errc::closed);
        CHECK(after.ok());
        CHECK(icmp_socket::open(io, endpoint::family::local).error() ==
              errc::address_family_not_supported);
    });
}

TEST_CASE("a socket may move or go while its echo request waits") {
    if (!may_ask(endpoint::family::v4)) return;
    on_every_backend([](io_context& io) -> task<> {
        auto socket =
            std::make_unique<icmp_socket>(icmp_socket::open(io, endpoint::family::v4).take());
        CHECK(socket->set_option(broadcast_allowed{}).ok());
        io_result<echo_reply> outcome{errc::malformed};
        const auto ask_nobody = [&](duration limit) -> task<> {
            outcome = co_await socket->ping(ipv4{{127, 255, 255, 255}}, limit);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(ask_nobody(20ms));
            co_await settle();
            socket = std::make_unique<icmp_socket>(std::move(*socket));
            co_await group.join();
            CHECK(outcome.error() == errc::timed_out);
            const io_result<echo_reply> again = co_await socket->ping(ipv4::loopback(), 10s);
            CHECK(again.ok());

            group.spawn(ask_nobody(60s));
            co_await settle();
            socket.reset();
        };

        co_await with_group(body);

        CHECK(outcome.error() == errc::canceled);
    });
}

TEST_CASE("who may not send echo requests is told so") {
    if (::getuid() != 0) return skip("it takes root to give up what root may do");
    const child_report report = in_child([](child_process& it) {
        // A network of its own permits no group at first (1 0), and its user may nothing in it.
        if (!enter_new_network() || ::setgid(65534) != 0 || ::setuid(65534) != 0) {
            it.say("not permitted");
            return;
        }
        io_context io;
        const io_result<icmp_socket> refused = icmp_socket::open(io, endpoint::family::v4);
        it.check(refused.error() == errc::operation_not_permitted, refused.error().message());
    });

    CHECK_MESSAGE(report.passed(), report.text);
    if (report.text == "not permitted\n") skip("no network of its own");
}
