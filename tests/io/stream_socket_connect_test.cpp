// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/stream_socket.hpp promises about connecting, addresses and adopted descriptors.
#include <gyre/io/stream_socket.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <io/connections.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

const std::vector<conformance_row> on_each_machine{
    {"the two ends of a connection agree about its addresses",
     [](io_context& io) -> task<> {
         const socket_pair pair = connected_pair(io);

         CHECK(pair.client.local_endpoint().value() == pair.server.remote_endpoint().value());
         CHECK(pair.client.remote_endpoint().value() == pair.server.local_endpoint().value());
         CHECK(pair.client.local_endpoint().value().v4() == ipv4::loopback());
         CHECK_FALSE(pair.client.local_endpoint().value() == pair.server.local_endpoint().value());
         co_return;
     }},
    {"connecting gives a socket with no_delay set",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
         const endpoint where = acceptor.local_endpoint().value();

         io_result<stream_socket> connected = co_await stream_socket::connect(where);
         io_result<stream_socket> accepted = co_await acceptor.accept();

         REQUIRE(connected.ok());
         const stream_socket client = connected.take();
         CHECK(client.remote_endpoint().value() == where);
         CHECK(client.get_option<no_delay>().value().on);
         CHECK(accepted.take().get_option<no_delay>().value().on);
     }},
    {"connecting to a closed port is refused, and no descriptor stays open",
     [](io_context& io) -> task<> {
         const endpoint nowhere = closed_port(io);
         const std::size_t before = open_descriptors();
         const duration started = thread_cpu_time();

         for (int tries = 0; tries < 20; ++tries) {
             io_result<stream_socket> connected = co_await stream_socket::connect(nowhere);
             CHECK(connected.error() == errc::connection_refused);
             CHECK(connected.error().during() == activity::connect);
             CHECK_FALSE(connected.take().is_open());
         }

         CHECK(open_descriptors() == before);
         CHECK(thread_cpu_time() - started < 100ms);
     }},
    {"connecting to a path without a listener says why it failed",
     [](io_context& io) -> task<> {
         const std::string path = "/tmp/gyre_connect_test." + std::to_string(::getpid());
         ::unlink(path.c_str());
         const endpoint where = endpoint::local(path).value();

         const io_result<stream_socket> no_file = co_await stream_socket::connect(where);
         static_cast<void>(stream_acceptor::listen(io, where));
         const io_result<stream_socket> no_listener = co_await stream_socket::connect(where);
         ::unlink(path.c_str());
         const io_result<stream_socket> null = co_await stream_socket::connect(endpoint{});

         CHECK(no_file.error() == errc::no_such_file);
         CHECK(no_listener.error() == errc::connection_refused);
         CHECK(null.error() == errc::invalid_argument);
     }},
    {"a connection comes from the address and the port that it was given",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
         const endpoint where = acceptor.local_endpoint().value();
         connect_options options;
         options.local = endpoint{ipv4{{127, 0, 0, 77}}, 0};

         io_result<stream_socket> any_port = co_await stream_socket::connect(where, options);
         REQUIRE(any_port.ok());
         const stream_socket first = any_port.take();
         const endpoint from = first.local_endpoint().value();
         CHECK(from.v4() == ipv4{{127, 0, 0, 77}});
         CHECK(from.port() != 0);
         CHECK(first.get_option<no_delay>().value().on);

         options.local = from;
         const std::size_t before = open_descriptors();
         const auto taken = co_await stream_socket::connect(where, options);
         options.local = endpoint{ipv4{{192, 0, 2, 1}}, 0};
         const auto foreign = co_await stream_socket::connect(where, options);
         options.local = endpoint{ipv6::loopback(), 0};
         const auto other_family = co_await stream_socket::connect(where, options);
         CHECK(taken.error() == errc::address_in_use);
         CHECK(foreign.error() == errc::address_not_available);
         CHECK_FALSE(other_family.ok());
         CHECK_FALSE(foreign.value().is_open());
         CHECK(open_descriptors() == before);
     }},
    {"one port of a source address serves several peers, since it is chosen late",
     [](io_context& io) -> task<> {
         tcp_acceptor one = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
         connect_options options;
         options.local = endpoint{ipv4{{127, 0, 0, 77}}, 0};

         io_result<stream_socket> connected =
             co_await stream_socket::connect(one.local_endpoint().value(), options);

         REQUIRE(connected.ok());
         CHECK(connected.value().get_option<late_port>().value().on);
     }},
    {"a Unix-domain client may have a name",
     [](io_context& io) -> task<> {
         const endpoint where = endpoint::parse("unix:@gyre connect test").value();
         stream_acceptor acceptor = stream_acceptor::listen(io, where).take();
         connect_options options;
         options.local = endpoint::parse("unix:@gyre connect test, client").value();

         io_result<stream_socket> connected = co_await stream_socket::connect(where, options);
         auto [failed, accepted, from] = co_await acceptor.accept_from();

         CHECK(connected.ok());
         CHECK_FALSE(failed);
         CHECK(from == options.local);
     }},
    {"a client may set what it likes before it connects, keep to an interface, and give up",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
         const endpoint where = acceptor.local_endpoint().value();
         connect_options options;
         options.device = "lo";
         options.setup = [](basic_socket& fresh) {
             return fresh.set_option(receive_buffer{{8192}});
         };
         const io_result<stream_socket> prepared = co_await stream_socket::connect(where, options);
         REQUIRE(prepared.ok());
         CHECK(prepared.value().get_option<receive_buffer>().value().bytes == 2 * 8192);

         const std::size_t before = open_descriptors();
         options.setup = [](basic_socket&) -> io_result<> { return errc::limit_exceeded; };
         const io_result<stream_socket> refused = co_await stream_socket::connect(where, options);
         options.setup = nullptr;
         options.device = "no_such_device";
         const io_result<stream_socket> nowhere = co_await stream_socket::connect(where, options);
         CHECK(refused.error() == errc::limit_exceeded);
         CHECK(nowhere.error() == errc::no_such_device);
         CHECK(open_descriptors() == before);
     }},
    {"sockets over IPv6 and over abstract names carry data like any other",
     [](io_context& io) -> task<> {
         for (const char* text : {"[::1]:0", "unix:@gyre stream socket test"}) {
             tcp_acceptor acceptor = tcp_acceptor::listen(io, endpoint::parse(text).value()).take();
             std::array<std::byte, 5> space{};

             io_result<stream_socket> connected =
                 co_await stream_socket::connect(acceptor.local_endpoint().value());
             io_result<stream_socket> accepted = co_await acceptor.accept();
             stream_socket client = connected.take();
             stream_socket server = accepted.take();
             static_cast<void>(co_await write_all(client, bytes_of("hello")));
             const io_result<std::size_t> got = co_await read_exactly(server, space);

             CHECK(got.value() == 5);
             CHECK(text_of(space) == "hello");
         }
     }},
};

