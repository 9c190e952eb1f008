// SPDX-License-Identifier: BSL-1.0
//
// What no client can do to a facility, whatever it sends: each wrong thing has its answer, nothing is lost,
// and the book stays as it is.
//
// Over the wire, that is: what each refusal means is the business of the codec's and the core's own tests.
#pragma once

#include <exchange/codec/book_codec.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/raw_client.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace exchange::testing {

/// Counts what a facility lets be observed.
struct span_counter final : span_observer {
    std::uint64_t reads = 0;
    std::uint64_t packets = 0;
    std::uint64_t writes = 0;
    bool open = false;  ///< Something was received, and not everything written since.

    void received() noexcept override {
        ++reads;
        open = true;
    }
    void carried_out() noexcept override { ++packets; }
    void written() noexcept override {
        ++writes;
        open = false;
    }
};

template <class Side, class Facility>
struct bad_input_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void messages_that_are_none_are_refused_one_by_one() {
        hold([](fixture& it) -> task {
            trader<X> b{it.on, it.client("bob")};
            co_await b.in();
            b.send(limit(client_sequence{1}, order_side::sell, 100, 5));
            co_await b.heard_at_least(1);
            const std::uint64_t told = it.public_messages();
            const std::vector<std::byte> book = pages_of_book(it);
            const std::uint64_t commands = it.host.counts().commands;
            raw_client<X> a{it.on};
            co_await a.connect(it.facility->order_entry());
            a.log_in("alice");
            const std::vector<std::vector<std::byte>> nonsense = bytes_that_are_no_command();
            for (const auto& each : nonsense) a.say(soup_type::unsequenced, each);
            co_await a.write();
            co_await a.hear(1 + nonsense.size());

            CHECK(a.refusals().size() == nonsense.size());
            for (const message_rejected& each : a.refusals())
                CHECK(each.error != decode_error::none);
            CHECK(it.host.counts().malformed == nonsense.size());
            CHECK(it.host.counts().commands == commands);
            CHECK(it.public_messages() == told);
            CHECK(pages_of_book(it) == book);

            a.say(limit(client_sequence{1}, order_side::buy, 100, 5));  // As if nothing had been.
            co_await a.write();
            co_await b.heard_at_least(3);
            CHECK(it.open_orders(bob) == 0);
            co_await a.leave();
            b.client.stop();
            co_await b.gone();
            co_await until_idle(it);
        });
    }

    static void commands_that_cannot_be_are_refused_with_the_reason() {
        hold([](fixture& it) -> task {
            raw_client<X> a{it.on};
            co_await a.connect(it.facility->order_entry());
            a.log_in("alice");
            a.say(limit(client_sequence{1}, order_side::buy, 100, 5));
            a.say(limit(client_sequence{2}, order_side::sell, 110, 5));
            co_await a.write();
            co_await a.hear(3);
            const std::uint64_t told = it.public_messages();
            const std::vector<std::byte> book = pages_of_book(it);

            a.say(limit(client_sequence{2}, order_side::buy, 100, 5));
            enter_order elsewhere = limit(client_sequence{3}, order_side::buy, 100, 5);
            elsewhere.instrument = instrument_id{3};
            a.say(elsewhere);
            a.say(limit(client_sequence{4}, order_side::buy, price_ticks_max, huge));
            a.say(limit(client_sequence{5}, order_side::buy, 100, 0));
            a.say(cancel_of(client_sequence{6}, client_sequence{77}));
            a.say(amend_order{session_id::none,
                              client_sequence{7},
                              {order_id::none, client_sequence{1}},
                              -price_ticks_max,
                              huge});
            a.say(enter_quote{session_id::none, client_sequence{8}, the_market,
                              self_trade_action::account_default, -price_ticks_max, price_ticks_max,
                              1, huge});
            co_await a.write();
            co_await a.hear(3 + 7);  // Each is answered.

            std::vector<reject_reason> reasons;
            for (const order_rejected& each : a.template heard_of<order_rejected>())
                reasons.push_back(each.reason);
            using enum reject_reason;
            CHECK(reasons == std::vector{duplicate_client_sequence, unknown_instrument,
                                         value_over_max, invalid_quantity, unknown_order,
                                         value_over_max, value_over_max});
            CHECK(it.public_messages() == told);
            CHECK(pages_of_book(it) == book);

            a.say(cancel_of(client_sequence{9}, client_sequence{1}));
            a.say(cancel_of(client_sequence{10}, client_sequence{2}));
            co_await a.write();
            co_await a.hear(3 + 7 + 2);
            CHECK(a.template heard_of<order_entered>().size() == 2);
            CHECK(a.template heard_of<order_cancelled>().size() == 2);
            CHECK(it.open_orders(alice) == 0);
            CHECK(pages_of_book(it) != book);  // So they do tell.
            CHECK(a.heard.size() == 3 + 7 + 2);
            co_await a.leave();
            co_await until_idle(it);
        });
    }

    static void packets_out_of_phase_end_the_connection_with_the_reason() {
        hold([](fixture& it) -> task {
            trader<X> b{it.on, it.client("bob")};
            co_await b.in();
            b.send(limit(client_sequence{1}, order_side::sell, 100, 5));
            co_await b.heard_at_least(1);
            const std::uint64_t told = it.public_messages();
            for (const wrong_packets& each : wrong_packets_of_all_kinds()) {
                INFO(describe(each.why));
                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                if (each.logged_in) a.log_in("alice");
                a.say_bytes(each.bytes);
                a.say(limit(client_sequence{1}, order_side::buy, 100, 5));  // Too late.
                a.finish_after_write();
                co_await a.write();
                co_await a.hear_the_end();

                CHECK(a.last_words() == describe(each.why));
                CHECK(a.heard.size() == (each.logged_in ? 2 : 1));
                co_await a.leave();
            }
            CHECK(it.public_messages() == told);
            CHECK(it.open_orders(alice) == 0);
            CHECK(it.open_orders(bob) == 1);
            CHECK(b.disconnects == 0);
            b.client.stop();
            co_await b.gone();
            co_await until_idle(it);
        });
    }

    static void a_wrong_login_is_rejected_with_the_reason() {
        hold([](fixture& it) -> task {
            soup_login guess = login_of("alice");
            guess.password = "guess";
            soup_login yesterday = login_of("alice");
            yesterday.session = "YESTERDAY";
            const soup_login tomorrow = login_of("alice", 2);  // There is nothing yet.
            for (const auto& [login, why] :
                 {std::pair{guess, soup_reject::not_authorized},
                  std::pair{login_of("eve"), soup_reject::not_authorized},
                  std::pair{yesterday, soup_reject::session_not_available},
                  std::pair{tomorrow, soup_reject::session_not_available}}) {
                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                a.say(soup_type::login_request, format_soup_login(login));
                a.say(limit(client_sequence{1}, order_side::buy, 100, 5));  // Of no session.
                co_await a.write();
                co_await a.hear_the_end();

                REQUIRE(a.heard.size() == 1);
                CHECK(a.heard[0].type == soup_type::login_rejected);
                CHECK(a.heard[0].payload ==
                      std::vector{std::byte{static_cast<unsigned char>(why)}});
                co_await a.leave();
            }
            CHECK(it.open_orders(alice) == 0);
            co_await until_idle(it);
        });
    }

    static void a_torn_packet_does_nothing() {
        hold([](fixture& it) -> task {
            const std::uint64_t commands = it.host.counts().commands;
            raw_client<X> a{it.on};
            co_await a.connect(it.facility->order_entry());
            a.log_in("alice");
            co_await a.write();
            co_await a.hear(1);
            a.say(limit(client_sequence{1}, order_side::buy, 100, 5));
            a.unsent.pop_back();
            a.finish_after_write();
            co_await a.write();
            co_await a.hear_the_end();
            co_await a.leave();
            co_await until_idle(it);

            CHECK(it.open_orders(alice) == 0);
            CHECK(it.host.counts().commands == commands + 1);  // The end of the session.
            CHECK(it.host.counts().malformed == 0);
        });
    }

    static void where_bytes_are_cut_makes_no_difference() {
        const transcript whole = transcript_of(cut::nowhere);
        const transcript bytewise = transcript_of(cut::everywhere);

        CHECK(whole.spans.reads < 4 * whole.contexts);
        CHECK(bytewise.spans.reads == bytewise.bytes_written);
        CHECK(whole.sequenced.size() == 10 * whole.contexts);
        CHECK(whole.others.size() == 2 * whole.contexts);  // The login's answer, and a refusal.
        CHECK(bytewise.sequenced == whole.sequenced);
        CHECK(bytewise.others == whole.others);
        CHECK(bytewise.told == whole.told);
        for (const transcript& each : {whole, bytewise}) {
            CHECK(each.spans.packets == 15 * each.contexts);
            CHECK(each.spans.writes > 0);
            CHECK_FALSE(each.spans.open);
        }
    }

    static void thousands_of_messages_in_one_write_are_answered_one_by_one() {
        static constexpr std::uint32_t orders = 2'000;
        hold([](fixture& it) -> task {
            raw_client<X> a{it.on};
            co_await a.connect(it.facility->order_entry());
            a.log_in("alice");
            for (std::uint32_t each = 1; each <= orders; ++each) {
                a.say(limit(client_sequence{2 * each - 1}, order_side::buy, each, 1));
                a.say(cancel_of(client_sequence{2 * each}, client_sequence{2 * each - 1}));
            }
            const std::uint64_t told = it.public_messages();
            co_await a.write();
            co_await a.hear(1 + 2 * orders);

            std::uint32_t in_order = 0;
            for (const order_entered& each : a.template heard_of<order_entered>())
                if (each.client_seq == client_sequence{2 * in_order + 1}) ++in_order;
            CHECK(in_order == orders);
            CHECK(a.template heard_of<order_cancelled>().size() == orders);
            CHECK(it.open_orders(alice) == 0);
            co_await it.probe->heard_at_least(told + 6 * orders);
            CHECK(it.probe->missing == 0);
            co_await a.leave();
            co_await until_idle(it);
        });
    }

