// SPDX-License-Identifier: BSL-1.0
//
// What a facility makes of a gateway's link: whom it lets in, and what a client's end does to others.
#include <exchange/net/session/gateway_session.hpp>

#include <exchange/tests/net/noted_refusals.hpp>
#include <exchange/tests/net/socketless_gateway.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

/// A link whose gateway a test plays.
struct played_gateway final : gateway_session_link {
    using bytes = std::vector<std::byte>;

    explicit played_gateway(const order_entry_host_options& rules = venue_with_gateways())
        : exchange{rules, day_start} {
        open_market(exchange);
        session.emplace(exchange, *this, link_options{}, all, day_start);
    }

    void say(link_kind kind, std::uint32_t channel, std::span<const std::byte> payload) {
        bytes one(link_header_bytes);
        write_link_header(std::span{one}.first<link_header_bytes>(),
                          {static_cast<std::uint32_t>(payload.size()), channel, kind});
        one.insert(one.end(), payload.begin(), payload.end());
        std::copy(one.begin(), one.end(), framer.space().begin());
        framer.received(one.size());
        span_watch unwatched{nullptr};
        while (session->take_frames(framer, 64, day_start, unwatched) > 0) {
        }
        exchange.announce();
    }
    void say_hello(std::string_view name, std::string_view password) {
        say(link_kind::hello, 0, format_link_hello({link_version, 1 << 16, name, password}));
    }
    /// All frames that it wants to write.
    std::vector<std::pair<link_kind, bytes>> hear() {
        link_framer back;
        std::vector<std::pair<link_kind, bytes>> all_heard;
        while (session->wants_to_write()) {
            const auto out = session->output(day_start);
            if (out.empty()) break;
            std::copy(out.begin(), out.end(), back.space().begin());
            back.received(out.size());
            session->sent(out.size(), day_start);
            for (link_framed next = back.next(); next.complete; next = back.next())
                all_heard.emplace_back(next.frame.kind,
                                       bytes{next.frame.payload.begin(), next.frame.payload.end()});
        }
        session->sweep();
        return all_heard;
    }
    void has_output() noexcept override {}

    order_entry_host exchange;
    gateway_session::list all;
    std::optional<gateway_session> session;
    link_framer framer;
};

}  // namespace

TEST_CASE("a gateway with the right password is welcome, in the life that there is") {
    played_gateway it;
    it.say_hello("gw1", "link");
    const auto heard = it.hear();

    CHECK(it.session->logged_in());
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].first == link_kind::welcome);
    CHECK(parse_link_welcome(heard[0].second)->life == "DAY");
}

TEST_CASE(
    "a gateway with a wrong name or password is told so late, and nothing of it is taken "
    "meanwhile") {
    for (const auto& [name, password] : {std::pair{"gw1", "wrong"}, std::pair{"gw9", "link"}}) {
        order_entry_host_options rules = venue_with_gateways();
        rules.logins.delay_first = 1s;
        played_gateway it{rules};
        it.say_hello(name, password);
        it.say(link_kind::open, 1, format_link_open({login_of("alice"), false}));
        CHECK(it.session->login_pending());
        CHECK(it.hear().empty());
        it.session->on_timer(day_start + 1s);

        CHECK(it.session->ending() == link_ending::refused);
        const auto heard = it.hear();
        REQUIRE(heard.size() == 1);
        CHECK(heard[0].first == link_kind::goodbye);
        CHECK(it.exchange.participants()[0].connection() == nullptr);
    }
}

TEST_CASE("a gateway whose login had to wait long is not silent by then") {
    order_entry_host_options rules = venue_with_gateways();
    rules.logins.checks_per_second_max = 1;
    rules.logins.checks_at_once_max = 1;
    played_gateway it{rules};
    it.say_hello("gw2", "link");  // Whose check keeps the next one waiting.
    it.session.emplace(it.exchange, it, link_options{}, it.all, day_start);
    it.say_hello("gw1", "link");
    REQUIRE(it.session->login_pending());

    const gyre::time_point late = day_start + link_options{}.dead_after + 1s;
    it.exchange.logins().on_timer(late);
    REQUIRE(it.session->logged_in());
    it.session->on_timer(late);

    CHECK_FALSE(it.session->over());
    it.session->on_timer(late + link_options{}.dead_after);  // Now it had its time to speak.
    CHECK(it.session->over());
}

