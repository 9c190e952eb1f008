// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/link_connection.hpp promises: channels that do not hold up each other, bounds that hold
// whatever a peer does, and a reason at the end.
#include <exchange/codec/link_connection.hpp>

#include <codec/link_pair.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

link_options narrow() {
    link_options made;
    made.window_bytes = link_window_bytes_min;
    made.channels_max = 4;
    return made;
}

const std::string kilobyte(1'021, 'x');  // 1,024 bytes with its header.

/// A facility that has welcomed a gateway, and frames that a test makes.
struct hostile_gateway {
    hostile_gateway() {
        say(link_kind::hello, 0, format_link_hello({link_version, 1 << 16, "gw1", "pw"}));
    }

    link_step say(link_kind kind, std::uint32_t channel, std::span<const std::byte> payload) {
        const link_step step = facility.on_frame({kind, channel, payload}, start);
        if (step.what == link_step::kind::hello) facility.welcome("LIFE1");
        if (step.what == link_step::kind::open) facility.admit(step.number, served[step.number]);
        return step;
    }
    void check_ends(link_kind kind, std::uint32_t channel, std::span<const std::byte> payload,
                    link_ending why) {
        CHECK(say(kind, channel, payload).what == link_step::kind::ended);
        CHECK(facility.ending() == why);
        facility.lose_channels([](link_channel&, std::uint32_t) {});
        const auto last = facility.output();
        REQUIRE(last.size() >= link_header_bytes + 1);
        CHECK(static_cast<link_ending>(last.back()) == why);  // It is told.
    }

    std::map<std::uint32_t, scripted_channel> served;
    link_connection facility{link_role::facility, narrow(), start};
};

const auto an_open = format_link_open({{"alice", {}, {}, 1}, false});

}  // namespace

