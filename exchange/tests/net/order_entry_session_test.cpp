// SPDX-License-Identifier: BSL-1.0
//
// What a connection does on its own account: time, nonsense, and its end.
#include <exchange/net/session/order_entry_session.hpp>

#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

struct opened {
    opened() : host{two_traders(), day_start} { open_market(host); }

    order_entry_host host;
    socketless_client alices{host, login_of("alice")};
};

struct packet_counter final : span_observer {
    int packets = 0;

    void received() noexcept override {}
    void carried_out() noexcept override { ++packets; }
    void written() noexcept override {}
};

struct time_of_event {
    timestamp_ns time = 0;

    void operator()(const event_stamp& stamp, const auto&) { time = stamp.time; }
    void operator()(const message_rejected&) {}
};

}  // namespace

TEST_CASE("a session that does not log in is ended when it should have") {
    opened it;
    order_entry_session silent{it.host, it.alices, {.login_within = 2s}, day_start};

    CHECK(silent.deadline() == day_start + 2s);
    silent.on_timer(day_start + 1999ms);
    CHECK_FALSE(silent.over());
    silent.on_timer(day_start + 2s);
    CHECK(silent.ending() == soup_ending::login_timed_out);
}

TEST_CASE("a silent client is sent away, and its participant is free again") {
    opened it;
    it.alices.connect();
    REQUIRE(it.host.participants()[0].connection() != nullptr);

    it.alices.session().on_timer(day_start + 14s);
    CHECK(it.alices.session().output().size() > 0);  // A heartbeat.
    it.alices.session().on_timer(day_start + 15s);

    CHECK(it.alices.session().ending() == soup_ending::peer_silent);
    CHECK(it.host.participants()[0].connection() == nullptr);
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
    CHECK(other.host.participants()[0].connection() == nullptr);
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

TEST_CASE("what is carried out in one turn has one time, and the clock is asked once") {
    static timestamp_ns asked;
    asked = 0;
    order_entry_host_options options = two_traders();
    options.sequencing.clocks.steady = []() noexcept { return ++asked; };
    order_entry_host host{options, day_start};
    open_market(host);
    socketless_client alices{host, login_of("alice")};
    alices.connect();
    span_watch spans{nullptr};
    soup_framer framer;
    const auto put_order = [&framer](std::uint64_t client_seq) {
        std::array<std::byte, message_bytes_of<enter_order>> message;
        encode(limit(client_sequence{client_seq}, order_side::buy, 100, 1), message);
        const auto room = framer.space();
        write_soup_header(room.first<soup_header_bytes>(), soup_type::unsequenced, message.size());
        std::ranges::copy(message, room.subspan(soup_header_bytes).begin());
        framer.received(soup_header_bytes + message.size());
    };
    const auto last_time = [&host] {
        const message_log& messages = host.participants()[0].stream().messages();
        time_of_event found;
        static_cast<void>(decode_private_event(
            messages.framed(messages.next_sequence() - 1).subspan(soup_header_bytes), found));
        return found.time;
    };
    put_order(1);
    CHECK(alices.session().take_packets(framer, 5, day_start, spans) == 1);
    const timestamp_ns first = last_time();
    for (std::uint64_t each = 2; each <= 4; ++each) put_order(each);
    const timestamp_ns before = asked;

    CHECK(alices.session().take_packets(framer, 5, day_start, spans) == 3);

    CHECK(asked == before + 1);
    CHECK(last_time() == first + 1);
    CHECK(alices.session().take_packets(framer, 5, day_start, spans) == 0);
    CHECK(asked == before + 1);  // Where there is no command, there is no time.
    host.apply(set_phase{the_market, market_phase::halted});
    CHECK(asked == before + 2);
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
    socketless_client ops{it.host, login_of("ops", 0)};
    it.alices.connect();
    ops.connect();
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.alices.forget();
    const std::uint64_t commands = it.host.counts().commands;
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
    CHECK(it.host.counts().commands == commands);
    CHECK(it.host.counts().malformed == 0);
}

TEST_CASE("questions without reading the answers end the session, not the memory") {
    opened it;
    socketless_client ops{it.host, login_of("ops", 0)};
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

namespace {

order_entry_host_options with_delays(std::uint32_t checks_per_second_max = 500) {
    order_entry_host_options options = two_traders();
    options.logins = {.checks_per_second_max = checks_per_second_max, .checks_at_once_max = 1};
    return options;
}

soup_login guess_of(std::string_view name) {
    return {.username = name, .password = "guess", .session = {}};
}

}  // namespace

TEST_CASE("a wrong password is told late, later each time, and holds nothing else") {
    order_entry_host host{with_delays(), day_start};
    open_market(host);
    gyre::time_point now = day_start;
    for (const gyre::duration late : std::vector<gyre::duration>{1s, 2s, 4s, 8s, 8s}) {
        now += 1s;
        socketless_client stranger{host, guess_of("alice")};
        stranger.connect(now);
        CHECK(stranger.session().login_pending());
        CHECK(stranger.client().rejected() == soup_reject::none);

        socketless_client alices{host, login_of("alice")};
        alices.be_at(gyre::endpoint::parse("10.0.0.9:1").value());
        alices.connect(now + 100ms);
        CHECK(alices.client().logged_in());
        alices.disconnect();

        CHECK(stranger.session().deadline() <= now + late);
        stranger.session().on_timer(now + late - 1ms);
        stranger.exchange_bytes(now + late - 1ms);
        CHECK(stranger.client().rejected() == soup_reject::none);
        stranger.session().on_timer(now + late);
        stranger.exchange_bytes(now + late);
        CHECK(stranger.client().rejected() == soup_reject::not_authorized);
        CHECK(stranger.session().over());
        now += late;
    }
    socketless_client later{host, guess_of("alice")};
    now += 60s;
    later.connect(now);
    later.session().on_timer(now + 1s);
    later.exchange_bytes(now + 1s);
    CHECK(later.client().rejected() == soup_reject::not_authorized);
}

TEST_CASE("an unknown name is told as late as a wrong password, and each host has its own count") {
    order_entry_host host{with_delays(), day_start};
    gyre::time_point now = day_start;
    struct attempt {
        const char* host;
        const char* name;
        gyre::duration late;
    };
    for (const attempt& each : {attempt{"10.0.0.1:1", "eve", 1s}, attempt{"10.0.0.1:2", "mal", 2s},
                                attempt{"10.0.0.2:1", "ken", 1s}}) {
        INFO(std::string{each.name});
        socketless_client stranger{host, guess_of(each.name)};
        stranger.be_at(gyre::endpoint::parse(each.host).value());
        now += 1s;
        stranger.connect(now);
        stranger.session().on_timer(now + each.late - 1ms);
        CHECK(stranger.session().login_pending());
        stranger.session().on_timer(now + each.late);
        CHECK_FALSE(stranger.session().login_pending());
        CHECK(stranger.session().ending() == soup_ending::rejected);
    }
}

TEST_CASE("a login beyond the bound waits for its turn, and what comes behind it waits with it") {
    order_entry_host host{with_delays(10), day_start};
    open_market(host);
    socketless_client bobs{host, login_of("bob")};
    bobs.connect();
    REQUIRE(bobs.client().logged_in());

    socketless_client alices{host, login_of("alice")};
    alices.connect();
    REQUIRE(alices.session().login_pending());
    soup_framer behind;
    write_soup_header(behind.space().first<soup_header_bytes>(), soup_type::client_heartbeat, 0);
    behind.received(soup_header_bytes);
    span_watch spans{nullptr};
    CHECK(alices.session().take_packets(behind, 5, day_start, spans) == 0);
    const int announced = alices.announced();

    host.on_timer(day_start + 99ms);
    CHECK(alices.session().login_pending());
    host.on_timer(day_start + 100ms);
    CHECK_FALSE(alices.session().login_pending());
    CHECK(alices.announced() > announced);  // So its driver goes on.
    CHECK(alices.session().take_packets(behind, 5, day_start, spans) == 1);
    alices.exchange_bytes();
    CHECK(alices.client().logged_in());
}

TEST_CASE("a login that has to wait too long is ended as one that never came, and has no turn") {
    order_entry_host host{with_delays(1), day_start};
    socketless_client bobs{host, login_of("bob")};
    bobs.connect();
    socketless_client alices{host, login_of("alice"), {.login_within = 500ms}};
    alices.connect();
    REQUIRE(alices.session().login_pending());
    alices.session().on_timer(day_start + 500ms);
    CHECK(alices.session().ending() == soup_ending::login_timed_out);
    CHECK_FALSE(alices.session().login_pending());
    host.on_timer(day_start + 1s);
    CHECK_FALSE(alices.session().logged_in());
}
