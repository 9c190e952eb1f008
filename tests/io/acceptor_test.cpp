// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/acceptor.hpp promises to the code that uses it.
#include <gyre/io/acceptor.hpp>

#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/past_the_loop.hpp>
#include <support/settle.hpp>
#include <support/world.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

const endpoint any_port{ipv4::loopback(), 0};

tcp_acceptor listen_anywhere(io_context& io, const listen_options& options = {}) {
    io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, any_port, options);
    REQUIRE(listening.ok());
    return listening.take();
}

endpoint where(const stream_acceptor& it) { return it.local_endpoint().value(); }

task<> note_accept(stream_acceptor& from, int name, std::vector<int>& order,
                   std::vector<stream_socket>& sockets) {
    io_result<stream_socket> taken = co_await from.accept();
    if (!taken.ok()) co_return;
    order.push_back(name);
    sockets.push_back(taken.take());
}

task<> note_accept_error(stream_acceptor& from, error& outcome) {
    const io_result<stream_socket> taken = co_await from.accept();
    outcome = taken.error();
}

// Connects until the listener's queue is full: until a connection does not come about at once.
task<std::vector<stream_socket>> fill_queue(endpoint to) {
    std::vector<stream_socket> waiting;
    for (int tries = 0; tries < 20; ++tries) {
        io_result<stream_socket> one = co_await with_timeout(50ms, stream_socket::connect(to));
        if (!one.ok()) co_return waiting;
        waiting.push_back(one.take());
    }
    co_return waiting;
}

std::string temporary_path() { return "/tmp/gyre_acceptor_test." + std::to_string(::getpid()); }

}  // namespace

// Peers who first listen, so that a first read tried at once is in vain, and then peers who first send.

