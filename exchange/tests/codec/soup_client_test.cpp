// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/soup_client.hpp promises, and that client and server understand each other.
#include <exchange/codec/soup_client.hpp>
#include <exchange/codec/soup_server.hpp>

#include <codec/dice.hpp>
#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <optional>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;
using kind = soup_step::kind;
using texts = std::vector<std::string>;

namespace {

constexpr const char* accepted_from_1 = "        S1                   1";

soup_client connected(const soup_login& login = {"u", "p", "", 1}) {
    soup_client client{{}, login, start};
    client.connect(start);
    static_cast<void>(written(client, start));
    return client;
}

soup_client logged_in() {
    soup_client client = connected();
    REQUIRE(client.on_packet(packet('A', accepted_from_1), start).what == kind::started);
    return client;
}

void check_refused(soup_ending expected, const soup_packet& packet, bool in) {
    soup_client client = in ? logged_in() : connected();

    const soup_step step = client.on_packet(packet, start);

    CHECK(step.what == kind::ended);
    CHECK(step.ending == expected);
    CHECK(client.ending() == expected);
    CHECK(client.on_packet(packet, start).what == kind::nothing);
    CHECK(client.deadline() == gyre::never);
}

}  // namespace

TEST_CASE("a client asks for its session, and delivers what it is told in order") {
    soup_client client{{}, {"alice", "secret", "S1", 7}, start};
    CHECK(client.deadline() == gyre::never);

    client.connect(start);

    CHECK(written(client, start) == texts{"Lalice secret            S1                   7"});
    CHECK_FALSE(client.send(bytes_of("too early")));
    REQUIRE(client.on_packet(packet('A', "        S1                   7"), start).what ==
            kind::started);
    const soup_step message = client.on_packet(packet('S', "hello"), start);
    CHECK(message.what == kind::message);
    CHECK(message.sequence == 7);
    CHECK(text_of(message.payload) == "hello");
    CHECK(client.on_packet(packet('S', ""), start).sequence == 8);
    CHECK(client.on_packet(packet('U', "aside"), start).sequence == 0);
    CHECK(client.resume().sequence == 9);
}

TEST_CASE("after a lost connection the next one is asked for the session and the next message") {
    soup_client client = logged_in();
    static_cast<void>(client.on_packet(packet('S', "one"), start));
    REQUIRE(client.send(bytes_of("never written")));

    client.connect(start + 1s);

    CHECK(written(client, start) == texts{"Lu     p                 S1                   2"});
}

TEST_CASE("between two connections nothing is taken that would be forgotten") {
    soup_client client = logged_in();

    client.disconnected();

    CHECK_FALSE(client.logged_in());
    CHECK_FALSE(client.send(bytes_of("into nothing")));
    CHECK_FALSE(client.send_debug("into nothing"));
    CHECK_FALSE(client.log_out());
    CHECK(client.deadline() == gyre::never);
    CHECK(client.ending() == soup_ending::none);
    client.connect(start);
    CHECK(written(client, start) == texts{"Lu     p                 S1                   1"});
}

TEST_CASE("what a server sends again is not delivered again") {
    soup_client client = connected({"u", "p", "S1", 3});
    REQUIRE(client.on_packet(packet('A', accepted_from_1), start).what == kind::started);

    CHECK(client.on_packet(packet('S', "one"), start).what == kind::nothing);
    CHECK(client.on_packet(packet('S', "two"), start).what == kind::nothing);
    CHECK(client.on_packet(packet('S', "three"), start).sequence == 3);
}

TEST_CASE("a server that skips what was asked for, or opens another session, is not believed") {
    soup_client skipped = connected({"u", "p", "", 3});
    soup_client other = connected({"u", "p", "S2", 1});

    CHECK(skipped.on_packet(packet('A', "        S1                   4"), start).ending ==
          soup_ending::sequence_gap);
    CHECK(other.on_packet(packet('A', accepted_from_1), start).ending ==
          soup_ending::wrong_session);
}

