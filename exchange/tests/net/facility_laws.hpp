// SPDX-License-Identifier: BSL-1.0
//
// What a matching facility promises, whichever library carries it: one body judges all of them.
//
// Everything runs on one context over loopback: the facility, its clients, a listener of the feed. The
// files that list these laws say which facility and which context: gyre's coroutines on every backend,
// Asio's coroutines, Asio's callbacks. bad_input_laws.hpp is about clients that do wrong.
#pragma once

#include <exchange/codec/participant_codec.hpp>
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/raw_client.hpp>

#include <deque>
#include <string>

namespace exchange::testing {

template <class Side, class Facility>
struct facility_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void trades_are_told_to_both_and_to_the_public() {
        hold([](fixture& it) -> task {
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
            const std::uint64_t told = it.public_messages();
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
        hold([](fixture& it) -> task {
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
        hold([](fixture& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            co_await a.in();
            for (std::uint32_t each = 1; each <= 300; ++each)
                a.send(limit(client_sequence{each}, order_side::buy, each, 1));
            co_await a.heard_at_least(300);
            const std::uint64_t told = it.public_messages();
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
        hold([](fixture& it) -> task {
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

    /// Both orders of what has to be waited for: the delay of a wrong password, and a turn to be checked.
    static void a_wrong_login_is_told_late_and_holds_nobody() {
        day today;
        today.how.timer_tick = std::chrono::milliseconds{5};
        today.rules.logins.delay_first = std::chrono::milliseconds{200};
        hold(
            [](fixture& it) -> task {
                soup_login guess = login_of("bob");
                guess.password = "guess";
                raw_client<X> stranger{it.on};
                co_await stranger.connect(it.facility->order_entry());
                const gyre::time_point begun = X::now(it.on);
                stranger.say(soup_type::login_request, format_soup_login(guess));
                stranger.say(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await stranger.write();
                trader<X> a{it.on, it.client("alice")};
                co_await a.in();
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.heard_at_least(1);
                CHECK(stranger.heard.empty());

                co_await stranger.hear_the_end();
                CHECK(X::now(it.on) - begun >= std::chrono::milliseconds{190});
                REQUIRE(stranger.heard.size() == 1);
                CHECK(stranger.heard[0].type == soup_type::login_rejected);
                CHECK(it.open_orders(alice) == 1);
                co_await stranger.leave();
                a.client.stop();
                co_await a.gone();
                co_await until_idle(it);
            },
            today);
    }

    static void logins_that_wait_for_their_turn_are_let_in_with_what_they_sent_behind() {
        day today;
        today.how.timer_tick = std::chrono::milliseconds{5};
        today.rules.logins.checks_per_second_max = 10;
        today.rules.logins.checks_at_once_max = 1;
        hold(
            [](fixture& it) -> task {
                raw_client<X> b{it.on};
                co_await b.connect(it.facility->order_entry());
                b.log_in("bob");
                co_await b.write();
                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                a.log_in("alice");
                a.say(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.write();
                co_await a.hear(2);
                co_await b.hear(1);
                CHECK(a.template heard_of<order_entered>().size() == 1);
                co_await a.leave();
                co_await b.leave();
                co_await until_idle(it);
            },
            today);
    }

    static void a_facility_that_stops_leaves_no_login_behind() {
        day today;
        today.rules.logins.delay_first = std::chrono::hours{1};
        today.rules.logins.delay_max = std::chrono::hours{1};
        hold(
            [](fixture& it) -> task {
                soup_login guess = login_of("bob");
                guess.password = "guess";
                raw_client<X> stranger{it.on};
                co_await stranger.connect(it.facility->order_entry());
                stranger.say(soup_type::login_request, format_soup_login(guess));
                co_await stranger.write();
                trader<X> a{it.on, it.client("alice")};  // By then, the other one is refused.
                co_await a.in();
                it.facility->stop();
                co_await stranger.hear_the_end();
                CHECK(stranger.heard.empty());
                co_await stranger.leave();
                a.client.stop();
                co_await a.gone();
            },
            today);
    }

    static void a_participant_that_is_added_trades_and_one_that_is_removed_is_cut() {
        day today;
        today.rules.participants_max = 3;
        today.on_disconnect = disconnect_policy::cancel_orders;
        hold(
            [](fixture& it) -> task {
                trader<X> ops{it.on, it.client("ops")};
                trader<X> a{it.on, it.client("alice")};
                co_await ops.in();
                co_await a.in();
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.heard_at_least(1);
                std::array<std::byte, message_bytes_of<remove_participant>> removal;
                encode(remove_participant{to_field<6>("alice")}, removal);
                CHECK(ops.client.send(removal));
                co_await ops.heard_at_least(1);
                co_await a.gone();  // It has come again, and was refused.
                CHECK(a.client.machine().rejected() == soup_reject::not_authorized);
                CHECK(it.open_orders(alice) == 0);

                std::array<std::byte, message_bytes_of<define_participant>> addition;
                encode(define_participant{to_field<6>("carol"), to_field<128>("secret"), alice},
                       addition);
                CHECK(ops.client.send(addition));
                co_await ops.heard_at_least(2);
                trader<X> c{it.on, it.client("carol")};
                co_await c.in();
                c.send(limit(client_sequence{2}, order_side::buy, 100, 5));
                co_await c.heard_at_least(1);
                CHECK(it.open_orders(alice) == 1);
                c.client.stop();
                ops.client.stop();
                co_await c.gone();
                co_await ops.gone();
                co_await until_idle(it);
            },
            today);
    }

    /// Several connections of one user among them.
    static void twenty_operators_at_once_hear_their_own_answers() {
        static constexpr std::uint32_t rounds = 10;
        day today;
        today.how.connections_max = 24;
        today.rules.operator_connections_max = 20;
        today.rules.operators.push_back({"floor", "secret", operator_role::market});
        hold(
            [](fixture& it) -> task {
                std::deque<trader<X>> all;
                for (int each = 0; each < 20; ++each)
                    all.emplace_back(it.on, it.client(each % 2 == 0 ? "ops" : "floor"));
                for (trader<X>& each : all) co_await each.in();
                for (std::uint32_t round = 0; round < rounds; ++round)
                    for (std::uint32_t each = 0; each < 20; ++each)
                        all[each].send(
                            set_settlement_price{instrument_id{100 + each}, price_ticks{round}});
                for (trader<X>& each : all) co_await each.heard_at_least(rounds);
                for (std::uint32_t each = 0; each < 20; ++each) {
                    collector<admin_rejected> answers;
                    for (const heard_message& message : all[each].messages)
                        static_cast<void>(decode_operator_event(message.bytes, answers));
                    CHECK(answers.taken.size() == rounds);
                    for (const admin_rejected& answer : answers.taken)
                        CHECK(answer.subject == 100 + each);
                    CHECK(all[each].disconnects == 0);
                    all[each].client.stop();
                }
                for (trader<X>& each : all) co_await each.gone();
                co_await until_idle(it);
            },
            today);
    }

    static void strangers_do_not_keep_participants_out() {
        facility_options crowded = on_loopback();
        crowded.connections_max = 4;
        hold(
            [](fixture& it) -> task {
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
            {.how = crowded});
    }

    static void bytes_that_are_no_packets_end_the_connection_with_the_reason() {
        hold([](fixture& it) -> task {
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
            [](fixture& it) -> task {
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
            {.how = strict});
    }

    static void the_day_ends_in_order() {
        hold([](fixture& it) -> task {
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

    static void orders_of_a_lost_connection_follow_its_policy_and_the_public_is_told() {
        day today{.on_disconnect = disconnect_policy::cancel_orders};
        today.rules.feed.heartbeat_after = std::chrono::hours{1};  // Nothing else sends the feed,
        today.how.timer_tick = std::chrono::hours{1};              // also no tick.
        hold(
            [](fixture& it) -> task {
                trader<X> a{it.on, it.client("alice")};
                co_await a.in();
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                a.send(limit(client_sequence{2}, order_side::buy, 100, 5));
                co_await a.heard_at_least(2);
                const std::uint64_t told = it.public_messages();

                a.client.stop();
                co_await it.probe->heard_at_least(told + 6);
                CHECK(it.open_orders(alice) == 0);
                co_await a.gone();

                trader<X> again{it.on, it.client("alice")};
                co_await again.heard_at_least(4);
                const auto cancelled = again.template heard_of<order_cancelled>();
                CHECK(cancelled.size() == 2);
                for (const order_cancelled& each : cancelled)
                    CHECK(each.reason == cancel_reason::session_ended);
                again.client.stop();
                co_await again.gone();
            },
            today);
    }

    static void orders_of_a_silent_client_follow_its_policy_and_the_public_is_told() {
        day today{.on_disconnect = disconnect_policy::cancel_orders};
        today.rules.feed.heartbeat_after = std::chrono::hours{1};
        today.how.sessions.dead_after = std::chrono::milliseconds{200};
        today.how.linger = std::chrono::milliseconds{50};
        hold(
            [](fixture& it) -> task {
                const std::uint64_t told = it.public_messages();
                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                a.log_in("alice");
                a.say(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.write();

                co_await it.probe->heard_at_least(told + 6);  // Although the client is still there.
                CHECK(it.open_orders(alice) == 0);
                co_await a.hear_the_end();
                CHECK(a.last_words() == describe(soup_ending::peer_silent));
                co_await a.leave();
                co_await until_idle(it);
            },
            today);
    }

    static void the_operator_halts_the_market_and_orders_are_refused() {
        hold([](fixture& it) -> task {
            trader<X> a{it.on, it.client("alice")};
            // Not what the opening told.
            trader<X> ops{it.on, it.client("ops", 0)};
            co_await a.in();
            co_await ops.in();
            ops.next_sequence = ops.client.machine().resume().sequence;
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await a.heard_at_least(1);

            ops.send(set_phase{the_market, market_phase::halted});
            co_await ops.heard_at_least(1);
            a.send(limit(client_sequence{2}, order_side::buy, 100, 5));
            co_await a.heard_at_least(2);
            a.send(cancel_of(client_sequence{3}, client_sequence{1}));
            co_await a.heard_at_least(3);

            const auto rejected = a.template heard_of<order_rejected>();
            CHECK(rejected.size() == 1);
            for (const order_rejected& each : rejected) {
                CHECK(each.reason == reject_reason::market_halted);
                CHECK(each.client_seq == client_sequence{2});
            }
            CHECK(a.template heard_of<order_cancelled>().size() == 1);
            collector<admin_accepted> accepted;
            static_cast<void>(decode_operator_event(ops.messages[0].bytes, accepted));
            CHECK(accepted.taken.size() == 1);
            a.client.stop();
            ops.client.stop();
            co_await a.gone();
            co_await ops.gone();
        });
    }
};

}  // namespace exchange::testing
