// SPDX-License-Identifier: BSL-1.0
//
// What a publisher of the feed promises, in every pipeline: no datagram is kept back by another
// one.
//
// The feed is a mold_sender without an exchange behind it, so that a test says which bytes are in it: some
// that no network takes among them.
#pragma once

#include <exchange/net/transport/feed_publisher.hpp>
#include <exchange/tests/net/deaf_socket.hpp>
#include <exchange/tests/net/law.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace exchange::testing {

/// Counts what was written entirely.
struct write_counter final : span_observer {
    int written_entirely = 0;

    void received() noexcept override {}
    void carried_out() noexcept override {}
    void written() noexcept override { ++written_entirely; }
};

/// A feed_publisher as the laws see it.
template <executor_traits Traits>
class feed_of_coroutines {
public:
    using X = Traits;

    feed_of_coroutines(typename X::context& on, mold_sender& feed, const feed_options& options)
        : on_{on}, it_{on, feed, options} {}

    void open(typename X::udp_socket outgoing, typename X::udp_socket requests) {
        it_.open(std::move(outgoing), std::move(requests));
        X::launch(on_, it_.answer_requests());
        X::launch(on_, it_.send_the_rest());
    }
    typename X::template task<void> send() { co_await it_.flush(); }
    void close() { it_.close(); }
    [[nodiscard]] bool sending() const { return it_.sending(); }
    [[nodiscard]] const feed_counts& counts() const { return it_.counts(); }

private:
    typename X::context& on_;
    feed_publisher<X> it_;
};

/// @tparam  Feed  A feed_of_coroutines, or what has its members.
template <class Side, class Feed>
struct feed_law : law<Side> {
    using base = law<Side>;
    using typename base::context;
    using typename base::udp_socket;
    template <class Result = void>
    using task = typename base::template task<Result>;

    static void a_datagram_that_cannot_be_sent_is_left_out() {
        hold([](feed& it) -> task<> {
            it.publish("first");
            it.publish(too_long());
            it.publish("behind");
            it.publish("last");
            co_await it.publisher.send();
            const std::array<const_buffer, 1> end_mark{bytes_of("no packet")};
            const gyre::io_result<> sent = co_await it.asker.send_to(end_mark, it.group());

            CHECK(sent.ok());
            const std::string before = co_await it.heard(it.receiver);
            const std::string behind = co_await it.heard(it.receiver);
            const std::string end = co_await it.heard(it.receiver);
            CHECK(before == "1 first");
            CHECK(behind == "3 behind last");
            CHECK(end == "no packet");
            CHECK(it.publisher.counts().datagrams == 2);
            CHECK(it.publisher.counts().refused == 1);

            it.publish("later");
            co_await it.publisher.send();
            const std::string later = co_await it.heard(it.receiver);
            CHECK(later == "5 later");
            CHECK(it.publisher.counts().datagrams == 3);
        });
    }

    static void who_sends_is_let_go_however_much_others_cause() {
        hold([](feed& it) -> task<> {
            co_await send_while_others_publish(it, [] {});
            co_await it.publisher.send();  // If the last came behind all senders.
            while (it.sender.next_to_send() < it.sender.end_of_sendable())
                co_await base::settle(it.on);
            CHECK(it.publisher.counts().refused == 0);
        });
    }

    /// What was handed over finds a closed socket, and neither sends nor keeps anyone waiting.
    static void closing_while_others_messages_wait_ends_it() {
        hold([](feed& it) -> task<> {
            co_await send_while_others_publish(it, [&it] { it.publisher.close(); });
            co_await base::settle(it.on);
            CHECK_FALSE(it.publisher.sending());
        });
    }

    static void a_request_without_an_answer_keeps_back_none_behind_it() {
        hold([](feed& it) -> task<> {
            it.publish("first");
            it.publish(too_long());
            it.publish("behind");
            co_await it.publisher.send();
            for (const mold_header& each :
                 {mold_header{"FEED", 2, 1}, mold_header{"FEED", 4, 1}, mold_header{"FEED", 1, 0},
                  mold_header{"OTHER", 1, 1}, mold_header{"FEED", 3, 9}})
                co_await it.ask(format_mold_header(each));

            const std::string answer = co_await it.heard(it.asker);
            CHECK(answer == "3 behind");
            CHECK(it.publisher.counts().faults == 4);
            co_await it.until_answers(1);
        });
    }

