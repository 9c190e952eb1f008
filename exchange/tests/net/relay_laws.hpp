// SPDX-License-Identifier: BSL-1.0
//
// What a relay of the feed promises to those who listen behind it.
//
// A source is a mold_sender whose datagrams the test itself sends, or loses; a feed_listener hears what comes
// out of the relay, which asks no peer unless a test names one.
#pragma once

#include <exchange/net/application/feed_relay.hpp>
#include <exchange/tests/net/law.hpp>

#include <chrono>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace exchange::testing {

template <class Side>
struct relay_law : law<Side> {
    using base = law<Side>;
    using typename base::context;
    using typename base::udp_socket;
    using X = typename base::X;
    template <class Result = void>
    using task = typename base::template task<Result>;

    static void messages_leave_with_their_numbers_and_the_name_of_the_life() {
        hold([](relayed& it) -> task<> {
            co_await it.say("LIFE1", 1, "one two");
            co_await it.say("LIFE1", 3, "three");
            co_await it.until("1 one, 2 two, 3 three, ");
            CHECK(it.behind.receiver().session() == mold_session{"LIFE1"});
            CHECK(it.relay.counts().messages == 3);
            CHECK(it.relay.counts().lives == 1);
        });
    }

    static void datagrams_in_disorder_leave_in_order_and_once() {
        hold([](relayed& it) -> task<> {
            co_await it.say("LIFE1", 1, "one");
            co_await it.say("LIFE1", 3, "three");
            co_await it.say("LIFE1", 1, "one");
            co_await it.say("LIFE1", 2, "two");
            co_await it.until("1 one, 2 two, 3 three, ");
            CHECK(it.relay.counts().messages == 3);
            CHECK(it.relay.counts().gaps == 0);
        });
    }

    static void a_late_listener_asks_the_relay_for_what_it_missed() {
        hold([](relayed& it) -> task<> {
            co_await it.say("LIFE1", 1, "one two three");
            co_await it.until("1 one, 2 two, 3 three, ");
            const mold_header asked{"LIFE1", 2, 2};
            const std::string answer = co_await it.answer_to(asked);
            CHECK(answer == "2 two three");
        });
    }

    static void what_is_lost_for_good_is_a_gap_behind_the_relay_too() {
        hold(
            [](relayed& it) -> task<> {
                co_await it.say("LIFE1", 1, "one");
                co_await it.until("1 one, ");
                co_await it.say("LIFE1", 4, "four");
                co_await it.until("1 one, missed 2 to 4, 4 four, ");
                CHECK(it.relay.counts().gaps == 1);
                CHECK(it.relay.counts().lives == 1);
            },
            hasty());
    }

    static void another_life_begins_another_feed_under_its_name() {
        hold([](relayed& it) -> task<> {
            co_await it.say("LIFE1", 1, "one two");
            co_await it.until("1 one, 2 two, ");
            co_await it.say_end("LIFE1", 3);
            co_await it.until("1 one, 2 two, end, ");
            co_await it.until_life("LIFE2", "first");
            co_await it.until("1 one, 2 two, end, new life LIFE2, 1 first, ");
            CHECK(it.relay.counts().lives == 2);
        });
    }

    static void a_source_that_falls_silent_silences_the_relay() {
        hold(
            [](relayed& it) -> task<> {
                co_await it.say("LIFE1", 1, "one");
                while (!it.told.all.ends_with("1 one, silent, ")) co_await it.told.another();
            },
            soon_worried());
    }

private:
    struct relayed;

    /// Runs `body(relayed)` on every context. All of it dies only when the context has run out of work.
    template <class Body>
    static void hold(const Body& body, const mold_receiver_options& how = patient()) {
        Side::each_context([&](context& on) {
            relayed it{on, how};
            bool ended = false;
            X::launch(on, to_the_end(body, it, ended));
            CHECK(Side::run_to_rest(on));
            CHECK(ended);
        });
    }
    template <class Body>
    static task<> to_the_end(const Body& body, relayed& it, bool& ended) {
        co_await body(it);
        it.relay.stop();
        it.behind.stop();
        ended = true;
    }

    /// Writes down what a listener is told.
    struct noted final : feed_handler {
        void heard(const mold_message& message) noexcept override {
            note(std::to_string(message.sequence) + " " + std::string{text_of(message.payload)});
        }
        void missed(mold_gap gap) noexcept override {
            note("missed " + std::to_string(gap.first) + " to " + std::to_string(gap.last));
        }
        void silent() noexcept override { note("silent"); }
        void ended() noexcept override { note("end"); }
        void new_life(const mold_session&, const mold_session& begun) noexcept override {
            note("new life " + std::string{begun.view()});
        }
        void note(const std::string& what) {
            all += what + ", ";
            changed.set();
        }
        task<> another() {
            changed.reset();
            static_cast<void>(co_await changed.wait());
        }

