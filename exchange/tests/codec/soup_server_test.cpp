// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/soup_server.hpp promises, clause by clause of SoupBinTCP 3.00.
#include <exchange/codec/soup_server.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;
using kind = soup_step::kind;
using texts = std::vector<std::string>;

namespace {

soup_packet login_packet(const soup_login& login) {
    static std::array<std::byte, soup_login_bytes> payload;
    payload = format_soup_login(login);
    return {soup_type::login_request, payload};
}

void append(soup_stream& stream, std::string_view text) {
    std::ranges::copy(bytes_of(text), stream.prepare(text.size()).begin());
    stream.commit(text.size());
}

/// A server whose client is in, with the acceptance already written.
struct session {
    explicit session(const soup_stream_options& options = {.session = "S1"}) : stream{options} {}

    void log_in(std::uint64_t sequence = 1) {
        REQUIRE(server.on_packet(login_packet({"u", "p", "", sequence}), start).what ==
                kind::login);
        REQUIRE(server.accept(stream, start).what == kind::nothing);
    }

    soup_stream stream;
    soup_server server{{}, start};
};

void check_refused(soup_ending expected, const soup_packet& packet, bool logged_in) {
    session it;
    if (logged_in) it.log_in();
    static_cast<void>(written(it.server, start));

    const soup_step step = it.server.on_packet(packet, start);

    CHECK(step.what == kind::ended);
    CHECK(step.ending == expected);
    CHECK(written(it.server, start) == texts{'+' + std::string{describe(expected)}});
    CHECK(it.server.on_packet(packet, start).what == kind::nothing);
    CHECK(it.server.deadline() == gyre::never);
}

}  // namespace

TEST_CASE(
    "a client that logs in is told its session and the next message, then hears the messages") {
    session it;
    append(it.stream, "one");
    append(it.stream, "two");

    it.log_in();

    CHECK(it.server.login().username.view() == "u");
    CHECK(written(it.server, start) == texts{"A        S1                   1", "Sone", "Stwo"});
    CHECK(written(it.server, start).empty());
    append(it.stream, "three");
    CHECK(written(it.server, start) == texts{"Sthree"});
}

TEST_CASE("a client resumes at the message it asks for") {
    session it;
    for (const char* each : {"one", "two", "three"}) append(it.stream, each);

    it.log_in(3);

    CHECK(written(it.server, start) == texts{"A        S1                   3", "Sthree"});
}

TEST_CASE("a client that asks for message zero begins with the next one that comes to be") {
    session it;
    append(it.stream, "one");

    it.log_in(0);
    append(it.stream, "two");

    CHECK(written(it.server, start) == texts{"A        S1                   2", "Stwo"});
}

TEST_CASE("what is not kept any more, not there yet, or of another session is not available") {
    const soup_stream_options options{
        .session = "S1", .bytes_max = 64, .message_bytes_max = 20, .first_sequence = 5};
    const soup_login wrong[] = {{"u", "p", "", 4}, {"u", "p", "", 7}, {"u", "p", "S2", 5}};
    for (const soup_login& login : wrong) {
        session it{options};
        append(it.stream, "five");
        static_cast<void>(it.server.on_packet(login_packet(login), start));

        const soup_step step = it.server.accept(it.stream, start);

        CHECK(step.what == kind::ended);
        CHECK(step.ending == soup_ending::rejected);
        CHECK(written(it.server, start) == texts{"JS"});
    }
}

TEST_CASE("a client that is not authorized is told so") {
    session it;
    static_cast<void>(it.server.on_packet(login_packet({"u", "wrong", "", 1}), start));

    CHECK(it.server.reject(soup_reject::not_authorized).ending == soup_ending::rejected);

    CHECK(written(it.server, start) == texts{"JA"});
}

TEST_CASE("a silent second brings a heartbeat, a busy one none") {
    session it;
    it.log_in();
    static_cast<void>(written(it.server, start));

    CHECK(it.server.deadline() == start + 1s);
    static_cast<void>(it.server.on_timer(start + 999ms));
    CHECK(written(it.server, start + 999ms).empty());
    static_cast<void>(it.server.on_timer(start + 1s));
    CHECK(written(it.server, start + 1s) == texts{"H"});
    append(it.stream, "busy");
    CHECK(written(it.server, start + 1500ms) == texts{"Sbusy"});
    static_cast<void>(it.server.on_timer(start + 2s));
    CHECK(written(it.server, start + 2s).empty());
    CHECK(it.server.deadline() == start + 2500ms);
}

TEST_CASE("heartbeats do not pile up behind a write that makes no progress") {
    session it;
    it.log_in();
    append(it.stream, "stuck");

    for (int second = 1; second < 10; ++second)
        static_cast<void>(it.server.on_timer(start + second * 1s));

    CHECK(written(it.server, start + 10s) == texts{"A        S1                   1", "Sstuck"});
}

