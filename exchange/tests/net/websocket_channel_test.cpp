// SPDX-License-Identifier: BSL-1.0
//
// Both ends of a session's WebSocket without a socket: bytes are carried by hand, cut anywhere.
#include <exchange/net/transport/websocket_channel.hpp>

#include <exchange/codec/big_endian.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>
#include <exchange/tests/net/websocket_side.hpp>

#include <codec/dice.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::websocket::frame_opcode;

namespace {

using bytes = std::vector<std::byte>;

struct heard {
    soup_type type{};
    bytes payload;
    friend bool operator==(const heard&, const heard&) = default;
};

bytes framed(soup_type type, std::span<const std::byte> payload = {}) {
    bytes made(soup_header_bytes);
    write_soup_header(std::span{made}.first<soup_header_bytes>(), type, payload.size());
    made.insert(made.end(), payload.begin(), payload.end());
    return made;
}

soup_output output_of(std::span<const std::byte> packets) {
    soup_output made;
    made.add(packets);
    return made;
}

std::string text_of(std::span<const std::byte> it) {
    return {reinterpret_cast<const char*>(it.data()), it.size()};
}

struct one_end {
    explicit one_end(soup_end we, session_format format = session_format::sbe,
                     transport_options how = {})
        : options{with(how, format)} {
        channel.emplace(options, we, "here:1");
    }
    static transport_options with(transport_options how, session_format format) {
        how.websocket.format = format;
        return how;
    }

    /// Takes bytes in pieces of at most so many, and what they come to.
    void hear(std::span<const std::byte> wire,
              std::size_t piece = std::numeric_limits<std::size_t>::max()) {
        while (!wire.empty()) {
            const std::span<std::byte> space = channel->space();
            const std::size_t size = std::min({piece, space.size(), wire.size()});
            REQUIRE(size > 0);
            std::ranges::copy(wire.first(size), space.begin());
            wire = wire.subspan(size);
            channel->received(size);
            take();
        }
    }
    void take() {
        for (;;) {
            const soup_framed next = channel->next();
            ending = next.ending != soup_ending::none ? next.ending : ending;
            if (!next.complete) return;
            packets.push_back(
                {next.packet.type, {next.packet.payload.begin(), next.packet.payload.end()}});
        }
    }

    /// All that it wants to say, written in pieces of at most so many.
    bytes say(std::span<const std::byte> rest = {},
              std::size_t piece = std::numeric_limits<std::size_t>::max()) {
        bytes wire;
        while (channel->ready(output_of(rest))) {
            const std::span<const std::byte> offer = channel->offer(output_of(rest));
            if (offer.empty()) break;
            const std::size_t size = std::min(piece, offer.size());
            wire.insert(wire.end(), offer.begin(),
                        offer.begin() + static_cast<std::ptrdiff_t>(size));
            rest = rest.subspan(channel->sent(size));
        }
        unsaid = rest.size();
        return wire;
    }

