// SPDX-License-Identifier: BSL-1.0
//
// What holds of numbers: a client that asks for messages gets exactly those, or is told, or hears
// nothing; and asking changes nothing.
//
// Of a client's session by its login, and of the feed by requests; over the wire, so that what the codec's
// own tests say of the machines holds for whole facilities.
#pragma once

#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/raw_client.hpp>

#include <algorithm>
#include <limits>
#include <ranges>
#include <vector>

namespace exchange::testing {

template <class Side, class Facility>
struct sequence_gap_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void a_login_gets_exactly_what_it_asks_for() {
        hold(
            [](fixture& it) -> task {
                raw_client<X> first{it.on};
                co_await enter_one_by_one(it, first, 40);
                co_await first.leave();
                co_await until_idle(it);
                const message_log& kept = it.who(alice).stream().messages();
                const std::uint64_t told = it.public_messages();
                CHECK(kept.first_sequence() == 25);
                CHECK(kept.next_sequence() == 41);

                co_await log_in_at(it, 25, 25, first);
                co_await log_in_at(it, 33, 33, first);
                co_await log_in_at(it, 41, 41, first);
                co_await log_in_at(it, 0, 41, first);  // What comes next.
                for (const std::uint64_t each :
                     {std::uint64_t{1}, std::uint64_t{24}, std::uint64_t{42},
                      std::numeric_limits<std::uint64_t>::max()})
                    co_await log_in_in_vain(it, each);

                CHECK(it.open_orders(alice) == 40);
                CHECK(it.public_messages() == told);
            },
            forgetful());
    }

