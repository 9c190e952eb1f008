// SPDX-License-Identifier: BSL-1.0
#include <http2/engine.hpp>

#include <http2/engine_ends.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using http2::breach;

namespace {

constexpr time_point start{1h};
const std::string settings_ack = frame_of(frame::settings, ack, 0);

bool has(std::string_view log, std::string_view line) {
    return log.find(line) != std::string_view::npos;
}

// Two requests, one with a body and trailers, and their answers.
void converse(engine_pair& both) {
    both.talk();
    add_head(both.client.wire, "POST", "/a");
    const std::string long_value(300, 'l');
    both.client.wire.add("x-long", long_value);
    both.client.ask("hello", true);
    add_head(both.client.wire, "GET", "/b");
    both.client.ask();
    both.talk();
}

std::string produced(engine_end& by, time_point now = start) {
    std::string bytes;
    static_cast<void>(by.wire.produce(bytes, 1 << 20, now));
    return bytes;
}

void hear(engine_end& by, std::string_view bytes, time_point now = start) {
    by.wire.receive(bytes_of(bytes), now);
}

}  // namespace

TEST_CASE("http2: two engines tell each other requests, answers and trailers") {
    // RFC 9113, 8.1.
    engine_pair both;
    converse(both);

    CHECK(both.server.log.starts_with("0 settings\n1 opens\n1 :method: POST\n1 :scheme: http\n"));
    CHECK(has(both.server.log, "1 sum: 1\n1 head, last\n1 body hello\n"));
    CHECK(has(both.server.log, "3 head, last\n3 body \n"));
    CHECK(has(both.client.log, "1 :status: 200\n1 kind: answer\n1 head\n"));
    CHECK(has(both.client.log, "1 sum: 1\n1 head, last\n1 body answer to hello\n"));
    CHECK(has(both.client.log, "3 body answer to \n"));
    for (const engine_end* const end : {&both.client, &both.server}) {
        CHECK(has(end->log, "1 closed NO_ERROR\n"));
        CHECK(has(end->log, "3 closed NO_ERROR\n"));
        CHECK(end->wire.streams() == 0);
        CHECK(end->wire.why() == breach::none);
        CHECK(end->wire.settings_came());
    }
}

TEST_CASE("http2: where the bytes between two engines are split changes nothing") {
    engine_pair whole;
    converse(whole);
    const std::size_t most = std::max(whole.to_server, whole.to_client);
    REQUIRE(most > 300);
    for (std::size_t cut = 1; cut < most; ++cut) {
        CAPTURE(cut);
        engine_pair split;
        split.cut = cut;
        converse(split);
        CHECK(split.server.log == whole.server.log);
        CHECK(split.client.log == whole.client.log);
    }
    for (const std::size_t piece : {1U, 2U, 3U, 8U, 9U, 10U, 24U}) {
        CAPTURE(piece);
        engine_pair split;
        split.piece = piece;
        converse(split);
        CHECK(split.server.log == whole.server.log);
        CHECK(split.client.log == whole.client.log);
    }
}

