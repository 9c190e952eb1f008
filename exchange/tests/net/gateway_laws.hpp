// SPDX-License-Identifier: BSL-1.0
//
// What a gateway and its facility promise over real sockets, whichever library carries them.
//
// Facility, gateway and clients run on one context over loopback. gateway_client_test.cpp and those beside it
// judge the machines without sockets; here is what only the loops around them can get wrong.
#pragma once

#include <exchange/net/application/matching_facility.hpp>
#include <exchange/server/order_entry_gateway.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/hosted.hpp>
#include <exchange/tests/net/narrow_connection.hpp>
#include <exchange/tests/net/raw_client.hpp>
#include <exchange/tests/net/socketless_gateway.hpp>
#include <exchange/tests/net/spoken_security.hpp>

#include <support/skip.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace exchange::testing {

/// A listening socket that is no gateway's, of which gateways get copies.
class held_listener {
public:
    held_listener() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof name;
        REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&name), size) == 0);
        REQUIRE(::listen(socket_, 64) == 0);
        REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&name), &size) == 0);
        at = loopback(ntohs(name.sin_port));
    }
    held_listener(const held_listener&) = delete;
    held_listener& operator=(const held_listener&) = delete;
    ~held_listener() { ::close(socket_); }

    [[nodiscard]] inherited_listeners give() const {
        return inherited_listeners{{{at, ::fcntl(socket_, F_DUPFD_CLOEXEC, 3)}}};
    }

    gyre::endpoint at;

private:
    int socket_;
};

/// A descriptor of this process that is connected to a port of IPv4 loopback.
[[nodiscard]] inline int descriptor_to(const gyre::endpoint& where) {
    rlimit descriptors{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
    for (int each = 0; each < static_cast<int>(descriptors.rlim_cur); ++each) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(each, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
            peer.sin_family == AF_INET && ntohs(peer.sin_port) == where.port())
            return each;
    }
    FAIL("a descriptor of this process is connected there");
    return -1;
}

/// @tparam  Gateway  A hosted_gateway, or what has its members.
template <class Side, class Gateway = hosted_gateway>
struct gateway_law {
    using X = typename Side::traits;
    using context = typename X::context;
    using task = typename X::template task<void>;

    /// What a scene begins with.
    struct setting {
        setting() {
            host.sessions.heartbeat_after = std::chrono::milliseconds{200};
            gateway.clients.tcp = loopback(0);
            gateway.clients.timer_tick = facility.timer_tick = std::chrono::milliseconds{5};
            gateway.clients.linger = facility.linger = std::chrono::milliseconds{200};
            gateway.clients.connections_max = 16;
            gateway.clients.tls = spoken_tls();
            facility.gateways.at = loopback(0);
            host.grace = std::chrono::seconds{60};
        }

        order_entry_host_options rules = venue_with_gateways();
        facility_options facility = on_loopback();
        gateway_host_options host = gateway_for_two();
        gateway_options gateway;
        disconnect_policy on_disconnect = disconnect_policy::keep_orders;
    };

    /// A facility in one life.
    struct life {
        life(context& on, const setting& how, std::string_view name, const gyre::endpoint& at)
            : host{named(how.rules, name), X::now(on)}, facility{on, host, listening(how, at)} {
            open_market(host, how.on_disconnect);
            for (const credentials& each : how.rules.participants)
                if (number(each.session) > number(bob)) define(each.session);
            REQUIRE(facility.start().ok());
        }

        void define(session_id session) {
            define_account account{};
            account.account = account_id{number(session)};
            account.firm = firm_id{1};
            account.self_trade = self_trade_action::cancel_resting;
            host.apply(account);
            host.apply(define_session{session, account.account, disconnect_policy::keep_orders});
        }
        static order_entry_host_options named(order_entry_host_options rules,
                                              std::string_view name) {
            rules.stream.session = rules.feed.session = name;
            return rules;
        }
        static facility_options listening(const setting& how, const gyre::endpoint& at) {
            facility_options options = how.facility;
            options.feed = loopback(9);
            options.gateways.at = at;
            options.connections_max = how.rules.participants.size() + 8;
            return options;
        }

