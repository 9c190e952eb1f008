// SPDX-License-Identifier: BSL-1.0
//
// What the seam promises of connections.
#pragma once

#include <exchange/tests/net/law.hpp>
#include <exchange/tests/net/silent_host.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace exchange::testing {

[[nodiscard]] inline bool has_no_delay(int number) {
    int on = 0;
    socklen_t size = sizeof on;
    REQUIRE(::getsockopt(number, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);
    return on != 0;
}

TEST_CASE_TEMPLATE_DEFINE("what one end writes, gathered or not, the other one reads in order",
                          Side, bytes_in_order) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);
        const std::array<const_buffer, 3> parts{bytes_of("one, "), const_buffer{}, bytes_of("two")};
        std::array<std::byte, 64> space;

        const count_result first = co_await ends.near.write_some(bytes_of("zero, "));
        const count_result rest = co_await ends.near.write_some(const_buffers{parts});
        const count_result got = co_await ends.far.read_some(space);

        CHECK(first.value() == 6);
        CHECK(rest.value() == 8);
        CHECK(text_of(std::span{space}.first(got.value())) == "zero, one, two");
    });
}

TEST_CASE_TEMPLATE_DEFINE("a Unix-domain connection carries bytes as well", Side,
                          local_connection) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        const std::string name =
            "exchange-seam-" + std::to_string(reinterpret_cast<std::uintptr_t>(&on));
        const endpoint at = endpoint::local(std::string{'\0'} + name).value();
        auto ends = co_await the::connect_at(on, at);
        std::array<std::byte, 8> space;

        const count_result sent = co_await ends.near.write_some(bytes_of("hello"));
        const count_result got = co_await ends.far.read_some(space);

        CHECK(sent.ok());
        CHECK(text_of(std::span{space}.first(got.value())) == "hello");
    });
}

TEST_CASE_TEMPLATE_DEFINE("of nothing, nothing is read or written, at once", Side, empty_buffers) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);
        const std::array<const_buffer, 2> nothing{};

        const count_result read = co_await ends.near.read_some(mutable_buffer{});
        const count_result written = co_await ends.near.write_some(const_buffer{});
        const count_result gathered = co_await ends.near.write_some(const_buffers{nothing});

        CHECK((read.ok() && read.value() == 0));
        CHECK((written.ok() && written.value() == 0));
        CHECK((gathered.ok() && gathered.value() == 0));
    });
}

TEST_CASE_TEMPLATE_DEFINE("a connect that is cancelled ends, and the next one may begin", Side,
                          connect_cancelled) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        const silent_host silent;
        typename Side::traits::connector connector{on};
        auto listener = Side::traits::listen(on, any_port(), {}).take();
        io_result<typename the::stream_socket> waiting;
        typename the::event ended;
        connector.cancel();  // There is none: nothing happens, now or later.
        Side::traits::launch(
            on, the::note([&] { return connector.connect(silent.where()); }, waiting, ended));
        co_await the::settle(on);
        CHECK_FALSE(ended.is_set());

        connector.cancel();
        static_cast<void>(co_await ended.wait());
        const auto refused = co_await connector.connect(endpoint{});
        auto next = co_await connector.connect(listener.local_endpoint().value());
        auto far = co_await listener.accept();

        CHECK(waiting.error() == errc::canceled);
        CHECK_FALSE(waiting.value().is_open());
        CHECK(refused.error() == errc::invalid_argument);
        REQUIRE(next.ok());
        REQUIRE(far.ok());
        typename the::stream_socket near = next.take();
        CHECK(has_no_delay(near.native_handle()));
        const count_result sent = co_await near.write_some(bytes_of("hello"));
        CHECK(sent.ok());
    });
}

template <class Side>
typename law<Side>::template task<> write_all(typename law<Side>::stream_socket& to,
                                              const_buffer from) {
    while (!from.empty()) {
        const count_result sent = co_await to.write_some(from);
        REQUIRE(sent.ok());
        from = from.subspan(sent.value());
    }
    CHECK(to.shutdown(gyre::shutdown_side::send).ok());
}

