// SPDX-License-Identifier: BSL-1.0
//
// What becomes of a client that does not read, and of what it was still to be told.
//
// The other laws have clients that read: what they are told is written at once. Here a session
// waits in the middle of a write while the rest of the exchange goes on.
#pragma once

#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/narrow_connection.hpp>
#include <exchange/tests/net/raw_client.hpp>

namespace exchange::testing {

template <class Side, class Facility>
struct slow_reader_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void who_reads_too_slowly_is_cut_off_and_others_do_not_notice() {
        day today;
        today.rules.stream.messages_max = 1024;
        today.rules.stream.unread_bytes_max = std::size_t{128} << 10;
        today.how.linger = std::chrono::milliseconds{100};
        hold(
            [](fixture& it) -> task {
                raw_client<X> slow{it.on};
                trader<X> b{it.on, it.client("bob")};
                co_await slow.connect(it.facility->order_entry());
                co_await b.in();
                slow.log_in("alice");
                slow.say(limit(client_sequence{1}, order_side::buy, 100, 1'000'000));
                co_await slow.write();
                co_await slow.hear(2);
                slow.stop_reading();

                std::uint32_t hits = 0;
                while (it.who(alice).connection() != nullptr && hits < 200'000) {
                    for (int each = 0; each < 50; ++each)
                        b.send(limit(client_sequence{++hits}, order_side::sell, 100, 1));
                    co_await b.heard_at_least(2 * std::size_t{hits});
                    co_await it.probe->heard_at_least(it.public_messages());
                }

                CHECK(it.who(alice).connection() == nullptr);
                CHECK(b.disconnects == 0);
                CHECK(it.open_orders(alice) == 1);  // What was accepted stays accepted.
                CHECK(it.probe->missing == 0);
                co_await slow.hear_the_end();
                CHECK(slow.heard.size() < 1 + 2 * std::size_t{hits});
                co_await slow.leave();
                co_await come_back(it);
                b.client.stop();
                co_await b.gone();
                co_await until_idle(it);
            },
            today);
    }

    static void last_words_wait_behind_what_is_being_written() {
        hold([](fixture& it) -> task {
            raw_client<X> slow{it.on};
            co_await stop_reading(it, slow);
            narrow_other_end(slow.native_handle());
            co_await be_hit_in_vain(it);
            slow.say(soup_type{'?'});
            co_await slow.write();
            co_await slow.hear_the_end();

            CHECK(slow.last_words() == describe(soup_ending::unknown_packet));
            CHECK(slow.heard.size() > 3);
            CHECK(slow.heard.size() < 2 * std::size_t{hits_in_vain});  // Its writer did wait.
            co_await slow.leave();
            co_await until_idle(it);
        });
    }