        order_entry_host host;
        matching_facility<X> facility;
    };

    /// A gateway, from its start to its end.
    struct running_gateway {
        running_gateway(context& on, const setting& how, const gyre::endpoint& facility,
                        const gyre::endpoint& at)
            : host{how.host, X::now(on)}, gateway{on, host, between(how, facility, at)} {
            REQUIRE(gateway.start().ok());
        }

        static gateway_options between(const setting& how, const gyre::endpoint& facility,
                                       const gyre::endpoint& at) {
            gateway_options options = how.gateway;
            options.facility = facility;
            options.clients.tcp = at;
            return options;
        }

        gateway_host host;
        Gateway gateway;
    };

    struct scene {
        scene(context& on, const setting& how) : on{on}, how{how} {
            begin_life("LIFE1", how.facility.gateways.at);
            begin_gateway(how.gateway.clients.tcp);
        }

        void begin_life(std::string_view name, const gyre::endpoint& at) {
            lives.emplace_back(on, how, name, at);
            link_at = now().facility.gateways();
        }
        void begin_gateway(const gyre::endpoint& at) {
            gateways.emplace_back(on, how, link_at, at);
            order_entry = gateway().gateway.order_entry();
        }
        /// The one before is gone, and all that it has begun.
        task end_gateway() {
            gateway().gateway.stop();
            co_await until([this] { return gateway().gateway.idle(); });
        }

        template <class Condition>
        task until(Condition enough) {
            typename X::timer timer{on};
            while (!enough())
                static_cast<void>(
                    co_await timer.wait_until(X::now(on) + std::chrono::milliseconds{1}));
        }
        task until_up() {
            co_await until([this] { return gateway().host.link_up(); });
        }

        [[nodiscard]] life& now() { return lives.back(); }
        [[nodiscard]] const participant& who(std::size_t place) {
            return now().host.participants()[place];
        }
        [[nodiscard]] running_gateway& gateway() { return gateways.back(); }
        [[nodiscard]] order_entry_client_options client(std::string_view name,
                                                        std::uint64_t sequence = 1) const {
            order_entry_client_options options;
            options.exchange = order_entry;
            options.login = login_of(name, sequence);
            options.security = spoken_security();
            return options;
        }
        [[nodiscard]] std::size_t open_orders(session_id of) {
            return now().host.market().state().accounts[number(of)].open_orders;
        }
        void close() {
            for (running_gateway& each : gateways) each.gateway.stop();
            for (life& each : lives) each.facility.stop();
        }

        context& on;
        setting how;
        std::deque<life> lives;
        std::deque<running_gateway> gateways;
        gyre::endpoint link_at;
        gyre::endpoint order_entry;
    };

    struct counted_refusals final : gateway_watcher {
        void link_up(const soup_session&) noexcept override {}
        void link_lost() noexcept override {}
        void link_replaced() noexcept override {}
        void link_refused(link_ending) noexcept override { ++of_link; }
        void login_refused(const refused_login&) noexcept override {}
        void client_shed(const gateway_client&) noexcept override {}

        std::size_t of_link = 0;
    };

    /// Runs `body(scene)` on every context; what `body` begins, it ends.
    template <class Body>
    static void hold(const Body& body, const setting& how = {}) {
        Side::each_context([&](context& on) {
            scene it{on, how};
            bool ended = false;
            X::launch(on, to_the_end(body, it, ended));
            CHECK(Side::run_to_rest(on));
            CHECK(ended);
        });
    }

    static void trades_are_told_to_both() {
        hold([](scene& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            trader<X> b{it.on, it.client("bob")};
            co_await a.in();
            co_await b.in();
            for (std::uint32_t each = 1; each <= 50; ++each) {
                a.send(limit(client_sequence{each}, order_side::buy, 100, 1));
                co_await a.heard_at_least(3 * each - 2);
                b.send(limit(client_sequence{each}, order_side::sell, 100, 1));
                co_await b.heard_at_least(2 * each);
                co_await a.heard_at_least(3 * each);
            }
            CHECK(a.template heard_of<order_executed>().size() == 50);
            CHECK(b.template heard_of<trade_capture_report>().size() == 50);
            CHECK(it.gateway().host.counts().links == 1);
            co_await leave(a, b);
        });
    }

