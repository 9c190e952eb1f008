// SPDX-License-Identifier: BSL-1.0
//
// What a gateway does with its link: whatever the facility does, each client has a channel or a reason.
#include <exchange/net/application/gateway_host.hpp>

#include <exchange/tests/net/socketless_gateway.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

/// A gateway whose facility a test plays, with a client that asks to be let in.
struct played_facility {
    played_facility() {
        host.connect(day_start);
        say(link_kind::welcome, 0, format_link_welcome({1 << 16, 8, "DAY"}));
        client.connect();
        client.carry(day_start);
        take_output();
    }
    ~played_facility() { client.disconnect(); }

    void say(link_kind kind, std::uint32_t channel, std::span<const std::byte> payload) {
        std::array<std::byte, link_header_bytes> header;
        write_link_header(header, {static_cast<std::uint32_t>(payload.size()), channel, kind});
        put_bytes(header);
        put_bytes(payload);
        host.take_frames(framer, day_start);
    }
    void say_packet(char type, std::span<const std::byte> payload) {
        std::vector<std::byte> packet(soup_header_bytes);
        write_soup_header(std::span{packet}.first<soup_header_bytes>(),
                          static_cast<soup_type>(type), payload.size());
        packet.insert(packet.end(), payload.begin(), payload.end());
        say(link_kind::packets, 1, packet);
    }
    void let_in(std::uint64_t sequence = 1) {
        say_packet('A', format_soup_acceptance({"DAY", sequence}));
        while (client.carry(day_start)) {
        }
    }
    void take_output() {
        while (host.link_wants_to_write()) {
            const std::size_t size = host.link_output(day_start).size();
            if (size == 0) break;
            host.link_sent(size, day_start);
        }
    }
    void put_bytes(std::span<const std::byte> it) {
        std::ranges::copy(it, framer.space().begin());
        framer.received(it.size());
    }

    gateway_host host{gateway_for_two(), day_start};
    link_framer framer;
    client_of_gateway client{host, login_of("alice")};
};

struct link_watcher final : gateway_watcher {
    void link_up(const soup_session&) noexcept override { told += "up "; }
    void link_lost() noexcept override { told += "lost "; }
    void link_replaced() noexcept override { told += "replaced "; }
    void link_refused(link_ending why) noexcept override {
        told += std::string{describe(why)} + ' ';
    }
    void login_refused(const refused_login& it) noexcept override {
        told += std::string{it.user} + ':' + std::string{describe(it.why)} + ' ';
    }
    void client_shed(const gateway_client&) noexcept override {}
    std::string told;
};

}  // namespace

TEST_CASE("gateway: when the exchange has begun another life, clients of the one before are told") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    it.lose_link();
    order_entry_host_options other = venue_with_gateways();
    other.stream.session = "NEXT";
    order_entry_host next{other, day_start};
    open_market(next);
    socketless_link link{next, it.all};
    it.gateway.connect(day_start);
    const auto hello = it.gateway.link_output(day_start);
    std::copy(hello.begin(), hello.end(), link.incoming.space().begin());
    link.incoming.received(hello.size());
    it.gateway.link_sent(hello.size(), day_start);
    span_watch unwatched{nullptr};
    while (link.session.take_frames(link.incoming, 64, day_start, unwatched) > 0) {
    }
    const auto welcome = link.session.output(day_start);
    std::copy(welcome.begin(), welcome.end(), it.from_facility.space().begin());
    it.from_facility.received(welcome.size());
    it.gateway.take_frames(it.from_facility, day_start);
    it.carry();

    CHECK(a.served->ending() == soup_ending::life_ended);
    CHECK(a.debug == describe(soup_ending::life_ended));
    CHECK(it.gateway.link_up());
}

TEST_CASE("gateway: clients that come before the link wait for it, and are let in") {
    socketless_gateway it;
    it.lose_link();
    client_of_gateway& a = it.come("alice");
    client_of_gateway& b = it.come("bob");
    CHECK(a.machine.asking());

    it.connect_link();
    it.carry();

    CHECK(a.machine.logged_in());
    CHECK(b.machine.logged_in());
    CHECK(it.gateway.counts().links == 2);
}

TEST_CASE("gateway: when another one takes its link, all its clients are told to come again") {
    socketless_gateway it;
    client_of_gateway& in = it.come("alice");
    it.link->session.end(link_ending::replaced);
    it.carry();
    CHECK(it.gateway.link_replaced());
    CHECK(in.served->ending() == soup_ending::gateway_goes);
    CHECK(in.debug == describe(soup_ending::gateway_goes));
    it.lose_link();
    client_of_gateway& late = it.come("bob");
    CHECK(late.served->ending() == soup_ending::gateway_goes);
    CHECK_FALSE(late.machine.logged_in());

    it.gateway.connect(day_start);
    CHECK_FALSE(it.gateway.link_replaced());
    it.lose_link();
    client_of_gateway& patient = it.come("bob");
    CHECK(patient.machine.asking());
    it.connect_link();
    it.carry();
    CHECK(patient.machine.logged_in());
}

TEST_CASE("gateway: one that drains serves its clients as long as it has its link") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    it.gateway.drain(day_start);
    CHECK_FALSE(a.served->over());
    client_of_gateway& b = it.come("bob");
    CHECK(b.machine.logged_in());
    it.lose_link();
    it.carry();
    CHECK(a.debug == describe(soup_ending::gateway_goes));
    CHECK(b.debug == describe(soup_ending::gateway_goes));
}