TEST_CASE("a client that asks for message zero takes whatever comes next, and resumes from there") {
    soup_client client = connected({"u", "p", "", 0});

    static_cast<void>(client.on_packet(packet('A', "        S1                  42"), start));

    CHECK(client.on_packet(packet('S', "x"), start).sequence == 42);
    CHECK(client.resume().sequence == 43);
    CHECK(client.resume().session.view() == "S1");
}

TEST_CASE("a rejection says why") {
    soup_client client = connected();

    CHECK(client.on_packet(packet('J', "S"), start).ending == soup_ending::rejected);

    CHECK(client.rejected() == soup_reject::session_not_available);
}

namespace {

constexpr const char* who_is_there = "Lu     p                                      0";

/// A client of S1 that has heard two messages, lost its connection, and is refused when it comes again.
soup_client refused() {
    soup_client client = logged_in();
    static_cast<void>(client.on_packet(packet('S', "one"), start));
    static_cast<void>(client.on_packet(packet('S', "two"), start));
    client.disconnected();
    client.connect(start);
    REQUIRE(written(client, start) == texts{"Lu     p                 S1                   3"});
    REQUIRE(client.on_packet(packet('J', "S"), start).ending == soup_ending::rejected);
    return client;
}

}  // namespace

TEST_CASE(
    "a client whose session is refused asks which there is, and learns that its life is over") {
    soup_client client = refused();
    CHECK_FALSE(client.is_over());

    client.connect(start);
    CHECK(written(client, start) == texts{who_is_there});
    const soup_step step = client.on_packet(packet('A', "        S2                   9"), start);

    CHECK(step.what == kind::ended);
    CHECK(step.ending == soup_ending::life_ended);
    CHECK_FALSE(client.is_over());
    CHECK(client.next_life().view() == "S2");
    CHECK(client.resume().session.view() == "S1");
    CHECK(client.on_packet(packet('S', "of S2"), start).what == kind::nothing);
}

TEST_CASE("a client that joins the next life takes all of it") {
    soup_client client = refused();
    client.connect(start);
    static_cast<void>(written(client, start));
    static_cast<void>(client.on_packet(packet('A', "        S2                   9"), start));

    client.join_next_life();
    client.connect(start);

    CHECK(written(client, start) == texts{"Lu     p                 S2                   1"});
    CHECK(client.on_packet(packet('A', "        S2                   1"), start).what ==
          kind::started);
    CHECK(client.on_packet(packet('S', "first"), start).sequence == 1);
}

TEST_CASE("a client that does not join is told again that its life is over") {
    soup_client client = refused();
    for (int times = 0; times < 2; ++times) {
        client.connect(start);
        CHECK(written(client, start) == texts{who_is_there});
        CHECK(client.on_packet(packet('A', "        S2                   9"), start).ending ==
              soup_ending::life_ended);
        client.connect(start);
        CHECK(written(client, start) == texts{"Lu     p                 S1                   3"});
        static_cast<void>(client.on_packet(packet('J', "S"), start));
    }
}

TEST_CASE("a client whose session is still there learns that its message is not kept any more") {
    soup_client client = refused();
    client.connect(start);

    CHECK(client.on_packet(packet('A', "        S1                 900"), start).ending ==
          soup_ending::not_kept);

    CHECK(client.is_over());
}

TEST_CASE("a session of the old name that has told less than was heard is another life") {
    soup_client client = refused();
    client.connect(start);

    CHECK(client.on_packet(packet('A', "        S1                   2"), start).ending ==
          soup_ending::life_ended);

    CHECK(client.next_life().view() == "S1");
    client.join_next_life();
    client.connect(start);
    CHECK(written(client, start).back() == "Lu     p                 S1                   1");
}