template <class Side>
typename law<Side>::template task<> read_all(typename law<Side>::stream_socket& from, bytes& all,
                                             gyre::error& end) {
    bytes space(10'000);
    while (!end) {
        const count_result got = co_await from.read_some(space);
        all.insert(all.end(), space.begin(),
                   space.begin() + static_cast<std::ptrdiff_t>(got.value()));
        end = got.error();
    }
}

TEST_CASE_TEMPLATE_DEFINE(
    "megabytes cross in both directions at once, whole, up to the end of the stream", Side,
    both_directions) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);
        const bytes all = patterned(3'000'000);
        std::array<bytes, 2> got;
        std::array<gyre::error, 2> end;
        CHECK(ends.near.set_option(gyre::send_buffer{{4096}}).ok());

        Side::traits::launch(on, write_all<Side>(ends.near, all));
        Side::traits::launch(on, write_all<Side>(ends.far, all));
        Side::traits::launch(on, read_all<Side>(ends.near, got[0], end[0]));
        co_await read_all<Side>(ends.far, got[1], end[1]);
        while (!end[0]) co_await the::settle(on);

        CHECK(got[0] == all);
        CHECK(got[1] == all);
        CHECK(end[0] == errc::eof);
        CHECK(end[1] == errc::eof);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a peer that has finished reads as the end, and may still be written to",
                          Side, half_closed) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);
        std::array<std::byte, 8> space;

        CHECK(ends.far.shutdown(gyre::shutdown_side::send).ok());
        const count_result at_end = co_await ends.near.read_some(space);
        const count_result sent = co_await ends.near.write_some(bytes_of("still"));
        const count_result got = co_await ends.far.read_some(space);

        CHECK(at_end.error() == errc::eof);
        CHECK(at_end.value() == 0);
        CHECK(sent.ok());
        CHECK(got.value() == 5);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a reset ends reads with connection_reset, and writes with broken_pipe",
                          Side, reset_by_peer) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);
        std::array<std::byte, 8> space;
        count_result waiting;
        typename the::event ended;
        Side::traits::launch(on,
                             the::note([&] { return ends.near.read_some(space); }, waiting, ended));
        co_await the::settle(on);

        the::reset(ends.far);
        static_cast<void>(co_await ended.wait());
        const count_result sent = co_await ends.near.write_some(bytes_of("x"));

        CHECK(waiting.error() == errc::connection_reset);
        CHECK(sent.error() == errc::broken_pipe);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a connect to a port without a listener is refused, and leaves no socket",
                          Side, refused) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto taken = Side::traits::listen(on, any_port(), {}).take();
        const endpoint unused = taken.local_endpoint().value();
        CHECK(taken.close().ok());

        auto connected = co_await Side::traits::connect(on, unused);
        auto nowhere = co_await Side::traits::connect(on, endpoint{});

        CHECK(connected.error() == errc::connection_refused);
        CHECK_FALSE(connected.take().is_open());
        CHECK(nowhere.error() == errc::invalid_argument);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a read that waits ends as canceled when its socket is closed", Side,
                          closed_below_read) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);
        std::array<std::byte, 8> space;
        count_result waiting;
        typename the::event ended;
        Side::traits::launch(on,
                             the::note([&] { return ends.near.read_some(space); }, waiting, ended));
        co_await the::settle(on);

        CHECK(ends.near.close().ok());
        CHECK_FALSE(ends.near.is_open());
        CHECK(ends.near.close().error() == errc::closed);
        static_cast<void>(co_await ended.wait());

        CHECK(waiting.error() == errc::canceled);
        CHECK(waiting.value() == 0);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a write that waits ends as canceled when its socket is closed", Side,
                          closed_below_write) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);
        const bytes much(1 << 20);
        bool stuck = true;
        count_result waiting;
        typename the::event ended;
        const auto fill = [](auto& to, const bytes& from, count_result& last,
                             typename the::event& over) -> typename the::template task<> {
            while (last.ok()) last = co_await to.write_some(const_buffer{from});
            over.set();
        };
        Side::traits::launch(on, fill(ends.near, much, waiting, ended));
        for (int round = 0; round < 100; ++round) co_await the::settle(on);
        stuck = !ended.is_set();

        CHECK(ends.near.close().ok());
        static_cast<void>(co_await ended.wait());

        CHECK(stuck);
        CHECK(waiting.error() == errc::canceled);
    });
}

