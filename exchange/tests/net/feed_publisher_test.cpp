// SPDX-License-Identifier: BSL-1.0
//
// The laws of the feed on gyre's coroutines, and what no kernel does when a test wants it.
#include <exchange/net/transport/feed_publisher.hpp>

#include <exchange/tests/net/feed_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/listener_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

using law_here = feed_law<gyre_side, feed_of_coroutines<gyre_traits>>;

/// What a send waits for, and how a test knows that it does.
struct gate {
    gyre::event reached;
    gyre::event open;
};

/// A socket whose sends wait for room until a test makes some; loopback always has room.
class gated_socket : public gyre::udp_socket {
public:
    gated_socket() noexcept = default;
    gated_socket(gyre::udp_socket it, gate* at) noexcept : udp_socket{std::move(it)}, gate_{at} {}

    gyre::task<gyre::io_result<std::size_t>> send(gyre::datagram_batch& batch) {
        co_await pass();
        co_return co_await udp_socket::send(batch);
    }
    gyre::task<gyre::io_result<>> send(gyre::const_buffers parts) {
        co_await pass();
        co_return co_await udp_socket::send(parts);
    }
    gyre::task<gyre::io_result<>> send_to(gyre::const_buffers parts, gyre::endpoint peer) {
        co_await pass();
        co_return co_await udp_socket::send_to(parts, peer);
    }

private:
    gyre::task<> pass() {
        if (gate_ == nullptr) co_return;
        gate_->reached.set();
        static_cast<void>(co_await gate_->open.wait());
    }

    gate* gate_ = nullptr;  // None: always open.
};

struct gated_traits : gyre_traits {
    using udp_socket = gated_socket;

    [[nodiscard]] static gyre::io_result<udp_socket> bind(context& on, const gyre::endpoint& local,
                                                          const gyre::udp_options& options) {
        return bind(on, local, options, nullptr);
    }
    [[nodiscard]] static gyre::io_result<udp_socket> bind(context& on, const gyre::endpoint& local,
                                                          const gyre::udp_options& options,
                                                          gate* at) {
        auto made = gyre_traits::bind(on, local, options);
        if (!made.ok()) return made.error();
        return gated_socket{made.take(), at};
    }
};

static_assert(executor_traits<gated_traits>);

/// A feed that keeps little, and whose answers wait at a gate.
struct forgetful_feed {
    explicit forgetful_feed(gyre::io_context& on)
        : sender{{.session = "FEED",
                  .datagram_bytes_max = 128,
                  .message_bytes_max = 64,
                  .kept_bytes_max = 256,
                  .unsent_bytes_max = 512,
                  .segment_bytes = 256},
                 on.now()},
          listener{gated_traits::bind(on, any_port(), {}).take()},
          publisher{
              on, sender, {.group = listener.local_endpoint().value(), .datagram_bytes_max = 128}} {
        auto requests = gated_traits::bind(on, any_port(), {}, &at).take();
        requests_at = requests.local_endpoint().value();
        publisher.open(gated_traits::bind(on, any_port(), {}).take(), std::move(requests));
        gyre::launch(on, publisher.answer_requests(), gyre::or_terminate{});
    }

    void publish(std::string_view message) {
        std::ranges::copy(bytes_of(message), sender.prepare(message.size()).begin());
        sender.commit(message.size());
    }

    gate at;
    mold_sender sender;
    gated_socket listener;
    endpoint requests_at;
    feed_publisher<gated_traits> publisher;
};

/// Asks for the first message, which is forgotten before the answer leaves.
gyre::task<> ask_a_forgetful_feed(forgetful_feed& it, bool& ended) {
    it.publish("what was asked for");
    co_await it.publisher.flush();
    const auto request = format_mold_header({"FEED", 1, 1});
    const std::array<const_buffer, 1> parts{const_buffer{request}};
    const io_result<> asked = co_await it.listener.send_to(parts, it.requests_at);
    CHECK(asked.ok());
    static_cast<void>(co_await it.at.reached.wait());
    bytes space(128);
    const auto [unheard, first] = co_await it.listener.receive(space);
    CHECK_FALSE(unheard);

    while (it.sender.messages().holds(1)) it.publish("something else");
    for (int each = 0; each < 16; ++each) it.publish("something else");
    it.at.open.set();
    const auto [error, got] = co_await it.listener.receive(space);

    CHECK_FALSE(error);
    mold_packet answer = parse_mold_packet(const_buffer{space}.first(got.size));
    CHECK(answer.fault == mold_fault::none);
    CHECK(answer.header.sequence == 1);
    REQUIRE(answer.messages.size() == 1);
    CHECK(text_of(answer.messages.pop()) == "what was asked for");
    it.publisher.close();
    ended = true;
}

