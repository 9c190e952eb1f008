// SPDX-License-Identifier: BSL-1.0
//
// What a client of a gateway hears: all that it would at the facility, and a reason when it ends.
#include <exchange/net/session/gateway_client.hpp>

#include <exchange/tests/net/socketless_gateway.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

/// Some trading, said to both clients: `say_to_a(command)`, `say_to_b(command)`.
template <class SayA, class SayB>
void play(const SayA& say_to_a, const SayB& say_to_b) {
    say_to_a(limit(client_sequence{1}, order_side::buy, 100, 5));
    say_to_a(cancel_of(client_sequence{2}, client_sequence{9}));  // Refused.
    say_to_b(limit(client_sequence{1}, order_side::sell, 100, 3));
    say_to_b(limit(client_sequence{2}, order_side::sell, 101, 3));
    say_to_a(cancel_of(client_sequence{3}, client_sequence{1}));
    say_to_b(limit(client_sequence{2}, order_side::sell, 102, 3));  // Its number was used.
    say_to_b(enter_order{});                                        // None that can be read.
    say_to_a(limit(client_sequence{4}, order_side::buy, 101, 9));
}

std::vector<std::vector<std::byte>> bytes_of_all(const std::vector<heard_message>& heard) {
    std::vector<std::vector<std::byte>> made;
    for (const heard_message& each : heard) made.push_back(each.bytes);
    return made;
}

void rest(client_of_gateway& it, std::uint32_t client_seq) {
    it.send(limit(client_sequence{client_seq}, order_side::buy, 50, 1));
}

}  // namespace

TEST_CASE("through a gateway clients hear what they would hear without one, message for message") {
    order_entry_host alone{venue_with_gateways(), day_start};
    open_market(alone);
    socketless_client direct_a{alone, login_of("alice")};
    socketless_client direct_b{alone, login_of("bob")};
    direct_a.connect();
    direct_b.connect();
    const auto carry_direct = [&] {
        direct_a.exchange_bytes();
        direct_b.exchange_bytes();
        direct_a.exchange_bytes();
    };
    play([&](const auto& it) { direct_a.tell(it), carry_direct(); },
         [&](const auto& it) { direct_b.tell(it), carry_direct(); });
    REQUIRE(direct_a.heard().size() > 4);

    for (const std::size_t piece : {1U, 3U, 10U, 64U, 1'000'000U}) {
        CAPTURE(piece);
        socketless_gateway it;
        client_of_gateway& a = it.come("alice");
        client_of_gateway& b = it.come("bob");
        play([&](const auto& what) { a.send(what), it.carry(day_start, piece); },
             [&](const auto& what) { b.send(what), it.carry(day_start, piece); });

        CHECK(bytes_of_all(a.heard) == bytes_of_all(direct_a.heard()));
        CHECK(bytes_of_all(b.heard) == bytes_of_all(direct_b.heard()));
        CHECK(a.machine.resume().session == "DAY");
        CHECK(b.refusals().size() == 1);
    }
}

TEST_CASE("a client that comes again goes on where it was, and hears each message once") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    rest(a, 1);
    rest(a, 2);
    it.carry();
    a.disconnect();
    client_of_gateway& b = it.come("bob");
    b.send(limit(client_sequence{1}, order_side::sell, 50, 1));
    it.carry();
    a.connect();
    it.carry();

    CHECK(a.sequences == std::vector<std::uint64_t>{1, 2, 3, 4});
    CHECK(a.heard_of<order_executed>().size() == 1);
}

TEST_CASE("a gateway that is started again serves a client as if nothing had been") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    rest(a, 1);
    it.carry();
    const soup_login resume = a.machine.resume();
    it.clients.clear();
    it.lose_link();

    gateway_host successor{gateway_for_two(), day_start};
    client_of_gateway again{successor, resume};
    socketless_link link{it.exchange, it.all};
    link_framer back;
    successor.connect(day_start);
    again.connect();
    bool any = true;
    while (any) {
        any = again.carry(day_start);
        span_watch unwatched{nullptr};
        if (successor.link_wants_to_write()) {
            const auto out = successor.link_output(day_start);
            std::copy(out.begin(), out.end(), link.incoming.space().begin());
            link.incoming.received(out.size());
            successor.link_sent(out.size(), day_start);
            while (link.session.take_frames(link.incoming, 64, day_start, unwatched) > 0) {
            }
            any = true;
        }
        if (link.session.wants_to_write()) {
            const auto out = link.session.output(day_start);
            std::copy(out.begin(), out.end(), back.space().begin());
            back.received(out.size());
            link.session.sent(out.size(), day_start);
            successor.take_frames(back, day_start);
            any = any || !out.empty();
        }
    }

    CHECK(again.machine.logged_in());
    CHECK(again.heard.empty());  // It has had all.
    CHECK(again.machine.resume().sequence == 2);
    again.disconnect();
}

