// SPDX-License-Identifier: BSL-1.0
//
// What a connection does on its own account: time, nonsense, and its end.
#include <exchange/net/session/order_entry_session.hpp>

#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

struct opened {
    opened() : service{two_traders(), day_start} { open_market(service); }

    matching_service service;
    socketless_client alices{service, login_of("alice")};
};

struct packet_counter final : span_observer {
    int packets = 0;

    void received() noexcept override {}
    void carried_out() noexcept override { ++packets; }
    void written() noexcept override {}
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

TEST_CASE("packets that are here are taken up to the limit of a turn, and none behind the end") {
    opened it;
    it.alices.connect();
    packet_counter seen;
    span_watch spans{&seen};
    soup_framer framer;
    const auto put_packet = [&framer](soup_type type) {
        write_soup_header(framer.space().first<soup_header_bytes>(), type, 0);
        framer.received(soup_header_bytes);
    };
    const auto take = [&](std::size_t at_most) {
        return it.alices.session().take_packets(framer, at_most, day_start, spans);
    };
    for (int each = 0; each < 3; ++each) put_packet(soup_type::client_heartbeat);

    CHECK(take(2) == 2);
    CHECK(take(2) == 1);
    CHECK(take(2) == 0);
    CHECK(seen.packets == 3);

    put_packet(soup_type::logout_request);
    put_packet(soup_type::client_heartbeat);
    CHECK(take(5) == 1);
    CHECK(it.alices.session().ending() == soup_ending::logged_out);
    CHECK(take(5) == 0);
    CHECK(seen.packets == 4);
}

TEST_CASE("what the framer cannot read counts as taken, and as no packet") {
    opened it;
    it.alices.connect();
    packet_counter seen;
    span_watch spans{&seen};
    soup_framer framer;
    std::ranges::fill(framer.space().first(2), std::byte{0xff});
    framer.received(2);

    CHECK(it.alices.session().take_packets(framer, 5, day_start, spans) == 1);
    CHECK(it.alices.session().ending() == soup_ending::oversized_packet);
    CHECK(seen.packets == 0);
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

TEST_CASE("the question of a trader as of the operator is answered beside the stream") {
    opened it;
    socketless_client ops{it.service, login_of("ops", 0)};
    it.alices.connect();
    ops.connect();
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.alices.forget();
    const std::uint64_t commands = it.service.counts().commands;
    std::array<std::byte, message_bytes_of<book_request>> question;
    encode(book_request{the_market, best_of(order_side::buy), order_side::buy}, question);

    for (socketless_client* const each : {&ops, &it.alices}) {
        REQUIRE(each->send_bytes(question));
        each->exchange_bytes();

        REQUIRE(each->heard().size() == 1);
        CHECK_FALSE(each->heard()[0].sequenced);
        book_page page{};
        CHECK(decode_book_answer(each->heard()[0].bytes, [&page](const auto& found) {
                  if constexpr (requires { found.levels; }) page = found;
              }) == decode_fault{});
        REQUIRE(page.count == 1);
        CHECK(page.levels[0] == book_level{100, 5, 1});
    }
    CHECK(it.service.counts().commands == commands);
    CHECK(it.service.counts().malformed == 0);
}

TEST_CASE("questions without reading the answers end the session, not the memory") {
    opened it;
    socketless_client ops{it.service, login_of("ops", 0)};
    ops.connect();
    std::array<std::byte, message_bytes_of<book_request>> question;
    encode(book_request{the_market, best_of(order_side::buy), order_side::buy}, question);
    int answered = 0;
    while (!ops.session().over() && answered < 100'000) {
        ops.session().on_packet({soup_type::unsequenced, question}, day_start);
        ++answered;
    }
    CHECK(ops.session().ending() == soup_ending::fell_behind);
    CHECK(answered < 1'000);
    CHECK(answered > 5);
}

TEST_CASE("a client that logs out is done, and may come back") {
    opened it;
    it.alices.connect();
    REQUIRE(it.alices.client().log_out());
    it.alices.exchange_bytes();
    CHECK(it.alices.session().ending() == soup_ending::logged_out);
    CHECK_FALSE(it.alices.session().logged_in());

    it.alices.connect();
    CHECK(it.alices.client().logged_in());
}