    transport_options options;
    std::optional<websocket_channel> channel;
    std::vector<heard> packets;
    soup_ending ending = soup_ending::none;
    std::size_t unsaid = 0;
};

/// Both ends behind their opening.
struct two_ends {
    explicit two_ends(session_format format = session_format::sbe, transport_options how = {})
        : client{soup_end::client, format, how}, server{soup_end::server, format, how} {
        server.hear(client.say());
        client.hear(server.say());
        REQUIRE(client.channel->opened());
        REQUIRE(server.channel->opened());
    }
    one_end client;
    one_end server;
};

bytes some_order(std::uint32_t which) {
    const enter_order order = limit(client_sequence{which}, order_side::buy, which, 5);
    bytes message(message_bytes(order));
    encode(order, message);
    return framed(soup_type::unsequenced, message);
}

void append(bytes& to, const bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

/// What a client says in a session.
bytes of_a_client() {
    bytes all = framed(soup_type::login_request, format_soup_login(login_of("alice")));
    for (std::uint32_t each = 1; each <= 3; ++each) append(all, some_order(each));
    append(all, framed(soup_type::client_heartbeat));
    append(all, framed(soup_type::logout_request));
    return all;
}

/// And what it is told.
bytes of_a_server() {
    bytes all = framed(soup_type::login_accepted, format_soup_acceptance({"DAY", 5}));
    for (std::uint32_t each = 1; each <= 3; ++each) {
        order_entered entered{};
        entered.order = order_id{each};
        entered.instrument = the_market;
        entered.account = account_id{1};
        entered.client_seq = client_sequence{each};
        entered.session = alice;
        entered.tif = time_in_force::day;
        std::array<std::byte, message_bytes_of<order_entered>> message;
        encode(entered, {out_sequence{each}, in_sequence{1}, 2, 3, true}, std::span{message});
        append(all, framed(soup_type::sequenced, message));
    }
    append(all, framed(soup_type::server_heartbeat));
    append(all, framed(soup_type::end_of_session));
    return all;
}

std::vector<heard> packets_of(std::span<const std::byte> wire) {
    std::vector<heard> all;
    while (!wire.empty()) {
        const std::size_t size = 2 + std::size_t{get_big_endian<std::uint16_t>(wire.first<2>())};
        const auto payload = wire.subspan(3, size - 3);
        all.push_back({static_cast<soup_type>(wire[2]), {payload.begin(), payload.end()}});
        wire = wire.subspan(size);
    }
    return all;
}

/// Code and words of the close frame in what a server says, behind whatever precedes it.
std::pair<int, std::string> close_in(std::span<const std::byte> wire) {
    while (wire.size() >= 2) {
        const auto code = std::to_integer<unsigned>(wire[0] & std::byte{0x0f});
        std::size_t size = std::to_integer<std::size_t>(wire[1]);
        std::size_t header = 2;
        if (size == 126) {
            size = get_big_endian<std::uint16_t>(wire.subspan(2).first<2>());
            header = 4;
        }
        const auto payload = wire.subspan(header, size);
        if (code == 8)
            return {payload.empty() ? 1005 : get_big_endian<std::uint16_t>(payload.first<2>()),
                    payload.empty() ? "" : text_of(payload.subspan(2))};
        wire = wire.subspan(header + size);
    }
    return {0, ""};
}

}  // namespace

TEST_CASE(
    "websocket channel: packets come out whole, wherever bytes are cut and however few are "
    "written") {
    for (const session_format format : {session_format::sbe, session_format::json}) {
        for (const std::size_t piece :
             {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{5000}}) {
            two_ends it{format};
            it.server.hear(it.client.say(of_a_client(), piece), piece);
            it.client.hear(it.server.say(of_a_server(), piece), piece);

            CHECK(it.server.packets == packets_of(of_a_client()));
            CHECK(it.client.packets == packets_of(of_a_server()));
            CHECK(it.client.unsaid + it.server.unsaid == 0);
            CHECK(it.server.ending == soup_ending::none);
            CHECK(it.client.ending == soup_ending::none);
        }
    }
}

TEST_CASE("websocket channel: the opening may come with everything behind it, byte by byte") {
    one_end client{soup_end::client};
    one_end server{soup_end::server};
    bytes wire = client.say();
    append(wire, client_frame(frame_opcode::binary, gyre::bytes_of("R")));
    server.hear(wire, 1);
    CHECK(server.packets == std::vector<heard>{{soup_type::client_heartbeat, {}}});
}

TEST_CASE("websocket channel: a message in many frames with controls between them is one packet") {
    two_ends it;
    const bytes order = some_order(1);
    const std::span packet = std::span{order}.subspan(2);
    bytes wire;
    for (std::size_t each = 0; each < packet.size(); ++each) {
        bytes frame = client_frame(each == 0 ? frame_opcode::binary : frame_opcode::continuation,
                                   packet.subspan(each, 1));
        if (each + 1 < packet.size()) frame[0] &= std::byte{0x7f};
        append(wire, frame);
        append(wire, client_frame(frame_opcode::ping, gyre::bytes_of("still there?")));
    }
    it.server.hear(wire);

    CHECK(it.server.packets == packets_of(order));
    const std::string said = text_of(it.server.say());
    CHECK(said.substr(2) == "still there?");  // Of all the pings one is answered.
}

TEST_CASE("websocket channel: a flood of pings costs one answer for each write and no memory") {
    two_ends it;
    std::size_t answered = 0;
    for (int each = 0; each < 100'000; ++each)
        it.server.hear(client_frame(frame_opcode::ping, gyre::bytes_of(std::to_string(each))));
    CHECK(it.server.channel->owes());
    answered = it.server.say().size();
    CHECK(answered == 2 + 5);
    CHECK_FALSE(it.server.channel->owes());
}

TEST_CASE(
    "websocket channel: what is not written is taken up to its bound, and the rest later, in "
    "order") {
    transport_options narrow;
    narrow.websocket.unsent_bytes_max = 4096;
    two_ends it{session_format::sbe, narrow};
    bytes all;
    std::vector<heard> wanted;
    for (std::uint32_t each = 0; each < 1000; ++each) append(all, some_order(each + 1));
    std::span<const std::byte> rest{all};
    // The peer takes nothing: only as much is taken as there is room for.
    static_cast<void>(it.server.channel->offer(output_of(rest)));
    std::size_t taken = it.server.channel->sent(0);
    CHECK(taken > 0);
    CHECK(taken < 4096);
    rest = rest.subspan(taken);
    static_cast<void>(it.server.channel->offer(output_of(rest)));
    taken = it.server.channel->sent(0);
    CHECK(taken < 4096);
    rest = rest.subspan(taken);
    static_cast<void>(it.server.channel->offer(output_of(rest)));
    CHECK(it.server.channel->sent(0) == 0);
    CHECK(it.server.channel->owes());
    it.client.hear(it.server.say(rest, 100));

    CHECK(it.client.packets == packets_of(all));
}

TEST_CASE(
    "websocket channel: pings are answered and a close is said though messages fill the room") {
    transport_options narrow;
    narrow.websocket.unsent_bytes_max = 4096;
    two_ends it{session_format::sbe, narrow};
    bytes all;
    for (std::uint32_t each = 0; each < 1000; ++each) append(all, some_order(each + 1));
    std::span<const std::byte> rest{all};
    for (int each = 0; each < 3; ++each) {
        static_cast<void>(it.server.channel->offer(output_of(rest)));
        rest = rest.subspan(it.server.channel->sent(0));
    }
    const std::string question(125, 'x');
    it.server.hear(client_frame(frame_opcode::ping, gyre::bytes_of(question)));
    static_cast<void>(it.server.channel->offer(output_of(rest)));
    rest = rest.subspan(it.server.channel->sent(0));
    it.server.channel->finish(soup_ending::fell_behind);

    const bytes said = it.server.say(rest);
    CHECK(text_of(said).find(question) != std::string::npos);
    it.client.hear(said);
    CHECK(it.client.channel->ended());
    CHECK(it.client.packets.size() > 50);
    CHECK(it.server.unsaid > 0);  // Nothing follows a close.
}

TEST_CASE(
    "websocket channel: the longest packet passes, and a longer one is refused by its header") {
    transport_options options;
    two_ends it{session_format::sbe, options};
    const bytes longest = framed(soup_type::unsequenced, bytes(options.framing.payload_bytes_max));
    it.server.hear(it.client.say(longest));
    CHECK(it.server.packets == packets_of(longest));

    const bytes begun = client_frame(frame_opcode::binary, gyre::bytes_of("U"),
                                     options.framing.payload_bytes_max + 2);
    it.server.hear(begun);
    CHECK(it.server.ending == soup_ending::oversized_packet);
    it.server.channel->finish(it.server.ending);
    CHECK(close_in(it.server.say()).first == 1009);
}

TEST_CASE("websocket channel: what breaks a rule ends the session behind what it has to say") {
    const auto check = [](const bytes& wire, soup_ending why, int code, session_format format) {
        two_ends it{format};
        it.server.hear(wire);
        CHECK(it.server.ending == why);
        it.server.hear(client_frame(frame_opcode::binary, gyre::bytes_of("R")));
        CHECK(it.server.packets.empty());
        CHECK_FALSE(it.server.channel->ended());
        const bytes last_words = framed(soup_type::debug, gyre::bytes_of("why"));
        bytes said = it.server.say(last_words);
        CHECK_FALSE(said.empty());
        it.server.channel->finish(why);
        append(said, it.server.say());
        CHECK(close_in(said).first == code);
        CHECK_FALSE(close_in(said).second.empty());
        it.client.hear(said);
        CHECK(it.client.packets.size() == 1);
        CHECK(it.client.channel->ended());
    };
    using enum soup_ending;
    constexpr auto sbe = session_format::sbe;
    constexpr auto json = session_format::json;
    bytes unmasked{std::byte{0x82}, std::byte{1}, std::byte{'R'}};
    check(unmasked, broken_transport, 1002, sbe);
    check(bytes{std::byte{0xf2}, std::byte{0x80}}, broken_transport, 1002, sbe);
    check(client_frame(frame_opcode::continuation, {}), broken_transport, 1002, sbe);
    check(client_text("R"), broken_transport, 1003, sbe);
    check(client_frame(frame_opcode::binary, gyre::bytes_of("R")), broken_transport, 1003, json);
    check(client_frame(frame_opcode::text, gyre::bytes_of("\xff")), broken_transport, 1007, json);
    check(client_frame(frame_opcode::binary, {}), empty_packet, 1002, sbe);
}

TEST_CASE(
    "websocket channel: a client that closes is answered with its number, and nothing follows") {
    two_ends it;
    it.client.channel->finish(soup_ending::logged_out);
    it.server.hear(it.client.say());
    CHECK(it.server.channel->ended());
    const bytes answer = it.server.say(some_order(1));
    CHECK(close_in(answer).first == 1000);
    CHECK(it.server.unsaid > 0);
    it.client.hear(answer);
    it.client.channel->drop();  // As one does behind the end.
    CHECK(it.client.channel->ended());
    CHECK_FALSE(it.client.channel->owes());
}

TEST_CASE("websocket channel: each ending is told by its number and its words") {
    const auto said = [](soup_ending why) {
        two_ends it;
        it.server.channel->finish(why);
        it.server.channel->finish(soup_ending::wrong_size);  // Once.
        return close_in(it.server.say());
    };
    for (auto each = soup_ending::none; each <= soup_ending::broken_transport;
         each = static_cast<soup_ending>(static_cast<int>(each) + 1)) {
        CHECK(said(each).first >= 1000);
        CHECK(said(each).second == describe(each));
    }
    CHECK(said(soup_ending::session_ended).first == 1000);
    CHECK(said(soup_ending::fell_behind).first == 1008);
    CHECK(said(soup_ending::wrong_direction).first == 1002);
}

TEST_CASE("websocket channel: behind its end only the peer's is looked for") {
    two_ends it;
    it.server.channel->finish(soup_ending::session_ended);
    const bytes closing = it.server.say();
    bytes late = some_order(1);
    late = it.client.say(late);
    it.client.hear(closing);
    append(late, it.client.say());

    const std::span<std::byte> space = it.server.channel->space();
    std::ranges::copy(late, space.begin());
    it.server.channel->received(late.size());
    it.server.channel->drop();
    CHECK(it.server.channel->ended());
    CHECK_FALSE(it.server.channel->owes());
}

TEST_CASE("websocket channel: who did not agree is told why, and there is no session") {
    one_end server{soup_end::server};
    server.hear(gyre::bytes_of("GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
    CHECK(server.channel->ended());
    CHECK(text_of(server.say(some_order(1))).starts_with("HTTP/1.1 404 "));
    CHECK(server.unsaid > 0);
    server.hear(bytes(100'000));
    CHECK(server.packets.empty());

    one_end late{soup_end::server};
    CHECK_FALSE(late.channel->ready(output_of(some_order(1))));
    late.channel->finish(soup_ending::login_timed_out);
    CHECK(text_of(late.say()).starts_with("HTTP/1.1 408 "));

    one_end client{soup_end::client};
    static_cast<void>(client.say());
    client.hear(gyre::bytes_of("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
    CHECK(client.channel->ended());
}

TEST_CASE(
    "websocket channel: a text that is no JSON is answered by name, and the session goes on") {
    two_ends it{session_format::json};
    it.server.hear(client_text("[1]"));
    it.server.hear(client_text(R"({"message":"enter_order","price":"x"})"));
    it.server.hear(client_text(R"({"message":"heartbeat"})"));

    CHECK(it.server.ending == soup_ending::none);
    CHECK(it.server.packets == std::vector<heard>{{soup_type::client_heartbeat, {}}});
    it.client.hear(it.server.say());
    REQUIRE(it.client.packets.size() == 2);
    CHECK(text_of(it.client.packets[1].payload) ==
          R"({"message":"error","refused":"enter_order","field":"price")"
          R"(,"reason":"the value is of another type","position":33})");
}

TEST_CASE("websocket channel: who does not read the answers to nonsense has to leave") {
    transport_options narrow;
    narrow.websocket.unsent_bytes_max = 4096;
    two_ends it{session_format::json, narrow};
    int sent = 0;
    while (it.server.ending == soup_ending::none && ++sent < 1000)
        it.server.hear(client_text("{}"));
    CHECK(it.server.ending == soup_ending::fell_behind);
    CHECK(sent < 100);
}

TEST_CASE("websocket channel: a client of texts misses no number of its stream") {
    two_ends it{session_format::json};
    it.client.hear(it.server.say(of_a_server()));
    CHECK(it.client.ending == soup_ending::none);

    two_ends skipping{session_format::json};
    const std::string text = R"({"message":"login_accepted","session":"DAY","sequence":"5"})";
    bytes wire{std::byte{0x81}, static_cast<std::byte>(text.size())};
    append(wire, {gyre::bytes_of(text).begin(), gyre::bytes_of(text).end()});
    const std::string later =
        R"({"message":"order_rejected","sequence":"6","stamp":{"out_seq":"1","in_seq":"1","time":"1",)"
        R"("index":0,"last_in_event":true},"session":1,"command":"enter_order","reason":"message_rate"})";
    append(wire,
           {std::byte{0x81}, std::byte{126}, std::byte{0}, static_cast<std::byte>(later.size())});
    append(wire, {gyre::bytes_of(later).begin(), gyre::bytes_of(later).end()});
    skipping.client.hear(wire);
    CHECK(skipping.client.ending == soup_ending::broken_transport);
}

TEST_CASE("websocket channel: no bytes of a client break it, proper, damaged or random") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 400; ++round) {
        two_ends it{random.chance(2) ? session_format::json : session_format::sbe};
        bytes wire = it.client.say(of_a_client());
        append(wire, client_frame(frame_opcode::ping, gyre::bytes_of("?")));
        append(wire, client_frame(frame_opcode::close, {}));
        for (std::size_t count = random.below(4); count > 0; --count)
            wire[random.below(wire.size())] ^= static_cast<std::byte>(1 + random.below(255));
        if (random.chance(8)) wire = random.bytes(random.below(3000));
        it.server.hear(wire, 1 + random.below(300));
        if (it.server.ending != soup_ending::none) it.server.channel->finish(it.server.ending);
        const bytes said = it.server.say(of_a_server());
        it.server.channel->drop();

        CHECK(it.server.packets.size() <= wire.size() / 6);
        it.client.hear(said);
        CHECK(it.client.ending == soup_ending::none);
    }
}

TEST_CASE("websocket channel: a server that cannot now ends the connection, and refuses nothing") {
    const auto answered = [](std::string_view answer) {
        one_end client{soup_end::client};
        static_cast<void>(client.say());
        client.hear(std::as_bytes(std::span{answer}));
        CHECK(client.channel->ended());
        client.hear(std::as_bytes(std::span{answer}));  // Whatever follows.
        client.channel->finish(soup_ending::none);
        CHECK_FALSE(client.channel->owes());
        return client.channel->refused();
    };
    CHECK_FALSE(answered("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nNo."));
    CHECK(answered("HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nNo."));
}

TEST_CASE("websocket channel: a long text of a client is refused by its header") {
    transport_options options;
    two_ends it{session_format::json, options};
    it.server.hear(client_frame(frame_opcode::text, {}, 5 * options.framing.payload_bytes_max));
    CHECK(it.server.ending == soup_ending::oversized_packet);
}