TEST_CASE("a wrong secret is rejected, late if it is to be, and never reaches the facility") {
    gateway_host_options strict = gateway_for_two();
    strict.logins.delay_first = 1s;
    socketless_gateway it{strict};
    soup_login guess = login_of("alice");
    guess.password = "guess";
    client_of_gateway& a = it.clients.emplace_back(it.gateway, guess);
    a.connect();
    it.carry();
    CHECK_FALSE(a.served->over());
    a.served->on_timer(day_start + 1s);
    it.carry(day_start + 1s);

    CHECK(a.machine.ending() == soup_ending::rejected);
    CHECK(a.machine.rejected() == soup_reject::not_authorized);
    CHECK(it.gateway.counts().refused == 1);
    CHECK(it.link->session.clients() == 0);
}

TEST_CASE("what the facility does not let in, the client is told as by the facility") {
    socketless_gateway it;
    client_of_gateway& late = it.come("alice", 99);

    CHECK(late.machine.ending() == soup_ending::rejected);
    CHECK(late.machine.rejected() == soup_reject::session_not_available);
    CHECK(late.served->ending() == soup_ending::rejected);
}

TEST_CASE("messages over the rate are refused beside the sequence, and go no further") {
    gateway_host_options slow = gateway_for_two();
    slow.users.users[0].rates.entries = {.per_second_max = 2, .burst_max = 2};
    socketless_gateway it{slow};
    client_of_gateway& a = it.come("alice");
    for (std::uint32_t each = 1; each <= 5; ++each) rest(a, each);
    it.carry();

    CHECK(it.open_orders(alice) == 2);
    REQUIRE(a.refusals().size() == 3);
    CHECK(a.refusals()[0].error == decode_error::too_many_messages);
    CHECK(a.refusals()[0].client_seq == client_sequence{3});
    CHECK(it.gateway.counts().held_back == 3);

    a.send(cancel_of(client_sequence{6}, client_sequence{1}));  // That is always possible.
    it.carry();
    CHECK(it.open_orders(alice) == 1);
    rest(a, 7);
    it.carry(day_start + 1s);
    CHECK(it.open_orders(alice) == 2);
}

TEST_CASE("sessions of one account share its rate") {
    gateway_host_options shared = gateway_for_two();
    shared.users.users[0].account = shared.users.users[1].account = account_id{7};
    shared.users.accounts = {{account_id{7}, {.entries = {.per_second_max = 1, .burst_max = 3}}}};
    socketless_gateway it{shared};
    client_of_gateway& a = it.come("alice");
    client_of_gateway& b = it.come("bob");
    rest(a, 1);
    rest(a, 2);
    it.carry();
    rest(b, 1);
    rest(b, 2);
    it.carry();

    CHECK(a.refusals().empty());
    CHECK(b.refusals().size() == 1);
}

TEST_CASE("a client that does not read is shed with the reason, and others go on") {
    gateway_host_options how = gateway_for_two();
    how.link.window_bytes = link_window_bytes_min;
    how.stalled_max = 10s;
    socketless_gateway it{how};
    client_of_gateway& slow = it.come("alice");
    client_of_gateway& b = it.come("bob");
    slow.send(limit(client_sequence{1}, order_side::buy, 100, 1'000'000));
    it.carry();
    slow.reads = false;
    for (std::uint32_t each = 1; each <= 500; ++each) {
        b.send(limit(client_sequence{each}, order_side::sell, 100, 1));
        it.carry();
    }
    CHECK(b.heard_of<order_executed>().size() == 500);
    CHECK(it.who(0).connection() != nullptr);

    slow.served->on_timer(day_start + 9s);
    CHECK_FALSE(slow.served->over());
    slow.served->on_timer(day_start + 10s);
    CHECK(slow.served->ending() == soup_ending::fell_behind);
    CHECK(it.gateway.counts().shed == 1);
    slow.reads = true;
    it.carry(day_start + 10s);
    CHECK(slow.debug == describe(soup_ending::fell_behind));
    CHECK(slow.heard.size() > 100);  // Whole messages, up to there.
    CHECK(it.who(0).connection() == nullptr);

    slow.connect(day_start + 10s);
    it.carry(day_start + 10s);
    CHECK(slow.heard_of<order_executed>().size() == 500);  // The rest is in its stream.
    for (std::size_t each = 0; each < slow.sequences.size(); ++each)
        CHECK(slow.sequences[each] == each + 1);
}

