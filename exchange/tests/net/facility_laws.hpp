// SPDX-License-Identifier: BSL-1.0
//
// What a matching facility promises, whichever library carries it: one body judges all of them.
//
// Everything runs on one context over loopback: the facility, its clients, a listener of the feed. The
// files that list these laws say which facility and which context: gyre's coroutines on every backend,
// Asio's coroutines, Asio's callbacks.
#pragma once

#include <exchange/net/application/matching_facility.hpp>
#include <exchange/tests/net/trader.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace exchange::testing {

[[nodiscard]] inline gyre::endpoint loopback(std::uint16_t port) {
    return gyre::endpoint{gyre::ipv4::loopback(), port};
}

[[nodiscard]] inline facility_options on_loopback() {
    facility_options options;
    options.order_entry = loopback(0);
    options.feed = loopback(9);  // Until a listener says where it is.
    options.feed_from = loopback(0);
    options.feed_requests = loopback(0);
    options.connections_max = 8;
    return options;
}

/// @tparam  World     How a test gets contexts: see gyre_world.hpp.
/// @tparam  Facility  A matching_facility, or what has its members.
template <class World, class Facility>
struct facility_law {
    using X = typename World::traits;
    using context = typename X::context;
    using task = typename X::template task<void>;

    /// A market that is open, and everybody who is there.
    struct floor {
        floor(context& on, const matching_service_options& rules, facility_options how,
              disconnect_policy on_disconnect = disconnect_policy::keep_orders)
            : on{on}, service{rules, X::now(on)} {
            open_market(service, on_disconnect);
            feed_listener_options hearing;
            hearing.group = loopback(0);
            hearing.ask_from = loopback(0);
            probe.emplace(on, hearing);
            REQUIRE(probe->feed.start().ok());
            how.feed = probe->feed.local();
            facility.emplace(on, service, how);
            REQUIRE(facility->start().ok());
            probe->feed.ask(facility->feed_requests());
        }

        [[nodiscard]] order_entry_client_options client(std::string_view name,
                                                        std::uint64_t sequence = 1) const {
            order_entry_client_options options;
            options.exchange = facility->order_entry();
            options.login = login_of(name, sequence);
            return options;
        }
        [[nodiscard]] feed_listener_options late_listener() const {
            feed_listener_options options;
            options.group = loopback(0);
            options.ask_from = loopback(0);
            options.requests = facility->feed_requests();
            return options;
        }
        [[nodiscard]] std::size_t open_orders(session_id of) const {
            return service.market().state().accounts[number(of)].open_orders;
        }
        void close() {
            facility->stop();
            probe->feed.stop();
        }

        context& on;
        matching_service service;
        std::optional<listener<X>> probe;
        std::optional<Facility> facility;
    };

    /// Runs `body(floor)` on every context; what `body` begins, it ends.
    template <class Body>
    static void hold(const Body& body, const matching_service_options& rules = two_traders(),
                     const facility_options& how = on_loopback()) {
        World::each_context([&](context& on) {
            floor it{on, rules, how};
            bool ended = false;
            X::launch(on, to_the_end(body, it, ended));
            CHECK(World::run_to_rest(on));
            CHECK(ended);
        });
    }

    static void trades_are_told_to_both_and_to_the_public() {
        hold([](floor& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            trader<X> b{it.on, it.client("bob")};
            co_await a.in();
            co_await b.in();
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await a.heard_at_least(1);
            b.send(limit(client_sequence{1}, order_side::sell, 100, 2));
            co_await b.heard_at_least(2);
            co_await a.heard_at_least(3);

            CHECK(a.template heard_of<order_entered>().size() == 1);
            CHECK(a.template heard_of<order_executed>().size() == 1);
            CHECK(b.template heard_of<trade_capture_report>().size() == 1);
            const std::uint64_t told = it.service.feed().messages().next_sequence() - 1;
            co_await it.probe->heard_at_least(told);
            CHECK(it.probe->messages.size() == told);
            CHECK(it.facility->feed().refused == 0);
            a.client.stop();
            b.client.stop();
            co_await a.gone();
            co_await b.gone();
        });
    }

    static void a_lost_connection_loses_no_message() {
        hold([](floor& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            trader<X> b{it.on, it.client("bob")};
            co_await a.in();
            co_await b.in();
            for (std::uint32_t each = 1; each <= 20; ++each) {
                a.send(limit(client_sequence{each}, order_side::buy, 100, 1));
                co_await a.heard_at_least(3 * each - 2);
                a.client.hang_up();
                b.send(limit(client_sequence{each}, order_side::sell, 100, 1));
                co_await a.heard_at_least(3 * each);  // It has resumed, and heard the trade.
                co_await a.in();
            }
            CHECK(a.disconnects == 20);
            CHECK(a.messages.size() == 60);
            CHECK(it.open_orders(alice) == 0);
            a.client.stop();
            b.client.stop();
            co_await a.gone();
            co_await b.gone();
        });
    }

