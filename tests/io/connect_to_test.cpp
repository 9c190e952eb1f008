// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/connect_to.hpp promises to the code that uses it.
#include <gyre/io/connect_to.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/sync/timeout.hpp>
#include <io/connections.hpp>
#include <io/name_server.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/network_namespace.hpp>
#include <support/refusals.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using manner = dns_reply::manner;

// What takes too long on a busy machine is tried again; what always takes too long does so each time.
constexpr int tries_max = 3;

// The time that has passed since this was made.
class stopwatch {
public:
    [[nodiscard]] duration read() const { return std::chrono::steady_clock::now() - begun_; }

private:
    time_point begun_ = std::chrono::steady_clock::now();
};

// Listens on one port of both loopback addresses.
struct two_listeners {
    explicit two_listeners(io_context& io) {
        listen_options alone;
        alone.v6_only = true;
        for (int tries = 0; !v4.is_open() || !v6.is_open(); ++tries) {
            REQUIRE(tries < 100);
            v4 = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
            port = v4.local_endpoint().value().port();
            v6 = tcp_acceptor::listen(io, {ipv6::loopback(), port}, alone).take();
        }
    }

    tcp_acceptor v4;
    tcp_acceptor v6;
    std::uint16_t port = 0;
};

// An address at which nothing answers: connections beyond a listener's queue hear nothing from the kernel.
class silent_listener {
public:
    silent_listener(io_context& io, const endpoint& at) {
        listen_options narrow;
        narrow.backlog_connections_max = 0;
        narrow.v6_only = true;
        listening_ = tcp_acceptor::listen(io, at, narrow).take();
        const endpoint where = listening_.local_endpoint().value();
        for (int each = 0; each < 3; ++each) {
            const int number =
                ::socket(where.address_family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            ::connect(number, reinterpret_cast<const sockaddr*>(where.raw().data),
                      where.raw().size);
            queued_.push_back(stream_socket::adopt(io, number));
        }
    }

    [[nodiscard]] bool is_open() const { return listening_.is_open(); }
    [[nodiscard]] endpoint where() const { return listening_.local_endpoint().value(); }

private:
    tcp_acceptor listening_;
    std::vector<stream_socket> queued_;
};

connect_to_options asking(const name_server& server) {
    connect_to_options options;
    options.names = resolver{server.options()};
    return options;
}

endpoint::family family_of(const io_result<stream_socket>& connected) {
    if (!connected.ok()) return endpoint::family::none;
    return connected.value().remote_endpoint().value().kind();
}

dns_reply both_loopbacks(const dns_question& asked) {
    if (asked.type == record_type::a) return dns_reply{{a_record("127.0.0.1")}};
    return dns_reply{{aaaa_record("::1")}};
}

template <class Body>
void with_server(const name_server::script& script, const Body& body) {
    on_each_backend_of("names of the kernel", [&](io_context& io) -> task<> {
        name_server server{io, script};
        const auto run = [&]() -> task<> { return body(io, server); };
        co_await while_answering(server, run);
    });
}

bool runs(const std::string& command) {
    return std::system((command + " 2>/dev/null").c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

TEST_CASE("a name is connected to, by IPv6 where both families answer") {
    with_server(both_loopbacks, [](io_context& io, name_server& server) -> task<> {
        two_listeners there{io};

        auto connected = co_await connect_to("dual.test", there.port, asking(server));
        connect_to_options options = asking(server);
        options.family = endpoint::family::v4;
        auto only_v4 = co_await connect_to("dual.test", std::to_string(there.port), options);

        REQUIRE(connected.ok());
        CHECK(connected.value().remote_endpoint().value() ==
              endpoint{ipv6::loopback(), there.port});
        CHECK(connected.value().get_option<no_delay>().value().on);
        CHECK(family_of(only_v4) == endpoint::family::v4);
    });
}

TEST_CASE("an address that does not answer holds up for a quarter of a second and no longer") {
    with_server(both_loopbacks, [](io_context& io, name_server& server) -> task<> {
        tcp_acceptor good = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        const std::uint16_t port = good.local_endpoint().value().port();
        const silent_listener bad{io, {ipv6::loopback(), port}};
        if (!bad.is_open()) co_return;  // Somebody else has the port.
        const std::size_t before = open_descriptors();
        duration least = duration::max();
        for (int tries = 0; tries < tries_max && least >= 300ms; ++tries) {
            const stopwatch time;

            auto connected = co_await connect_to("dual.test", port, asking(server));

            const duration took = time.read();
            CHECK(family_of(connected) == endpoint::family::v4);
            CHECK(took >= 250ms);
            least = std::min(least, took);
            const stream_socket kept = connected.take();
            CHECK(open_descriptors() == before + 1);  // The other attempt is gone.
        }
        CHECK(least < 300ms);
    });
}

TEST_CASE("an attempt that fails makes way at once") {
    with_server(both_loopbacks, [](io_context& io, name_server& server) -> task<> {
        tcp_acceptor v4_alone = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        const std::uint16_t port = v4_alone.local_endpoint().value().port();
        connect_to_options options = asking(server);
        options.attempt_delay = 20s;
        const stopwatch time;

        const auto connected = co_await connect_to("dual.test", port, options);

        CHECK(family_of(connected) == endpoint::family::v4);
        CHECK(time.read() < 10s);
    });
}

TEST_CASE("if all fail the first failure is told, at once") {
    with_server(both_loopbacks, [](io_context& io, name_server& server) -> task<> {
        const std::uint16_t port = closed_port(io).port();
        const std::size_t before = open_descriptors();
        connect_to_options options = asking(server);
        options.attempt_delay = 20s;
        const stopwatch time;

        const auto connected = co_await connect_to("dual.test", port, options);

        CHECK(connected.error() == errc::connection_refused);
        CHECK(connected.error().during() == activity::connect);
        CHECK_FALSE(connected.value().is_open());
        CHECK(time.read() < 10s);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a name that is not found is told as such") {
    with_server([](const dns_question&) { return dns_reply{dns_reply::no_such_name}; },
                [](io_context&, name_server& server) -> task<> {
                    const auto no_host = co_await connect_to("no.test", 80, asking(server));
                    const auto no_service =
                        co_await connect_to("127.0.0.1", "none", asking(server));
                    const auto no_name = co_await connect_to("1.2.3", 80, asking(server));

                    CHECK(no_host.error() == errc::host_not_found);
                    CHECK(no_service.error() == errc::host_not_found);
                    CHECK(no_name.error() == errc::malformed);
                });
}

TEST_CASE("IPv4 waits 50 ms for IPv6 that is not known yet, and not for its answer") {
    const auto script = [](const dns_question& asked) {
        return asked.type == record_type::a ? both_loopbacks(asked) : dns_reply{manner::silent};
    };
    with_server(script, [](io_context& io, name_server& server) -> task<> {
        two_listeners there{io};
        const std::size_t before = open_descriptors();
        const stopwatch time;

        auto connected = co_await connect_to("late.test", there.port, asking(server));

        const duration took = time.read();
        CHECK(family_of(connected) == endpoint::family::v4);
        CHECK(took >= 50ms);
        CHECK(took < 10s);  // Its server would have 20.
        const stream_socket kept = connected.take();
        CHECK(open_descriptors() == before + 1);  // The query is gone.
    });
}

TEST_CASE("IPv6 that is known before 50 ms have passed comes first") {
    const auto script = [](const dns_question& asked) {
        dns_reply reply = both_loopbacks(asked);
        if (asked.type == record_type::aaaa) reply.delay = 10ms;
        return reply;
    };
    with_server(script, [](io_context& io, name_server& server) -> task<> {
        two_listeners there{io};
        connect_to_options options = asking(server);
        options.resolution_delay = 10s;
        const stopwatch time;

        const auto connected = co_await connect_to("late.test", there.port, options);

        CHECK(family_of(connected) == endpoint::family::v6);
        CHECK(time.read() < 5s);
    });
}

TEST_CASE("IPv6 does not wait for IPv4, nor IPv4 for IPv6 that there is not") {
    const auto script = [](const dns_question& asked) {
        if (asked.name == "six.test")
            return asked.type == record_type::aaaa ? both_loopbacks(asked)
                                                   : dns_reply{manner::silent};
        return asked.type == record_type::a ? both_loopbacks(asked) : dns_reply{};
    };
    with_server(script, [](io_context& io, name_server& server) -> task<> {
        two_listeners there{io};
        connect_to_options options = asking(server);
        options.resolution_delay = 10s;
        const stopwatch time;

        const auto six = co_await connect_to("six.test", there.port, options);
        const auto four = co_await connect_to("four.test", there.port, options);

        CHECK(family_of(six) == endpoint::family::v6);
        CHECK(family_of(four) == endpoint::family::v4);
        CHECK(time.read() < 5s);
    });
}

TEST_CASE("addresses that come late are tried as well") {
    const auto script = [](const dns_question& asked) {
        dns_reply reply = both_loopbacks(asked);
        if (asked.type == record_type::aaaa) reply.delay = 30ms;
        return reply;
    };
    with_server(script, [](io_context& io, name_server& server) -> task<> {
        const silent_listener bad{io, {ipv4::loopback(), 0}};
        listen_options alone;
        alone.v6_only = true;
        const std::uint16_t port = bad.where().port();
        auto listening = tcp_acceptor::listen(io, {ipv6::loopback(), port}, alone);
        if (!listening.ok()) co_return;  // Somebody else has the port.
        connect_to_options options = asking(server);
        options.resolution_delay = 1ms;
        options.attempt_delay = 60ms;

        const auto connected = co_await connect_to("late.test", port, options);

        CHECK(family_of(connected) == endpoint::family::v6);
    });
}

TEST_CASE("the limit ends all of it, whether a name or a connection is waited for") {
    const auto script = [](const dns_question& asked) {
        return asked.name == "silent.test" ? dns_reply{manner::silent} : both_loopbacks(asked);
    };
    with_server(script, [](io_context& io, name_server& server) -> task<> {
        const silent_listener bad{io, {ipv4::loopback(), 0}};
        connect_to_options options = asking(server);
        options.limit = 20ms;
        options.family = endpoint::family::v4;
        const std::size_t before = open_descriptors();

        const auto no_name = co_await connect_to("silent.test", 80, options);
        const auto no_peer = co_await connect_to("it.test", bad.where().port(), options);

        CHECK(no_name.error() == errc::timed_out);
        CHECK(no_peer.error() == errc::timed_out);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a stop ends it at once and leaves nothing behind") {
    with_server(both_loopbacks, [](io_context& io, name_server& server) -> task<> {
        const silent_listener bad{io, {ipv4::loopback(), 0}};
        connect_to_options options = asking(server);
        options.family = endpoint::family::v4;
        const std::size_t before = open_descriptors();
        error outcome;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(connect_to("it.test", bad.where().port(), options),
                        [&](io_result<stream_socket> connected) { outcome = connected.error(); });
            while (server.asked().empty()) co_await yield();
            co_await settle();
            group.request_stop();
        };

        co_await with_group(body);

        CHECK(outcome == errc::canceled);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a source address keeps to its own family") {
    with_server(both_loopbacks, [](io_context& io, name_server& server) -> task<> {
        two_listeners there{io};
        connect_to_options options = asking(server);
        options.socket.local = endpoint{ipv4{{127, 0, 0, 77}}, 0};

        const auto connected = co_await connect_to("dual.test", there.port, options);

        REQUIRE(connected.ok());
        CHECK(connected.value().local_endpoint().value().v4() == ipv4{{127, 0, 0, 77}});
        CHECK(server.asked().size() == 1);
    });
}

TEST_CASE("with an IPv6 address that a network swallows a name is connected to within 300 ms") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const child_report report = in_child([&](child_process& me) {
            // A network of its own, whose one cable has nobody at its other end.
            if (!enter_new_network() || !runs("ip link set lo up") ||
                !runs("ip link add cable type veth peer name nowhere") ||
                !runs("ip addr add 192.0.2.1/24 dev cable") ||
                !runs("ip -6 addr add 2001:db8::1/64 dev cable nodad") ||
                !runs("ip link set cable up") || !runs("ip link set nowhere up") ||
                !runs("ip -6 neigh add 2001:db8::2 lladdr 02:00:00:00:00:02 dev cable")) {
                me.say("impossible");
                return;
            }
            io_context io{require(backend)};
            const auto script = [](const dns_question& asked) {
                if (asked.type == record_type::a) return dns_reply{{a_record("192.0.2.1")}};
                return dns_reply{{aaaa_record("2001:db8::2")}};
            };
            const auto connect = [&]() -> task<> {
                name_server server{io, script};
                tcp_acceptor there = tcp_acceptor::listen(io, {ipv4::any(), 0}).take();
                const std::uint16_t port = there.local_endpoint().value().port();
                const auto ask = [&]() -> task<> {
                    duration least = duration::max();
                    for (int tries = 0; tries < tries_max && least >= 300ms; ++tries) {
                        const stopwatch time;
                        const auto connected = co_await connect_to("it.test", port, asking(server));
                        const duration took = time.read();
                        me.check(family_of(connected) == endpoint::family::v4, "IPv4 connects");
                        me.check(took >= 250ms, "IPv6 is tried first");
                        least = std::min(least, took);
                    }
                    me.check(least < 300ms, "it takes 300 ms");
                };
                co_await while_answering(server, ask);
            };
            run_to_end(me, io, connect());
        });
        if (says(report.text, "impossible")) return skip("no network of its own, or no ip(8)");
        CAPTURE(report.text);
        CHECK(report.passed());
    }
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"known addresses are tried in their order, the families in turn",
     [](io_context& io) -> task<> {
         two_listeners there{io};
         const std::uint16_t closed = closed_port(io).port();
         const endpoint v4{ipv4::loopback(), there.port};
         const endpoint v6{ipv6::loopback(), there.port};

         const std::vector<endpoint> both{v4, v6};
         const std::vector<endpoint> closed_first{endpoint{ipv4::loopback(), closed}, v4, v6};
         const std::vector<endpoint> all_closed{endpoint{ipv4::loopback(), closed},
                                                endpoint{ipv6::loopback(), closed}};

         const auto first = co_await connect_to(both);
         const auto second = co_await connect_to(closed_first);
         const auto none = co_await connect_to(all_closed);

         CHECK(family_of(first) == endpoint::family::v4);
         CHECK(family_of(second) == endpoint::family::v6);
         CHECK(none.error() == errc::connection_refused);
     }},
    {"an address that is none fails like any other, and makes way",
     [](io_context& io) -> task<> {
         two_listeners there{io};
         const std::vector<endpoint> nowhere{endpoint{}};
         const std::vector<endpoint> closed{endpoint{}, closed_port(io), endpoint{}};
         const std::vector<endpoint> open{endpoint{}, {ipv6::loopback(), there.port}};

         const auto never = co_await with_timeout(10s, connect_to(nowhere));
         const auto refused = co_await with_timeout(10s, connect_to(closed));
         const auto there_too = co_await with_timeout(10s, connect_to(open));

         CHECK(never.error() == errc::invalid_argument);
         CHECK(refused.error() == errc::connection_refused);
         CHECK(family_of(there_too) == endpoint::family::v6);
     }},
};

const conformance_suite on_each_machine_suite{"names", on_each_machine};

}  // namespace
