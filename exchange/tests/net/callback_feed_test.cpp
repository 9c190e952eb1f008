// SPDX-License-Identifier: BSL-1.0
//
// The laws of the feed on Asio's completion handlers, in both ways of writing.
#include <exchange/net/asio/callback/feed.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/feed_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

/// A callback_feed as the laws see it.
template <callback_style Style>
class feed_of_callbacks final : private feed_waiter {
public:
    using X = asio_traits;

    feed_of_callbacks(asio_loop& on, mold_sender& feed, const feed_options& options)
        : it_{on, feed, options, Style} {}

    void open(asio_udp_socket outgoing, asio_udp_socket requests) {
        it_.open(std::move(outgoing), std::move(requests));
    }
    X::task<> send() {
        sent_.reset();
        const bool sent = it_.flush(this);
        if (!sent) static_cast<void>(co_await sent_.wait());
    }
    void close() { it_.close(); }
    [[nodiscard]] bool sending() const { return it_.sending(); }
    [[nodiscard]] const feed_counts& counts() const { return it_.counts(); }

private:
    void feed_sent() override { sent_.set(); }

    callback_feed it_;
    asio_event sent_;
};

using the_laws = feed_law<asio_side, feed_of_callbacks<callback_style::asynchronous>>;
using the_laws_when_eager = feed_law<asio_side, feed_of_callbacks<callback_style::tried_first>>;

struct counted_waiter final : feed_waiter {
    int told = 0;
    void feed_sent() override { ++told; }
};

}  // namespace

TEST_CASE("callback feed: a session that would push out what another has not sent waits for room") {
    asio_loop on;
    mold_sender sender{{.session = "FEED", .kept_messages_max = 16}, asio_traits::now(on)};
    const auto publish = [&sender](int messages) {
        for (int each = 0; each < messages; ++each) {
            static_cast<void>(sender.prepare(1));
            sender.commit(1);
        }
    };
    const feed_options options{.group = {ipv4::loopback(), 9}};
    callback_feed feed{on, sender, options, callback_style::asynchronous};
    feed.open(asio_traits::bind(on, any_port(), {}).take(),
              asio_traits::bind(on, any_port(), {}).take());
    write_counter seen;
    span_watch watch{&seen};
    feed.be_watched(watch);
    watch.received();
    counted_waiter first;
    counted_waiter second;

    publish(1);
    CHECK_FALSE(feed.flush(&first));
    publish(4);
    CHECK(feed.flush(&second));
    publish(1);
    CHECK_FALSE(feed.flush(&second));
    CHECK(feed.flush(nullptr));
    CHECK(first.told + second.told == 0);
    on.post([&feed]() noexcept { feed.close(); });  // Behind what is being sent.
    on.run();

    CHECK(first.told == 1);
    CHECK(second.told == 1);
    CHECK(seen.written_entirely == 1);
    CHECK(sender.unsent_lost() == 0);
}

TEST_CASE("callback feed: who sends is let go, however much others cause meanwhile") {
    the_laws::who_sends_is_let_go_however_much_others_cause();
    the_laws_when_eager::who_sends_is_let_go_however_much_others_cause();
}
TEST_CASE("callback feed: closing it while what others have caused waits ends it") {
    the_laws::closing_while_others_messages_wait_ends_it();
    the_laws_when_eager::closing_while_others_messages_wait_ends_it();
}
TEST_CASE("callback feed: a datagram that cannot be sent is left out") {
    the_laws::a_datagram_that_cannot_be_sent_is_left_out();
    the_laws_when_eager::a_datagram_that_cannot_be_sent_is_left_out();
}
TEST_CASE("callback feed: a request without an answer keeps back none behind it") {
    the_laws::a_request_without_an_answer_keeps_back_none_behind_it();
    the_laws_when_eager::a_request_without_an_answer_keeps_back_none_behind_it();
}
TEST_CASE("callback feed: a request beyond the limit of answers gets none") {
    the_laws::a_request_beyond_the_limit_of_answers_gets_none();
    the_laws_when_eager::a_request_beyond_the_limit_of_answers_gets_none();
}
TEST_CASE("callback feed: a receive that fails is tried again after a pause") {
    the_laws::a_receive_that_fails_is_tried_again_after_a_pause();
    the_laws_when_eager::a_receive_that_fails_is_tried_again_after_a_pause();
}