TEST_CASE(
    "a connection that was accepted for a coroutine which is stopped meanwhile is not leaked") {
    with_every_backend([](const io_context_options& options) {
        for (int round = 0; round < 20; ++round) {
            const std::size_t before = open_descriptors();
            {
                error outcome;
                io_context io{options};
                tcp_acceptor acceptor = listen_anywhere(io);
                const stop_handle stop =
                    launch(io, note_accept_error(acceptor, outcome), or_terminate{});
                static_cast<void>(io.poll());
                const stream_socket client = connect_now(io, where(acceptor));
                if (round % 2 == 0) stop.request_stop();
                if (round % 3 == 0) static_cast<void>(io.run_one());
            }
            REQUIRE(open_descriptors() == before);
        }
    });
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"of listeners that share a port, the one at the address gets the connections",
     [](io_context& io) -> task<> {
         listen_options shared;
         shared.port_shared = true;
         tcp_acceptor any = tcp_acceptor::listen(io, {ipv4::any(), 0}, shared).take();
         const endpoint there{ipv4::loopback(), where(any).port()};
         tcp_acceptor named = tcp_acceptor::listen(io, there, shared).take();
         std::vector<stream_socket> clients;
         for (int each = 0; each < 8; ++each) clients.push_back(connect_now(io, there));

         for (int each = 0; each < 8; ++each) {
             const io_result<stream_socket> taken = co_await with_timeout(5s, named.accept());
             CHECK(taken.ok());
         }
         const io_result<stream_socket> none = co_await with_timeout(1ms, any.accept());
         CHECK(none.error() == errc::timed_out);
     }},
    {"listening on port 0 lets the kernel choose a port, which is told",
     [](io_context& io) -> task<> {
         io_result<tcp_acceptor> listening = co_await tcp_acceptor::listen(any_port);
         REQUIRE(listening.ok());
         tcp_acceptor first = listening.take();
         tcp_acceptor second = listen_anywhere(io);

         CHECK(first.is_open());
         CHECK(first.native_handle() >= 0);
         CHECK(where(first).port() != 0);
         CHECK(where(first).v4() == ipv4::loopback());
         CHECK_FALSE(where(first) == where(second));
     }},
    {"an accepted connection carries data both ways",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         std::array<std::byte, 4> at_server{};
         std::array<std::byte, 4> at_client{};
         io_result<stream_socket> connected = co_await stream_socket::connect(where(acceptor));
         io_result<stream_socket> accepted = co_await acceptor.accept();
         stream_socket client = connected.take();
         stream_socket server = accepted.take();

         static_cast<void>(co_await write_all(client, bytes_of("ping")));
         static_cast<void>(co_await read_exactly(server, at_server));
         static_cast<void>(co_await write_all(server, bytes_of("pong")));
         static_cast<void>(co_await read_exactly(client, at_client));

         CHECK(text_of(at_server) == "ping");
         CHECK(text_of(at_client) == "pong");
     }},
    {"accept_from gives each of many connections its own peer's address",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const auto accept_later = [&](endpoint& peer, stream_socket& socket) -> task<> {
             auto [error, taken, from] = co_await acceptor.accept_from();
             CHECK_FALSE(error);
             socket = std::move(taken);
             peer = from;
         };
         std::vector<endpoint> peers(200);
         std::vector<stream_socket> accepted(peers.size());
         std::vector<stream_socket> clients;
         const auto body = [&](task_group& group) -> task<> {
             // Half of them wait when the connections come, half come later.
             for (std::size_t each = 0; each < 100; ++each) {
                 group.spawn(accept_later(peers[each], accepted[each]));
             }
             for (std::size_t each = 0; each < peers.size(); ++each) {
                 io_result<stream_socket> one = co_await stream_socket::connect(where(acceptor));
                 REQUIRE(one.ok());
                 clients.push_back(one.take());
             }
             for (std::size_t each = 100; each < peers.size(); ++each) {
                 group.spawn(accept_later(peers[each], accepted[each]));
             }
         };

         co_await with_group(body);

         for (std::size_t each = 0; each < peers.size(); ++each) {
             CHECK(accepted[each].remote_endpoint().value() == peers[each]);
             CHECK(clients[each].local_endpoint().value() == peers[each]);
         }
     }},
    {"accept_from a Unix-domain client reports a peer without a name",
     [](io_context& io) -> task<> {
         const endpoint local = endpoint::parse("unix:@gyre acceptor test").value();
         local_acceptor acceptor = local_acceptor::listen(io, local).take();
         const stream_socket client = connect_now(io, local);

         auto [error, taken, from] = co_await acceptor.accept_from();

         CHECK_FALSE(error);
         CHECK(taken.is_open());
         CHECK(from.kind() == endpoint::family::local);
         CHECK(from.path().empty());
     }},
    {"several waiting accepts are served in the order in which they came",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         std::vector<int> order;
         std::vector<stream_socket> sockets;
         std::vector<stream_socket> clients;
         const auto body = [&](task_group& group) -> task<> {
             for (int name = 0; name < 8; ++name) {
                 group.spawn(note_accept(acceptor, name, order, sockets));
                 static_cast<void>(co_await sleep_for(0ms));
             }
             co_await settle();
             for (int each = 0; each < 8; ++each) {
                 io_result<stream_socket> one = co_await stream_socket::connect(where(acceptor));
                 clients.push_back(one.take());
             }
         };

         co_await with_group(body);

         CHECK(order == std::vector{0, 1, 2, 3, 4, 5, 6, 7});
         for (std::size_t each = 0; each < sockets.size(); ++each) {
             CHECK(sockets[each].remote_endpoint().value() ==
                   clients[each].local_endpoint().value());
         }
     }},
    {"queued connections are accepted a few at a time, while others compute",
     [](io_context& io) -> task<> {
         constexpr int clients = 128;
         constexpr int turn = 256;  // Rounds, until the ring is asked for the first connection.
         constexpr int rounds_max =
             turn + clients / 2;  // One connection a turn would take 128 of these.
         tcp_acceptor listening = listen_anywhere(io);
         std::vector<stream_socket> queued;
         for (int each = 0; each < clients; ++each)
             queued.push_back(connect_now(io, where(listening)));
         bool over = false;
         int rounds = 0;
         const auto others = [&]() -> task<> {
             while (!over) {
                 ++rounds;
                 co_await yield();
             }
         };
         const auto accepts = [&]() -> task<> {
             for (int each = 0; each < clients; ++each) {
                 const io_result<stream_socket> taken = co_await listening.accept();
                 CHECK(taken.ok());
             }
             over = true;
         };
         co_await when_all(others(), accepts());
         CHECK(rounds <= rounds_max);
     }},
    {"connections come through one by one, in crowds, and one by one again",
     [](io_context& io) -> task<> {
         tcp_acceptor listening = listen_anywhere(io);
         const auto accept_some = [&](int count) -> task<> {
             std::vector<stream_socket> clients;
             for (int each = 0; each < count; ++each)
                 clients.push_back(connect_now(io, where(listening)));
             for (int each = 0; each < count; ++each) {
                 const io_result<stream_socket> taken = co_await listening.accept();
                 CHECK(taken.ok());
             }
         };
         const auto accept_late = [&]() -> task<> {
             const auto accepts = [&]() -> task<> {
                 const io_result<stream_socket> taken = co_await listening.accept();
                 CHECK(taken.ok());
             };
             const auto connects = [&]() -> task<> {
                 co_await settle();
                 const stream_socket client = connect_now(io, where(listening));
                 co_await yield();
             };
             co_await when_all(accepts(), connects());
         };
         for (int round = 0; round < 3; ++round) {
             co_await accept_late();
             co_await accept_some(12);
             for (int each = 0; each < 12; ++each) co_await accept_late();

             // What waits when the crowd has passed is still stopped at once.
             const io_result<stream_socket> none =
                 co_await with_timeout(duration{1}, listening.accept());
             CHECK(none.error() == errc::timed_out);

             // Else another process that accepts from it, and is quicker, would block this loop in its
             // accept. A world has one process.
             if (machine_here() == nullptr)
                 CHECK((::fcntl(listening.native_handle(), F_GETFL) & O_NONBLOCK) != 0);
         }
     }},
    {"connections that nothing accepts keep no loop busy, and are accepted later",
     [](io_context& io) -> task<> {
         tcp_acceptor listening = listen_anywhere(io);
         std::vector<stream_socket> clients;
         const auto connects = [&]() -> task<> {
             co_await settle();  // The accept waits by now.
             clients.push_back(connect_now(io, where(listening)));
         };
         io_result<stream_socket> first;
         const auto accepts = [&]() -> task<> { first = co_await listening.accept(); };
         co_await when_all(accepts(), connects());
         CHECK(first.ok());
         for (int each = 0; each < 3; ++each) clients.push_back(connect_now(io, where(listening)));

         const auto before = io.counters().visits;
         for (int each = 0; each < 10; ++each) CHECK((co_await sleep_for(1ms)).ok());
         CHECK(io.counters().visits - before <= 25);

         for (int each = 0; each < 3; ++each) {
             const io_result<stream_socket> taken = co_await listening.accept();
             CHECK(taken.ok());
         }
         const auto more = co_await with_timeout(1ms, listening.accept());
         CHECK(more.error() == errc::timed_out);
     }},
    {"first reads of accepted connections find what was sent, whoever sends first",
     [](io_context& io) -> task<> {
         tcp_acceptor listening = listen_anywhere(io);
         for (int round = 0; round < 60; ++round) {
             const bool sends_first = round % 30 >= 15;
             const stream_socket client = connect_now(io, where(listening));
             if (sends_first) say_now(io, client, "x");
             stream_socket peer = (co_await listening.accept()).take();
             std::array<std::byte, 8> space{};
             io_result<std::size_t> got;
             const auto reads = [&]() -> task<> {
                 got = co_await peer.read_some(mutable_buffer{space});
             };
             const auto sends = [&]() -> task<> {
                 if (!sends_first) say_now(io, client, "x");
                 co_return;
             };
             co_await when_all(reads(), sends());
             CHECK(got.value() == 1);
         }
     }},
    {"a connection whose client has gone by then is accepted, with all it sent",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         {
             const stream_socket brief = connect_now(io, where(acceptor));
             say_now(io, brief, "x");
         }
         std::array<std::byte, 4> space{};

         io_result<stream_socket> accepted = co_await acceptor.accept();
         stream_socket server = accepted.take();
         const io_result<std::size_t> got = co_await server.read_some(space);
         const io_result<std::size_t> end = co_await server.read_some(space);

         CHECK(got.value() == 1);
         CHECK(end.error() == errc::eof);
     }},
    {"a drain ends an accept that waits, and one that comes later",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const stream_socket unserved = connect_now(io, where(acceptor));
         tcp_acceptor idle_acceptor = listen_anywhere(io);
         error waiting;
         error later;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_accept_error(idle_acceptor, waiting));
             co_await settle();
             group.request_drain();
             group.spawn(note_accept_error(acceptor, later));
         };

         co_await with_group(body);
         const io_result<stream_socket> still_there = co_await acceptor.accept();

         CHECK(waiting == errc::canceled);
         CHECK(later == errc::canceled);
         CHECK(acceptor.is_open());
         CHECK(still_there.ok());
     }},
    {"closing an acceptor ends its waiting accepts and refuses new connections",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint local = where(acceptor);
         error first;
         error second;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_accept_error(acceptor, first));
             group.spawn(note_accept_error(acceptor, second));
             co_await settle();
             CHECK(acceptor.close().ok());
         };

         co_await with_group(body);
         const io_result<stream_socket> connected = co_await stream_socket::connect(local);

         CHECK(first == errc::canceled);
         CHECK(second == errc::canceled);
         CHECK(connected.error() == errc::connection_refused);
         CHECK_FALSE(acceptor.is_open());
         CHECK(acceptor.close().error() == errc::closed);
         CHECK(acceptor.local_endpoint().error() == errc::closed);
         CHECK(acceptor.native_handle() == -1);
     }},
    {"closing an acceptor in the turn in which its accept began ends that accept",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         error outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_accept_error(acceptor, outcome));
             co_await yield();
             CHECK(acceptor.close().ok());
         };

         co_await with_group(body);

         CHECK(outcome == errc::canceled);
     }},
    {"listening on an address that has a listener is refused as in use",
     [](io_context& io) -> task<> {
         const tcp_acceptor acceptor = listen_anywhere(io);
         const std::size_t before = open_descriptors();

         const io_result<tcp_acceptor> again = co_await tcp_acceptor::listen(where(acceptor));

         CHECK(again.error() == errc::address_in_use);
         CHECK_FALSE(again.value().is_open());
         CHECK(open_descriptors() == before);
     }},
    {"errors of binding and of connecting name the port",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint local = where(acceptor);
         const std::string port = " (port " + std::to_string(local.port()) + ")";

         const io_result<tcp_acceptor> again = co_await tcp_acceptor::listen(local);
         const io_result<udp_socket> first = udp_socket::bind(io, local);
         const io_result<udp_socket> second = udp_socket::bind(io, local);
         CHECK(acceptor.close().ok());
         const io_result<stream_socket> refused = co_await stream_socket::connect(local);
         connect_options prepared;
         prepared.local = endpoint{ipv4::loopback(), 0};
         const io_result<stream_socket> also = co_await stream_socket::connect(local, prepared);

         CHECK(again.error().message() == "bind: Address already in use" + port);
         CHECK(first.ok());
         CHECK(second.error().message() == "bind: Address already in use" + port);
         CHECK(refused.error().message() == "connect: Connection refused" + port);
         CHECK(also.error().message() == "connect: Connection refused" + port);
     }},
    {"the error of a local address that is taken names no peer's port",
     [](io_context& io) -> task<> {
         const tcp_acceptor acceptor = listen_anywhere(io);
         connect_options prepared;
         prepared.local = where(acceptor);
         prepared.address_reused = false;

         const io_result<stream_socket> failed =
             co_await stream_socket::connect(where(acceptor), prepared);

         CHECK(failed.error().message() == "connect: Address already in use");
     }},
    {"a path on which nothing listens any more is taken over, and no other",
     [](io_context& io) -> task<> {
         const std::string path = temporary_path();
         ::unlink(path.c_str());
         const endpoint local = endpoint::local(path).value();
         listen_options careful;
         careful.stale_path_removed = false;
         local_acceptor first = local_acceptor::listen(io, local).take();
         CHECK(where(first) == local);
         const std::size_t before = open_descriptors();

         const io_result<local_acceptor> second = local_acceptor::listen(io, local);
         static_cast<void>(first.close());
         const io_result<local_acceptor> left_alone = local_acceptor::listen(io, local, careful);
         io_result<local_acceptor> third = local_acceptor::listen(io, local);
         const io_result<stream_socket> connected = co_await stream_socket::connect(local);
         CHECK(second.error() == errc::address_in_use);
         CHECK(second.error().during() == activity::bind);
         CHECK(left_alone.error() == errc::address_in_use);
         CHECK(third.ok());
         CHECK(connected.ok());
         static_cast<void>(third.take().close());
         CHECK(open_descriptors() == before);  // The connection instead of the first listener.
         ::unlink(path.c_str());
     }},
    {"a listener whose queue is full is not taken for one that has gone",
     [](io_context& io) -> task<> {
         const std::string path = temporary_path();
         ::unlink(path.c_str());
         const endpoint local = endpoint::local(path).value();
         listen_options narrow;
         narrow.backlog_connections_max = 0;
         const local_acceptor first = local_acceptor::listen(io, local, narrow).take();
         std::vector<stream_socket> queued;
         io_result<stream_socket> one = co_await stream_socket::connect(local);
         while (one.ok()) {
             queued.push_back(one.take());
             one = co_await stream_socket::connect(local);
         }
         CHECK(one.error() == errc::no_buffer_space);

         const io_result<local_acceptor> second = local_acceptor::listen(io, local);

         CHECK(second.error() == errc::address_in_use);
         ::unlink(path.c_str());
     }},
    {"a program may set what it likes between socket and bind, and give up",
     [](io_context& io) -> task<> {
         bool bound_before = true;
         listen_options options;
         options.setup = [&](basic_socket& fresh) -> io_result<> {
             bound_before = fresh.local_endpoint().value().port() != 0;
             return fresh.set_option(receive_buffer{{8192}});
         };
         const tcp_acceptor acceptor = listen_anywhere(io, options);
         CHECK_FALSE(bound_before);
         CHECK(acceptor.get_option<receive_buffer>().value().bytes == 2 * 8192);

         const std::size_t before = open_descriptors();
         options.setup = [](basic_socket&) -> io_result<> { return errc::permission_denied; };
         const io_result<tcp_acceptor> refused = tcp_acceptor::listen(io, any_port, options);
         CHECK(refused.error() == errc::permission_denied);
         CHECK(open_descriptors() == before);
         co_return;
     }},
    {"listeners may share a port if each of them says so",
     [](io_context& io) -> task<> {
         listen_options shared;
         shared.port_shared = true;
         const tcp_acceptor first = listen_anywhere(io, shared);

         const io_result<tcp_acceptor> second = tcp_acceptor::listen(io, where(first), shared);
         const io_result<tcp_acceptor> alone = tcp_acceptor::listen(io, where(first));

         CHECK(second.ok());
         CHECK(alone.error() == errc::address_in_use);
         co_return;
     }},
    {"an IPv6 listener leaves the port's IPv4 clients to another one, if it is told to",
     [](io_context& io) -> task<> {
         // Of IPv4, a port may be some other program's already.
         constexpr int tries = 16;
         for (const bool v6_only : {true, false}) {
             listen_options options;
             options.v6_only = v6_only;
             int shared = 0;
             for (int each = 0; each < tries; ++each) {
                 const io_result<tcp_acceptor> v6 =
                     tcp_acceptor::listen(io, endpoint::parse("[::]:0").value(), options);
                 CHECK(v6.ok());
                 if (!v6.ok()) co_return;
                 const std::uint16_t port = where(v6.value()).port();
                 if (tcp_acceptor::listen(io, {ipv4{}, port}).ok()) ++shared;
             }
             CHECK((shared > 0) == v6_only);
         }
     }},
    {"a port may be listened on again while old connections linger",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint local = where(acceptor);
         io_result<stream_socket> connected = co_await stream_socket::connect(local);
         io_result<stream_socket> accepted = co_await acceptor.accept();
         // The side that closes first is left in TIME-WAIT, so the server does.
         static_cast<void>(accepted.take().close());
         static_cast<void>(connected.take().close());
         static_cast<void>(acceptor.close());

         const io_result<tcp_acceptor> again = co_await tcp_acceptor::listen(local);

         CHECK(again.ok());
     }},
    {"an acceptor may move while an accept waits",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         tcp_acceptor elsewhere;
         std::vector<int> order;
         std::vector<stream_socket> sockets;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_accept(acceptor, 1, order, sockets));
             co_await settle();
             elsewhere = std::move(acceptor);
             io_result<stream_socket> one = co_await stream_socket::connect(where(elsewhere));
             CHECK(one.ok());
         };

         co_await with_group(body);

         CHECK(order == std::vector{1});
     }},
    {"a connection to a full listen queue waits, for at most 20 ms of CPU in two seconds",
     [](io_context& io) -> task<> {
         listen_options narrow;
         narrow.backlog_connections_max = 1;
         const tcp_acceptor acceptor = listen_anywhere(io, narrow);
         const std::vector<stream_socket> waiting = co_await fill_queue(where(acceptor));
         const std::size_t descriptors = open_descriptors();
         cpu_trials cpu{20ms};

         while (cpu.again()) {
             const io_result<stream_socket> connected =
                 co_await with_timeout(2s, stream_socket::connect(where(acceptor)));

             CHECK(connected.error() == errc::timed_out);
             CHECK(connected.error().during() == activity::connect);
         }

         CHECK_FALSE(waiting.empty());
         CHECK(cpu.least() < 20ms);
         CHECK(open_descriptors() == descriptors);
     }},
    {"a connection that waits for room in a listen queue comes about when there is some",
     [](io_context& io) -> task<> {
         listen_options narrow;
         narrow.backlog_connections_max = 1;
         tcp_acceptor acceptor = listen_anywhere(io, narrow);
         const std::vector<stream_socket> waiting = co_await fill_queue(where(acceptor));
         io_result<stream_socket> connected{errc::malformed};
         const auto connect_last = [&]() -> task<> {
             connected = co_await stream_socket::connect(where(acceptor));
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(connect_last());
             co_await settle();
             CHECK(connected.error() == errc::malformed);
             for (std::size_t each = 0; each < waiting.size(); ++each) {
                 const io_result<stream_socket> room = co_await acceptor.accept();
                 CHECK(room.ok());
             }
         };

         co_await with_group(
             body);  // Ends with the kernel's next attempt, a second after the first.

         CHECK(connected.ok());
     }},
    {"a full Unix-domain queue fails connections, and no thread of the kernel's waits for it",
     [](io_context& io) -> task<> {
         const endpoint local = endpoint::parse("unix:@gyre full queue test").value();
         listen_options narrow;
         narrow.backlog_connections_max = 1;
         const local_acceptor acceptor = local_acceptor::listen(io, local, narrow).take();
         const std::vector<stream_socket> waiting = co_await fill_queue(local);
         const std::size_t descriptors = open_descriptors();
         const auto threads = [] {
             const std::filesystem::directory_iterator all{"/proc/self/task"};
             return std::distance(begin(all), end(all));
         };
         const auto threads_before = threads();
         const auto connects = [&]() -> task<> {
             const io_result<stream_socket> connected = co_await stream_socket::connect(local);
             CHECK(connected.error() == errc::no_buffer_space);
         };
         const auto body = [&](task_group& group) -> task<> {
             for (int each = 0; each < 64; ++each) group.spawn(connects());
             co_return;
         };

         co_await with_group(body);

         CHECK_FALSE(waiting.empty());
         CHECK(threads() <= threads_before);
         CHECK(open_descriptors() == descriptors);
     }},
};