    static void a_request_gets_exactly_what_it_asks_for_or_nothing() {
        hold(
            [](fixture& it) -> task {
                raw_client<X> a{it.on};
                co_await enter_one_by_one(it, a, 40);
                co_await it.probe->heard_at_least(it.public_messages());
                const std::uint64_t first = it.host.feed().messages().first_sequence();
                const std::uint64_t next = it.host.feed().messages().next_sequence();
                REQUIRE(first > 1);
                const std::uint64_t commands = it.host.counts().commands;
                typename X::udp_socket asker = bound(it);

                const auto in_vain = requests_in_vain(first, next);
                for (const std::vector<std::byte>& each : in_vain)
                    co_await send(asker, each, it.facility->feed_requests());
                co_await ask(it, asker, {"FEED", first, 3}, 3);
                co_await ask(it, asker, {"FEED", next - 5, 2}, 2);
                co_await ask(it, asker, {"FEED", next - 1, 1'000}, 1);

                CHECK(it.facility->feed().faults == in_vain.size());
                CHECK(it.host.counts().commands == commands);
                CHECK(it.public_messages() == next - 1);
                CHECK(it.open_orders(alice) == 40);
                co_await a.leave();
                co_await until_idle(it);
            },
            forgetful());
    }

    static void a_listener_asks_for_exactly_what_it_missed() {
        hold([](fixture& it) -> task {
            raw_client<X> a{it.on};
            co_await enter_one_by_one(it, a, 10);
            const std::uint64_t told = it.public_messages();
            co_await it.probe->heard_at_least(told);
            REQUIRE(told > 24);
            typename X::udp_socket network = bound(it);

            feed_listener_options patient = it.late_listener();
            patient.receiver.request_again = std::chrono::hours{1};
            listener<X> late{it.on, patient};
            REQUIRE(late.feed.start().ok());
            co_await repeat(it, network, late, 1, 4);
            co_await repeat(it, network, late, 9, told + 1);
            co_await late.heard_at_least(told);

            CHECK(late.messages == it.probe->messages);
            CHECK(late.missing == 0);
            CHECK(late.feed.receiver().counts().requests == 1);
            CHECK(late.feed.receiver().counts().duplicates == 0);
            late.feed.stop();
            co_await a.leave();
            co_await until_idle(it);
            CHECK(it.facility->feed().answers == 1);
            CHECK(it.facility->feed().faults == 0);
        });
    }

    static void what_is_kept_no_more_is_missed_and_the_rest_is_heard() {
        hold(
            [](fixture& it) -> task {
                raw_client<X> a{it.on};
                co_await enter_one_by_one(it, a, 40);
                const std::uint64_t told = it.public_messages();
                co_await it.probe->heard_at_least(told);
                typename X::udp_socket network = bound(it);

                feed_listener_options hasty = it.late_listener();
                hasty.receiver.request_again = std::chrono::milliseconds{5};
                hasty.receiver.requests_max = 2;
                listener<X> late{it.on, hasty};
                REQUIRE(late.feed.start().ok());
                co_await repeat(it, network, late, told - 1, told + 1);
                co_await late.until([&] { return late.missing + late.messages.size() >= told; });

                // It asks in pieces, and misses whole pieces: one may begin with what is not kept.
                CHECK(late.missing >= told - feed_kept);
                CHECK(late.missing <= told - 2);
                REQUIRE(late.missing + late.messages.size() == told);
                CHECK(std::ranges::equal(late.messages,
                                         it.probe->messages | std::views::drop(late.missing)));
                late.feed.stop();
                co_await a.leave();
                co_await until_idle(it);
                CHECK(it.facility->feed().faults > 0);
                CHECK(it.open_orders(alice) == 40);
            },
            forgetful());
    }

private:
    static constexpr std::size_t feed_kept = 32;

    /// Of each stream, and of the feed, only the newest messages are kept.
    static day forgetful() {
        day today;
        today.rules.stream.messages_max = 16;
        today.rules.feed.kept_messages_max = feed_kept;
        return today;
    }

    static typename X::udp_socket bound(fixture& it) {
        auto made = X::bind(it.on, loopback(0), {});
        REQUIRE(made.ok());
        return made.take();
    }

    /// Alice's orders, one by one, since the next one may push out what the one before has caused.
    static task enter_one_by_one(fixture& it, raw_client<X>& by, std::uint32_t orders) {
        co_await by.connect(it.facility->order_entry());
        by.log_in("alice");
        for (std::uint32_t each = 1; each <= orders; ++each) {
            by.say(limit(client_sequence{each}, order_side::buy, each, 1));
            co_await by.write();
            co_await by.hear(1 + each);
        }
    }

    /// Hears all from `first` on as it was heard before, and then its own logout.
    static task log_in_at(fixture& it, std::uint64_t asked, std::uint64_t first,
                          const raw_client<X>& before) {
        INFO("asked for ", asked);
        raw_client<X> again{it.on};
        co_await again.connect(it.facility->order_entry());
        again.log_in("alice", asked);
        co_await again.write();
        const auto missed = before.heard.begin() + static_cast<std::ptrdiff_t>(first);
        co_await again.hear(1 + static_cast<std::size_t>(before.heard.end() - missed));
        again.say(soup_type::logout_request);
        co_await again.write();
        co_await again.hear_the_end();

        const auto accepted = format_soup_acceptance({"DAY", first});
        CHECK(again.heard[0].type == soup_type::login_accepted);
        CHECK(again.heard[0].payload == std::vector(accepted.begin(), accepted.end()));
        CHECK(std::vector(again.heard.begin() + 1, again.heard.end()) ==
              std::vector(missed, before.heard.end()));
        co_await again.leave();
        co_await until_idle(it);
    }

    static task log_in_in_vain(fixture& it, std::uint64_t asked) {
        INFO("asked for ", asked);
        raw_client<X> again{it.on};
        co_await again.connect(it.facility->order_entry());
        again.log_in("alice", asked);
        again.say(cancel_of(client_sequence{1'000}, client_sequence{1}));  // Of no order.
        co_await again.write();
        co_await again.hear_the_end();

        REQUIRE(again.heard.size() == 1);
        CHECK(again.heard[0].type == soup_type::login_rejected);
        CHECK(again.heard[0].payload == std::vector{std::byte{'S'}});
        co_await again.leave();
        co_await until_idle(it);
    }

    static std::vector<std::vector<std::byte>> requests_in_vain(std::uint64_t first,
                                                                std::uint64_t next) {
        std::vector<std::vector<std::byte>> all;
        for (const mold_header& each :
             {mold_header{"FEED", first - 1, 1}, mold_header{"FEED", next, 1},
              mold_header{"FEED", 0, 1},
              mold_header{"FEED", std::numeric_limits<std::uint64_t>::max(), 1},
              mold_header{"FEED", next - 1, 0}, mold_header{"FEED", next - 1, 0xFFFF},
              mold_header{"OTHER", next - 1, 1}}) {
            const auto request = format_mold_header(each);
            all.emplace_back(request.begin(), request.end());
        }
        const auto good = format_mold_header({"FEED", next - 1, 1});
        all.emplace_back(good.begin(), good.end() - 1);
        all.emplace_back(good.begin(), good.end());
        all.back().push_back(std::byte{});
        all.emplace_back();
        return all;
    }

    static task send(typename X::udp_socket& from, std::span<const std::byte> bytes,
                     gyre::endpoint to) {
        const gyre::const_buffer part{bytes};
        const gyre::io_result<> sent = co_await from.send_to({&part, 1}, to);
        CHECK(sent.ok());
    }

    /// Asks, and is told `count` messages as the public was.
    static task ask(fixture& it, typename X::udp_socket& asker, mold_header wanted,
                    std::uint16_t count) {
        const auto request = format_mold_header(wanted);
        co_await send(asker, request, it.facility->feed_requests());
        std::array<std::byte, 1500> space;
        const auto [error, got] = co_await asker.receive(space);
        REQUIRE_FALSE(error);
        mold_packet answer = parse_mold_packet(std::span{space}.first(got.size));
        CHECK(answer.fault == mold_fault::none);
        CHECK(answer.header.sequence == wanted.sequence);
        CHECK(answer.header.count == count);
        for (std::uint64_t at = wanted.sequence; !answer.messages.empty(); ++at) {
            const std::span<const std::byte> message = answer.messages.pop();
            CHECK(std::ranges::equal(message, it.probe->messages[at - 1]));
        }
    }

    /// Sends a listener the messages [first, last) of the feed, two to a datagram.
    static task repeat(fixture& it, typename X::udp_socket& from, listener<X>& to,
                       std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t at = first; at < last; at += 2) {
            const auto count = static_cast<std::uint16_t>(std::min<std::uint64_t>(last - at, 2));
            const auto header = format_mold_header({"FEED", at, count});
            std::vector<std::byte> datagram(header.begin(), header.end());
            for (std::uint64_t each = at; each < at + count; ++each) {
                const std::vector<std::byte>& message = it.probe->messages[each - 1];
                std::array<std::byte, mold_block_bytes> size;
                put_big_endian(std::span{size}, static_cast<std::uint16_t>(message.size()));
                datagram.insert(datagram.end(), size.begin(), size.end());
                datagram.insert(datagram.end(), message.begin(), message.end());
            }
            co_await send(from, datagram, to.feed.local());
        }
    }
};

}  // namespace exchange::testing