TEST_CASE("http2: a peer sends as much as its window, and more as that is given back") {
    // RFC 9113, 6.9.
    http2::engine_options on_server;
    on_server.windows.stream_bytes = on_server.windows.connection_bytes = 65'535;
    engine_pair both{{}, on_server};
    both.server.consumes = false;
    both.talk();
    add_head(both.client.wire, "POST", "/");
    both.client.ask(std::string(300'000, 'x'));
    both.talk();

    const http2::engine_stream& on = both.server.streams.front();
    const std::string& came = both.server.streams.front().came;
    CHECK(came.size() == 65'535);
    both.server.wire.consume(on.id, 40'000);
    both.talk();
    CHECK(came.size() == 65'535 + 40'000);
    // For the connection alone: this stream's window stays shut.
    both.server.wire.consume_for_connection(65'535);
    both.talk();
    CHECK(came.size() == 65'535 + 40'000);
    CHECK(both.server.wire.why() == breach::none);
}

TEST_CASE("http2: a body that is not there yet is pulled again once it is") {
    engine_pair both;
    both.talk();
    add_head(both.client.wire, "POST", "/");
    told_stream& on = both.client.ask("later");
    on.held = true;
    both.talk();
    CHECK_FALSE(has(both.server.log, "1 body"));

    on.held = false;
    both.talk();
    CHECK_FALSE(has(both.server.log, "1 body"));
    both.client.wire.resume(on);
    both.talk();
    CHECK(has(both.server.log, "1 body later\n"));
}

TEST_CASE("http2: a reset ends one stream, and says who has sent it") {
    // RFC 9113, 6.4.
    engine_pair both;
    both.server.answers = false;
    both.talk();
    for (int each = 0; each < 2; ++each) {
        add_head(both.client.wire, "GET", "/");
        both.client.ask();
    }
    both.talk();
    both.client.wire.reset(both.client.streams.front(), http2::error_code::cancel);
    both.talk();

    CHECK(has(both.server.log, "1 closed CANCEL\n"));
    CHECK_FALSE(has(both.server.log, "3 closed"));
    CHECK(both.client.streams.front().reset_sent);
    CHECK_FALSE(both.server.streams.front().reset_sent);
    CHECK(both.server.wire.streams() == 1);
}

TEST_CASE("http2: a stream that is forgotten has no events any more") {
    engine_pair both;
    both.talk();
    add_head(both.client.wire, "GET", "/");
    told_stream& on = both.client.ask();
    both.client.wire.forget(on);
    both.talk();

    CHECK(has(both.server.log, "1 closed NO_ERROR\n"));
    CHECK_FALSE(has(both.client.log, "1 "));
    CHECK(both.client.wire.streams() == 0);
}

TEST_CASE("http2: a stream that is refused may be asked for again, and is counted") {
    // RFC 9113, 8.7.
    http2::engine_options on_server;
    on_server.floods.refused_streams = {3, 0};
    engine_pair both{{}, on_server};
    both.server.refuses = true;
    both.talk();
    for (int each = 0; each < 3; ++each) {
        add_head(both.client.wire, "GET", "/");
        both.client.ask();
        both.talk();
    }
    CHECK(has(both.client.log, "5 closed REFUSED_STREAM\n"));
    CHECK(both.server.wire.why() == breach::none);
    add_head(both.client.wire, "GET", "/");
    both.client.ask();
    both.talk();
    CHECK(both.server.wire.why() == breach::refused_streams);
    CHECK(has(both.client.log, "goaway ENHANCE_YOUR_CALM\n"));
}

TEST_CASE("http2: a graceful end is announced before it is said") {
    // RFC 9113, 6.8.
    engine_pair both;
    converse(both);
    both.server.answers = false;  // An end without a stream is heard of once.
    add_head(both.client.wire, "GET", "/open");
    both.client.ask();
    both.talk();
    both.server.wire.announce_goaway();
    both.talk();
    CHECK(has(both.client.log, "2147483647 goaway NO_ERROR\n"));
    CHECK(has(both.server.log, "0 pong\n"));

    both.server.wire.goaway(http2::error_code::none);
    both.talk();
    CHECK(has(both.client.log, "5 goaway NO_ERROR\n"));
    CHECK(both.client.wire.why() == breach::none);
    // Nothing new is begun after that.
    add_head(both.client.wire, "GET", "/");
    both.client.ask();
    both.talk();
    CHECK_FALSE(has(both.server.log, "7 opens"));
    CHECK(both.client.wire.streams() == 1);
    CHECK_FALSE(both.client.streams.back().head_sent);
}

TEST_CASE("http2: a head beyond its bound is marked and not kept, one far beyond is a breach") {
    // RFC 9113, 6.5.2 and 10.5.1.
    http2::engine_options on_server;
    on_server.head_bytes_max = 1'000;
    engine_pair both{{}, on_server};
    both.talk();
    add_head(both.client.wire, "GET", "/");
    const std::string big_value(1'000, 'b');
    both.client.wire.add("x-big", big_value);
    both.client.ask();
    both.talk();
    CHECK(both.server.streams.front().head_too_large);
    CHECK_FALSE(has(both.server.log, "x-big"));
    CHECK(both.server.wire.why() == breach::none);

    http2::engine_options few;
    few.fields_max = 5;
    engine_pair counted{{}, few};
    counted.talk();
    add_head(counted.client.wire, "GET", "/");
    counted.client.wire.add("x-fifth", "5");
    counted.client.wire.add("x-sixth", "6");
    counted.client.ask();
    counted.talk();
    CHECK(counted.server.streams.front().head_too_large);
    CHECK(has(counted.server.log, "x-fifth"));
    CHECK_FALSE(has(counted.server.log, "x-sixth"));
}

TEST_CASE("http2: the preface, SETTINGS and field blocks have to come in time") {
    // RFC 9113, 3.4, 4.3 and 6.5.3.
    const http2::time_limits times;
    engine_end server{{}};
    CHECK(server.wire.deadline() == never);
    server.wire.begin(start);
    CHECK(server.wire.deadline() == start + times.head_max);
    hear(server, greeting(), start + 1s);
    CHECK(server.wire.deadline() == never);
    produced(server, start + 2s);
    CHECK(server.wire.deadline() == start + 2s + times.settings_max);
    hear(server, settings_ack, start + 3s);
    CHECK(server.wire.deadline() == never);

    // A block is open from its first frame to its last one, however many bytes of which have come.
    const std::string begins = frame_of(frame::headers, end_stream, 1, block_of("GET", "/"));
    const std::string ends = frame_of(frame::continuation, end_headers, 1, literal("a", "b"));
    hear(server, std::string_view{begins}.substr(0, 20), start + 4s);
    CHECK(server.wire.deadline() == start + 4s + times.head_max);
    hear(server, std::string_view{begins}.substr(20), start + 5s);
    hear(server, std::string_view{ends}.substr(0, 12), start + 6s);
    CHECK(server.wire.deadline() == start + 4s + times.head_max);
    hear(server, std::string_view{ends}.substr(12), start + 7s);
    CHECK(server.wire.deadline() == never);
    CHECK(has(server.log, "1 body \n"));
    // Data is waited for by its reader.
    hear(server, frame_of(frame::headers, end_headers, 3, block_of("POST", "/")), start + 8s);
    hear(server, frame_of(frame::data, 0, 3, "abc").substr(0, 10), start + 8s);
    CHECK(server.wire.deadline() == never);
}

TEST_CASE("http2: a field block may have all of its frames, however they are cut") {
    const http2::engine_options options;
    std::string block = frame_of(frame::headers, end_stream, 1, block_of("GET", "/"));
    const std::size_t more = options.floods.continuations_max;
    for (std::size_t each = 1; each <= more; ++each) {
        const std::uint8_t flags = each == more ? end_headers : std::uint8_t{0};
        block += frame_of(frame::continuation, flags, 1, literal("a", "b"));
    }
    for (const std::size_t step : {std::size_t{1}, std::size_t{8}, block.size()}) {
        engine_end server{options};
        server.wire.begin(start);
        hear(server, greeting());
        for (std::size_t at = 0; at < block.size(); at += step)
            hear(server, std::string_view{block}.substr(at, step));
        CHECK(server.wire.why() == breach::none);
        CHECK(has(server.log, "1 body \n"));
    }
}

TEST_CASE("http2: who is late is told so, and nothing else of it is heard") {
    // RFC 9113, 5.4.1.
    const http2::time_limits times;
    engine_end silent{{}};
    silent.wire.begin(start);
    silent.wire.expire(start + times.head_max - 1ms);
    CHECK(silent.wire.why() == breach::none);
    silent.wire.expire(start + times.head_max);
    CHECK(silent.wire.why() == breach::head_too_slow);
    CHECK(goaway_code(produced(silent)) == 0xbU);
    hear(silent, greeting() + get(1));
    CHECK(silent.log.empty());

    engine_end late{{}};
    late.wire.begin(start);
    produced(late);
    hear(late, greeting());
    late.wire.expire(start + times.settings_max);
    CHECK(late.wire.why() == breach::settings_too_slow);
    CHECK(goaway_code(produced(late)) == 0x4U);
    // The first reason stays.
    late.wire.give_up(breach::silence);
    CHECK(late.wire.why() == breach::settings_too_slow);
}

TEST_CASE("http2: streams that stay open take no more memory than one connection may have") {
    http2::engine_options options;
    options.memory_max = 128 * 1024;
    options.streams_max = 1'000'000;
    engine_end server{options};
    server.answers = server.keeps_log = false;
    server.wire.begin(start);
    hear(server, greeting());
    produced(server);
    hear(server, settings_ack);
    std::uint32_t id = 1;
    while (server.wire.why() == breach::none && id < 200'000) {
        hear(server, frame_of(frame::headers, end_headers, id, block_of("POST", "/")));
        id += 2;
    }

    CHECK(server.wire.why() == breach::memory);
    CHECK(server.wire.memory().used_most() <= options.memory_max);
    CHECK(id > 100);
}

TEST_CASE("http2: what does not fit what a head has declared is reset by us") {
    // RFC 9113, 8.1.1.
    engine_end server{{}};
    server.wire.begin(start);
    hear(server, greeting());
    hear(server, frame_of(frame::headers, end_headers, 1,
                          block_of("POST", "/", {{"content-length", "5"}})));
    hear(server, frame_of(frame::data, end_stream, 1, "four"));
    const std::string said = produced(server);

    CHECK(reset_code(said, 1) == 1U);
    CHECK(server.streams.front().reset_sent);
    CHECK(has(server.log, "1 closed PROTOCOL_ERROR\n"));
    CHECK_FALSE(has(server.log, "1 body"));
}

TEST_CASE("http2: what is produced is bounded, and the rest comes with the next time") {
    http2::engine_options wide;
    wide.windows.stream_bytes = wide.windows.connection_bytes = 1'000'000;
    engine_pair both{{}, wide};
    both.talk();
    add_head(both.client.wire, "POST", "/");
    both.client.ask(std::string(200'000, 'x'));
    std::size_t all = 0;
    int times = 0;
    for (;;) {
        std::string bytes;
        if (!both.client.wire.produce(bytes, 10'000, start)) break;
        // A frame more than was asked for, at most.
        CHECK(bytes.size() <= 10'000 + 16'384 + 9);
        all += bytes.size();
        ++times;
    }
    CHECK(all > 200'000);
    CHECK(times >= 8);
}