const std::vector<conformance_row> on_the_kernel{
    {"neither a listener nor what it accepts outlives the program in another one",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const stream_socket client = connect_now(io, where(acceptor));

         const io_result<stream_socket> server = co_await acceptor.accept();

         REQUIRE(server.ok());
         CHECK(::fcntl(server.value().native_handle(), F_GETFD) == FD_CLOEXEC);
         CHECK(::fcntl(acceptor.native_handle(), F_GETFD) == FD_CLOEXEC);
     }},
    {"accepts that are given up lose no connection and no descriptor",
     [](io_context& io) -> task<> {
         constexpr int connections = 300;
         const std::size_t before = open_descriptors();
         {
             tcp_acceptor acceptor = listen_anywhere(io);
             int served = 0;
             int given_up = 0;
             const auto connect_all = [&]() -> task<> {
                 for (int each = 0; each < connections; ++each) {
                     // A few turns later each time, so as to meet every moment of an accept.
                     for (int turn = 0; turn < each % 5; ++turn) {
                         static_cast<void>(co_await sleep_for(50us));
                     }
                     io_result<stream_socket> one =
                         co_await stream_socket::connect(where(acceptor));
                     REQUIRE(one.ok());
                     stream_socket client = one.take();
                     std::array<std::byte, 1> space{};
                     const io_result<std::size_t> answer = co_await client.read_some(space);
                     REQUIRE(answer.value() == 1);
                 }
             };
             const auto body = [&](task_group& group) -> task<> {
                 group.spawn(connect_all());
                 while (served < connections) {
                     io_result<stream_socket> one =
                         co_await with_timeout(duration::zero(), acceptor.accept());
                     if (!one.ok()) {
                         REQUIRE(one.error() == errc::timed_out);
                         ++given_up;
                         co_await yield();
                         continue;
                     }
                     stream_socket server = one.take();
                     static_cast<void>(co_await server.write_some(bytes_of("!")));
                     ++served;
                 }
             };

             co_await with_group(body);

             CHECK(served == connections);
             CHECK(given_up > 0);
         }
         CHECK(open_descriptors() == before);
     }},
    {"what is no stale socket is never removed",
     [](io_context& io) -> task<> {
         const std::string path = temporary_path();
         ::unlink(path.c_str());
         const endpoint local = endpoint::local(path).value();
         const auto kept = [&] {
             const io_result<local_acceptor> refused = local_acceptor::listen(io, local);
             CHECK(refused.error() == errc::address_in_use);
             return std::filesystem::exists(std::filesystem::symlink_status(path));
         };
         std::ofstream{path} << "text";
         CHECK(kept());
         ::unlink(path.c_str());
         std::filesystem::create_symlink("/nowhere/at/all", path);
         CHECK(kept());
         ::unlink(path.c_str());
         // Datagrams have no listener, and are received all the same.
         const int datagrams = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
         REQUIRE(::bind(datagrams, reinterpret_cast<const sockaddr*>(local.raw().data),
                        local.raw().size) == 0);
         CHECK(kept());
         ::close(datagrams);
         ::unlink(path.c_str());

         const endpoint abstract = endpoint::parse("unix:@gyre stale path test").value();

         const local_acceptor first = local_acceptor::listen(io, abstract).take();
         const io_result<local_acceptor> second = local_acceptor::listen(io, abstract);
         CHECK(second.error() == errc::address_in_use);
         co_return;
     }},
    {"a listener may keep to one network interface",
     [](io_context& io) -> task<> {
         listen_options options;
         options.device = "lo";
         io_result<tcp_acceptor> loopback = tcp_acceptor::listen(io, any_port, options);
         options.device = "no_such_device";
         const io_result<tcp_acceptor> nowhere = tcp_acceptor::listen(io, any_port, options);
         options.device = "a_name_that_is_too_long";
         const io_result<tcp_acceptor> too_long = tcp_acceptor::listen(io, any_port, options);
         options.device = "lo\0x"s;
         const io_result<tcp_acceptor> cut = tcp_acceptor::listen(io, any_port, options);

         REQUIRE(loopback.ok());
         const tcp_acceptor acceptor = loopback.take();
         std::array<char, 16> name{};
         socklen_t size = name.size();
         REQUIRE(::getsockopt(acceptor.native_handle(), SOL_SOCKET, SO_BINDTODEVICE, name.data(),
                              &size) == 0);
         CHECK(std::string{name.data()} == "lo");
         const io_result<stream_socket> connected =
             co_await stream_socket::connect(where(acceptor));
         CHECK(connected.ok());
         CHECK(nowhere.error() == errc::no_such_device);
         CHECK(too_long.error() == errc::name_too_long);
         CHECK(cut.error() == errc::no_such_device);
     }},
    {"listening on an impossible address says why it failed",
     [](io_context& io) -> task<> {
         const io_result<tcp_acceptor> nowhere = tcp_acceptor::listen(io, endpoint{});
         const io_result<tcp_acceptor> no_folder =
             tcp_acceptor::listen(io, endpoint::local("/no/such/folder/it").value());
         const io_result<tcp_acceptor> foreign =
             tcp_acceptor::listen(io, endpoint::parse("192.0.2.1:0").value());

         CHECK_FALSE(nowhere.ok());
         CHECK(no_folder.error() == errc::no_such_file);
         CHECK(no_folder.error().during() == activity::bind);
         CHECK_FALSE(foreign.ok());
         CHECK(foreign.error().during() == activity::bind);
         co_return;
     }},
    {"connections of an adopted listener have no_delay set, as those of its own",
     [](io_context& io) -> task<> {
         const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
         CHECK(::listen(number, 8) == 0);
         stream_acceptor adopted = stream_acceptor::adopt(io, number);
         tcp_acceptor own = listen_anywhere(io);
         for (stream_acceptor* each : {&adopted, &own}) {
             sockaddr_in to{};
             socklen_t size = sizeof to;
             CHECK(::getsockname(each->native_handle(), reinterpret_cast<sockaddr*>(&to), &size) ==
                   0);
             const stream_socket client =
                 connect_now(io, endpoint{ipv4::loopback(), ntohs(to.sin_port)});
             const io_result<stream_socket> taken = co_await each->accept();
             CHECK(taken.ok());
             const auto quick = taken.value().get_option<no_delay>();
             CHECK(quick.ok());
             CHECK(quick.value().on);
         }
     }},
    {"a listening descriptor can be given away and adopted, non-blocking ones too",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         error ended;
         int number = -1;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_accept_error(acceptor, ended));
             co_await settle();
             number = acceptor.release();
         };
         co_await with_group(body);
         REQUIRE(::fcntl(number, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
         tcp_acceptor adopted = tcp_acceptor::adopt(io, number);
         std::vector<int> order;
         std::vector<stream_socket> sockets;
         const auto again = [&](task_group& group) -> task<> {
             group.spawn(note_accept(adopted, 1, order, sockets));
             group.spawn(note_accept(adopted, 2, order, sockets));
             co_await settle();
             for (int each = 0; each < 2; ++each) {
                 io_result<stream_socket> one = co_await stream_socket::connect(where(adopted));
                 CHECK(one.ok());
             }
         };

         co_await with_group(again);

         CHECK(ended == errc::canceled);
         CHECK_FALSE(acceptor.is_open());
         CHECK(order.size() == 2);
     }},
    {"accepting from what does not listen is an error of the kernel",
     [](io_context& io) -> task<> {
         const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
         tcp_acceptor not_listening = tcp_acceptor::adopt(io, number);

         const io_result<stream_socket> taken = co_await not_listening.accept();

         CHECK(taken.error() == errc::invalid_argument);
         CHECK(taken.error().during() == activity::accept);
     }},
};

const conformance_suite on_each_machine_suite{"acceptors", on_each_machine};
const conformance_suite on_the_kernel_suite{"acceptors of the kernel", on_the_kernel};

}  // namespace

TEST_CASE("an accept from what was adopted and does not listen is an error, and no wait") {
    on_each_backend_of("acceptors of the kernel", [](io_context& io) -> task<> {
        auto [failed, left, right] = stream_socket::connected_pair(io);
        REQUIRE_FALSE(failed);
        const int connected = left.release();
        const int unbound = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int datagrams = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        for (const int number : {connected, unbound, datagrams}) {
            stream_acceptor wrong = stream_acceptor::adopt(io, number);

            const io_result<stream_socket> first = co_await with_timeout(10s, wrong.accept());
            const io_result<stream_socket> second = co_await with_timeout(10s, wrong.accept());
            stream_acceptor made{handle{io.host(), wrong.release()}};
            const io_result<stream_socket> third = co_await with_timeout(10s, made.accept());

            const errc why = number == datagrams ? errc::not_supported : errc::invalid_argument;
            CHECK(first.error() == why);
            CHECK(second.error() == why);
            CHECK(third.error() == why);
        }
    });
}