TEST_CASE("fifteen silent seconds end the session, and a client's heartbeat prevents it") {
    session it;
    it.log_in();

    CHECK(it.server.on_packet(packet('R'), start + 10s).what == kind::nothing);
    CHECK(it.server.on_timer(start + 24999ms).what == kind::nothing);
    const soup_step step = it.server.on_timer(start + 25s);

    CHECK(step.ending == soup_ending::peer_silent);
    CHECK(it.server.ending() == soup_ending::peer_silent);
}

TEST_CASE("a client that does not log in within thirty seconds is sent away") {
    session it;

    CHECK(it.server.deadline() == start + 30s);
    CHECK(it.server.on_timer(start + 29s).what == kind::nothing);
    CHECK(it.server.on_timer(start + 30s).ending == soup_ending::login_timed_out);
}

TEST_CASE("a client that has to wait for the server is neither silent nor late") {
    session late;
    late.server.keep_waiting(start + 29s);
    CHECK(late.server.on_timer(start + 58s).what == kind::nothing);
    CHECK(late.server.on_timer(start + 59s).ending == soup_ending::login_timed_out);

    session silent;
    silent.log_in();
    silent.server.keep_waiting(start + 14s);
    CHECK(silent.server.on_timer(start + 28s).what == kind::nothing);
    CHECK(silent.server.on_timer(start + 29s).ending == soup_ending::peer_silent);
}

TEST_CASE("messages of the client come through, and text for people") {
    session it;
    it.log_in();

    const soup_step message = it.server.on_packet(packet('U', "order"), start);
    const soup_step debug = it.server.on_packet(packet('+', "hello"), start);

    CHECK(message.what == kind::message);
    CHECK(text_of(message.payload) == "order");
    CHECK(message.sequence == 0);
    CHECK(debug.what == kind::debug);
}

TEST_CASE("a client may log out") {
    session it;
    it.log_in();
    static_cast<void>(written(it.server, start));

    const soup_step step = it.server.on_packet(packet('O'), start);

    CHECK(step.ending == soup_ending::logged_out);
    CHECK(written(it.server, start).empty());
}

TEST_CASE("the end of the session is said behind its last message, and then it is over") {
    session it;
    append(it.stream, "last");
    it.log_in();
    it.stream.end();

    CHECK(written(it.server, start) == texts{"A        S1                   1", "Slast"});
    CHECK(it.server.ending() == soup_ending::none);
    CHECK(written(it.server, start) == texts{"Z"});
    CHECK(it.server.ending() == soup_ending::session_ended);
    CHECK(written(it.server, start).empty());
}

TEST_CASE("the end of the session is not over before its last byte is written") {
    session it;
    it.log_in();
    static_cast<void>(written(it.server, start));
    it.stream.end();

    const std::size_t end_packet = it.server.output().size();
    it.server.sent(end_packet - 1, start);
    CHECK(it.server.ending() == soup_ending::none);
    CHECK(it.server.output().size() == 1);
    it.server.sent(1, start);

    CHECK(it.server.ending() == soup_ending::session_ended);
}

TEST_CASE("a session that has ended can still be resumed until its end") {
    session it;
    append(it.stream, "one");
    append(it.stream, "two");
    it.stream.end();

    it.log_in(2);

    CHECK(written(it.server, start) == texts{"A        S1                   2", "Stwo"});
    CHECK(written(it.server, start) == texts{"Z"});
}

TEST_CASE("each packet out of phase has its own ending, which the client is told") {
    check_refused(soup_ending::before_login, packet('U', "x"), false);
    check_refused(soup_ending::before_login, packet('R'), false);
    check_refused(soup_ending::wrong_size, packet('L', "short"), false);
    check_refused(soup_ending::malformed_login,
                  packet('L', std::string(26, ' ') + std::string(20, 'x')), false);
    check_refused(soup_ending::second_login, packet('L', std::string(46, ' ')), true);
    check_refused(soup_ending::wrong_size, packet('R', "x"), true);
    check_refused(soup_ending::wrong_size, packet('O', "x"), true);
    check_refused(soup_ending::unknown_packet, packet('?'), true);
    check_refused(soup_ending::unknown_packet, packet('\0'), false);
    for (const char type : {'A', 'J', 'S', 'H', 'Z'})
        check_refused(soup_ending::wrong_direction, packet(type), true);
}

TEST_CASE("what the framer finds ends the session as well") {
    session it;
    it.log_in();

    CHECK(it.server.on_framing_error(soup_ending::oversized_packet).what == kind::ended);
    CHECK(it.server.ending() == soup_ending::oversized_packet);
}

TEST_CASE(
    "while the application thinks about a login, heartbeats are welcome and messages are not") {
    session it;
    static_cast<void>(it.server.on_packet(login_packet({"u", "p", "", 1}), start));

    CHECK(it.server.on_packet(packet('R'), start).what == kind::nothing);
    CHECK_FALSE(it.server.send_unsequenced(bytes_of("x")));
    CHECK(it.server.on_packet(packet('U', "x"), start).ending == soup_ending::before_login);
}