TEST_CASE("gateway: one that drains without a link sends those away who wait for it") {
    socketless_gateway it;
    it.lose_link();
    client_of_gateway& waits = it.come("alice");
    CHECK(waits.machine.asking());
    it.gateway.drain(day_start);
    it.carry();
    CHECK(waits.debug == describe(soup_ending::gateway_goes));
}

TEST_CASE("gateway: a watcher is told that the link is lost, or whose it is now") {
    link_watcher watches;
    socketless_gateway it;
    it.gateway.be_watched(&watches);
    it.lose_link();
    it.gateway.connect(day_start);
    it.lose_link();  // It was not up: nothing new.
    it.connect_link();
    it.link->session.end(link_ending::replaced);
    it.carry();
    it.lose_link();
    CHECK(watches.told == "lost up replaced ");
    it.gateway.be_watched(nullptr);
}

TEST_CASE("gateway: a watcher is told whose login is refused, and why") {
    link_watcher watches;
    socketless_gateway it;
    it.gateway.be_watched(&watches);
    for (const char* const each : {"alice", "eve"}) {
        soup_login guess = login_of(each);
        guess.password = "guess";
        it.clients.emplace_back(it.gateway, guess).connect();
        it.carry();
    }
    CHECK(watches.told == "alice:wrong_password eve:unknown_user ");
    CHECK(it.gateway.counts().refused == 2);
    it.gateway.be_watched(nullptr);
}

TEST_CASE("gateway: a watcher is told once that the facility does not let it in") {
    gateway_host_options wrong = gateway_for_two();
    wrong.password = "wrong";
    link_watcher watches;
    socketless_gateway it{wrong};
    it.gateway.be_watched(&watches);
    it.lose_link();
    CHECK(watches.told == "no gateway has this name and password ");
    it.connect_link();
    it.lose_link();
    CHECK(watches.told == "no gateway has this name and password ");
    CHECK(it.gateway.counts().links == 0);
    it.gateway.be_watched(nullptr);
}

TEST_CASE("gateway: without a free channel a client waits until another one has left") {
    gateway_host_options one = gateway_for_two();
    one.link.channels_max = 1;
    socketless_gateway it{one};
    client_of_gateway& a = it.come("alice");
    client_of_gateway& b = it.come("bob");
    CHECK(a.machine.logged_in());
    CHECK(b.machine.asking());

    a.disconnect();
    it.carry();

    CHECK(b.machine.logged_in());
}

TEST_CASE(
    "gateway: a facility that says what cannot be is left, and clients wait for another link") {
    const auto check_left = [](bool let_in, char type, std::span<const std::byte> payload) {
        CAPTURE(type);
        played_facility it;
        if (let_in) {
            it.let_in();
            REQUIRE(it.client.machine.logged_in());
        }
        it.say_packet(type, payload);

        CHECK(it.host.link_over());
        CHECK(it.host.link_ended_by() == link_ending::malformed_frame);
        CHECK_FALSE(it.client.served->over());
        CHECK_FALSE(it.client.served->is_open());
    };
    const auto accepted = format_soup_acceptance({"DAY", 1});
    check_left(false, 'S', accepted);
    check_left(false, 'A', std::span{accepted}.first(9));
    check_left(true, 'A', accepted);
    check_left(true, 'J', std::span{accepted}.first(1));
    check_left(true, 'L', accepted);
    check_left(true, '?', accepted);
}

TEST_CASE("gateway: a resumed stream that goes on elsewhere than was asked ends the link") {
    played_facility it;
    it.let_in();
    it.host.link_lost(day_start);
    it.framer.reset();
    it.host.connect(day_start);
    it.say(link_kind::welcome, 0, format_link_welcome({1 << 16, 8, "DAY"}));
    it.take_output();
    it.say_packet('A', format_soup_acceptance({"DAY", 7}));

    CHECK(it.host.link_over());
    CHECK_FALSE(it.client.served->over());
}

TEST_CASE(
    "gateway: a client whose messages are not kept any more is told when the link is there again") {
    played_facility it;
    it.let_in();
    it.host.link_lost(day_start);
    it.framer.reset();
    it.host.connect(day_start);
    it.say(link_kind::welcome, 0, format_link_welcome({1 << 16, 8, "DAY"}));
    it.take_output();
    const std::byte not_available{'S'};
    it.say_packet('J', {&not_available, 1});
    it.client.carry(day_start);

    CHECK(it.client.served->ending() == soup_ending::not_kept);
    CHECK(it.client.debug == describe(soup_ending::not_kept));
    CHECK(it.host.link_up());
}

TEST_CASE("gateway: more than the window of a client is more than the facility may say") {
    played_facility it;
    it.let_in();
    it.client.reads = false;
    const std::vector<std::byte> message(1'000);
    for (int each = 0; each < 100 && !it.host.link_over(); ++each) it.say_packet('S', message);

    CHECK(it.host.link_ended_by() == link_ending::beyond_window);
}

TEST_CASE("gateway: what was counted is what has happened") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    a.send(limit(client_sequence{1}, order_side::buy, 50, 1));
    a.send(limit(client_sequence{2}, order_side::buy, 50, 1));
    it.carry();

    CHECK(it.gateway.counts().logins == 1);
    CHECK(it.gateway.counts().forwarded == 2);
    CHECK(it.gateway.counts().links == 1);
    CHECK(it.gateway.counts().refused + it.gateway.counts().shed == 0);
}