TEST_CASE("a question that is lost with its connection is asked again") {
    soup_client client = refused();
    client.connect(start);
    static_cast<void>(written(client, start));
    client.disconnected();

    client.connect(start);

    CHECK(written(client, start) == texts{who_is_there});
}

TEST_CASE(
    "another session than the resumed one is never heard, even from a server that lets us in") {
    soup_client client = logged_in();
    client.disconnected();
    client.connect(start);
    static_cast<void>(written(client, start));

    CHECK(client.on_packet(packet('A', "        S2                   1"), start).ending ==
          soup_ending::wrong_session);
    CHECK(client.on_packet(packet('S', "of S2"), start).what == kind::nothing);

    CHECK_FALSE(client.is_over());
    client.connect(start);
    CHECK(written(client, start) == texts{who_is_there});
    CHECK(client.on_packet(packet('A', "        S2                   1"), start).ending ==
          soup_ending::life_ended);
}

TEST_CASE("only a session that was refused is asked about, and only once") {
    soup_client fresh = connected();
    static_cast<void>(fresh.on_packet(packet('J', "S"), start));
    CHECK(fresh.is_over());

    soup_client unwanted = connected({"u", "p", "S1", 3});
    static_cast<void>(unwanted.on_packet(packet('J', "A"), start));
    CHECK(unwanted.is_over());

    soup_client client = refused();
    client.connect(start);
    static_cast<void>(client.on_packet(packet('J', "S"), start));
    CHECK(client.ending() == soup_ending::rejected);
    CHECK(client.is_over());
}

TEST_CASE("what a server keeps of one life is never given to a client of another") {
    for (const std::uint64_t heard : {0U, 1U, 5U, 40U}) {
        for (const std::uint64_t there : {0U, 1U, 4U, 5U, 6U, 100U}) {
            CAPTURE(heard);
            CAPTURE(there);
            soup_client client = logged_in();
            for (std::uint64_t each = 0; each < heard; ++each)
                static_cast<void>(client.on_packet(packet('S', "old"), start));
            client.disconnected();
            soup_stream next{{.session = "S2"}};
            for (std::uint64_t each = 0; each < there; ++each) {
                std::ranges::copy(bytes_of("new"), next.prepare(3).begin());
                next.commit(3);
            }

            std::uint64_t taken = 0;
            bool told = false;
            for (int connections = 0; connections < 3; ++connections) {
                client.connect(start);
                soup_server server{{}, start};
                for (const std::string& each : written(client, start))
                    REQUIRE(server.on_packet(packet(each[0], each.substr(1)), start).what ==
                            kind::login);
                static_cast<void>(server.accept(next, start));
                for (const std::string& each : written(server, start)) {
                    const std::string payload = each.substr(1);
                    const soup_step step = client.on_packet(packet(each[0], payload), start);
                    if (step.what != kind::message) continue;
                    CHECK(told);
                    CHECK(step.sequence == ++taken);
                }
                if (client.ending() == soup_ending::life_ended) {
                    told = true;
                    client.join_next_life();
                }
            }
            CHECK(told);
            CHECK(taken == there);
        }
    }
}

TEST_CASE("a client sends a heartbeat after a silent second, and gives up after fifteen") {
    soup_client client = logged_in();

    static_cast<void>(client.on_timer(start + 1s));
    CHECK(written(client, start + 1s) == texts{"R"});
    static_cast<void>(client.on_packet(packet('H'), start + 14s));
    CHECK(client.on_timer(start + 28s).what == kind::nothing);
    CHECK(client.on_timer(start + 29s).ending == soup_ending::peer_silent);
}

TEST_CASE("a server that never answers a login is given up, without heartbeats meanwhile") {
    soup_client client = connected();

    static_cast<void>(client.on_timer(start + 2s));
    CHECK(written(client, start + 2s).empty());
    CHECK(client.on_timer(start + 15s).ending == soup_ending::peer_silent);
}