    /// What is written reads from the stream, also once the session is over: nothing may overwrite it there.
    static void whoever_is_outrun_behind_the_end_is_cut_off_before_it_hears_something_else() {
        day today;
        today.rules.stream.bytes_max = kept_bytes;
        today.rules.stream.unread_bytes_max = kept_bytes;
        hold(
            [](fixture& it) -> task {
                raw_client<X> slow{it.on};
                co_await stop_reading(it, slow);
                narrow_other_end(slow.native_handle());
                trader<X> b{it.on, it.client("bob")};
                co_await b.in();
                std::uint32_t hits = 0;
                co_await hit_up_to(4'000, hits, b);
                CHECK(it.who(alice).connection() != nullptr);
                slow.say(soup_type{'?'});
                co_await slow.write();
                while (it.who(alice).connection() != nullptr) co_await hit_up_to(hits + 1, hits, b);
                co_await hit_up_to(8'000, hits, b);
                co_await slow.hear_the_end();

                // Her stream has used its memory again meanwhile: two messages for each hit. If the kernel
                // took what was being written before that, her last words have followed it.
                const auto executed = slow.template heard_of<order_executed>();
                CHECK(slow.nonsense == soup_ending::none);
                CHECK(!executed.empty());
                CHECK(executed.size() < 4'000);
                for (std::size_t at = 0; at < executed.size(); ++at)
                    CHECK(executed[at].open == 1'000'000 - static_cast<contracts>(at + 1));
                const auto of = [&slow](soup_type type) {
                    return static_cast<std::size_t>(
                        std::ranges::count(slow.heard, type, &heard_packet::type));
                };
                CHECK(of(soup_type::sequenced) / 2 ==
                      executed.size());  // Behind her order's entry.
                CHECK(of(soup_type::sequenced) + of(soup_type::debug) + 1 == slow.heard.size());
                co_await slow.leave();
                b.client.stop();
                co_await b.gone();
                co_await until_idle(it);
            },
            today);
    }

    static void who_never_reads_the_last_words_is_cut_off() {
        day today;
        today.how.linger = std::chrono::milliseconds{100};
        hold(
            [](fixture& it) -> task {
                raw_client<X> slow{it.on};
                co_await stop_reading(it, slow);
                narrow_other_end(slow.native_handle());
                narrow_this_end(slow.native_handle());
                co_await be_hit_in_vain(it);
                slow.say(soup_type{'?'});
                co_await slow.write();
                co_await until_idle(it);

                co_await slow.hear_the_end();
                CHECK(slow.last_words().empty());
                co_await slow.leave();
            },
            today);
    }

    static void who_reads_misses_nothing_of_the_largest_sweep() {
        day today;
        today.rules.sequencing.limits.orders_max = swept + 1;
        today.rules.stream.messages_max = 4096;
        today.rules.stream.bytes_max = std::size_t{256} << 10;
        REQUIRE(2 * swept > today.rules.stream.messages_max);  // Else it proves nothing.
        hold(
            [](fixture& it) -> task {
                it.probe->feed.stop();  // This is not about the feed.
                for (std::uint32_t each = 1; each <= swept; ++each) {
                    enter_order one = limit(client_sequence{each}, order_side::buy, 100, 1);
                    one.session = alice;
                    it.host.apply(one);
                }
                trader<X> a{it.on, it.client("alice", 0)};
                trader<X> b{it.on, it.client("bob")};
                co_await a.in();
                co_await b.in();
                a.next_sequence = a.client.machine().resume().sequence;

                b.send(limit(client_sequence{1}, order_side::sell, 100, swept));
                co_await b.heard_at_least(2 * swept);
                co_await a.heard_at_least(2 * swept);

                CHECK(a.disconnects + b.disconnects == 0);
                CHECK(a.template heard_of<order_executed>().size() == swept);
                CHECK(b.template heard_of<order_executed>().size() == swept);
                CHECK(it.open_orders(alice) == 0);
                a.client.stop();
                b.client.stop();
                co_await a.gone();
                co_await b.gone();
                co_await until_idle(it);
            },
            today);
    }

private:
    static constexpr std::uint32_t swept = 2'100;
    static constexpr std::uint32_t hits_in_vain = 1'500;
    static constexpr std::size_t kept_bytes = std::size_t{1} << 20;  // Of some 12,000 messages.

    /// Alice enters an order, and reads no more.
    static task stop_reading(fixture& it, raw_client<X>& slow) {
        co_await slow.connect(it.facility->order_entry());
        slow.log_in("alice");
        slow.say(limit(client_sequence{1}, order_side::buy, 100, 1'000'000));
        co_await slow.write();
        co_await slow.hear(2);
        slow.stop_reading();
    }

    /// Trades with her, one unit each time, until there were so many trades in all.
    static task hit_up_to(std::uint32_t all, std::uint32_t& hits, trader<X>& by) {
        while (hits < all) {
            for (int each = 0; each < 50 && hits < all; ++each)
                by.send(limit(client_sequence{++hits}, order_side::sell, 100, 1));
            co_await by.heard_at_least(2 * std::size_t{hits});
        }
    }

    /// Bob trades with her so often that most of what she is told waits in the exchange.
    static task be_hit_in_vain(fixture& it) {
        trader<X> b{it.on, it.client("bob")};
        co_await b.in();
        std::uint32_t hits = 0;
        co_await hit_up_to(hits_in_vain, hits, b);
        CHECK(it.who(alice).connection() != nullptr);
        b.client.stop();
        co_await b.gone();
    }

    /// What is not kept any more cannot be had, and is not left out in silence; what is kept can.
    static task come_back(fixture& it) {
        trader<X> from_the_first{it.on, it.client("alice")};
        co_await from_the_first.gone();
        CHECK(from_the_first.client.machine().rejected() == soup_reject::session_not_available);
        CHECK(from_the_first.messages.empty());

        const std::uint64_t next = it.who(alice).stream().messages().next_sequence();
        trader<X> from_the_kept{it.on, it.client("alice", next - 100)};
        from_the_kept.next_sequence = next - 100;
        co_await from_the_kept.heard_at_least(100);
        CHECK(from_the_kept.messages.size() == 100);
        from_the_kept.client.stop();
        co_await from_the_kept.gone();
    }
};

}  // namespace exchange::testing