TEST_CASE("unsequenced and debug packets go between sequenced ones, never inside") {
    session it;
    it.log_in();
    for (int each = 0; each < 3; ++each)
        append(it.stream, std::string(10, static_cast<char>('a' + each)));
    bytes wire;
    std::size_t added = 0;

    for (gyre::time_point now = start;; now += 1ms) {  // Three bytes a write.
        const bytes offered = joined(it.server.output());
        if (offered.empty()) break;
        const std::size_t size = std::min<std::size_t>(3, offered.size());
        wire.insert(wire.end(), offered.begin(),
                    offered.begin() + static_cast<std::ptrdiff_t>(size));
        it.server.sent(size, now);
        if (++added == 13) REQUIRE(it.server.send_unsequenced(bytes_of("between")));
        if (added == 20) REQUIRE(it.server.send_debug("text"));
    }

    const texts packets = packets_of(wire);
    CHECK(packets.size() == 6);
    CHECK(std::ranges::count(packets, "Ubetween") == 1);
    CHECK(std::ranges::count(packets, "+text") == 1);
    CHECK(std::ranges::count(packets, "S" + std::string(10, 'c')) == 1);
}

TEST_CASE(
    "what is pushed out before a slow client has read it ends its session, and nothing is "
    "skipped") {
    session it{{.session = "S1", .bytes_max = 64, .message_bytes_max = 20}};
    it.log_in();
    static_cast<void>(written(it.server, start));
    append(it.stream, "first");
    const bytes offered = joined(it.server.output());
    it.server.sent(2, start);  // The first message is torn now.

    for (int each = 0; each < 8; ++each) append(it.stream, std::string(20, 'x'));

    CHECK(it.server.output().size() == 0);
    CHECK(it.server.deadline() < start);
    CHECK(it.server.on_timer(start).ending == soup_ending::fell_behind);
    CHECK(it.server.output().size() == 0);
}

TEST_CASE("a slow client whose last message is whole is told why it is sent away") {
    session it{{.session = "S1", .bytes_max = 64, .message_bytes_max = 20}};
    it.log_in();
    static_cast<void>(written(it.server, start));
    for (int each = 0; each < 8; ++each) append(it.stream, std::string(20, 'x'));

    CHECK(it.server.on_timer(start).ending == soup_ending::fell_behind);
    CHECK(written(it.server, start) ==
          texts{'+' + std::string{describe(soup_ending::fell_behind)}});
}

TEST_CASE("a stream that uses its memory again is written in order") {
    session it{{.session = "S1", .bytes_max = 100, .message_bytes_max = 20}};
    it.log_in();
    static_cast<void>(written(it.server, start));
    int next = 0;
    const auto add = [&](int count) {
        texts added;
        for (; count > 0; --count, ++next) {
            const std::string text(15, static_cast<char>('a' + next % 26));
            append(it.stream, text);
            added.push_back('S' + text);
        }
        return added;
    };

    for (int round = 0; round < 50; ++round) {
        const texts expected = add(1 + round % 5);
        CHECK(written(it.server, start) == expected);
    }
    CHECK(it.server.next_to_send() == it.stream.messages().next_sequence());
}

namespace {

/// A session whose stream has a few messages in each segment.
struct segmented_session {
    segmented_session() {
        REQUIRE(server.on_packet(login_packet({"u", "p", "", 1}), start).what == kind::login);
        REQUIRE(server.accept(stream, start).what == kind::nothing);
        stream.reader_at(1);
        static_cast<void>(written(server, start));
    }
    texts add(int count) {
        texts added;
        for (; count > 0; --count) {
            const std::string text(10, static_cast<char>('a' + next++ % 26));
            append(stream, text);
            added.push_back('S' + text);
        }
        return added;
    }

    segment_pool pool{{.bytes_max = 100 * 64, .segment_bytes = 64}};
    soup_stream stream{{.session = "S1", .unread_bytes_max = 100 * 64, .message_bytes_max = 20},
                       pool};
    soup_server server{{}, start};
    int next = 0;
};

}  // namespace

TEST_CASE("one write takes as many segments as it has parts, and the next one goes on") {
    segmented_session on;
    const texts expected = on.add(100);

    const soup_output first = on.server.output();
    CHECK(first.count == first.parts.size());
    texts heard;
    int writes = 0;
    for (texts more = written(on.server, start); !more.empty();
         more = written(on.server, start), ++writes)
        heard.insert(heard.end(), more.begin(), more.end());

    CHECK(heard == expected);
    CHECK(writes > 3);
}

TEST_CASE(
    "a write may end anywhere, also where one segment ends and in the middle of a message there") {
    for (std::size_t at_once = 1; at_once <= 70; ++at_once) {
        CAPTURE(at_once);
        segmented_session on;
        const texts expected = on.add(30);
        bytes wire;
        for (;;) {
            const bytes offered = joined(on.server.output());
            if (offered.empty()) break;
            const std::size_t size = std::min(at_once, offered.size());
            wire.insert(wire.end(), offered.begin(),
                        offered.begin() + static_cast<std::ptrdiff_t>(size));
            on.server.sent(size, start);
            on.stream.reader_at(on.server.next_to_send());
        }
        CHECK(packets_of(wire) == expected);
    }
}