    /// Orders are sent while the gateway dies and another one takes its place.
    static void a_gateway_that_is_started_again_loses_and_doubles_nothing() {
        hold([](scene& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            trader<X> b{it.on, it.client("bob")};
            std::uint32_t sent = 0;
            // A client may take a while to notice that its connection is gone.
            const auto back = [](trader<X>& who, int ends) {
                return [&who, ends] {
                    return who.disconnects >= ends && who.client.machine().logged_in();
                };
            };
            for (int round = 0; round < 5; ++round) {
                co_await a.until(back(a, round));
                co_await b.until(back(b, round));
                for (int each = 0; each < 30; ++each)
                    a.send(limit(client_sequence{++sent}, order_side::buy, 100, 1));
                co_await a.heard_at_least(1);
                co_await it.end_gateway();  // Somewhere among them.
                it.begin_gateway(it.order_entry);
            }
            co_await a.until(back(a, 5));
            // What was carried out is known, each once: `trader` counts the sequence.
            a.send(limit(client_sequence{++sent}, order_side::buy, 100, 1));
            const auto last_is_answered = [&] {
                const auto entered = a.template heard_of<order_entered>();
                return !entered.empty() && entered.back().client_seq == client_sequence{sent};
            };
            co_await a.until(last_is_answered);
            const auto entered = a.template heard_of<order_entered>();
            CHECK(entered.size() == it.open_orders(alice));
            for (std::size_t each = 1; each < entered.size(); ++each)
                CHECK(entered[each].client_seq > entered[each - 1].client_seq);
            CHECK(a.next_sequence == it.who(0).stream().messages().next_sequence());
            co_await leave(a, b);
        });
    }

    static void a_facility_that_is_started_again_is_another_life() {
        hold([](scene& it) -> task {
            trader<X> joins{it.on, it.client("alice")};
            joins.at_new_life = next_life::join;
            trader<X> leaves{it.on, it.client("bob")};
            co_await joins.in();
            co_await leaves.in();
            joins.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await joins.heard_at_least(1);
            it.now().facility.stop();
            co_await it.until([&] { return !it.gateway().host.link_up(); });
            it.begin_life("LIFE2", it.link_at);
            co_await leaves.gone();
            CHECK(leaves.lives == std::vector<soup_session>{"LIFE2"});
            co_await joins.until([&] { return !joins.lives.empty(); });
            co_await joins.in();
            CHECK(joins.client.machine().resume().session == "LIFE2");
            joins.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await joins.heard_at_least(1);
            CHECK(it.open_orders(alice) == 1);
            joins.client.stop();
            co_await joins.gone();
        });
    }

    static void clients_stay_while_the_link_is_away_and_miss_nothing() {
        hold([](scene& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            co_await a.in();
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await a.heard_at_least(1);
            for (std::uint32_t round = 1; round <= 5; ++round) {
                co_await it.until_up();
                co_await it.until([&] { return it.who(0).connection() != nullptr; });
                co_await cut_link(it);
                enter_order other = limit(client_sequence{round}, order_side::sell, 100, 1);
                other.session = bob;
                it.now().host.apply(other);
                it.now().host.announce();
                co_await a.heard_at_least(1 + 2 * round);
            }
            CHECK(a.disconnects == 0);
            CHECK(it.gateway().host.counts().links == 6);
            a.client.stop();
            co_await a.gone();
        });
    }