const std::vector<connection_row> over_connections_on_the_kernel{
    {"an adopted descriptor that is non-blocking waits like any other",
     [](io_context& io, socket_pair& pair) -> task<> {
         const int number = pair.client.release();
         REQUIRE(::fcntl(number, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
         stream_socket client = stream_socket::adopt(io, number);
         const bytes much = patterned(4 << 20);
         std::array<std::byte, 16> space{};
         const std::array<mutable_buffer, 1> into{space};
         io_result<std::size_t> read;
         io_result<std::size_t> scattered;
         io_result<std::size_t> written;
         bytes got(much.size());
         const auto scatter = [&]() -> task<> {
             scattered = co_await client.read_some(mutable_buffers{into});
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(client, space, read));
             group.spawn(note_write_all(client, much, written));
             co_await settle();
             static_cast<void>(co_await pair.server.write_some(bytes_of("one")));
             while (read.value() == 0) co_await yield();
             group.spawn(scatter());
             co_await settle();
             static_cast<void>(co_await pair.server.write_some(bytes_of("four")));
             static_cast<void>(co_await read_exactly(pair.server, got));
         };

         co_await with_group(body);

         CHECK(read.value() == 3);
         CHECK(scattered.value() == 4);
         CHECK(written.value() == much.size());
         CHECK(got == much);
     }},
};

const conformance_suite on_each_machine_suite{"streams", on_each_machine};
const conformance_suite over_connections_on_the_kernel_suite{"streams of the kernel",
                                                             over_connections_on_the_kernel};

}  // namespace