TEST_CASE_TEMPLATE_DEFINE("an accept that waits ends as canceled when its acceptor is closed", Side,
                          closed_below_accept) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto listener = Side::traits::listen(on, any_port(), {}).take();
        io_result<typename the::stream_socket> waiting;
        typename the::event ended;
        Side::traits::launch(on, the::note([&] { return listener.accept(); }, waiting, ended));
        co_await the::settle(on);

        CHECK(listener.close().ok());
        static_cast<void>(co_await ended.wait());

        CHECK(waiting.error() == errc::canceled);
        CHECK_FALSE(waiting.take().is_open());
    });
}

TEST_CASE_TEMPLATE_DEFINE("an address in use, and one of another host, can't be listened on", Side,
                          addresses_refused) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto first = Side::traits::listen(on, any_port(), {}).take();
        const endpoint elsewhere{ipv4{{192, 0, 2, 1}}, 0};

        auto second = Side::traits::listen(on, first.local_endpoint().value(), {});
        auto third = Side::traits::listen(on, elsewhere, {});

        CHECK(second.error() == errc::address_in_use);
        CHECK(third.error() == errc::address_not_available);
        co_return;
    });
}

TEST_CASE_TEMPLATE_DEFINE("several may listen on one port where all of them ask for it", Side,
                          port_shared) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        gyre::listen_options options;
        options.port_shared = true;

        auto first = Side::traits::listen(on, any_port(), options).take();
        auto second = Side::traits::listen(on, first.local_endpoint().value(), options);

        CHECK(second.ok());
        co_return;
    });
}

TEST_CASE_TEMPLATE_DEFINE("both ends know both addresses, and send small segments at once", Side,
                          addresses_known) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto ends = co_await the::connect_pair(on);

        CHECK(ends.near.local_endpoint().value() == ends.far.remote_endpoint().value());
        CHECK(ends.far.local_endpoint().value() == ends.near.remote_endpoint().value());
        CHECK(ends.near.local_endpoint().value().port() != 0);
        CHECK(has_no_delay(ends.near.native_handle()));
        CHECK(has_no_delay(ends.far.native_handle()));
    });
}

TEST_CASE_TEMPLATE_DEFINE("a closed socket answers every question with closed", Side,
                          closed_sockets) {
    using the = law<Side>;
    the::hold([](typename the::context&) -> typename the::template task<> {
        typename the::stream_socket none;
        typename the::acceptor no_listener;

        CHECK_FALSE(none.is_open());
        CHECK(none.native_handle() == -1);
        CHECK(none.close().error() == errc::closed);
        CHECK(none.local_endpoint().error() == errc::closed);
        CHECK(none.remote_endpoint().error() == errc::closed);
        CHECK(none.shutdown(gyre::shutdown_side::both).error() == errc::closed);
        CHECK(none.set_option(gyre::no_delay{}).error() == errc::closed);
        CHECK(no_listener.local_endpoint().error() == errc::closed);
        co_return;
    });
}

TEST_CASE_TEMPLATE_DEFINE("a listener that was open before is adopted: it accepts, and is closed",
                          Side, adopted_listener) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::bind(number, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
        REQUIRE(::listen(number, 8) == 0);

        auto listener = the::X::adopt_listener(on, number);
        CHECK(listener.is_open());
        const endpoint at = listener.local_endpoint().value();
        auto near = co_await the::X::connect(on, at);  // The queue takes it.
        REQUIRE(near.ok());
        auto accepted = co_await listener.accept();
        REQUIRE(accepted.ok());
        auto far = accepted.take();
        CHECK(has_no_delay(far.native_handle()));
        CHECK(listener.close().ok());
        CHECK(::fcntl(number, F_GETFD) < 0);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a socket that is replaced or destroyed is closed", Side, closed_by_end) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto first = co_await the::connect_pair(on);
        auto second = co_await the::connect_pair(on);
        std::array<std::byte, 8> space;

        first.near = std::move(second.near);
        const count_result end = co_await first.far.read_some(space);
        const count_result sent = co_await first.near.write_some(bytes_of("moved"));
        const count_result got = co_await second.far.read_some(space);

        CHECK(end.error() == errc::eof);
        CHECK(sent.ok());
        CHECK(got.value() == 5);
    });
}

}  // namespace exchange::testing
