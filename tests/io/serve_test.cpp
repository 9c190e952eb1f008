// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/serve.hpp promises to the code that uses it.
#include <gyre/io/serve.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <io/connections.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

tcp_acceptor listen_anywhere(io_context& io) {
    io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, {ipv4::loopback(), 0});
    REQUIRE(listening.ok());
    return listening.take();
}

task<stream_socket> connect_to(endpoint where) {
    io_result<stream_socket> connected = co_await stream_socket::connect(where);
    REQUIRE(connected.ok());
    co_return connected.take();
}

// Whether one byte comes back in time.
task<bool> is_served(stream_socket& client, duration limit) {
    std::array<std::byte, 1> space{};
    static_cast<void>(co_await client.write_some(bytes_of("?")));
    const io_result<std::size_t> got = co_await with_timeout(limit, client.read_some(space));
    co_return got.ok();
}

template <class Session>
task<> note_served(stream_acceptor acceptor, Session session, serve_options options,
                   io_result<>& outcome) {
    outcome = co_await serve(std::move(acceptor), std::move(session), options);
}

int plain_connect(const endpoint& to) {
    const int number = ::socket(to.address_family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto* raw = reinterpret_cast<const sockaddr*>(to.raw().data);
    return number >= 0 && ::connect(number, raw, to.raw().size) == 0 ? number : -1;
}

// Sets the soft limit of this process; open descriptors stay. Returns what it was.
rlim_t limit_descriptors(rlim_t most) {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlim_t before = std::exchange(limit.rlim_cur, most);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return before;
}

}  // namespace

// RLIMIT_NOFILE sticks to a process, so the server runs in a forked child; its clients run in another,
// which has descriptors enough.
TEST_CASE("out of descriptors, a server pauses, refuses politely, counts, and recovers") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            tcp_acceptor acceptor = listen_anywhere(io);
            const endpoint where = acceptor.local_endpoint().value();
            const int clients = start_child([&] {
                std::vector<pollfd> refused;
                for (int each = 0; each < 200; ++each) {
                    refused.push_back({plain_connect(where), POLLIN, 0});
                    if (refused.back().fd < 0) return 1;
                }
                // Refused clients hear at once; the others are held until we are killed.
                for (;;)
                    static_cast<void>(::poll(refused.data(), refused.size(), -1) < 0 || ::pause());
            });
            static_cast<void>(limit_descriptors(64));
            serve_counters counters;
            serve_options with_counters;
            with_counters.counters = &counters;
            io_result<> outcome{errc::malformed};
            const stop_handle server =
                launch(io, note_served(std::move(acceptor), &echo, with_counters, outcome),
                       or_terminate{});
            while (counters.exhausted == 0) io.run_for(10ms);

            cpu_trials cpu{20ms};
            while (cpu.again()) {
                const std::uint64_t exhausted_before = counters.exhausted;
                const std::uint64_t shed_before = counters.shed;
                io.run_for(2s);
                const std::uint64_t exhausted = counters.exhausted - exhausted_before;
                const std::uint64_t shed = counters.shed - shed_before;
                me.say("failed accepts " + std::to_string(exhausted) + ", refused " +
                       std::to_string(shed));
                me.check(exhausted >= 5 && exhausted <= 25, "one failed accept per pause");
                me.check(shed >= 5 && shed <= exhausted + 1, "one refusal per pause");
            }

            me.say("refusing for 2 s took " + std::to_string(cpu.least() / 1us) + " us");
            me.check(cpu.least() < 20ms, "refusing for two seconds takes less than 20 ms of CPU");
            me.check(counters.accepted > 20 && counters.accepted < 64, "as many sessions as fit");

            ::kill(clients, SIGKILL);
            static_cast<void>(wait_for_child(clients));
            bool served = false;
            const auto late_client = [&]() -> task<> {
                while (!served) {
                    io_result<stream_socket> one = co_await stream_socket::connect(where);
                    if (one.ok()) {
                        stream_socket client = one.take();
                        served = co_await is_served(client, 100ms);
                    } else {
                        static_cast<void>(co_await sleep_for(1ms));
                    }
                }
                server.request_drain();
            };
            launch(io, late_client(), or_terminate{});
            io.run_for(patience / 2);
            me.check(served, "it serves again once there are descriptors");
            me.check(outcome.ok(), "it ends well");
        });

        MESSAGE(std::string{describe(options.backend)}, ": ", report.text);
        CHECK(report.passed());
    });
}