TEST_CASE("a client that logs out says so and is over") {
    soup_client client = logged_in();

    CHECK(client.log_out());

    CHECK(written(client, start) == texts{"O"});
    CHECK(client.ending() == soup_ending::logged_out);
    CHECK_FALSE(client.send(bytes_of("x")));
}

TEST_CASE("each packet out of phase has its own ending") {
    check_refused(soup_ending::before_login, packet('S', "x"), false);
    check_refused(soup_ending::before_login, packet('U', "x"), false);
    check_refused(soup_ending::before_login, packet('H'), false);
    check_refused(soup_ending::before_login, packet('Z'), false);
    check_refused(soup_ending::wrong_size, packet('A', "S1"), false);
    check_refused(soup_ending::malformed_login, packet('A', std::string(30, '?')), false);
    check_refused(soup_ending::wrong_size, packet('J'), false);
    check_refused(soup_ending::second_login, packet('A', accepted_from_1), true);
    check_refused(soup_ending::second_login, packet('J', "A"), true);
    check_refused(soup_ending::wrong_size, packet('H', "x"), true);
    check_refused(soup_ending::wrong_size, packet('Z', "x"), true);
    check_refused(soup_ending::session_ended, packet('Z'), true);
    check_refused(soup_ending::unknown_packet, packet('x'), true);
    for (const char type : {'L', 'R', 'O'})
        check_refused(soup_ending::wrong_direction, packet(type), true);
}

namespace {

/// One direction of a connection, cut into pieces of any size.
template <class Machine, class OnPacket>
void carry(dice& random, Machine& from, soup_framer& to, gyre::time_point now, OnPacket on_packet) {
    const bytes wire = joined(from.output());
    const std::span<std::byte> space = to.space();
    const std::size_t size = random.below(std::min(wire.size(), space.size()) + 1);
    std::copy_n(wire.begin(), size, space.begin());
    to.received(size);
    from.sent(size, now);
    for (soup_framed next = to.next(); next.complete; next = to.next()) on_packet(next.packet);
}

struct connection {
    connection(soup_client& its_client, gyre::time_point now)
        : client{&its_client}, server{{}, now} {
        client->connect(now);
    }

    soup_client* client;
    soup_server server;
    soup_framer to_server;
    soup_framer to_client;
};

}  // namespace

TEST_CASE(
    "through connections that break anywhere, a client hears every message once and in order") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 20; ++round) {
        soup_stream stream{{.session = "S1", .bytes_max = 1 << 16}};
        soup_client client{{}, {"u", "p", "", 1}, start};
        gyre::time_point now = start;
        std::optional<connection> line;
        line.emplace(client, now);
        std::uint64_t written_count = 0;
        texts heard;
        while (heard.size() < 300) {
            now += 7ms;
            if (written_count < 300 && random.chance(2)) {
                const std::string text =
                    std::to_string(++written_count) + std::string(random.below(90), '.');
                std::ranges::copy(bytes_of(text), stream.prepare(text.size()).begin());
                stream.commit(text.size());
            }
            carry(random, client, line->to_server, now, [&](const soup_packet& packet) {
                if (line->server.on_packet(packet, now).what == kind::login)
                    REQUIRE(line->server.accept(stream, now).what == kind::nothing);
            });
            carry(random, line->server, line->to_client, now, [&](const soup_packet& packet) {
                const soup_step step = client.on_packet(packet, now);
                if (step.what != kind::message) return;
                REQUIRE(step.sequence == heard.size() + 1);
                heard.push_back(text_of(step.payload));
            });
            REQUIRE(line->server.on_timer(now).what == kind::nothing);
            REQUIRE(client.on_timer(now).what == kind::nothing);
            if (random.chance(40)) line.emplace(client, now);
        }
        for (std::size_t at = 0; at < heard.size(); ++at)
            REQUIRE(heard[at].starts_with(std::to_string(at + 1)));
    }
}
