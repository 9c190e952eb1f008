// SPDX-License-Identifier: BSL-1.0
//
// What all sockets have in common, asked of each kind.
#include <gyre/io/basic_socket.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <support/harness.hpp>

#include <unistd.h>

#include <chrono>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

const endpoint any_port{ipv4::loopback(), 0};

template <class Socket>
void check_closed(Socket& socket) {
    CHECK_FALSE(socket.is_open());
    CHECK(socket.native_handle() == -1);
    CHECK(socket.close().error() == errc::closed);
    CHECK(socket.local_endpoint().error() == errc::closed);
    CHECK(socket.remote_endpoint().error() == errc::closed);
    CHECK(socket.set_option(receive_buffer{{4096}}).error() == errc::closed);
    CHECK(socket.template get_option<receive_buffer>().error() == errc::closed);
    CHECK(socket.release() == -1);
}

}  // namespace

TEST_CASE("a socket of any kind that is not open says so to every question") {
    stream_socket stream;
    stream_acceptor acceptor;
    udp_socket datagrams;

    check_closed(stream);
    check_closed(acceptor);
    check_closed(datagrams);
}

TEST_CASE("a closed socket's number is free again, a released one's stays open") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        const std::size_t before = open_descriptors();
        udp_socket first = udp_socket::bind(io, any_port).take();
        udp_socket second = udp_socket::bind(io, any_port).take();

        CHECK(first.close().ok());
        check_closed(first);
        const int number = second.release();
        check_closed(second);

        CHECK(open_descriptors() == before + 1);
        CHECK(::close(number) == 0);
    });
}

TEST_CASE("acceptors and datagram sockets have options and addresses as streams have") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        stream_acceptor acceptor = stream_acceptor::listen(io, any_port).take();
        udp_socket datagrams = udp_socket::bind(io, any_port).take();

        CHECK(acceptor.get_option<reuse_address>().value().on);
        CHECK(datagrams.set_option(receive_buffer{{64 * 1024}}).ok());
        CHECK(datagrams.get_option<receive_buffer>().value().bytes >= 64 * 1024);
        CHECK(datagrams.local_endpoint().value().port() != 0);
        CHECK(datagrams.remote_endpoint().error() == errc::not_connected);
    });
}