TEST_CASE("a client that its stream has outrun is told so behind whole messages") {
    order_entry_host_options rules = venue_with_gateways();
    rules.stream.messages_max = 64;
    rules.stream.bytes_max = 64 << 10;
    rules.stream.unread_bytes_max = 128 << 10;
    gateway_host_options how = gateway_for_two();
    how.link.window_bytes = link_window_bytes_min;
    socketless_gateway it{how, rules};
    client_of_gateway& slow = it.come("alice");
    client_of_gateway& b = it.come("bob");
    slow.send(limit(client_sequence{1}, order_side::buy, 100, 1'000'000));
    it.carry();
    slow.reads = false;
    std::uint32_t sent = 0;
    while (!slow.served->over() && sent < 10'000) {
        b.send(limit(client_sequence{++sent}, order_side::sell, 100, 1));
        it.carry();
    }
    slow.reads = true;
    it.carry();

    CHECK(slow.served->ending() == soup_ending::fell_behind);
    CHECK(slow.debug == describe(soup_ending::fell_behind));
    CHECK(b.heard_of<order_executed>().size() == sent);
    for (std::size_t each = 0; each < slow.sequences.size(); ++each)
        CHECK(slow.sequences[each] == each + 1);
}

TEST_CASE("a client with nothing on its way stays while the link is away, and misses nothing") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    rest(a, 1);
    it.carry();
    it.lose_link();
    it.carry();
    CHECK_FALSE(a.served->over());

    rest(a, 2);  // Not kept for later: an order that comes late is another one.
    it.carry();
    REQUIRE(a.refusals().size() == 1);
    CHECK(a.refusals()[0].error == decode_error::exchange_unreachable);
    CHECK(a.refusals()[0].client_seq == client_sequence{2});
    enter_order other = limit(client_sequence{1}, order_side::sell, 50, 1);
    other.session = bob;
    it.exchange.apply(other);

    it.connect_link();
    rest(a, 3);
    it.carry();
    CHECK(a.machine.logged_in());
    CHECK(a.heard_of<order_entered>().size() == 2);
    CHECK(a.heard_of<order_executed>().size() == 1);
    for (std::size_t each = 0; each < a.sequences.size(); ++each)
        CHECK(a.sequences[each] == each + 1);
}

TEST_CASE(
    "a client that has not read what it had is resumed when it has, and hears each message once") {
    gateway_host_options how = gateway_for_two();
    how.link.window_bytes = link_window_bytes_min;
    socketless_gateway it{how};
    client_of_gateway& slow = it.come("alice");
    slow.send(limit(client_sequence{1}, order_side::buy, 100, 1'000'000));
    it.carry();
    slow.reads = false;
    client_of_gateway& b = it.come("bob");
    for (std::uint32_t each = 1; each <= 400; ++each) {
        b.send(limit(client_sequence{each}, order_side::sell, 100, 1));
        it.carry();
    }
    it.lose_link();
    it.connect_link();
    CHECK(it.who(0).connection() == nullptr);  // There would be no room for another window.
    CHECK(b.served->is_open());
    slow.reads = true;
    it.carry();

    CHECK(it.who(0).connection() != nullptr);
    CHECK(slow.heard_of<order_executed>().size() == 400);
    for (std::size_t each = 0; each < slow.sequences.size(); ++each)
        CHECK(slow.sequences[each] == each + 1);

    slow.reads = false;
    b.send(limit(client_sequence{401}, order_side::sell, 100, 1));
    it.carry();
    it.lose_link();
    it.connect_link();
    slow.served->on_timer(day_start + it.gateway.options().grace);
    CHECK(slow.served->ending() == soup_ending::fell_behind);
}

TEST_CASE("a client with a message on its way is told that the link was lost, and can look") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    client_of_gateway& idle = it.come("bob");
    rest(a, 1);
    while (a.carry(day_start)) {
    }
    REQUIRE(it.gateway.link_output(day_start).size() > 0);  // It is being written,
    it.lose_link();                                         // and does not arrive.
    it.carry();

    CHECK(a.served->ending() == soup_ending::link_lost);
    CHECK(a.debug == describe(soup_ending::link_lost));
    CHECK_FALSE(idle.served->over());
    it.connect_link();
    a.connect();
    it.carry();
    CHECK(a.machine.logged_in());
    CHECK(it.open_orders(alice) == 0);
}