/// A feed that keeps 16 messages, of which 4 may wait to be sent.
struct small_feed {
    explicit small_feed(gyre::io_context& on)
        : sender{{.session = "FEED", .kept_messages_max = 16}, on.now()},
          publisher{on, sender, {.group = {ipv4::loopback(), 9}}} {
        publisher.open(gyre_traits::bind(on, any_port(), {}).take(),
                       gyre_traits::bind(on, any_port(), {}).take());
        publisher.be_watched(watch);
        gyre::launch(on, publisher.send_the_rest(), gyre::or_terminate{});
    }

    void publish(int messages) {
        for (int each = 0; each < messages; ++each) {
            static_cast<void>(sender.prepare(1));
            sender.commit(1);
        }
    }
    gyre::task<> await_room() {
        while (publisher.crowded()) static_cast<void>(co_await publisher.until_less_crowded());
        gone_on = true;
    }

    write_counter seen;
    span_watch watch{&seen};
    mold_sender sender;
    feed_publisher<gyre_traits> publisher;
    bool gone_on = false;
};

gyre::task<> cause_more_than_is_sent(gyre::io_context& on, small_feed& it, bool& ended) {
    it.watch.received();
    it.publish(1);
    REQUIRE(it.publisher.begin());  // And it takes its time.
    it.publish(4);
    CHECK_FALSE(it.publisher.crowded());
    it.publish(1);
    CHECK(it.publisher.crowded());
    gyre::launch(on, it.await_room(), gyre::or_terminate{});
    co_await law<gyre_side>::settle(on);
    CHECK_FALSE(it.gone_on);

    const auto what = co_await it.publisher.send();
    CHECK_FALSE(it.publisher.sent(what));  // What came meanwhile is left to another one,
    CHECK(it.publisher.sending());
    CHECK(it.seen.written_entirely == 0);
    co_await law<gyre_side>::settle(on);  // and leaves.
    CHECK_FALSE(it.publisher.sending());
    CHECK(it.seen.written_entirely == 1);

    CHECK(it.gone_on);
    CHECK_FALSE(it.publisher.crowded());
    CHECK(it.sender.unsent_lost() == 0);
    it.publisher.close();
    ended = true;
}

}  // namespace

TEST_CASE("gyre feed: a session that would push out what another has not sent waits for room") {
    gyre_side::each_context([](gyre::io_context& on) {
        small_feed it{on};
        bool ended = false;
        gyre::launch(on, cause_more_than_is_sent(on, it, ended), gyre::or_terminate{});
        CHECK(gyre_side::run_to_rest(on));
        CHECK(ended);
    });
}
TEST_CASE("gyre feed: who sends is let go, however much others cause meanwhile") {
    law_here::who_sends_is_let_go_however_much_others_cause();
}
TEST_CASE("gyre feed: closing it while what others have caused waits ends it") {
    law_here::closing_while_others_messages_wait_ends_it();
}
TEST_CASE("gyre feed: a datagram that cannot be sent is left out") {
    law_here::a_datagram_that_cannot_be_sent_is_left_out();
}
TEST_CASE("gyre feed: a request without an answer keeps back none behind it") {
    law_here::a_request_without_an_answer_keeps_back_none_behind_it();
}
TEST_CASE("gyre feed: an answer that waits for room says what was asked for, whatever comes next") {
    gyre_side::each_context([](gyre::io_context& on) {
        forgetful_feed it{on};
        bool ended = false;
        gyre::launch(on, ask_a_forgetful_feed(it, ended), gyre::or_terminate{});
        CHECK(gyre_side::run_to_rest(on));
        CHECK(ended);
    });
}
TEST_CASE("gyre feed: a request beyond the limit of answers gets none") {
    law_here::a_request_beyond_the_limit_of_answers_gets_none();
}
TEST_CASE("gyre feed: a receive that fails is tried again after a pause") {
    law_here::a_receive_that_fails_is_tried_again_after_a_pause();
}
TEST_CASE("gyre feed: a listener's receive that fails is tried again after a pause") {
    listener_law<gyre_side>::a_receive_that_fails_is_tried_again_after_a_pause();
}
TEST_CASE("gyre feed: an address that is no group's is one listener's") {
    listener_law<gyre_side>::an_address_that_is_no_groups_is_one_listeners();
}
TEST_CASE("gyre feed: a silence is told once, and again behind a heartbeat") {
    listener_law<gyre_side>::a_silence_is_told_once_and_again_behind_a_heartbeat();
}
