// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/events.hpp promises: where a message stands in its event, and who receives it.
#include <exchange/core/events.hpp>

#include <doctest/doctest.h>

#include <array>

using namespace exchange;

TEST_CASE("every message of a batch knows its place, and only the last of a complete one says so") {
    const std::array<event, 3> messages{};
    const event_batch whole{messages, 71, 9, 1'000, 4, true};
    const event_batch part{messages, 71, 9, 1'000, 4, false};

    const event_stamp middle = whole.stamp(1);
    const event_stamp last = whole.stamp(2);

    CHECK(middle.out_seq == 72);
    CHECK(middle.in_seq == 9);
    CHECK(middle.time == 1'000);
    CHECK(middle.index == 5);
    CHECK_FALSE(middle.last_in_event);
    CHECK(last.out_seq == 73);
    CHECK(last.last_in_event);
    CHECK_FALSE(part.stamp(2).last_in_event);
}

TEST_CASE("what names a session goes to that session, and what names none to the public feed") {
    CHECK(audience_of(event_kind::order_entered) == event_audience::session);
    CHECK(audience_of(event_kind::trade_capture_report) == event_audience::session);
    CHECK(audience_of(event_kind::order_book_update) == event_audience::public_feed);
    CHECK(audience_of(event_kind::phase_changed) == event_audience::public_feed);
    CHECK(audience_of(event_kind::execution_busted) == event_audience::session);
    CHECK(audience_of(event_kind::trade_busted) == event_audience::public_feed);
    CHECK(audience_of(event_kind::auction_result) == event_audience::public_feed);
    CHECK(audience_of(event_kind::admin_rejected) == event_audience::administrator);
}

TEST_CASE("a visitor is shown the message that is alive") {
    event it{};
    it.kind = event_kind::volume_update;
    it.volume_update = {.volume = 12, .instrument = instrument_id{3}, .trades = 2};

    const event_kind seen = visit(it, [](const auto& message) { return message.kind; });

    CHECK(seen == event_kind::volume_update);
}