        std::string all;
        typename base::event changed;
    };

    /// Another name is believed early, and all else is waited for as long as a busy machine may need.
    static mold_receiver_options patient() {
        mold_receiver_options made;
        made.new_life_after = std::chrono::milliseconds{100};
        return made;
    }
    static mold_receiver_options hasty() {
        mold_receiver_options made = patient();
        made.request_again = made.request_again_max = std::chrono::milliseconds{5};
        made.requests_max = 3;
        return made;
    }
    static mold_receiver_options soon_worried() {
        mold_receiver_options made = patient();
        made.dead_after = std::chrono::milliseconds{400};
        return made;
    }

    struct relayed {
        relayed(context& context, const mold_receiver_options& how)
            : on{context},
              speaker{base::bound(on)},
              nobody{base::bound(on)},
              behind{on, listening(how), told},
              relay{on, relaying(start_listener(), how)} {
            REQUIRE(relay.start().ok());
            relay.ask(nobody.local_endpoint().value());
            behind.ask(relay.requests());
        }
        static feed_listener_options listening(const mold_receiver_options& how) {
            feed_listener_options made;
            made.group = made.ask_from = any_port();
            made.receiver = how;
            return made;
        }
        endpoint start_listener() {
            REQUIRE(behind.start().ok());
            return behind.local();
        }
        static feed_relay_options relaying(const endpoint& to, const mold_receiver_options& how) {
            feed_relay_options made;
            made.source = listening(how);
            made.send_from = made.requests = any_port();
            made.out.group = to;
            made.kept.heartbeat_after = std::chrono::milliseconds{50};
            made.kept.kept_bytes_max = std::size_t{1} << 20;
            return made;
        }

        task<> send(std::vector<std::byte> datagram) {
            const const_buffer bytes{datagram};
            const auto sent = co_await speaker.send_to({&bytes, 1}, relay.source());
            CHECK(sent.ok());
        }
        /// @param  what  Messages, each a word.
        task<> say(std::string_view life, std::uint64_t first, std::string_view what) {
            std::vector<std::byte> blocks;
            std::uint16_t count = 0;
            for (const auto word : std::views::split(what, ' ')) {
                const const_buffer each = bytes_of(std::string_view{word.begin(), word.end()});
                blocks.push_back(std::byte{0});
                blocks.push_back(static_cast<std::byte>(each.size()));
                blocks.insert(blocks.end(), each.begin(), each.end());
                ++count;
            }
            const auto header = format_mold_header({mold_session{life}, first, count});
            blocks.insert(blocks.begin(), header.begin(), header.end());
            co_await send(std::move(blocks));
        }
        task<> say_end(std::string_view life, std::uint64_t next) {
            const auto header = format_mold_header({mold_session{life}, next, mold_end_of_session});
            std::vector<std::byte> datagram{header.begin(), header.end()};
            co_await send(std::move(datagram));
        }
        /// What the relay answers to a request: a number, and the messages from it on.
        task<std::string> answer_to(mold_header what) {
            const auto request = format_mold_header(what);
            const const_buffer bytes{request};
            const auto asked = co_await speaker.send_to({&bytes, 1}, relay.requests());
            CHECK(asked.ok());
            std::vector<std::byte> space(1500);
            const auto [error, got] = co_await speaker.receive(space);
            CHECK_FALSE(error);
            mold_packet answer = parse_mold_packet(const_buffer{space}.first(got.size));
            std::string text = std::to_string(answer.header.sequence);
            while (!answer.messages.empty())
                text.append(" ").append(text_of(answer.messages.pop()));
            co_return text;
        }
        /// Another name is believed only once the one before it was silent for a while.
        task<> until_life(std::string_view life, std::string_view what) {
            typename base::timer timer{on};
            while (told.all.find("new life") == std::string::npos) {
                co_await say(life, 1, what);
                static_cast<void>(
                    co_await timer.wait_until(X::now(on) + std::chrono::milliseconds{20}));
            }
        }
        task<> until(std::string_view what) {
            while (told.all.size() < what.size()) {
                co_await told.another();
            }
            CHECK(told.all == what);
        }
        context& on;
        noted told;
        udp_socket speaker;
        udp_socket nobody;
        feed_listener<X> behind;
        feed_relay<X> relay;
    };
};

}  // namespace exchange::testing
