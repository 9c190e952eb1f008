// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/arrival_log.hpp promises: no event passes that derived anything else than it should.
#include <exchange/bench/arrival_log.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::bench;
using namespace std::chrono_literals;

namespace {

constexpr in_sequence first = 101;
constexpr event_shape cancel_shape{.measured = 2, .derived = 8};
constexpr event_shape trade_shape{.before = 1, .derived_before = 4, .derived = 10};

gyre::time_point at(gyre::duration it) { return gyre::time_point{it}; }

/// The messages [begin, end) of a command that derives `all`.
struct messages {
    in_sequence command;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t all;
    event_kind first_kind = event_kind::order_entered;
};

void arrive(arrival_log& log, const messages& those, gyre::time_point when) {
    for (std::uint32_t index = those.begin; index < those.end; ++index) {
        const event_kind kind = index == 0 ? those.first_kind : event_kind::top_of_book;
        log.take({index + 1, those.command, 0, index, index + 1 == those.all}, {kind}, when);
    }
}

}  // namespace

TEST_CASE("an event is complete when the last message of its last command is there") {
    arrival_log log{first, 2, cancel_shape};

    arrive(log, {first, 1, 4, 4}, at(1us));  // The feed is faster here.
    CHECK(log.measured_complete() == 0);
    arrive(log, {first, 0, 1, 4}, at(2us));
    CHECK(log.measured_complete() == 1);
    arrive(log, {first + 1, 0, 4, 4, event_kind::order_cancelled}, at(5us));

    const auto events = log.events();
    CHECK(log.fault() == "");
    REQUIRE(events.size() == 1);
    CHECK(events[0].first == 0);
    CHECK(events[0].last == 1);
    CHECK(events[0].complete == at(5us));
}

TEST_CASE("what precedes an event is no event, whatever order the commands were carried out in") {
    arrival_log log{first, 4, trade_shape};

    arrive(log, {first, 0, 4, 4}, at(1us));
    arrive(log, {first + 1, 0, 4, 4}, at(2us));  // Two makers, then two trades.
    CHECK(log.before_complete() == 2);
    arrive(log, {first + 2, 0, 10, 10, event_kind::order_executed}, at(3us));
    arrive(log, {first + 3, 0, 10, 10, event_kind::order_executed}, at(4us));

    const auto events = log.events();
    REQUIRE(events.size() == 2);
    CHECK(events[0].first == 2);
    CHECK(events[1].complete == at(4us));
}

TEST_CASE("an event with a message too few is named") {
    arrival_log log{first, 2, trade_shape};
    arrive(log, {first, 0, 4, 4}, at(1us));
    arrive(log, {first + 1, 0, 9, 9, event_kind::order_executed}, at(2us));

    CHECK(log.events().empty());
    CHECK(log.fault() == "event 0 derived 9 messages instead of 10");
}

TEST_CASE("an event that was answered by something else is a fault, also if it is as long") {
    constexpr answer wanted{event_kind::order_cancelled, number(cancel_reason::fill_or_kill)};
    constexpr answer other{event_kind::order_cancelled, number(cancel_reason::requested)};
    constexpr answer refusal{event_kind::order_rejected, number(reject_reason::market_closed)};
    for (const answer& it : {wanted, other, refusal}) {
        arrival_log log{first, 1, {.derived = 1}, {wanted}};
        log.take({1, first, 0, 0, true}, it, at(1us));
        CHECK(log.events().size() == (it == wanted ? 1 : 0));
        CHECK(log.fault().empty() == (it == wanted));
    }
    arrival_log log{first, 1, {.derived = 1}, {wanted}};
    log.take({1, first, 0, 0, true}, refusal, at(1us));
    static_cast<void>(log.events());
    CHECK(log.fault() ==
          "command 101 was answered by event kind 4, reason 6 instead of event kind "
          "3, reason 4");
}

TEST_CASE("so is what precedes it") {
    arrival_log log{first, 2, trade_shape};
    arrive(log, {first, 0, 3, 3}, at(1us));
    arrive(log, {first + 1, 0, 10, 10, event_kind::order_executed}, at(2us));

    CHECK(log.events().empty());
    CHECK(log.fault() == "what precedes an event derived 3 messages instead of 4");
}

TEST_CASE("a message that did not arrive leaves its command incomplete") {
    arrival_log log{first, 1, {.derived = 4}};
    arrive(log, {first, 0, 2, 4}, at(1us));
    arrive(log, {first, 3, 4, 4}, at(1us));

    CHECK(log.measured_complete() == 0);
    CHECK(log.events().empty());
    CHECK(log.fault() == "command 101 is incomplete: 3 messages of 4");
}

TEST_CASE("a message behind the last one, and one of a command that was not sent, are faults") {
    arrival_log twice{first, 1, {.derived = 1}};
    arrive(twice, {first, 0, 1, 1}, at(1us));
    arrive(twice, {first, 0, 1, 1}, at(1us));
    CHECK(twice.fault() == "command 101 derived 2 messages, but said that there are 1");

    arrival_log strange{first, 1, {.derived = 1}};
    arrive(strange, {first + 1, 0, 1, 1}, at(1us));
    CHECK(strange.fault() == "a message of command 102, which was not sent");
    arrival_log earlier{first, 1, {.derived = 1}};
    arrive(earlier, {first - 1, 0, 1, 1}, at(1us));
    CHECK(earlier.fault() == "a message of command 100, which was not sent");
}
