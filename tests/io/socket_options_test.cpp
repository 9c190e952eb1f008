// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/socket_options.hpp promises to the code that uses it.
#include <gyre/io/socket_options.hpp>

#include <gyre/io/acceptor.hpp>
#include <support/harness.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

int raw_option(const stream_socket& of, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    REQUIRE(::getsockopt(of.native_handle(), level, name, &value, &size) == 0);
    return value;
}

// Turns `Option` on and off, and looks with the kernel's own call.
template <class Option>
void check_switch(io_context& io, int level, int name) {
    socket_pair pair = connected_pair(io);
    for (const bool wanted : {true, false, true}) {
        CHECK(pair.client.set_option(Option{{wanted}}).ok());
        CHECK(pair.client.template get_option<Option>().value().on == wanted);
        CHECK((raw_option(pair.client, level, name) != 0) == wanted);
    }
}

}  // namespace

TEST_CASE("switches are turned on and off, and read back") {
    on_every_backend([](io_context& io) -> task<> {
        check_switch<no_delay>(io, IPPROTO_TCP, TCP_NODELAY);
        check_switch<keep_alive>(io, SOL_SOCKET, SO_KEEPALIVE);
        check_switch<reuse_address>(io, SOL_SOCKET, SO_REUSEADDR);
        check_switch<reuse_port>(io, SOL_SOCKET, SO_REUSEPORT);
        co_return;
    });
}

TEST_CASE("a switch named without a value turns on") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);

        const io_result<> set = pair.client.set_option(keep_alive{});

        CHECK(set.ok());
        CHECK(pair.client.get_option<keep_alive>().value().on);
        co_return;
    });
}

TEST_CASE("buffer sizes are counted in bytes and doubled by the kernel") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);

        CHECK(pair.client.set_option(receive_buffer{{16'384}}).ok());
        CHECK(pair.client.set_option(send_buffer{{32'768}}).ok());

        CHECK(pair.client.get_option<receive_buffer>().value().bytes == 2 * 16'384);
        CHECK(pair.client.get_option<send_buffer>().value().bytes == 2 * 32'768);
        CHECK(raw_option(pair.client, SOL_SOCKET, SO_RCVBUF) == 2 * 16'384);
        CHECK(raw_option(pair.client, SOL_SOCKET, SO_SNDBUF) == 2 * 32'768);
        co_return;
    });
}

TEST_CASE("the user timeout is told in milliseconds") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        CHECK(pair.client.get_option<user_timeout>().value().after == 0ms);

        const io_result<> set = pair.client.set_option(user_timeout{30s});

        CHECK(set.ok());
        CHECK(pair.client.get_option<user_timeout>().value().after == 30'000ms);
        CHECK(raw_option(pair.client, IPPROTO_TCP, TCP_USER_TIMEOUT) == 30'000);
        co_return;
    });
}

TEST_CASE("an option of another family is refused, and the refusal names what was tried") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = local_pair(io);

        const io_result<> set = pair.client.set_option(no_delay{});
        const io_result<no_delay> got = pair.client.get_option<no_delay>();

        CHECK(set.error() == errc::not_supported);
        CHECK(set.error().during() == activity::set_option);
        CHECK(got.error() == errc::not_supported);
        CHECK(got.error().during() == activity::get_option);
        co_return;
    });
}

TEST_CASE("v6_only belongs to IPv6 sockets and must be set before binding") {
    on_every_backend([](io_context& io) -> task<> {
        const int number = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        stream_socket unbound = stream_socket::adopt(io, number);
        socket_pair bound = connected_pair(io);

        CHECK(unbound.set_option(v6_only{}).ok());
        CHECK(unbound.get_option<v6_only>().value().on);
        CHECK(raw_option(unbound, IPPROTO_IPV6, IPV6_V6ONLY) == 1);
        CHECK_FALSE(bound.client.set_option(v6_only{}).ok());
        co_return;
    });
}

TEST_CASE("a closed socket has no options") {
    on_every_backend([](io_context&) -> task<> {
        stream_socket closed;

        CHECK(closed.set_option(no_delay{}).error() == errc::closed);
        CHECK(closed.get_option<no_delay>().error() == errc::closed);
        co_return;
    });
}

TEST_CASE(
    "a socket that resets on close does so, and one that does not lets its peer read the rest") {
    on_every_backend([](io_context& io) -> task<> {
        std::array<std::byte, 8> space{};
        for (const bool resets : {true, false}) {
            socket_pair pair = connected_pair(io);
            CHECK_FALSE(pair.client.get_option<reset_on_close>().value().on);
            CHECK(pair.client.set_option(reset_on_close{{resets}}).ok());
            CHECK(pair.client.get_option<reset_on_close>().value().on == resets);
            CHECK(pair.client.close().ok());

            const io_result<std::size_t> got = co_await pair.server.read_some(space);

            CHECK(got.error() == (resets ? errc::connection_reset : errc::eof));
        }
    });
}
