// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/mold_sender.hpp promises: datagrams, heartbeats, the end, and answers.
#include <exchange/codec/mold_sender.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

void append(mold_sender& sender, std::string_view text) {
    std::ranges::copy(bytes_of(text), sender.prepare(text.size()).begin());
    sender.commit(text.size());
}

bytes request(const mold_header& header) {
    const auto formatted = format_mold_header(header);
    return {formatted.begin(), formatted.end()};
}

/// What a listener sees: the number of the first message, and all of them.
std::string seen(const mold_datagram& datagram) {
    const bytes wire = joined(datagram);
    mold_packet packet = parse_mold_packet(wire);
    REQUIRE(packet.fault == mold_fault::none);
    std::string text = std::to_string(packet.header.sequence) + ':';
    if (packet.header.count == mold_end_of_session) text += "end";
    while (!packet.messages.empty()) text += text_of(packet.messages.pop()) + ' ';
    return text;
}

constexpr mold_sender_options small{.session = "S1",
                                    .datagram_bytes_max = 50,
                                    .message_bytes_max = 28,
                                    .kept_bytes_max = 200,
                                    .kept_messages_max = 16};

/// One whose memory is three segments of four messages with seven letters.
constexpr mold_sender_options scarce = [] {
    mold_sender_options options = small;
    options.segment_bytes = 52;
    options.unsent_bytes_max = 3 * options.segment_bytes;
    return options;
}();
constexpr std::uint64_t fit = 12;  // So many.

}  // namespace

TEST_CASE("several messages share a datagram, up to its size") {
    mold_sender sender{small, start};
    for (const char* each : {"alpha", "beta", "gamma", "delta", "epsilon"}) append(sender, each);

    const auto first = sender.next(start);
    const auto second = sender.next(start);

    CHECK(seen(*first) == "1:alpha beta gamma delta ");
    CHECK(first->size() <= small.datagram_bytes_max);
    CHECK(seen(*second) == "5:epsilon ");
    CHECK_FALSE(sender.next(start).has_value());
}

TEST_CASE("what waits to be sent is too much above a quarter, by number or by size") {
    mold_sender sender{small, start};
    for (int each = 0; each < 4; ++each) append(sender, "1");
    CHECK_FALSE(sender.crowded());
    append(sender, "2");
    CHECK(sender.crowded());
    CHECK(sender.next(start).has_value());
    CHECK_FALSE(sender.crowded());

    for (int lap = 0; lap < 20; ++lap) {
        append(sender, std::string(20, 'x'));
        append(sender, std::string(20, 'y'));
        CHECK_FALSE(sender.crowded());
        append(sender, std::string(10, 'z'));
        CHECK(sender.crowded());
        while (sender.next(start)) {
        }
    }

    for (int each = 0; each < 40; ++each) append(sender, "3");  // More than is kept.
    CHECK(sender.crowded());
    while (sender.next(start)) {
    }
    CHECK_FALSE(sender.crowded());
    CHECK(sender.unsent_lost() == 0);
}

TEST_CASE("what was not sent is not pushed out, though it is more than is kept once it was") {
    mold_sender sender{small, start};
    for (int each = 0; each < 40; ++each) append(sender, "message");

    std::uint64_t next = 1;
    while (const auto datagram = sender.next(start)) {
        const std::string text = seen(*datagram);
        CHECK(text.starts_with(std::to_string(next) + ':'));
        next += static_cast<std::uint64_t>(std::ranges::count(text, ' '));
    }

    CHECK(next == 41);
    CHECK(sender.unsent_lost() == 0);
    CHECK(sender.messages().first_sequence() == 25);
    CHECK(sender.answer(request({"S1", 24, 1})).fault == mold_fault::not_kept);
    CHECK(seen(sender.answer(request({"S1", 25, 1})).datagram) == "25:message ");
}

TEST_CASE("a datagram ends where its messages end to stand side by side") {
    mold_sender sender{scarce, start};
    for (const char* each : {"message", "message", "message", "message", "5"}) append(sender, each);

    CHECK(seen(*sender.next(start)) == "1:message message message ");
    CHECK(seen(*sender.next(start)) == "4:message ");
    CHECK(seen(*sender.next(start)) == "5:5 ");
}

TEST_CASE("the largest message fills a datagram alone") {
    mold_sender sender{small, start};
    append(sender, std::string(28, 'x'));
    append(sender, "y");

    CHECK(sender.next(start)->size() == 50);
    CHECK(seen(*sender.next(start)) == "2:y ");
}