    static void a_request_beyond_the_limit_of_answers_gets_none() {
        feed_options few;
        few.answers = {.answers_max = 3, .within = std::chrono::hours{1}};
        hold(
            [](feed& it) -> task<> {
                it.publish("first");
                co_await it.publisher.send();
                for (int each = 0; each < 3; ++each) {
                    co_await it.ask(format_mold_header({"FEED", 1, 1}));
                    const std::string answer = co_await it.heard(it.asker);
                    CHECK(answer == "1 first");
                }
                co_await it.ask(format_mold_header({"FEED", 2, 1}));  // Wrong, and so not counted.
                co_await it.ask(format_mold_header({"FEED", 1, 1}));
                co_await it.ask(format_mold_header({"FEED", 1, 1}));
                typename base::timer timer{it.on};
                while (it.publisher.counts().unanswered < 2)
                    static_cast<void>(co_await timer.wait_until(base::X::now(it.on)));

                CHECK(it.publisher.counts().faults == 1);
                co_await it.until_answers(3);
                CHECK(it.publisher.counts().answers == 3);
            },
            few);
    }

    static void a_receive_that_fails_is_tried_again_after_a_pause() {
        feed_options options;
        options.pause = std::chrono::milliseconds{20};
        hold(
            [options](feed& it) -> task<> {
                typename base::timer timer{it.on};
                while (it.publisher.counts().failures < 3)
                    static_cast<void>(co_await timer.wait_until(base::X::now(it.on)));

                CHECK(base::X::now(it.on) - it.begun >= 2 * options.pause);
            },
            options, requests::fail);
    }

private:
    struct feed;

    enum class requests : bool { are_heard, fail };

    /// Runs `body(feed)` on every context.
    template <class Body>
    static void hold(const Body& body, const feed_options& options = {},
                     requests how = requests::are_heard) {
        Side::each_context([&](context& on) {
            feed it{on, options, how};
            bool ended = false;
            base::X::launch(on, to_the_end(body, it, ended));
            CHECK(Side::run_to_rest(on));
            CHECK(ended);
        });
    }
    template <class Body>
    static task<> to_the_end(const Body& body, feed& it, bool& ended) {
        co_await body(it);
        it.publisher.close();
        ended = true;
    }

    static task<> send(feed& it, bool& let_go) {
        co_await it.publisher.send();
        let_go = true;
    }
    /// Sends one message while others cause one in each turn. `then` is called in the very turn in which that
    /// sender is let go.
    template <class Then>
    static task<> send_while_others_publish(feed& it, Then then) {
        it.publish("own");
        bool let_go = false;
        base::X::launch(it.on, send(it, let_go));
        co_await base::in_each_turn(it.on, [&] {
            it.publish("others'");
            if (let_go) then();
            return !let_go;
        });
        CHECK(let_go);
    }

    static constexpr std::size_t datagram_bytes_max = 65'535;  // More than IPv4 leaves for it.

    [[nodiscard]] static std::string too_long() {
        return std::string(datagram_bytes_max - mold_header_bytes - mold_block_bytes, 'x');
    }
    /// A publisher, who hears it, and who asks it.
    struct feed {
        feed(context& context, const feed_options& options, requests how)
            : on{context},
              receiver{base::bound(on)},
              asker{base::bound(on)},
              publisher{on, sender, to(group(), options)} {
            udp_socket hears = base::bound(on);
            requests_at = hears.local_endpoint().value();
            if (how == requests::fail) make_deaf(hears.native_handle());
            publisher.open(base::bound(on), std::move(hears));
        }
        static feed_options to(const endpoint& group, feed_options options) {
            options.group = group;
            options.datagrams_per_send = 8;
            options.datagram_bytes_max = datagram_bytes_max;
            return options;
        }

        [[nodiscard]] endpoint group() const { return receiver.local_endpoint().value(); }

        void publish(std::string_view message) {
            std::ranges::copy(bytes_of(message), sender.prepare(message.size()).begin());
            sender.commit(message.size());
        }
        task<> ask(std::array<std::byte, mold_header_bytes> request) {
            const std::array<const_buffer, 1> parts{const_buffer{request}};
            const gyre::io_result<> sent = co_await asker.send_to(parts, requests_at);
            CHECK(sent.ok());
        }
        /// The number and the messages of the next datagram.
        task<std::string> heard(udp_socket& by) {
            bytes space(datagram_bytes_max);
            const auto [error, got] = co_await by.receive(space);
            CHECK_FALSE(error);
            mold_packet packet = parse_mold_packet(const_buffer{space}.first(got.size));
            if (packet.fault != mold_fault::none) co_return "no packet";
            std::string text = std::to_string(packet.header.sequence);
            while (!packet.messages.empty())
                text.append(" ").append(gyre::text_of(packet.messages.pop()));
            co_return text;
        }
        task<> until_answers(std::uint64_t count) {
            typename base::timer timer{on};
            while (publisher.counts().answers < count)
                static_cast<void>(co_await timer.wait_until(base::X::now(on)));
        }

        context& on;
        gyre::time_point begun = base::X::now(on);
        mold_sender sender{
            {.session = "FEED",
             .datagram_bytes_max = datagram_bytes_max,
             .message_bytes_max = datagram_bytes_max - mold_header_bytes - mold_block_bytes},
            base::X::now(on)};
        udp_socket receiver;
        udp_socket asker;
        endpoint requests_at;
        Feed publisher;
    };
};

}  // namespace exchange::testing