TEST_CASE("a message whose answer was lost with the link is answered in the stream, once") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    rest(a, 1);
    while (a.carry(day_start)) {
    }
    REQUIRE(it.carry_to_facility(day_start, 1 << 20));
    REQUIRE(it.open_orders(alice) == 1);
    it.lose_link();
    it.carry();
    CHECK(a.served->ending() == soup_ending::link_lost);

    it.connect_link();
    a.connect();
    it.carry();
    CHECK(a.heard_of<order_entered>().size() == 1);
    CHECK(a.sequences == std::vector<std::uint64_t>{1});
    CHECK(it.open_orders(alice) == 1);
}

TEST_CASE("clients wait for the facility as long as they may, and are told then") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    it.lose_link();
    client_of_gateway& b = it.come("bob");
    CHECK(b.machine.asking());
    const gyre::duration grace = it.gateway.options().grace;
    for (client_of_gateway* const each : {&a, &b}) {
        each->served->on_timer(day_start + grace - 1ms);
        CHECK_FALSE(each->served->over());
        each->served->on_timer(day_start + grace);
        CHECK(each->served->ending() == soup_ending::unreachable);
    }
    it.carry();
    CHECK(a.debug == describe(soup_ending::unreachable));
    CHECK(b.debug == describe(soup_ending::unreachable));
}

TEST_CASE("a client that gives up its login while the link is away is not let in later") {
    socketless_gateway it;
    it.lose_link();
    client_of_gateway& a = it.come("alice");
    REQUIRE(a.machine.asking());
    std::array<std::byte, soup_header_bytes> packet{};
    write_soup_header(packet, soup_type::client_heartbeat, 0);
    a.inject(packet);
    write_soup_header(packet, soup_type::logout_request, 0);
    a.inject(packet);
    CHECK(a.served->wants_packets());
    it.carry();
    CHECK(a.served->ending() == soup_ending::logged_out);

    socketless_client direct{it.exchange, login_of("alice")};
    direct.connect();
    it.connect_link();
    CHECK(direct.client().logged_in());
    CHECK_FALSE(direct.was_cut());
    direct.disconnect();
}

TEST_CASE(
    "a message that comes ahead of the answer to a login waits for it, and is answered then") {
    socketless_gateway it;
    it.lose_link();
    client_of_gateway& a = it.come("alice");
    const enter_order order = limit(client_sequence{1}, order_side::buy, 50, 1);
    std::array<std::byte, soup_header_bytes> header{};
    std::vector<std::byte> message(message_bytes(order));
    encode(order, message);
    write_soup_header(header, soup_type::unsequenced, message.size());
    a.inject(header);
    a.inject(message);
    it.carry();
    CHECK_FALSE(a.served->wants_packets());
    CHECK(it.gateway.counts().forwarded == 0);
    CHECK(it.gateway.counts().unreachable == 0);

    it.connect_link();
    CHECK(a.machine.logged_in());
    CHECK(it.gateway.counts().forwarded == 1);
    CHECK(a.heard_of<order_entered>().size() == 1);
    CHECK(a.served->wants_packets());
}

TEST_CASE(
    "a client whose session was taken elsewhere while the link was away does not take it back") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    it.lose_link();
    socketless_client direct{it.exchange, login_of("alice")};
    direct.connect();
    REQUIRE(direct.client().logged_in());
    it.connect_link();

    CHECK(a.served->ending() == soup_ending::replaced);
    CHECK(a.debug == describe(soup_ending::replaced));
    CHECK_FALSE(direct.was_cut());
    direct.disconnect();
}

TEST_CASE("the newest login of a user wins, through gateways as well, and the one before is told") {
    socketless_gateway it;
    client_of_gateway& first = it.come("alice");
    client_of_gateway& second = it.come("alice");

    CHECK(first.served->ending() == soup_ending::replaced);
    CHECK(first.debug == describe(soup_ending::replaced));
    CHECK(second.machine.logged_in());
    rest(second, 1);
    it.carry();
    CHECK(it.open_orders(alice) == 1);
}

TEST_CASE("a client that leaves, and one that logs out, leave their orders as the session says") {
    for (const auto policy : {disconnect_policy::cancel_orders, disconnect_policy::keep_orders}) {
        const std::size_t left = policy == disconnect_policy::keep_orders ? 1 : 0;
        socketless_gateway it{gateway_for_two(), venue_with_gateways(), policy};
        client_of_gateway& a = it.come("alice");
        client_of_gateway& b = it.come("bob");
        rest(a, 1);
        rest(b, 1);
        it.carry();
        a.disconnect();
        CHECK(b.machine.log_out());
        it.carry();

        CHECK(it.open_orders(alice) == left);
        CHECK(it.open_orders(bob) == left);
        CHECK(b.served->ending() == soup_ending::logged_out);
        CHECK(b.debug.empty());
        CHECK_FALSE(it.who(1).is_expected());
        CHECK(it.link->session.clients() == 0);
    }
}

