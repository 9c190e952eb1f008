// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/socket_options.hpp promises to the code that uses it.
#include <gyre/io/socket_options.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/past_the_loop.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

int raw_option(const basic_socket& of, int level, int name) {
    return option_now(*io_context::current(), of, level, name);
}

// `at` is set and read back, also by the kernel's own call.
template <class Option>
void check_set(basic_socket& on, Option at, int level, int name, int raw) {
    INFO("option ", level, ':', name);
    const io_result<> set = on.set_option(at);
    const io_result<Option> got = on.get_option<Option>();

    CHECK_MESSAGE(set.ok(), set.error().message());
    CHECK(got.value().to_raw() == at.to_raw());
    CHECK(raw_option(on, level, name) == raw);
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

TEST_CASE("a longer time than the kernel can count is as long as it can count") {
    CHECK(user_timeout{std::chrono::milliseconds::max()}.to_raw() == INT32_MAX);
    CHECK(user_timeout{std::chrono::milliseconds::min()}.to_raw() == INT32_MIN);
    CHECK(keep_alive_idle{std::chrono::seconds{90}}.to_raw() == 90);
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"switches are turned on and off, and read back",
     [](io_context& io) -> task<> {
         check_switch<no_delay>(io, IPPROTO_TCP, TCP_NODELAY);
         check_switch<keep_alive>(io, SOL_SOCKET, SO_KEEPALIVE);
         check_switch<reuse_address>(io, SOL_SOCKET, SO_REUSEADDR);
         check_switch<reuse_port>(io, SOL_SOCKET, SO_REUSEPORT);
         co_return;
     }},
    {"a switch named without a value turns on",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);

         const io_result<> set = pair.client.set_option(keep_alive{});

         CHECK(set.ok());
         CHECK(pair.client.get_option<keep_alive>().value().on);
         co_return;
     }},
    {"buffer sizes are counted in bytes and doubled by the kernel",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);

         CHECK(pair.client.set_option(receive_buffer{{16'384}}).ok());
         CHECK(pair.client.set_option(send_buffer{{32'768}}).ok());

         CHECK(pair.client.get_option<receive_buffer>().value().bytes == 2 * 16'384);
         CHECK(pair.client.get_option<send_buffer>().value().bytes == 2 * 32'768);
         CHECK(raw_option(pair.client, SOL_SOCKET, SO_RCVBUF) == 2 * 16'384);
         CHECK(raw_option(pair.client, SOL_SOCKET, SO_SNDBUF) == 2 * 32'768);
         co_return;
     }},
    {"the user timeout is told in milliseconds",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         CHECK(pair.client.get_option<user_timeout>().value().after == 0ms);

         const io_result<> set = pair.client.set_option(user_timeout{30s});

         CHECK(set.ok());
         CHECK(pair.client.get_option<user_timeout>().value().after == 30'000ms);
         CHECK(raw_option(pair.client, IPPROTO_TCP, TCP_USER_TIMEOUT) == 30'000);
         co_return;
     }},
    {"an option of another family is refused, and the refusal names what was tried",
     [](io_context& io) -> task<> {
         socket_pair pair = local_pair(io);

         const io_result<> set = pair.client.set_option(no_delay{});
         const io_result<no_delay> got = pair.client.get_option<no_delay>();

         CHECK(set.error() == errc::not_supported);
         CHECK(set.error().during() == activity::set_option);
         CHECK(got.error() == errc::not_supported);
         CHECK(got.error().during() == activity::get_option);
         co_return;
     }},
    {"a closed socket has no options",
     [](io_context&) -> task<> {
         stream_socket closed;

         CHECK(closed.set_option(no_delay{}).error() == errc::closed);
         CHECK(closed.get_option<no_delay>().error() == errc::closed);
         co_return;
     }},
    {"a socket that resets on close does so, and one that does not lets its peer read the rest",
     [](io_context& io) -> task<> {
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
     }},
    {"a connect that may wait for its first write carries it all the same",
     [](io_context& io) -> task<> {
         tcp_acceptor listener = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
         CHECK(listener.set_option(fast_open_queue{16}).ok());
         std::array<std::byte, 8> space{};
         for (int round = 0; round < 3; ++round) {
             connect_options options;
             options.setup = [](basic_socket& fresh) {
                 return fresh.set_option(fast_open_connect{});
             };
             io_result<stream_socket> connected = co_await stream_socket::connect(
                 listener.local_endpoint().value(), std::move(options));
             REQUIRE(connected.ok());
             stream_socket client = connected.take();
             const io_result<std::size_t> sent = co_await client.write_some(bytes_of("first"));
             io_result<stream_socket> accepted = co_await listener.accept();
             stream_socket server = accepted.take();
             const io_result<std::size_t> got = co_await server.read_some(space);

             CHECK(sent.value() == 5);
             CHECK(got.value() == 5);
         }
     }},
    {"what takes a privilege is set with it, and refused without it",
     [](io_context& io) -> task<> {
         udp_socket socket = udp_socket::bind(io, {ipv4::loopback(), 0}).take();

         const io_result<> marked = socket.set_option(packet_mark{77});
         const io_result<> polled = socket.set_option(busy_poll{50us});
         const io_result<> urgent = socket.set_option(packet_priority{15});

         for (const io_result<>* each : {&marked, &polled, &urgent}) {
             const bool refused = each->error() == errc::operation_not_permitted;
             CHECK((each->ok() || refused));
         }
         if (marked.ok()) CHECK(socket.get_option<packet_mark>().value().number == 77);
         if (polled.ok()) CHECK(socket.get_option<busy_poll>().value().after == 50us);
         if (urgent.ok()) CHECK(socket.get_option<packet_priority>().value().number == 15);
         CHECK(raw_option(socket, SOL_SOCKET, SO_MARK) == (marked.ok() ? 77 : 0));
         co_return;
     }},
    {"a socket is bound to an interface by its name, and says which",
     [](io_context& io) -> task<> {
         udp_socket socket = udp_socket::bind(io, {ipv4::any(), 0}).take();
         udp_socket closed;
         CHECK(socket.bound_device().value().empty());

         const io_result<> bound = socket.bind_to_device("lo");

         CHECK(bound.ok());
         CHECK(socket.bound_device().value() == "lo");
         CHECK(socket.bind_to_device("nosuch0").error() == errc::no_such_device);
         CHECK(socket.bind_to_device("a-name-of-16-byt").error() == errc::name_too_long);
         CHECK(closed.bind_to_device("lo").error() == errc::closed);
         CHECK(closed.bound_device().error() == errc::closed);
         co_return;
     }},
};

const std::vector<conformance_row> on_the_kernel{
    {"v6_only belongs to IPv6 sockets and must be set before binding",
     [](io_context& io) -> task<> {
         const int number = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
         stream_socket unbound = stream_socket::adopt(io, number);
         socket_pair bound = connected_pair(io);

         CHECK(unbound.set_option(v6_only{}).ok());
         CHECK(unbound.get_option<v6_only>().value().on);
         CHECK(raw_option(unbound, IPPROTO_IPV6, IPV6_V6ONLY) == 1);
         CHECK_FALSE(bound.client.set_option(v6_only{}).ok());
         co_return;
     }},
    {"what a TCP socket has is set in its unit, and refused where it is out of range",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         stream_socket& it = pair.client;

         check_set(it, keep_alive_idle{90s}, IPPROTO_TCP, TCP_KEEPIDLE, 90);
         check_set(it, keep_alive_interval{7s}, IPPROTO_TCP, TCP_KEEPINTVL, 7);
         check_set(it, keep_alive_probes{4}, IPPROTO_TCP, TCP_KEEPCNT, 4);
         check_set(it, cork{true}, IPPROTO_TCP, TCP_CORK, 1);
         check_set(it, quick_acknowledgements{false}, IPPROTO_TCP, TCP_QUICKACK, 0);
         check_set(it, unsent_limit{16'384}, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 16'384);
         check_set(it, route_denied{true}, SOL_SOCKET, SO_DONTROUTE, 1);
         check_set(it, packet_priority{5}, SOL_SOCKET, SO_PRIORITY, 5);
         check_set(it, incoming_processor{1}, SOL_SOCKET, SO_INCOMING_CPU, 1);
         check_set(it, traffic_class{0x48}, IPPROTO_IP, IP_TOS, 0x48);
         check_set(it, hop_limit{33}, IPPROTO_IP, IP_TTL, 33);
         CHECK(it.set_option(keep_alive_idle{0s}).error() == errc::invalid_argument);
         CHECK(it.set_option(keep_alive_idle{9h * 1'000'000'000}).error() ==
               errc::invalid_argument);
         CHECK(it.set_option(keep_alive_probes{128}).error() == errc::invalid_argument);
         CHECK(it.set_option(user_timeout{-1ms}).error() == errc::invalid_argument);
         CHECK(it.set_option(hop_limit{256}).error() == errc::invalid_argument);
         CHECK(it.set_option(segment_size{1200}).error() == errc::no_protocol_option);
         co_return;
     }},
    {"a listener defers what says nothing, and queues what comes with the first packet",
     [](io_context& io) -> task<> {
         tcp_acceptor listener = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();

         check_set(listener, fast_open_queue{16}, IPPROTO_TCP, TCP_FASTOPEN, 16);
         CHECK(listener.set_option(defer_accept{5s}).ok());
         CHECK(listener.get_option<defer_accept>().value().after >= 5s);
         const endpoint at = listener.local_endpoint().value();
         io_result<stream_socket> connected = co_await stream_socket::connect(at);
         stream_socket client = connected.take();
         const io_result<stream_socket> silent = co_await with_timeout(20ms, listener.accept());
         const io_result<std::size_t> said = co_await client.write_some(bytes_of("hello"));
         const io_result<stream_socket> heard = co_await with_timeout(10s, listener.accept());

         CHECK(silent.error() == errc::timed_out);
         CHECK(said.value() == 5);
         CHECK(heard.ok());
     }},
    {"datagram sockets of either family have the options of packets and groups",
     [](io_context& io) -> task<> {
         udp_socket v4 = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
         udp_socket v6 = udp_socket::bind(io, {ipv6::any(), 0}).take();

         for (udp_socket* each : {&v4, &v6}) {
             const bool is_v6 = each == &v6;
             const int level = is_v6 ? int{IPPROTO_IPV6} : int{IPPROTO_IP};
             check_set(*each, traffic_class{0xb9}, level, is_v6 ? IPV6_TCLASS : IP_TOS, 0xb9);
             check_set(*each, hop_limit{9}, level, is_v6 ? IPV6_UNICAST_HOPS : IP_TTL, 9);
             check_set(*each, multicast_hop_limit{3}, level,
                       is_v6 ? IPV6_MULTICAST_HOPS : IP_MULTICAST_TTL, 3);
             check_set(*each, multicast_loopback{false}, level,
                       is_v6 ? IPV6_MULTICAST_LOOP : IP_MULTICAST_LOOP, 0);
             check_set(*each, all_groups{false}, level,
                       is_v6 ? IPV6_MULTICAST_ALL : IP_MULTICAST_ALL, 0);
             check_set(*each, broadcast_allowed{true}, SOL_SOCKET, SO_BROADCAST, 1);
             check_set(*each, segment_size{1200}, IPPROTO_UDP, UDP_SEGMENT, 1200);
         }
         // An IPv6 socket's IPv4 peers see them, too.
         CHECK(raw_option(v6, IPPROTO_IP, IP_TOS) == 0xb9);
         CHECK(raw_option(v6, IPPROTO_IP, IP_TTL) == 9);
         CHECK(v4.set_option(keep_alive_idle{1s}).error() == errc::no_protocol_option);
         co_return;
     }},
    {"an urgent byte stays out of what is read",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         std::string all;
         std::array<std::byte, 16> space{};
         const int number = pair.client.native_handle();
         REQUIRE(::send(number, "ab", 2, 0) == 2);
         REQUIRE(::send(number, "!", 1, MSG_OOB) == 1);
         REQUIRE(::send(number, "cd", 2, 0) == 2);

         while (all.size() < 4) {
             const io_result<std::size_t> got =
                 co_await with_timeout(10s, pair.server.read_some(space));
             REQUIRE(got.ok());
             all += text_of(const_buffer{space}.first(got.value()));
         }

         CHECK(all == "abcd");
     }},
};

const conformance_suite on_each_machine_suite{"options", on_each_machine};
const conformance_suite on_the_kernel_suite{"options of the kernel", on_the_kernel};

}  // namespace