    /// Else the session that its user has elsewhere would be replaced, for a client that has left.
    static void who_leaves_while_its_login_waits_for_the_link_is_not_let_in() {
        hold([](scene& it) -> task {
            co_await it.until_up();
            it.now().facility.stop();
            co_await it.until([&] { return !it.gateway().host.link_up(); });
            raw_client<X> a{it.on};
            co_await a.connect(it.order_entry);
            a.log_in("alice");
            co_await a.write();
            co_await it.until([&] { return it.gateway().host.counts().logins == 1; });
            const gyre::time_point begin = X::now(it.on);
            a.say(soup_type::client_heartbeat);
            co_await a.write();
            co_await a.leave();
            co_await it.until([&] { return it.gateway().gateway.clients() == 0; });
            CHECK(X::now(it.on) - begin < it.how.host.grace);
        });
    }

    /// Both listen with one socket, as when a supervisor replaces one by the other.
    static void a_gateway_that_takes_another_ones_place_serves_its_clients() {
        const held_listener held;
        inherited_listeners given = held.give();
        setting how;
        how.gateway.clients.tcp = held.at;
        how.gateway.clients.inherited = &given;
        hold(
            [&](scene& it) -> task {
                trader<X> a{it.on, it.client("alice")};
                trader<X> b{it.on, it.client("bob")};
                co_await a.in();
                co_await b.in();
                std::uint32_t sent = 0;
                for (; sent < 30; ++sent)
                    a.send(limit(client_sequence{sent + 1}, order_side::buy, 100, 1));
                co_await a.heard_at_least(1);
                running_gateway& before = it.gateway();
                given = held.give();
                it.begin_gateway(held.at);
                CHECK(given.size() == 0);
                co_await it.until_up();
                before.gateway.drain();
                co_await it.until([&] { return before.gateway.clients() == 0; });
                before.gateway.stop();
                co_await it.until([&] { return before.gateway.idle(); });
                co_await a.until(
                    [&] { return a.disconnects > 0 && a.client.machine().logged_in(); });
                a.send(limit(client_sequence{++sent}, order_side::buy, 100, 1));
                const auto last_is_answered = [&] {
                    const auto entered = a.template heard_of<order_entered>();
                    return entered.back().client_seq == client_sequence{sent};
                };
                co_await a.until(last_is_answered);
                const auto entered = a.template heard_of<order_entered>();
                CHECK(entered.size() == it.open_orders(alice));
                for (std::size_t each = 1; each < entered.size(); ++each)
                    CHECK(entered[each].client_seq > entered[each - 1].client_seq);
                CHECK(before.host.counts().links == 1);
                CHECK(it.gateway().host.counts().links == 1);
                CHECK(it.gateway().gateway.clients() == 2);
                co_await leave(a, b);
                given = held.give();  // For the next backend.
            },
            how);
    }

    /// Whom the facility does not let in takes no client from the one that it was to replace.
    static void a_gateway_that_cannot_take_another_ones_place_takes_no_client() {
        const held_listener held;
        inherited_listeners given = held.give();
        setting how;
        how.gateway.clients.tcp = held.at;
        how.gateway.clients.inherited = &given;
        hold(
            [&](scene& it) -> task {
                co_await it.until_up();
                running_gateway& before = it.gateway();
                given = held.give();
                it.how.gateway.opens_with_link = true;
                it.how.host.password = "wrong";
                it.begin_gateway(held.at);
                counted_refusals refusals;
                it.gateway().host.be_watched(&refusals);
                co_await it.until([&] { return refusals.of_link > 0; });
                std::deque<raw_client<X>> clients;
                for (std::size_t each = 1; each <= 8; ++each) {
                    co_await clients.emplace_back(it.on).connect(held.at);
                    co_await it.until([&] { return before.gateway.clients() == each; });
                }
                CHECK(it.gateway().gateway.clients() == 0);
                for (raw_client<X>& each : clients) co_await each.leave();
                it.gateway().host.be_watched(nullptr);
                given = held.give();  // For the next backend.
            },
            how);
    }