TEST_CASE("link: packets go both ways on channels, wherever bytes are cut") {
    for (const std::size_t piece : {1U, 2U, 7U, 13U, 4'096U}) {
        CAPTURE(piece);
        link_pair it;
        it.connect("LIFE7");
        CHECK(it.gateway.welcomed().life == "LIFE7");
        CHECK(it.facility.hello().name == "gw1");
        scripted_channel alice;
        scripted_channel bob;
        scripted_channel& alices = it.open(alice);
        scripted_channel& bobs = it.open(bob, {{"bob", {}, "LIFE7", 9}, true});
        it.say(it.gateway, alice, "buy");
        it.say(it.gateway, alice, "sell");
        it.say(it.facility, bobs, "told", 'S');
        it.carry(piece);

        CHECK(alices.heard == std::vector<std::string>{"Ubuy", "Usell"});
        CHECK(bob.heard == std::vector<std::string>{"Stold"});
        CHECK(alice.heard.empty());
        REQUIRE(it.opened.size() == 2);
        CHECK(it.opened[1].login.username == "bob");
        CHECK(it.opened[1].login.sequence == 9);
        CHECK(it.opened[1].resumed);
    }
}

TEST_CASE("link: who does not read gets no more than the window, and others get all") {
    link_pair it{narrow()};
    it.connect();
    scripted_channel slow;
    scripted_channel quick;
    scripted_channel& to_slow = it.open(slow);
    scripted_channel& to_quick = it.open(quick);
    it.reads = false;
    for (int each = 0; each < 100; ++each) it.say(it.facility, to_slow, kilobyte, 'S');
    it.carry();
    CHECK(slow.heard.size() == 32);
    CHECK_FALSE(it.facility.wants_to_write());  // It waits, and asks for nothing.

    it.reads = true;
    for (int each = 0; each < 100; ++each) it.say(it.facility, to_quick, kilobyte, 'S');
    it.carry();
    CHECK(quick.heard.size() == 100);
    CHECK(slow.heard.size() == 32);

    it.gateway.take(slow, 32 * 1'024);
    it.carry();
    CHECK(slow.heard.size() == 100);
}

TEST_CASE("link: a channel that has much to say has its turn, and then others have theirs") {
    link_options options = narrow();
    options.window_bytes = 1 << 20;
    link_pair it{options};
    it.connect();
    scripted_channel much;
    scripted_channel little;
    scripted_channel& to_much = it.open(much);
    scripted_channel& to_little = it.open(little);
    for (int each = 0; each < 1'000; ++each) it.say(it.facility, to_much, kilobyte, 'S');
    it.say(it.facility, to_little, "short", 'S');

    const std::size_t first = it.facility.output().size();

    CHECK(first <= options.output_bytes_max);
    CHECK(to_little.unsent.empty());     // It is in the first write,
    CHECK(to_much.unsent.size() > 500);  // which has not all of the other one's.
    it.carry();
    CHECK(much.heard.size() == 1'000);
    CHECK(little.heard.size() == 1);
}

TEST_CASE(
    "link: little that is taken is told when it is a quarter of the window, or when that is asked "
    "for") {
    link_pair it{narrow()};
    it.connect();
    scripted_channel channel;
    static_cast<void>(it.open(channel));
    it.reads = false;

    it.gateway.take(channel, 100);
    CHECK_FALSE(it.gateway.wants_to_write());
    it.gateway.give_back(channel);
    CHECK(it.gateway.wants_to_write());
}

TEST_CASE("link: a number is free when both ends have closed it") {
    link_pair it{narrow()};
    it.connect();
    std::array<scripted_channel, 5> all;
    for (std::size_t each = 0; each < 4; ++each) static_cast<void>(it.open(all[each]));
    CHECK_FALSE(it.gateway.open(all[4], {}));

    const std::uint32_t number = all[1].number();
    it.gateway.close(all[1], soup_ending::peer_silent);
    CHECK_FALSE(all[1].is_open());
    CHECK_FALSE(it.gateway.open(all[4], {}));  // The facility has not heard of it.
    it.carry();
    CHECK(it.served.at(number).closed_with == soup_ending::peer_silent);
    CHECK(it.gateway.open(all[4], {}));
    CHECK(all[4].number() == number);
}

TEST_CASE("link: a close of the facility comes behind the last packet, with its reason") {
    link_pair it;
    it.connect();
    scripted_channel client;
    scripted_channel& served = it.open(client);
    it.say(it.facility, served, "last", 'S');
    served.ends = true;
    served.why = soup_ending::session_ended;
    CHECK(it.facility.output().size() > 0);  // It is being written
    it.say(it.gateway, client, "crosses it");
    it.carry();

    CHECK(client.heard == std::vector<std::string>{"Slast"});
    CHECK(client.closed_with == soup_ending::session_ended);
    CHECK_FALSE(client.is_open());
    CHECK(it.facility.up());  // What crossed the close is no violation.
}

TEST_CASE("link: a client that is refused is told why, and its number is free") {
    link_options one = narrow();
    one.channels_max = 1;
    link_pair it{one};
    it.connect();
    it.refuses = true;
    scripted_channel client;
    REQUIRE(it.gateway.open(client, {}));
    it.carry();

    CHECK(client.closed_with == soup_ending::removed);
    CHECK(it.gateway.open(client, {}));
}

TEST_CASE("link: a channel that is closed before its open was written leaves no trace") {
    link_pair it{narrow()};
    it.connect();
    scripted_channel client;
    REQUIRE(it.gateway.open(client, {}));
    it.gateway.close(client, soup_ending::logged_out);
    it.carry();

    CHECK(it.opened.empty());
    CHECK(it.facility.up());
    static_cast<void>(it.open(client));
    CHECK(client.is_open());
}

TEST_CASE("link: when it is lost, each channel knows how much the peer had not said it took") {
    link_pair it;
    it.connect();
    scripted_channel client;
    scripted_channel idle;
    static_cast<void>(it.open(client));
    static_cast<void>(it.open(idle));
    it.reads = false;
    it.say(it.gateway, client, "one");
    it.carry();
    it.gateway.disconnected();
    std::vector<std::uint32_t> lost;
    it.gateway.lose_channels([&](link_channel&, std::uint32_t bytes) { lost.push_back(bytes); });

    CHECK(lost == std::vector<std::uint32_t>{soup_header_bytes + 3, 0});
    CHECK_FALSE(client.is_open());
    CHECK(it.gateway.ending() == link_ending::closed);
}

TEST_CASE("link: a gateway connects again, with all numbers free") {
    link_pair it{narrow()};
    it.connect();
    std::array<scripted_channel, 4> all;
    for (scripted_channel& each : all) static_cast<void>(it.open(each));
    it.gateway.disconnected();
    it.gateway.lose_channels([](link_channel&, std::uint32_t) {});
    it.facility.disconnected();
    it.facility.lose_channels([](link_channel&, std::uint32_t) {});

    link_connection again{link_role::facility, narrow(), start};
    it.gateway.connect("gw1", "password", start);
    const auto hello = it.gateway.output();
    link_framer framer;
    std::copy(hello.begin(), hello.end(), framer.space().begin());
    framer.received(hello.size());
    it.gateway.sent(hello.size(), start);
    CHECK(again.on_frame(framer.next().frame, start).what == link_step::kind::hello);
    again.welcome("LIFE2");
    const auto welcome = again.output();
    std::copy(welcome.begin(), welcome.end(), framer.space().begin());
    framer.received(welcome.size());
    CHECK(it.gateway.on_frame(framer.next().frame, start).what == link_step::kind::welcome);
    for (scripted_channel& each : all) CHECK(it.gateway.open(each, {}));
    it.gateway.disconnected();
    it.gateway.lose_channels([](link_channel&, std::uint32_t) {});
}

TEST_CASE("link: silence ends it, heartbeats keep it up, and a hello does not take for ever") {
    link_options options = narrow();
    options.heartbeat_after = 1s;
    options.dead_after = 5s;
    options.hello_within = 3s;
    link_pair it{options};
    CHECK(it.facility.on_timer(start + 2999ms).what == link_step::kind::nothing);
    it.connect();
    for (int second = 1; second <= 20; ++second) {
        it.now = start + second * 1s;
        static_cast<void>(it.gateway.on_timer(it.now));
        static_cast<void>(it.facility.on_timer(it.now));
        it.carry();
    }
    CHECK(it.gateway.up());
    CHECK(it.facility.up());
    CHECK(it.facility.on_timer(it.now + 5s).what == link_step::kind::ended);
    CHECK(it.facility.ending() == link_ending::peer_silent);

    link_connection silent{link_role::facility, options, start};
    CHECK(silent.on_timer(start + 3s).what == link_step::kind::ended);
    CHECK(silent.ending() == link_ending::no_hello);
}

TEST_CASE("link: an end is told to the peer, who knows the reason then") {
    link_pair it;
    it.connect();
    it.facility.end(link_ending::replaced);
    it.carry();

    CHECK(it.gateway.over());
    CHECK(it.gateway.ending() == link_ending::replaced);
}

TEST_CASE("link: what a gateway must not say ends its link with the reason") {
    const std::array<std::byte, 3> short_packet{std::byte{0}, std::byte{1}, std::byte{'U'}};
    const std::byte no_reason{200};
    const std::array<std::byte, 4> nothing{};
    const auto second_hello = format_link_hello({link_version, 1 << 16, "gw1", "pw"});
    const bytes too_much(link_window_bytes_min + 1, std::byte{'x'});
    const std::array<std::byte, 4> too_much_credit{std::byte{0xff}, std::byte{0xff},
                                                   std::byte{0xff}, std::byte{0xff}};
    using enum link_kind;
    using enum link_ending;
    hostile_gateway{}.check_ends(hello, 0, second_hello, out_of_order);
    hostile_gateway{}.check_ends(welcome, 0, format_link_welcome({1 << 16, 1, "L"}), out_of_order);
    hostile_gateway{}.check_ends(open, 0, an_open, unknown_channel);
    hostile_gateway{}.check_ends(open, 5, an_open, unknown_channel);
    hostile_gateway{}.check_ends(open, 1, short_packet, malformed_frame);
    hostile_gateway{}.check_ends(packets, 1, short_packet, unknown_channel);
    hostile_gateway{}.check_ends(packets, 99, short_packet, unknown_channel);
    hostile_gateway{}.check_ends(heartbeat, 1, {}, malformed_frame);
    hostile_gateway{}.check_ends(static_cast<link_kind>(77), 0, {}, unknown_kind);
    const auto behind_open = [&](link_kind kind, std::span<const std::byte> payload,
                                 link_ending why) {
        hostile_gateway it;
        CHECK(it.say(open, 1, an_open).what == link_step::kind::open);
        it.check_ends(kind, 1, payload, why);
    };
    behind_open(open, an_open, channel_in_use);
    behind_open(packets, {}, malformed_frame);
    behind_open(packets, too_much, beyond_window);
    behind_open(credit, nothing, malformed_frame);
    behind_open(credit, short_packet, malformed_frame);
    behind_open(credit, too_much_credit, beyond_window);
    behind_open(close, {&no_reason, 1}, malformed_frame);
}

TEST_CASE("link: a hello of another version, or with too small a window, is refused") {
    link_connection one{link_role::facility, narrow(), start};
    static_cast<void>(
        one.on_frame({link_kind::hello, 0, format_link_hello({2, 1 << 16, "g", "p"})}, start));
    CHECK(one.ending() == link_ending::other_version);
    link_connection other{link_role::facility, narrow(), start};
    static_cast<void>(other.on_frame(
        {link_kind::hello, 0, format_link_hello({link_version, 100, "g", "p"})}, start));
    CHECK(other.ending() == link_ending::small_window);
    link_connection third{link_role::facility, narrow(), start};
    static_cast<void>(third.on_frame({link_kind::open, 1, an_open}, start));
    CHECK(third.ending() == link_ending::out_of_order);
}