private:
    static constexpr contracts huge = 4'000'000'000U;  // Times a price, more than 63 bits.

    /// Both sides as a client that asks is told them, with where the feed goes on.
    static std::vector<std::byte> pages_of_book(fixture& it) {
        std::vector<std::byte> all;
        for (const order_side side : {order_side::buy, order_side::sell}) {
            std::array<std::byte, message_bytes_of<book_request>> question;
            encode(book_request{the_market, best_of(side), side}, question);
            const std::span<const std::byte> page = answer_of(it.host, question);
            CHECK_FALSE(page.empty());
            all.insert(all.end(), page.begin(), page.end());
        }
        return all;
    }

    struct wrong_packets {
        soup_ending why;
        bool logged_in;
        std::vector<std::byte> bytes;
    };

    /// What a day's client and listener have heard.
    struct transcript {
        std::vector<heard_packet> sequenced;
        std::vector<heard_packet> others;  // Their place among the sequenced is chance.
        std::vector<std::vector<std::byte>> told;
        std::size_t bytes_written = 0;
        std::size_t contexts = 0;
        span_counter spans;

        void add(heard_packet packet) {
            auto& kind = packet.type == soup_type::sequenced ? sequenced : others;
            kind.push_back(std::move(packet));
        }
    };

    enum class cut : bool { nowhere, everywhere };

    static task write(raw_client<X>& to, cut where, transcript& noted) {
        noted.bytes_written += to.unsent.size();
        if (where == cut::nowhere) {
            co_await to.write();
        } else {
            co_await to.write_bytewise([&noted] { return noted.spans.reads; });
        }
    }

    /// A client's whole session.
    static transcript transcript_of(cut where) {
        transcript all;
        day today;
        today.observer = &all.spans;
        hold(
            [&all, where](fixture& it) -> task {
                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                a.log_in("alice");
                for (std::uint32_t each = 1; each <= 4; ++each)
                    a.say(limit(client_sequence{each}, order_side::buy, 100 + each, 5));
                a.say(amend_order{session_id::none,
                                  client_sequence{5},
                                  {order_id::none, client_sequence{1}},
                                  101,
                                  3});
                a.say(limit(client_sequence{5}, order_side::buy, 100, 5));
                a.say(soup_type::client_heartbeat);
                a.say(soup_type::unsequenced, gyre::bytes_of("nonsense"));
                a.say(soup_type::debug, gyre::bytes_of("for people"));
                for (std::uint32_t each = 1; each <= 4; ++each)
                    a.say(cancel_of(client_sequence{5 + each}, client_sequence{each}));
                ++all.contexts;
                co_await write(a, where, all);
                co_await a.hear(12);
                a.say(soup_type::logout_request);
                co_await write(a, where, all);
                co_await a.hear_the_end();
                co_await a.leave();
                co_await until_idle(it);
                co_await it.probe->heard_at_least(it.public_messages());
                for (heard_packet& each : a.heard) all.add(std::move(each));
                all.told.insert(all.told.end(), it.probe->messages.begin(),
                                it.probe->messages.end());
            },
            today);
        return all;
    }

    /// An order, cut at each byte, too long, and with a header that belongs to something else.
    static std::vector<std::vector<std::byte>> bytes_that_are_no_command() {
        const enter_order good = limit(client_sequence{1}, order_side::buy, 100, 5);
        std::vector<std::byte> order(message_bytes(good));
        encode(good, order);
        std::vector<std::vector<std::byte>> all;
        for (std::size_t size = 0; size < order.size(); ++size)
            all.emplace_back(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size));
        all.push_back(order);
        all.back().push_back(std::byte{});
        for (std::size_t each = 0; each < 6; ++each) {  // Versions to come are read.
            all.push_back(order);
            all.back()[each] ^= std::byte{0x40};
        }
        const set_phase not_ours{the_market, market_phase::halted};
        all.emplace_back(message_bytes(not_ours));
        encode(not_ours, all.back());
        return all;
    }

    static std::vector<std::byte> packet(soup_type type, std::span<const std::byte> payload = {}) {
        std::vector<std::byte> bytes(soup_header_bytes);
        write_soup_header(std::span{bytes}.first<soup_header_bytes>(), type, payload.size());
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        return bytes;
    }

    static std::vector<wrong_packets> wrong_packets_of_all_kinds() {
        using enum soup_ending;
        const auto login = format_soup_login(login_of("alice"));
        auto letters = login;
        letters.back() = std::byte{'x'};
        const std::vector<std::byte> empty{std::byte{0}, std::byte{0}};
        const std::vector<std::byte> oversized{std::byte{0xff}, std::byte{0xff}, std::byte{'U'}};
        return {
            {before_login, false, packet(soup_type::client_heartbeat)},
            {before_login, false, packet(soup_type::unsequenced, gyre::bytes_of("order"))},
            {malformed_login, false, packet(soup_type::login_request, letters)},
            {empty_packet, false, empty},
            {second_login, true, packet(soup_type::login_request, login)},
            {wrong_direction, true, packet(soup_type::sequenced, gyre::bytes_of("echo"))},
            {wrong_direction, true, packet(soup_type::end_of_session)},
            {unknown_packet, true, packet(soup_type{'?'})},
            {wrong_size, true, packet(soup_type::client_heartbeat, gyre::bytes_of("tick"))},
            {wrong_size, true, packet(soup_type::logout_request, gyre::bytes_of("bye"))},
            {empty_packet, true, empty},
            {oversized_packet, true, oversized},
        };
    }
};

}  // namespace exchange::testing