    /// Another one may have its place by then.
    static void a_gateway_that_drains_does_not_connect_again() {
        hold([](scene& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            co_await a.in();
            it.gateway().gateway.drain();
            ::shutdown(descriptor_to(it.link_at), SHUT_RDWR);
            co_await it.until([&] { return it.gateway().gateway.clients() == 0; });
            const gyre::time_point later = X::now(it.on) + 20 * it.how.gateway.reconnect_after;
            co_await it.until([&] { return X::now(it.on) >= later; });
            CHECK(it.gateway().host.counts().links == 1);
            CHECK_FALSE(it.gateway().host.link_up());
            a.client.stop();
            co_await a.gone();
        });
    }

    /// What was on its way is in their streams, so those who stay to the end are told to come again.
    static void a_gateway_that_drains_sends_those_away_who_stay() {
        hold([](scene& it) -> task {
            raw_client<X> a{it.on};
            co_await a.connect(it.order_entry);
            a.log_in("alice");
            co_await a.write();
            co_await a.hear(1);
            it.gateway().gateway.drain();
            CHECK_FALSE(a.ended);
            it.gateway().gateway.send_away();
            co_await a.hear_the_end();
            CHECK(a.last_words() == describe(soup_ending::gateway_goes));
            co_await a.leave();
            co_await it.until([&] { return it.gateway().gateway.clients() == 0; });
            CHECK(it.gateway().host.counts().links == 1);
        });
    }

    /// Each gives the link to the other for longer and longer.
    static void two_gateways_of_one_name_leave_each_other_time() {
        using std::chrono::milliseconds;
        setting how;
        how.gateway.take_back_after = milliseconds{50};
        how.gateway.take_back_after_max = milliseconds{200};
        hold(
            [](scene& it) -> task {
                co_await it.until_up();
                const gyre::time_point begun = X::now(it.on);
                running_gateway& first = it.gateway();
                it.begin_gateway(loopback(0));
                running_gateway& second = it.gateway();
                const auto links = [&] {
                    return first.host.counts().links + second.host.counts().links;
                };
                co_await it.until([&] { return links() >= 9; });
                // The first two come at once; each loses it 50, 100, 200 and 200 milliseconds at least.
                CHECK(X::now(it.on) - begun >= milliseconds{50 + 50 + 100 + 100 + 200 + 200 + 200});
                CHECK((first.host.link_up() || second.host.link_up()));
                first.gateway.stop();
                co_await it.until([&] { return first.gateway.idle(); });
            },
            how);
    }

    static void a_client_that_does_not_read_is_shed_and_others_go_on() {
        setting how;
        how.host.link.window_bytes = link_window_bytes_min;
        how.host.stalled_max = std::chrono::milliseconds{300};
        hold(
            [](scene& it) -> task {
                raw_client<X> slow{it.on};
                co_await slow.connect(it.order_entry);
                slow.log_in("alice");
                slow.say(limit(client_sequence{1}, order_side::buy, 100, 1'000'000));
                co_await slow.write();
                co_await slow.hear(2);
                slow.stop_reading();
                narrow_other_end(slow.native_handle());
                narrow_this_end(slow.native_handle());
                trader<X> b{it.on, it.client("bob")};
                co_await b.in();
                std::uint32_t hits = 0;
                while (it.gateway().host.counts().shed == 0) {
                    for (int each = 0; each < 50; ++each)
                        b.send(limit(client_sequence{++hits}, order_side::sell, 100, 1));
                    co_await b.heard_at_least(2 * std::size_t{hits});
                }
                CHECK(b.disconnects == 0);
                CHECK(b.template heard_of<order_executed>().size() == hits);
                co_await slow.hear_the_end();
                CHECK(slow.nonsense == soup_ending::none);
                co_await it.until([&] { return it.who(0).connection() == nullptr; });
                co_await slow.leave();
                b.client.stop();
                co_await b.gone();
            },
            how);
    }

    static void orders_of_a_gateway_that_dies_follow_their_policy() {
        setting how;
        how.on_disconnect = disconnect_policy::cancel_orders;
        hold(
            [](scene& it) -> task {
                trader<X> a{it.on, it.client("alice")};
                co_await a.in();
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.heard_at_least(1);
                CHECK(it.open_orders(alice) == 1);
                co_await it.end_gateway();
                co_await it.until([&] { return it.open_orders(alice) == 0; });
                a.client.stop();
                co_await a.gone();
            },
            how);
    }

