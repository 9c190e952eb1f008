// SPDX-License-Identifier: BSL-1.0
//
// What a connection does on its own account: time, nonsense, and its end.
#include <exchange/net/session/order_entry_session.hpp>

#include <exchange/tests/net/desk.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

struct opened {
    opened() : service{two_traders(), day_start} { open_market(service); }

    matching_service service;
    desk alices{service, login_of("alice")};
};

}  // namespace

TEST_CASE("a session that does not log in is ended when it should have") {
    opened it;
    order_entry_session silent{it.service, it.alices, {.login_within = 2s}, day_start};

    CHECK(silent.deadline() == day_start + 2s);
    silent.on_timer(day_start + 1999ms);
    CHECK_FALSE(silent.over());
    silent.on_timer(day_start + 2s);
    CHECK(silent.ending() == soup_ending::login_timed_out);
}

TEST_CASE("a silent client is sent away, and its participant is free again") {
    opened it;
    it.alices.connect();
    REQUIRE(it.service.participants()[0].connection() != nullptr);

    it.alices.session().on_timer(day_start + 14s);
    CHECK(it.alices.session().output().size() > 0);  // A heartbeat.
    it.alices.session().on_timer(day_start + 15s);

    CHECK(it.alices.session().ending() == soup_ending::peer_silent);
    CHECK(it.service.participants()[0].connection() == nullptr);
}

TEST_CASE("a packet that cannot be ends the session, with the reason as its last word") {
    opened it;
    it.alices.connect();
    it.alices.session().on_packet({static_cast<soup_type>('?'), {}}, day_start);
    CHECK(it.alices.session().ending() == soup_ending::unknown_packet);

    opened other;
    other.alices.connect();
    other.alices.session().on_framing_error(soup_ending::oversized_packet);
    const soup_output last = other.alices.session().output();
    std::string text;
    for (const auto part : last.buffers())
        text.append(reinterpret_cast<const char*>(part.data()), part.size());
    CHECK(text.ends_with(describe(soup_ending::oversized_packet)));
    CHECK(other.service.participants()[0].connection() == nullptr);
}

TEST_CASE("nonsense without reading the answers ends the session, not the memory") {
    opened it;
    it.alices.connect();
    const std::byte nonsense[3]{};
    int refused = 0;
    while (!it.alices.session().over() && refused < 100'000) {
        it.alices.session().on_packet({soup_type::unsequenced, nonsense}, day_start);
        ++refused;
    }
    CHECK(it.alices.session().ending() == soup_ending::fell_behind);
    CHECK(refused < 1'000);
    CHECK(refused > 100);
}

TEST_CASE("a client that logs out is done, and may come back") {
    opened it;
    it.alices.connect();
    REQUIRE(it.alices.client().log_out());
    it.alices.exchange_bytes();
    CHECK(it.alices.session().ending() == soup_ending::logged_out);
    CHECK(it.alices.session().who() == nullptr);

    it.alices.connect();
    CHECK(it.alices.client().logged_in());
}