TEST_CASE("a session that ends makes room for the next one, however long the pause is to be") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            constexpr int clients = 40;
            io_context io{options};
            tcp_acceptor acceptor = listen_anywhere(io);
            const endpoint where = acceptor.local_endpoint().value();
            serve_counters counters;
            serve_options patient;
            patient.counters = &counters;
            patient.exhausted_pause = 1h;
            io_result<> outcome{errc::malformed};
            const stop_handle server = launch(
                io, note_served(std::move(acceptor), &echo, patient, outcome), or_terminate{});
            static_cast<void>(io.poll());
            // All of them at once, and each of them ends when it has been answered.
            std::atomic<int> answered = 0;
            std::vector<int> numbers;
            for (int each = 0; each < clients; ++each) numbers.push_back(plain_connect(where));
            static_cast<void>(limit_descriptors(static_cast<rlim_t>(numbers.back()) + 4));
            const auto ask = [&] {
                char byte = '?';
                for (const int each : numbers) {
                    const bool asked = ::write(each, &byte, 1) == 1;
                    if (asked && ::read(each, &byte, 1) == 1) ++answered;
                    ::shutdown(each, SHUT_RDWR);
                }
                server.request_drain();
            };
            while (counters.exhausted == 0) static_cast<void>(io.run_one());
            std::thread client{ask};

            io.run_for(patience / 2);
            client.join();

            me.check(answered == clients, std::to_string(answered) + " were answered");
            me.check(counters.shed == 0, "and none was refused");
            me.check(server.ended(), "the server has ended");
        });

        INFO(report.text);
        CHECK(report.passed());
    });
}

