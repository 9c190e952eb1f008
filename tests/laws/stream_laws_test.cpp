// SPDX-License-Identifier: BSL-1.0
//
// The laws of streams: bytes, ends and closing. What stops and races do to them: stream_stops_test.cpp.
//
// gyre/stream/concepts.hpp states them; a protocol written against those concepts works on a pipe in
// memory, on a Unix-domain socket and on TCP, on halves of them and through layers above them, because
// all of them obey what stands here. stream_kinds.cpp has the list.
#include <laws/stream_kinds.hpp>
#include <laws/stream_texts.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Writes `text` in pieces of random size, and checks what each write says.
task<> write_in_pieces(stream_end& to, std::mt19937& random, const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t wanted = std::min<std::size_t>(random() % 200, text.size() - at);
        const std::string_view piece = std::string_view{text}.substr(at, wanted);
        const io_result<std::size_t> put = co_await to.write_some(bytes_of(piece));
        CHECK(put.ok());
        CHECK(put.value() <= wanted);
        CHECK((put.value() > 0 || wanted == 0));
        at += put.value();
        if (random() % 8 == 0) co_await yield();
    }
}

// Reads to the end in pieces of random size, and checks what each read says.
task<> read_in_pieces(stream_end& from, std::mt19937& random, std::string& text) {
    std::array<std::byte, 256> space;
    for (;;) {
        const std::size_t wanted = random() % space.size();
        const io_result<std::size_t> got = co_await from.read_some(std::span{space}.first(wanted));
        CHECK(got.value() <= wanted);
        if (!got.ok()) {
            CHECK(got.error() == errc::eof);
            CHECK(got.value() == 0);
            co_return;
        }
        CHECK((got.value() > 0 || wanted == 0));
        text += text_of(std::span{space}.first(got.value()));
        if (random() % 8 == 0) co_await yield();
    }
}

}  // namespace

TEST_CASE("a stream: an empty buffer transfers nothing, successfully and without waiting") {
    on_every_direction([](stream_connection& connection) -> task<> {
        const io_result<std::size_t> read = co_await connection.far.read_some(mutable_buffer{});
        const io_result<std::size_t> written = co_await connection.near.write_some(const_buffer{});
        co_await send_text(connection.near, "x");
        const io_result<std::size_t> read_again =
            co_await connection.far.read_some(mutable_buffer{});

        CHECK(read.ok());
        CHECK(read.value() == 0);
        CHECK(written.ok());
        CHECK(written.value() == 0);
        CHECK(read_again.ok());
        CHECK(read_again.value() == 0);
    });
}

TEST_CASE("a stream: bytes arrive in order, whatever sizes are read and written") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    on_every_direction([seed](stream_connection& connection) -> task<> {
        std::mt19937 random{seed};
        const std::string there = random_text(random, 20'000);
        const std::string back = random_text(random, 20'000);
        std::string at_far;
        std::string at_near;
        const auto writes = [&](stream_end& to, const std::string& text) -> task<> {
            co_await write_in_pieces(to, random, text);
            co_await to.finish();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes(connection.near, there));
            group.spawn(read_in_pieces(connection.far, random, at_far));
            if (!connection.traits.both_ways) co_return;
            group.spawn(writes(connection.far, back));
            group.spawn(read_in_pieces(connection.near, random, at_near));
        };

        co_await with_group(body);

        CHECK(at_far == there);
        CHECK(at_near == (connection.traits.both_ways ? back : ""));
    });
}

TEST_CASE("a stream: the end comes after the bytes, with none, and comes again") {
    on_every_direction([](stream_connection& connection) -> task<> {
        std::array<std::byte, 16> space;
        co_await send_text(connection.near, "last");
        co_await connection.near.finish();

        const io_result<std::size_t> bytes = co_await connection.far.read_some(space);
        CHECK(bytes.ok());
        CHECK(text_of(std::span{space}.first(bytes.value())) == "last");
        for (int time = 0; time < 3; ++time) {
            const io_result<std::size_t> end = co_await connection.far.read_some(space);
            CHECK(end.error() == errc::eof);
            CHECK(end.value() == 0);
        }
        const io_result<std::size_t> nothing = co_await connection.far.read_some(mutable_buffer{});
        CHECK(nothing.ok());
    });
}

TEST_CASE("a stream: a read that waits is ended by the end") {
    on_every_direction([](stream_connection& connection) -> task<> {
        io_result<std::size_t> end;
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 4> space;
            end = co_await connection.far.read_some(space);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            co_await settle();
            co_await connection.near.finish();
        };

        co_await with_group(body);

        CHECK(end.error() == errc::eof);
        CHECK(end.value() == 0);
    });
}

TEST_CASE("a stream: each direction ends by itself") {
    on_every_stream([](stream_connection& connection) -> task<> {
        std::array<std::byte, 4> space;
        std::string answer;
        co_await connection.near.finish();

        const io_result<std::size_t> end = co_await connection.far.read_some(space);
        co_await send_text(connection.far, "answer");
        co_await receive_text(connection.near, answer, 6);
        const io_result<std::size_t> refused =
            co_await connection.near.write_some(bytes_of("more"));

        CHECK(end.error() == errc::eof);
        CHECK(answer == "answer");
        CHECK(refused.error() == connection.traits.refusal_after_end);
        CHECK(refused.value() == 0);
    });
}

TEST_CASE("a stream: writes after the peer has gone fail in the end, with no byte counted") {
    on_every_direction([](stream_connection& connection) -> task<> {
        connection.far.close();
        const std::string text(1000, 'x');
        io_result<std::size_t> put;

        // TCP learns that the peer has gone only by the answer to its first bytes.
        for (int time = 0; time < 1000 && put.ok(); ++time) {
            put = co_await connection.near.write_some(bytes_of(text));
            if (put.ok()) static_cast<void>(co_await sleep_for(100us));
        }

        CHECK_FALSE(put.ok());
        CHECK(put.value() == 0);
        CHECK((put.error() == errc::broken_pipe || put.error() == errc::connection_reset));
    });
}

TEST_CASE("a stream: what is begun on a closed end, or was made before, ends with errc::closed") {
    on_every_stream([](stream_connection& connection) -> task<> {
        std::array<std::byte, 4> space;
        co_await send_text(connection.far, "lost");
        auto read = connection.near.read_some(mutable_buffer{space});
        auto write = connection.near.write_some(bytes_of("late"));
        connection.near.close();

        const io_result<std::size_t> read_after = co_await read;
        const io_result<std::size_t> written_after = co_await write;
        const io_result<std::size_t> read_closed = co_await read_exactly(connection.near, space);
        const io_result<std::size_t> written_closed =
            co_await write_all(connection.near, bytes_of("later"));

        for (const io_result<std::size_t>& each :
             {read_after, written_after, read_closed, written_closed}) {
            CHECK(each.error() == errc::closed);
            CHECK(each.value() == 0);
        }
    });
}