    static void a_late_listener_asks_for_what_it_missed() {
        hold([](floor& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            co_await a.in();
            for (std::uint32_t each = 1; each <= 300; ++each)
                a.send(limit(client_sequence{each}, order_side::buy, each, 1));
            co_await a.heard_at_least(300);
            const std::uint64_t told = it.service.feed().messages().next_sequence() - 1;
            co_await it.probe->heard_at_least(told);

            // It hears nothing of the feed itself but heartbeats, which tell it how far that is.
            listener<X> late{it.on, it.late_listener()};
            REQUIRE(late.feed.start().ok());
            const auto header = format_mold_header({"FEED", told + 1, mold_heartbeat});
            auto [error, socket] = X::bind(it.on, loopback(0), {});
            REQUIRE_FALSE(error);
            const gyre::const_buffer heartbeat{header};
            const auto [unsent] = co_await socket.send_to({&heartbeat, 1}, late.feed.local());
            CHECK_FALSE(unsent);
            co_await late.heard_at_least(told);

            CHECK(late.messages == it.probe->messages);
            CHECK(late.missing == 0);
            CHECK(it.facility->feed().answers > 1);
            late.feed.stop();
            a.client.stop();
            co_await a.gone();
        });
    }

    static void the_newest_login_of_a_participant_wins() {
        hold([](floor& it) -> task {
            trader<X> first{it.on, it.client("alice")};
            co_await first.in();
            trader<X> second{it.on, it.client("alice")};
            co_await second.in();
            co_await first.until([&] { return first.disconnects > 0; });
            first.client.stop();
            co_await first.gone();
            // They may have taken it from each other before the first one was told to stop.
            co_await second.in();
            second.send(limit(client_sequence{1}, order_side::buy, 100, 1));
            co_await second.heard_at_least(1);
            CHECK(it.open_orders(alice) == 1);
            second.client.stop();
            co_await second.gone();
        });
    }

    static void strangers_do_not_keep_participants_out() {
        facility_options crowded = on_loopback();
        crowded.connections_max = 4;
        hold(
            [](floor& it) -> task {
                std::vector<typename X::stream_socket> strangers;
                for (int each = 0; each < 12; ++each) {
                    auto [error, socket] = co_await X::connect(it.on, it.facility->order_entry());
                    CHECK_FALSE(error);
                    strangers.push_back(std::move(socket));
                }
                trader<X> a{it.on, it.client("alice")};
                trader<X> b{it.on, it.client("bob")};
                co_await a.in();
                co_await b.in();
                a.client.stop();
                b.client.stop();
                co_await a.gone();
                co_await b.gone();
            },
            two_traders(), crowded);
    }

    static void bytes_that_are_no_packets_end_the_connection_with_the_reason() {
        hold([](floor& it) -> task {
            auto [error, socket] = co_await X::connect(it.on, it.facility->order_entry());
            REQUIRE_FALSE(error);
            const std::array<std::byte, 3> oversized{std::byte{0xff}, std::byte{0xff},
                                                     std::byte{'L'}};
            static_cast<void>(co_await socket.write_some(gyre::const_buffer{oversized}));
            std::string heard;
            std::array<std::byte, 256> buffer;
            for (;;) {
                const auto [ended, size] = co_await socket.read_some(buffer);
                if (ended) {
                    CHECK(ended == gyre::errc::eof);
                    break;
                }
                heard.append(reinterpret_cast<const char*>(buffer.data()), size);
            }
            CHECK(heard.ends_with(describe(soup_ending::oversized_packet)));
            CHECK_FALSE(socket.close().error());
            co_await until_idle(it);
        });
    }

    static void who_does_not_log_in_is_sent_away() {
        facility_options strict = on_loopback();
        strict.sessions.login_within = std::chrono::milliseconds{100};
        strict.linger = std::chrono::milliseconds{100};
        hold(
            [](floor& it) -> task {
                auto [error, socket] = co_await X::connect(it.on, it.facility->order_entry());
                REQUIRE_FALSE(error);
                std::array<std::byte, 256> buffer;
                const auto [failed, size] = co_await socket.read_some(buffer);
                CHECK_FALSE(failed);
                CHECK(size > soup_header_bytes);  // It is told why.
                const auto [ended, none] = co_await socket.read_some(buffer);
                CHECK(ended == gyre::errc::eof);
                co_await until_idle(it);  // Although we do not close.
            },
            two_traders(), strict);
    }

    static void the_day_ends_in_order() {
        hold([](floor& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            co_await a.in();
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await a.heard_at_least(1);
            it.facility->drain();
            co_await a.gone();
            CHECK(a.client.machine().ending() == soup_ending::session_ended);
            CHECK(a.messages.size() == 1);
            co_await until_idle(it);
            co_await it.probe->until([&] { return it.probe->over; });
        });
    }

private:
    template <class Body>
    static task to_the_end(const Body& body, floor& it, bool& ended) {
        co_await body(it);
        it.close();
        ended = true;
    }

    static task until_idle(floor& it) {
        typename X::timer timer{it.on};
        while (!it.facility->idle())
            static_cast<void>(
                co_await timer.wait_until(X::now(it.on) + std::chrono::milliseconds{1}));
    }
};

}  // namespace exchange::testing