TEST_CASE("a drop copy and surveillance hear their copies through a gateway, and trade nothing") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    client_of_gateway& copy = it.come("copy");
    client_of_gateway& watch = it.come("watch");
    rest(a, 1);
    it.carry();
    CHECK(copy.heard_of<order_entered>().size() == 1);
    CHECK(watch.heard_of<order_entered>().size() == 1);

    rest(copy, 1);
    it.carry();
    CHECK(copy.refusals().size() == 1);
    CHECK(it.open_orders(alice) == 1);
}

TEST_CASE("the end of the day is told through a gateway, behind the last message") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    rest(a, 1);
    it.carry();
    it.exchange.end(day_start);
    it.carry();

    CHECK(a.machine.ending() == soup_ending::session_ended);
    CHECK(a.served->ending() == soup_ending::session_ended);
    CHECK(a.heard.size() == 1);
}

TEST_CASE("packets out of phase end a client's session with the reason, and no other one's") {
    const auto check_ends =
        [](bool logged_in, const std::vector<std::pair<char, std::string>>& said, soup_ending why) {
            socketless_gateway it;
            client_of_gateway& other = it.come("bob");
            client_of_gateway& a = it.clients.emplace_back(it.gateway, login_of("alice"));
            a.connect();
            if (logged_in) it.carry();
            gateway_client* const served = &*a.served;
            struct connection_of_stranger final : client_link {
                void has_output() noexcept override {}
                void may_read() noexcept override {}

                soup_framer framer;
                std::vector<soup_packet> packets;
            } its;
            std::optional<gateway_client> stranger;
            if (!logged_in) stranger.emplace(it.gateway, its, day_start);
            gateway_client& judged = logged_in ? *served : *stranger;
            for (const auto& [type, payload] : said) {
                std::vector<std::byte> packet(soup_header_bytes);
                write_soup_header(std::span{packet}.first<soup_header_bytes>(),
                                  static_cast<soup_type>(type), payload.size());
                const auto data = std::as_bytes(std::span{payload});
                packet.insert(packet.end(), data.begin(), data.end());
                if (logged_in) a.inject(packet);
                else {
                    std::copy(packet.begin(), packet.end(), its.framer.space().begin());
                    its.framer.received(packet.size());
                }
            }
            if (!logged_in) judged.take(batch_of(its.framer, its.packets), day_start);
            it.carry();
            CHECK(judged.ending() == why);
            CHECK_FALSE(other.served->over());
            CHECK(it.gateway.link_up());
        };
    using enum soup_ending;
    check_ends(false, {{'U', "x"}}, before_login);
    check_ends(false, {{'R', ""}}, before_login);
    check_ends(false, {{'L', "short"}}, wrong_size);
    check_ends(false, {{'?', ""}}, unknown_packet);
    check_ends(false, {{'S', "x"}}, wrong_direction);
    check_ends(true, {{'L', std::string(46, ' ')}}, second_login);
    check_ends(true, {{'R', "x"}}, wrong_size);
    check_ends(true, {{'O', "x"}}, wrong_size);
    check_ends(true, {{'A', std::string(30, ' ')}}, wrong_direction);
    check_ends(true, {{'+', "hello"}, {'O', ""}}, logged_out);
}

TEST_CASE("silence ends a client's session, heartbeats keep it") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    client_of_gateway stranger{it.gateway, login_of("bob")};
    stranger.connect();
    stranger.served->on_timer(day_start + 30s);
    CHECK(stranger.served->ending() == soup_ending::login_timed_out);
    stranger.disconnect();

    a.served->on_timer(day_start + 2s);
    CHECK(a.served->output().size() == soup_header_bytes);  // A heartbeat.
    a.served->on_timer(day_start + 15s);
    CHECK(a.served->ending() == soup_ending::peer_silent);
}

TEST_CASE("a client whose password waits to be checked has as long as one that is silent") {
    gateway_host_options busy = gateway_for_two();
    busy.logins.checks_per_second_max = busy.logins.checks_at_once_max = 1;
    socketless_gateway it{busy};
    static_cast<void>(it.come("alice"));
    client_of_gateway& b = it.come("bob");
    REQUIRE(b.machine.asking());

    b.served->on_timer(day_start + 30s);
    CHECK(b.served->ending() == soup_ending::login_timed_out);
    it.gateway.on_timer(day_start + 31s);  // It has no turn any more.
    CHECK(it.gateway.counts().logins == 1);
}