TEST_CASE("a gateway lets in only those for whom it may speak, and no operator") {
    played_gateway it;
    it.say_hello("gw2", "link");
    static_cast<void>(it.hear());
    const auto answer_to = [&](std::uint32_t channel, std::string_view name) {
        it.say(link_kind::open, channel, format_link_open({login_of(name), false}));
        const auto heard = it.hear();
        REQUIRE(!heard.empty());
        REQUIRE(heard[0].first == link_kind::packets);
        return static_cast<soup_type>(heard[0].second.at(2));
    };

    CHECK(answer_to(1, "bob") == soup_type::login_accepted);
    CHECK(answer_to(2, "alice") == soup_type::login_rejected);
    CHECK(answer_to(3, "ops") == soup_type::login_rejected);
    CHECK(answer_to(4, "nobody") == soup_type::login_rejected);
    CHECK(it.session->clients() == 1);
}

TEST_CASE("a watcher is told why a gateway is refused, or one for whom it asks") {
    noted_refusals noted;
    for (const auto& [name, password] : {std::pair{"gw1", "wrong"}, std::pair{"gw9", "link"}}) {
        played_gateway it;
        it.exchange.be_watched(&noted);
        it.say_hello(name, password);
    }
    CHECK(noted.told == std::vector<std::string>{"gw1 wrong_link_password", "gw9 unknown_gateway"});
    noted.told.clear();

    played_gateway it;
    it.exchange.be_watched(&noted);
    it.say_hello("gw2", "link");
    std::uint32_t channel = 0;
    for (const char* const each : {"alice", "ops", "nobody"})
        it.say(link_kind::open, ++channel, format_link_open({login_of(each), false}));
    CHECK(noted.told == std::vector<std::string>{"alice not_for_gateway", "ops not_for_gateway",
                                                 "nobody unknown_user"});
    it.exchange.be_watched(nullptr);
}

TEST_CASE("an operator is not let in through a gateway that may speak for all participants") {
    played_gateway it;
    it.say_hello("gw1", "link");
    it.say(link_kind::open, 1, format_link_open({login_of("ops"), false}));
    static_cast<void>(it.hear());

    CHECK(it.session->clients() == 0);
    CHECK(it.session->logged_in());
}

TEST_CASE("a packet that is none ends the link of the gateway that let it through") {
    played_gateway it;
    it.say_hello("gw1", "link");
    it.say(link_kind::open, 1, format_link_open({login_of("alice"), false}));
    static_cast<void>(it.hear());
    const std::array<std::byte, 4> torn{std::byte{0}, std::byte{9}, std::byte{'U'}, std::byte{'x'}};
    it.say(link_kind::packets, 1, torn);

    CHECK(it.session->ending() == link_ending::malformed_frame);
    CHECK(it.session->clients() == 0);
    CHECK(it.exchange.participants()[0].connection() == nullptr);
}

TEST_CASE("a gateway that connects again takes the place of its own link, and of no other one") {
    socketless_gateway it;
    client_of_gateway& a = it.come("alice");
    REQUIRE(a.machine.logged_in());
    gateway_host_options other = gateway_for_two();
    other.name = "gw2";
    gateway_host second{other, day_start};
    socketless_link its_link{it.exchange, it.all};
    const auto greet = [](gateway_host& from, socketless_link& to) {
        from.connect(day_start);
        const auto hello = from.link_output(day_start);
        std::copy(hello.begin(), hello.end(), to.incoming.space().begin());
        to.incoming.received(hello.size());
        span_watch unwatched{nullptr};
        while (to.session.take_frames(to.incoming, 64, day_start, unwatched) > 0) {
        }
    };
    greet(second, its_link);
    CHECK(its_link.session.logged_in());
    CHECK(it.link->session.logged_in());

    gateway_host again{gateway_for_two(), day_start};
    socketless_link newest{it.exchange, it.all};
    greet(again, newest);
    CHECK(newest.session.logged_in());
    CHECK(it.link->session.ending() == link_ending::replaced);
    CHECK(it.who(0).connection() == nullptr);  // So alice can be resumed at once.
    CHECK(its_link.session.logged_in());
}

TEST_CASE("orders of all clients of a link that is lost follow their policy") {
    socketless_gateway it{gateway_for_two(), venue_with_gateways(),
                          disconnect_policy::cancel_orders};
    client_of_gateway& a = it.come("alice");
    client_of_gateway& b = it.come("bob");
    a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
    b.send(limit(client_sequence{1}, order_side::sell, 110, 5));
    it.carry();
    REQUIRE(it.open_orders(alice) == 1);

    it.lose_link();

    CHECK(it.open_orders(alice) == 0);
    CHECK(it.open_orders(bob) == 0);
}