TEST_CASE("a drain reaches a server that pauses for lack of descriptors") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            tcp_acceptor acceptor = listen_anywhere(io);
            serve_counters counters;
            serve_options patient;
            patient.counters = &counters;
            patient.exhausted_pause = 1h;
            io_result<> outcome{errc::malformed};
            const int client = plain_connect(acceptor.local_endpoint().value());
            static_cast<void>(io.poll());
            const rlim_t before = limit_descriptors(0);
            const stop_handle server = launch(
                io, note_served(std::move(acceptor), &echo, patient, outcome), or_terminate{});
            while (counters.exhausted == 0) static_cast<void>(io.run_one());
            static_cast<void>(io.poll());
            static_cast<void>(
                limit_descriptors(before));  // Sanitizers need some to look at memory.

            server.request_drain();
            io.run_for(patience / 2);

            me.check(client >= 0, "the client has connected");
            me.check(server.ended(), "the server has ended");
            me.check(outcome.ok(), "and well");
        });

        INFO(report.text);
        CHECK(report.passed());
    });
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"serve runs a session for each connection until it is drained",
     [](io_context& io) -> task<> {
         const std::size_t before = open_descriptors();
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         serve_counters counters;
         serve_options options;
         options.counters = &counters;
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
             {
                 stream_socket first = co_await connect_to(where);
                 stream_socket second = co_await connect_to(where);
                 const bool first_served = co_await is_served(first, patience);
                 const bool second_served = co_await is_served(second, patience);
                 CHECK(first_served);
                 CHECK(second_served);
             }
             group.request_drain();
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         CHECK(counters.accepted == 2);
         CHECK(counters.shed == 0);
         CHECK(counters.exhausted == 0);
         CHECK(open_descriptors() == before);
     }},
    {"at most connections_max sessions run at a time, and others wait for their turn",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         serve_options options;
         options.connections_max = 3;
         int running = 0;
         int most = 0;
         int served = 0;
         const auto counted = [&](stream_socket peer) -> task<> {
             most = std::max(most, ++running);
             std::array<std::byte, 1> space{};
             static_cast<void>(co_await peer.read_some(space));
             --running;
             ++served;
         };
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), std::cref(counted), options, outcome));
             std::vector<stream_socket> clients;
             for (int each = 0; each < 12; ++each) {
                 stream_socket one = co_await connect_to(where);
                 clients.push_back(std::move(one));
             }
             while (running < 3) co_await yield();
             co_await settle();
             CHECK(running == 3);
             for (stream_socket& each : clients) {
                 static_cast<void>(co_await each.write_some(bytes_of("x")));
                 co_await settle();
             }
             while (served < 12) co_await yield();
             group.request_drain();
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         CHECK(most == 3);
         CHECK(served == 12);
     }},
    {"a drain closes the listener at once and lets sessions finish",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, {}, outcome));
             stream_socket client = co_await connect_to(where);
             const bool before = co_await is_served(client, patience);
             group.request_drain();
             co_await settle();

             const io_result<stream_socket> late = co_await stream_socket::connect(where);
             const bool after = co_await is_served(client, patience);

             CHECK(before);
             CHECK(late.error() == errc::connection_refused);
             CHECK(after);
             CHECK(outcome.error() == errc::malformed);
         };

         co_await with_group(body);

         CHECK(outcome.ok());
     }},
    {"a connection that was accepted before its place was free is served behind a drain",
     [](io_context& io) -> task<> {
         for (const stop_level then : {stop_level::drain, stop_level::stop}) {
             tcp_acceptor acceptor = listen_anywhere(io);
             const endpoint where = acceptor.local_endpoint().value();
             event wants_room;
             event goes_on;
             serve_counters counters;
             serve_options options;
             options.counters = &counters;
             options.connections_max = 1;
             options.on_full = [&wants_room]() -> duration {
                 wants_room.set();
                 return 1h;
             };
             const auto waits = [&goes_on](stream_socket peer) -> task<> {
                 static_cast<void>(co_await goes_on.wait());
                 static_cast<void>(co_await peer.write_some(bytes_of("x")));
             };
             io_result<> outcome{errc::malformed};
             const auto body = [&](task_group& group) -> task<> {
                 group.spawn(note_served(std::move(acceptor), std::cref(waits), options, outcome));
                 stream_socket first = co_await connect_to(where);
                 stream_socket second = co_await connect_to(where);
                 static_cast<void>(co_await wants_room.wait());
                 group.request_drain();
                 co_await settle();
                 const io_result<stream_socket> late = co_await stream_socket::connect(where);
                 CHECK(late.error() == errc::connection_refused);
                 CHECK(counters.accepted == 1);
                 group.request(then);
                 goes_on.set();
                 std::array<std::byte, 1> space{};
                 const io_result<std::size_t> got =
                     co_await with_timeout(patience, second.read_some(space));
                 CHECK(got.ok() == (then == stop_level::drain));
             };

             co_await with_group(body);

             CHECK(outcome.ok());
             CHECK(counters.accepted == (then == stop_level::drain ? 2 : 1));
         }
     }},
    {"a drain reaches a server that waits for room",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         serve_options options;
         options.connections_max = 1;
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
             stream_socket client = co_await connect_to(where);
             const bool served = co_await is_served(client, patience);
             group.request_drain();
             co_await settle();

             const io_result<stream_socket> late = co_await stream_socket::connect(where);

             CHECK(served);
             CHECK(late.error() == errc::connection_refused);
         };

         co_await with_group(body);

         CHECK(outcome.ok());
     }},
    {"a stop ends the sessions' pending operations, and serve waits for their clean-up",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         int ended = 0;
         int begun = 0;
         const auto slow_to_end = [&](stream_socket peer) -> task<> {
             std::array<std::byte, 1> space{};
             ++begun;
             const io_result<std::size_t> got = co_await peer.read_some(space);
             CHECK(got.error() == errc::canceled);
             static_cast<void>(co_await shielded(sleep_for(5ms), patience));
             ++ended;
         };
         io_result<> outcome{errc::malformed};
         int ended_before_outcome = 0;
         const auto note = [&](tcp_acceptor from) -> task<> {
             outcome = co_await serve(std::move(from), std::cref(slow_to_end));
             ended_before_outcome = ended;
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note(std::move(acceptor)));
             std::vector<stream_socket> clients;
             for (int each = 0; each < 5; ++each) {
                 stream_socket one = co_await connect_to(where);
                 clients.push_back(std::move(one));
             }
             while (begun < 5) co_await yield();
             group.request_stop();
             std::array<std::byte, 1> space{};
             for (stream_socket& each : clients) {
                 const io_result<std::size_t> end =
                     co_await shielded(each.read_some(space), patience);
                 CHECK(end.error() == errc::eof);
             }
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         CHECK(ended_before_outcome == 5);
     }},
    {"a server that is stopped before it starts closes its listener and ends well",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.request_stop();
             group.spawn(note_served(std::move(acceptor), &echo, {}, outcome));
             co_return;
         };

         co_await with_group(body);
         const io_result<stream_socket> late = co_await stream_socket::connect(where);

         CHECK(outcome.ok());
         CHECK(late.error() == errc::connection_refused);
     }},
    {"a server for no connections at all is refused",
     [](io_context& io) -> task<> {
         serve_options none;
         none.connections_max = 0;
         const io_result<> served = co_await serve(listen_anywhere(io), &echo, none);
         CHECK(served.error() == errc::invalid_argument);
     }},
    {"a peer has at most its share of the sessions, and what is beyond is closed and told",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         peer_limit_options two_each;
         two_each.connections_max = 2;
         peer_limits limits{two_each};
         serve_counters counters;
         serve_options options;
         options.counters = &counters;
         options.peers = &limits;
         std::vector<std::pair<endpoint, peer_verdict>> told;
         options.on_refused = [&](const endpoint& peer, peer_verdict why) {
             told.emplace_back(peer, why);
         };
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
             stream_socket first = co_await connect_to(where);
             stream_socket second = co_await connect_to(where);
             const bool first_served = co_await is_served(first, patience);
             const bool second_served = co_await is_served(second, patience);
             stream_socket third = co_await connect_to(where);
             const endpoint refused = third.local_endpoint().value();
             const bool third_served = co_await is_served(third, patience);
             CHECK(first_served);
             CHECK(second_served);
             CHECK_FALSE(third_served);
             REQUIRE(told.size() == 1);
             CHECK(told.front() == std::pair{refused, peer_verdict::too_many});

             connect_options elsewhere;
             elsewhere.local = endpoint{ipv4{{127, 0, 0, 2}}, 0};
             io_result<stream_socket> other = co_await stream_socket::connect(where, elsewhere);
             stream_socket stranger = other.take();
             const bool stranger_served = co_await is_served(stranger, patience);
             CHECK(stranger_served);

             static_cast<void>(second.close());
             bool again_served = false;
             for (int each = 0; each < 1000 && !again_served; ++each) {
                 stream_socket again = co_await connect_to(where);
                 again_served = co_await is_served(again, patience);
             }
             CHECK(again_served);
             group.request_drain();
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         CHECK(counters.accepted == 4);
         CHECK(counters.refused_many >= 1);
         CHECK(counters.refused_often == 0);
         CHECK(limits.peers() == 0);
     }},
    {"a peer that connects too often is refused, and others are served",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         peer_limit_options slowly;
         slowly.accepts = rate_limit{1, 1h, 5};
         peer_limits limits{slowly};
         serve_counters counters;
         serve_options options;
         options.counters = &counters;
         options.peers = &limits;
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
             int served = 0;
             for (int each = 0; each < 20; ++each) {
                 stream_socket client = co_await connect_to(where);
                 const bool one = co_await is_served(client, patience);
                 served += one ? 1 : 0;
             }
             CHECK(served == 5);
             group.request_drain();
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         CHECK(counters.accepted == 5);
         CHECK(counters.refused_often == 15);
     }},
    {"connections beyond the server's rate wait in the queue, and a drain ends its wait",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         serve_options options;
         options.accepts = rate_limit{100, 1s, 2};
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
             std::vector<stream_socket> clients;
             const time_point begun = io.read_clock();
             for (int each = 0; each < 12; ++each) {
                 stream_socket one = co_await connect_to(where);
                 clients.push_back(std::move(one));
             }
             for (stream_socket& each : clients) {
                 const bool served = co_await is_served(each, patience);
                 CHECK(served);
             }
             // Two at once, and the other ten at 10 ms each.
             CHECK(io.read_clock() - begun >= 95ms);
             group.request_drain();
         };

         co_await with_group(body);

         CHECK(outcome.ok());
     }},
    {"a server told to slow down to nothing is drained all the same",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         serve_options options;
         options.accepts = rate_limit{1, 24h, 1};
         io_result<> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
             stream_socket client = co_await connect_to(where);
             const bool served = co_await is_served(client, patience);
             CHECK(served);
             group.request_drain();
         };

         co_await with_group(body);

         CHECK(outcome.ok());
     }},
    {"after a drain's grace the server tells which sessions are there still, and for what",
     [](io_context& io) -> task<> {
         tcp_acceptor acceptor = listen_anywhere(io);
         const endpoint where = acceptor.local_endpoint().value();
         std::vector<straggler_report> told;
         serve_options options;
         options.stragglers_told_max = 2;
         options.on_stragglers = [&](const straggler_report& those) { told.push_back(those); };
         io_result<> outcome{errc::malformed};
         std::vector<endpoint> peers;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
             std::vector<stream_socket> clients;
             for (int each = 0; each < 4; ++each) {
                 stream_socket one = co_await connect_to(where);
                 const bool served = co_await is_served(one, patience);
                 CHECK(served);
                 peers.push_back(one.local_endpoint().value());
                 clients.push_back(std::move(one));
             }
             clients.erase(clients.begin());  // Ends by itself, so it is no straggler.
             group.request_drain();
             co_await settle();
             CHECK(told.empty());
             static_cast<void>(co_await shielded(sleep_for(5ms), patience));
             group.request_stop();
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         REQUIRE(told.size() == 1);
         CHECK(told[0].sessions == 3);
         REQUIRE(told[0].oldest.size() == 2);
         CHECK(told[0].oldest[0].peer == peers[1]);
         CHECK(told[0].oldest[1].peer == peers[2]);
         CHECK(told[0].oldest[0].age >= 5ms);
         CHECK(told[0].oldest[0].waits.find("echo") != std::string::npos);
         CHECK(told[0].oldest[0].waits.find("connections.hpp:") != std::string::npos);
         CHECK(told[0].oldest[0].waits.find("waiting for re") != std::string::npos);
     }},
    {"a drain that all sessions outrun, and a stop without a drain, have no stragglers",
     [](io_context& io) -> task<> {
         for (const bool drained : {true, false}) {
             tcp_acceptor acceptor = listen_anywhere(io);
             const endpoint where = acceptor.local_endpoint().value();
             int told = 0;
             serve_options options;
             options.on_stragglers = [&](const straggler_report&) { ++told; };
             io_result<> outcome{errc::malformed};
             const auto body = [&](task_group& group) -> task<> {
                 group.spawn(note_served(std::move(acceptor), &echo, options, outcome));
                 stream_socket client = co_await connect_to(where);
                 const bool served = co_await is_served(client, patience);
                 CHECK(served);
                 if (drained) {
                     group.request_drain();
                     static_cast<void>(client.close());
                     while (outcome.error() == errc::malformed) co_await yield();
                 }
                 group.request_stop();
             };

             co_await with_group(body);

             CHECK(outcome.ok());
             CHECK(told == 0);
         }
     }},
};

const std::vector<conformance_row> on_the_kernel{
    {"an acceptor that is useless ends the server with the kernel's error",
     [](io_context& io) -> task<> {
         const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
         tcp_acceptor not_listening = tcp_acceptor::adopt(io, number);

         const io_result<> outcome = co_await serve(std::move(not_listening), &echo);

         CHECK(outcome.error() == errc::invalid_argument);
     }},
};

const conformance_suite on_each_machine_suite{"servers", on_each_machine};
const conformance_suite on_the_kernel_suite{"servers of the kernel", on_the_kernel};

}  // namespace