    static void a_wrong_password_of_a_gateway_lets_nobody_in() {
        setting how;
        how.host.password = "wrong";
        how.host.grace = std::chrono::milliseconds{50};
        hold(
            [](scene& it) -> task {
                raw_client<X> a{it.on};
                co_await a.connect(it.order_entry);
                a.log_in("alice");
                co_await a.write();
                co_await a.hear_the_end();
                CHECK(a.last_words() == describe(soup_ending::unreachable));
                CHECK(it.gateway().host.counts().links == 0);
                co_await a.leave();
            },
            how);
    }

    static void bytes_that_are_no_frames_end_their_link_and_no_other() {
        setting how;
        how.facility.gateways.link.hello_within = std::chrono::milliseconds{100};
        hold(
            [](scene& it) -> task {
                trader<X> a{it.on, it.client("alice")};
                co_await a.in();
                const std::array<std::vector<std::byte>, 2> garbage_and_nothing{
                    std::vector<std::byte>(1'000, std::byte{0xa5}), {}};
                for (const std::vector<std::byte>& said : garbage_and_nothing) {
                    auto [error, socket] = co_await X::connect(it.on, it.link_at);
                    REQUIRE_FALSE(error);
                    if (!said.empty())
                        static_cast<void>(co_await socket.write_some(gyre::const_buffer{said}));
                    std::vector<std::byte> heard;
                    std::array<std::byte, 64> buffer;
                    for (;;) {
                        const auto [ended, size] = co_await socket.read_some(buffer);
                        if (ended) break;
                        heard.insert(heard.end(), buffer.begin(),
                                     buffer.begin() + static_cast<std::ptrdiff_t>(size));
                    }
                    const link_ending why =
                        said.empty() ? link_ending::no_hello : link_ending::oversized_frame;
                    REQUIRE(heard.size() == link_header_bytes + link_reason_bytes);
                    CHECK(static_cast<link_ending>(heard.back()) == why);
                    static_cast<void>(socket.close());
                }
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.heard_at_least(1);
                CHECK(a.disconnects == 0);
                CHECK(it.gateway().host.counts().links == 1);
                a.client.stop();
                co_await a.gone();
            },
            how);
    }

    static void a_client_that_breaks_the_protocol_ends_and_no_other() {
        hold([](scene& it) -> task {
            raw_client<X> hostile{it.on};
            hostile.log_in("alice");
            hostile.say(limit(client_sequence{1}, order_side::buy, 100, 5));
            hostile.log_in("alice");
            co_await end_alone(it, hostile, soup_ending::second_login);
        });
    }

    /// Of transports that tell the session of it.
    static void a_packet_that_is_too_long_ends_its_client_and_no_other() {
        hold([](scene& it) -> task {
            raw_client<X> hostile{it.on};
            hostile.log_in("alice");
            const std::array<std::byte, 3> oversized{std::byte{0xff}, std::byte{0xff},
                                                     std::byte{'U'}};
            hostile.say_bytes(oversized);
            co_await end_alone(it, hostile, soup_ending::oversized_packet);
        });
    }

    static void the_day_ends_in_order() {
        hold([](scene& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            co_await a.in();
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await a.heard_at_least(1);
            CHECK_FALSE(it.now().facility.idle());
            it.now().facility.drain();
            co_await a.gone();
            CHECK(a.client.machine().ending() == soup_ending::session_ended);
            co_await it.until([&] { return it.now().facility.idle(); });
        });
    }

    /// Where connections are secured. Whatever was said of it, the time to log in is all it has.
    static void who_stops_in_the_handshake_is_cut_and_it_is_told_why() {
        // The beginning of a record whose rest does not come; and what is none.
        static constexpr std::array<std::byte, 7> begun{std::byte{22}, std::byte{3}, std::byte{1},
                                                        std::byte{1},  std::byte{0}, std::byte{1},
                                                        std::byte{0}};
        static constexpr std::array<std::byte, 7> other{
            std::byte{'G'}, std::byte{'E'},  std::byte{'T'}, std::byte{' '},
            std::byte{'/'}, std::byte{'\n'}, std::byte{'\n'}};
        std::vector<std::string> reasons;
        setting how;
        how.gateway.clients.on_insecure = [&reasons](const gyre::endpoint&,
                                                     std::string_view reason) {
            reasons.emplace_back(reason);
        };
        how.host.sessions.login_within = std::chrono::milliseconds{400};
        hold(
            [&reasons](scene& it) -> task {
                trader<X> a{it.on, it.client("alice")};
                co_await a.in();
                reasons.clear();  // On a busy machine it may have come too late, too.
                const int disconnects = a.disconnects;
                const gyre::time_point begin = X::now(it.on);
                typename X::event silent_is_over;
                typename X::event begun_is_over;
                X::launch(it.on, say_and_wait(it, {}, silent_is_over));
                X::launch(it.on, say_and_wait(it, begun, begun_is_over));
                static_cast<void>(co_await silent_is_over.wait());
                if (!begun_is_over.is_set()) static_cast<void>(co_await begun_is_over.wait());
                CHECK(X::now(it.on) - begin >= how_long(it));
                REQUIRE(reasons.size() == 2);
                for (const std::string& each : reasons) CHECK(each == "TLS handshake: timed out");
                typename X::event other_is_over;
                X::launch(it.on, say_and_wait(it, other, other_is_over));
                static_cast<void>(co_await other_is_over.wait());
                REQUIRE(reasons.size() == 3);
                CHECK(reasons.back() != reasons.front());
                CHECK_FALSE(reasons.back().empty());
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.heard_at_least(1);
                CHECK(a.disconnects == disconnects);
                a.client.stop();
                co_await a.gone();
            },
            how);
    }
    [[nodiscard]] static gyre::duration how_long(const scene& it) {
        return it.how.host.sessions.login_within;
    }
    /// Reads to the end of it.
    static task say_and_wait(scene& it, std::span<const std::byte> what, typename X::event& over) {
        auto [error, socket] = co_await X::connect(it.on, it.order_entry);
        REQUIRE_FALSE(error);
        if (!what.empty()) {
            const auto [lost, size] = co_await socket.write_some(gyre::const_buffer{what});
            CHECK_FALSE(lost);
            CHECK(size == what.size());
        }
        std::array<std::byte, 256> heard;
        for (;;) {
            const auto [ended, size] = co_await socket.read_some(gyre::mutable_buffer{heard});
            if (ended) break;
        }
        static_cast<void>(socket.close());
        over.set();
    }

    static void a_thousand_clients_trade_over_one_link() {
        static constexpr std::uint16_t crowd = 1'000;
        static constexpr std::size_t orders_each = 5;
        if (!allow_descriptors(2 * crowd + 200)) return gyre::testing::skip("too few descriptors");
        hold(
            [](scene& it) -> task {
                std::deque<trader<X>> all;
                for (std::uint16_t each = 1; each <= crowd; ++each) {
                    all.emplace_back(it.on, member(it, each));
                    // No more at once than wait to be accepted, or the kernel asks again a second later.
                    if (each % 50 == 0) co_await all.back().in();
                }
                for (trader<X>& each : all) co_await each.in();
                for (std::uint32_t order = 1; order <= orders_each; ++order)
                    for (std::uint16_t each = 0; each < crowd; ++each)
                        all[each].send(limit(client_sequence{order},
                                             each % 2 == 0 ? order_side::buy : order_side::sell,
                                             100, 1));
                // Each order trades with one of another client, or rests for a while before.
                for (trader<X>& each : all) {
                    co_await each.until([&each] {
                        return each.template heard_of<order_executed>().size() == orders_each;
                    });
                    CHECK(each.disconnects == 0);
                }
                CHECK(it.gateway().host.counts().links == 1);
                CHECK(it.gateway().host.counts().forwarded == crowd * orders_each);
                CHECK(it.now().host.counts().malformed == 0);
                for (trader<X>& each : all) each.client.stop();
                for (trader<X>& each : all) co_await each.gone();
            },
            crowded(crowd));
    }

private:
    template <class Body>
    static task to_the_end(const Body& body, scene& it, bool& ended) {
        co_await body(it);
        it.close();
        ended = true;
    }

    /// What `hostile` has to say ends its session and leaves that of another client as it is.
    static task end_alone(scene& it, raw_client<X>& hostile, soup_ending why) {
        trader<X> b{it.on, it.client("bob")};
        co_await b.in();
        co_await hostile.connect(it.order_entry);
        co_await hostile.write();
        co_await hostile.hear_the_end();
        // A WebSocket whose rule is broken has no word behind its close frame.
        const bool closed = hostile.closed_with(gyre::websocket::close_code::message_too_big);
        CHECK((hostile.last_words() == describe(why) || closed));
        b.send(limit(client_sequence{1}, order_side::sell, 110, 5));
        co_await b.heard_at_least(1);
        CHECK(b.disconnects == 0);
        co_await hostile.leave();
        b.client.stop();
        co_await b.gone();
    }

    static task leave(trader<X>& a, trader<X>& b) {
        a.client.stop();
        b.client.stop();
        co_await a.gone();
        co_await b.gone();
    }

    /// Connects as the gateway does, which ends its link, and goes again.
    /// As a network does, and waits for the next link.
    static task cut_link(scene& it) {
        const std::uint64_t before = it.gateway().host.counts().links;
        ::shutdown(descriptor_to(it.link_at), SHUT_RDWR);
        co_await it.until([&] { return it.gateway().host.counts().links > before; });
    }

    [[nodiscard]] static bool allow_descriptors(rlim_t wanted) {
        rlimit limit{};
        if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < wanted) return false;
        if (limit.rlim_cur >= wanted) return true;
        limit.rlim_cur = wanted;
        return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
    }

    [[nodiscard]] static std::string name_of(std::uint16_t member) {
        return "c" + std::to_string(member);
    }
    [[nodiscard]] static order_entry_client_options member(scene& it, std::uint16_t number) {
        const std::string name = name_of(number);
        order_entry_client_options options = it.client(name);
        options.timer_tick = std::chrono::seconds{5};
        options.framing.buffer_bytes_max = 4 * 1024;
        return options;
    }
    /// One account for all: who trades with whom does not matter.
    [[nodiscard]] static setting crowded(std::uint16_t crowd) {
        setting how;
        how.rules.participants.clear();
        how.host.users.users.clear();
        how.rules.gateways = {{"gw1", "link", {}}};
        how.rules.sequencing.limits.sessions_max = how.rules.sequencing.limits.accounts_max = crowd;
        how.rules.sequencing.limits.holdings_max = 2 * crowd;
        how.rules.stream.bytes_max = std::size_t{64} << 10;
        how.rules.stream.unread_bytes_max = std::size_t{256} << 10;
        for (std::uint16_t each = 1; each <= crowd; ++each) {
            const std::string name = name_of(each);
            how.rules.participants.push_back({.username = std::string_view{name},
                                              .secret = "secret",
                                              .session = session_id{each}});
            how.host.users.users.push_back(
                {.username = std::string_view{name}, .secrets = {"secret"}});
        }
        how.host.logins.checks_per_second_max = 1'000'000;
        how.host.logins.checks_at_once_max = crowd;
        how.host.sessions.heartbeat_after = std::chrono::seconds{5};
        how.host.sessions.dead_after = std::chrono::seconds{60};
        how.host.link.window_bytes = link_window_bytes_min;
        how.gateway.clients.connections_max = crowd + 8;
        how.gateway.clients.framing.buffer_bytes_max = 4 * 1024;
        how.facility.gateways.link.channels_max = crowd;
        how.gateway.clients.timer_tick = how.facility.timer_tick = std::chrono::milliseconds{50};
        return how;
    }
};

}  // namespace exchange::testing