TEST_CASE("a silent second brings a heartbeat with the next number, a busy one none") {
    mold_sender sender{small, start};
    CHECK(sender.deadline() == start + 1s);
    CHECK_FALSE(sender.on_timer(start + 999ms).has_value());
    CHECK(seen(*sender.on_timer(start + 1s)) == "1:");
    append(sender, "x");
    static_cast<void>(sender.next(start + 1500ms));

    CHECK_FALSE(sender.on_timer(start + 2s).has_value());
    CHECK(seen(*sender.on_timer(start + 2500ms)) == "2:");
}

TEST_CASE("the end is said at once and each second, until it was said for long enough") {
    mold_sender sender{small, start};
    append(sender, "x");
    static_cast<void>(sender.next(start));

    sender.end(start);

    CHECK(seen(*sender.on_timer(start)) == "2:end");
    CHECK_FALSE(sender.on_timer(start + 1ms).has_value());
    CHECK(seen(*sender.on_timer(start + 1s)) == "2:end");
    CHECK(seen(*sender.on_timer(start + 29s)) == "2:end");
    CHECK_FALSE(sender.on_timer(start + 30s).has_value());
    CHECK(sender.deadline() == gyre::never);
    CHECK(seen(sender.answer(request({"S1", 1, 1})).datagram) == "1:x ");
}

TEST_CASE("the end is not said while messages wait to be sent") {
    mold_sender sender{small, start};
    append(sender, "x");

    sender.end(start);

    CHECK(seen(*sender.on_timer(start)) == "1:");
    static_cast<void>(sender.next(start));
    CHECK(seen(*sender.on_timer(start + 1s)) == "2:end");
}

TEST_CASE("a request is answered with what it asks for, as far as one datagram goes") {
    mold_sender sender{small, start};
    for (const char* each : {"alpha", "beta", "gamma", "delta", "epsilon"}) append(sender, each);
    while (sender.next(start)) {
    }

    CHECK(seen(sender.answer(request({"S1", 2, 2})).datagram) == "2:beta gamma ");
    CHECK(seen(sender.answer(request({"S1", 1, 60000})).datagram) == "1:alpha beta gamma delta ");
    CHECK(seen(sender.answer(request({"S1", 5, 9})).datagram) == "5:epsilon ");
}

TEST_CASE("what was not sent yet is not given to a listener that asks first") {
    mold_sender sender{small, start};
    append(sender, "one");
    static_cast<void>(sender.next(start));
    append(sender, "two");

    CHECK(seen(sender.answer(request({"S1", 1, 9})).datagram) == "1:one ");
    CHECK(sender.answer(request({"S1", 2, 1})).fault == mold_fault::not_sent_yet);
    CHECK(sender.answer(request({"S1", 3, 1})).fault == mold_fault::not_sent_yet);
}

TEST_CASE("each request that cannot be answered has its own fault") {
    mold_sender sender{small, start};
    for (int each = 0; each < 40; ++each) append(sender, "message");
    while (sender.next(start)) {
    }

    CHECK(sender.answer(request({"S1", 1, 1})).fault == mold_fault::not_kept);
    CHECK(sender.answer(request({"S2", 40, 1})).fault == mold_fault::other_session);
    CHECK(sender.answer(request({"S1", 40, 0})).fault == mold_fault::malformed_count);
    CHECK(sender.answer(bytes_of("short")).fault == mold_fault::header_truncated);
    CHECK(sender.answer(request({"S1", 40, 1})).fault == mold_fault::none);
}

TEST_CASE(
    "messages that are pushed out before they were sent are counted, and listeners see the gap") {
    mold_sender sender{scarce, start};
    for (std::uint64_t each = 0; each < fit; ++each) append(sender, "message");
    CHECK(seen(*sender.next(start)) == "1:message message message ");

    append(sender, "message");
    CHECK(sender.crowded());
    const auto datagram = sender.next(start);

    CHECK(sender.unsent_lost() == 1);
    CHECK(seen(*datagram).starts_with("5:"));
    while (sender.next(start)) {
    }
    CHECK_FALSE(sender.crowded());
    CHECK(sender.unsent_lost() == 1);
    CHECK(sender.answer(request({"S1", 4, 1})).fault == mold_fault::not_kept);
}
