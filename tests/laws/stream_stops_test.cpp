// SPDX-License-Identifier: BSL-1.0
//
// The laws of streams: what stops, time-outs, lost races and the end of a coroutine do to bytes under way,
// which is nothing. The other laws: stream_laws_test.cpp.
#include <laws/stream_kinds.hpp>
#include <laws/stream_texts.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("a stream: what could be done at once is not begun once stopped") {
    on_every_direction([](stream_connection& connection) -> task<> {
        io_result<std::size_t> read;
        io_result<std::size_t> written;
        std::string received;
        co_await send_text(connection.near, "kept");
        const auto tries = [&]() -> task<> {
            std::array<std::byte, 4> space;
            read = co_await connection.far.read_some(space);
            written = co_await connection.near.write_some(bytes_of("not sent"));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(tries());
            co_await group.join();
        };

        co_await with_group(body);
        co_await send_text(connection.near, "sent");
        co_await receive_text(connection.far, received, 4);
        CHECK(received == "kept");
        co_await receive_text(connection.far, received, 4);

        CHECK(received == "sent");
        CHECK(read.error() == errc::canceled);
        CHECK(read.value() == 0);
        CHECK(written.error() == errc::canceled);
        CHECK(written.value() == 0);
    });
}

TEST_CASE(
    "a stream: a read that is stopped while it waits reads nothing, and the next one gets all") {
    on_every_direction([](stream_connection& connection) -> task<> {
        std::array<std::byte, 4> space;
        std::string received;

        const io_result<std::size_t> late =
            co_await with_timeout(1ms, connection.far.read_some(space));
        co_await send_text(connection.near, "abcd");
        co_await receive_text(connection.far, received, 4);

        CHECK(late.error() == errc::timed_out);
        CHECK(late.value() == 0);
        CHECK(received == "abcd");
    });
}

TEST_CASE("a stream: whenever reads and writes are stopped, no byte is lost or doubled") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    on_every_direction([seed](stream_connection& connection) -> task<> {
        std::mt19937 random{seed};
        const std::string text = random_text(random, 50'000);
        std::string received;
        const auto moment = [&] { return std::chrono::microseconds{random() % 60}; };
        const auto writes = [&]() -> task<> {
            std::size_t at = 0;
            while (at < text.size()) {
                const std::size_t size = std::min<std::size_t>(1 + random() % 90, text.size() - at);
                const std::string_view piece = std::string_view{text}.substr(at, size);
                const duration limit =
                    connection.traits.writes_after_stop ? moment() : duration::max();
                const io_result<std::size_t> put =
                    co_await with_timeout(limit, connection.near.write_some(bytes_of(piece)));
                CHECK((put.ok() || put.error() == errc::timed_out));
                CHECK((put.ok() || put.value() == 0));
                at += put.value();
                if (random() % 4 == 0) static_cast<void>(co_await sleep_for(moment()));
            }
            co_await connection.near.finish();
        };
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 64> space;
            for (;;) {
                const io_result<std::size_t> got =
                    co_await with_timeout(moment(), connection.far.read_some(space));
                if (got.error() == errc::eof) co_return;
                CHECK((got.ok() || got.error() == errc::timed_out));
                CHECK((got.ok() || got.value() == 0));
                received += text_of(std::span{space}.first(got.value()));
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(reads());
            co_return;
        };

        co_await with_group(body);

        CHECK(received == text);
    });
}

TEST_CASE("a stream: a read that loses a race reports what it has read") {
    on_every_direction([](stream_connection& connection) -> task<> {
        constexpr std::size_t rounds = 200;
        std::string received;
        event go;
        const auto writes = [&]() -> task<> {
            for (std::size_t round = 0; round < rounds; ++round) {
                co_await send_text(connection.near, "r");
                go.set();
                co_await yield();
            }
            co_await connection.near.finish();
        };
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 4> space;
            for (;;) {
                go.reset();
                const auto first = co_await when_any(go.wait(), connection.far.read_some(space));
                const io_result<std::size_t> got = std::get<1>(first.results);
                if (got.error() == errc::eof) co_return;
                received += text_of(std::span{space}.first(got.value()));
                if (received.size() == rounds) go.reset();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            group.spawn(writes());
            co_return;
        };

        co_await with_group(body);

        CHECK(received == std::string(rounds, 'r'));
    });
}

TEST_CASE("a stream: a drain ends neither reads nor writes") {
    on_every_direction([](stream_connection& connection) -> task<> {
        std::string received;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive_text(connection.far, received, 5));
            co_await settle();
            group.request_drain();
            co_await send_text(connection.near, "still");
        };

        co_await with_group(body);

        CHECK(received == "still");
    });
}

namespace {

disposable read_in_frame(stream_end& from, mutable_buffer into) {
    static_cast<void>(co_await from.read_some(into));
    FAIL_CHECK("resumed after its end");
}

// Writes until it is destroyed.
disposable write_in_frame(stream_end& to, const std::string& text, std::size_t& sent) {
    for (;;) {
        const io_result<std::size_t> put = co_await to.write_some(bytes_of(text));
        CHECK(put.ok());
        sent += put.value();
    }
}

void begin(const disposable& it, const environment& surroundings) {
    it.frame.promise().env = &surroundings;
    gyre::resume(it.frame);
}

}  // namespace

TEST_CASE("a stream: a coroutine destroyed while it reads takes no byte with it") {
    on_every_direction([](stream_connection& connection) -> task<> {
        io_context& io = connection.io;
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        std::array<std::byte, 4> space{};
        std::string received;
        const disposable reader = read_in_frame(connection.far, space);
        begin(reader, surroundings);
        co_await settle();

        reader.frame.destroy();
        co_await send_text(connection.near, "abcd");
        co_await receive_text(connection.far, received, 4);

        CHECK(chain.pending() == nullptr);
        CHECK(received == "abcd");
        CHECK(space == std::array<std::byte, 4>{});
    });
}

TEST_CASE("a stream: a peer that reads nothing makes writes wait, and another may go on for them") {
    on_every_stream([](stream_connection& connection) -> task<> {
        io_context& io = connection.io;
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        const std::string text(256 * 1024, 'x');
        std::size_t sent = 0;
        std::size_t received = 0;
        const disposable writer = write_in_frame(connection.near, text, sent);
        begin(writer, surroundings);
        // As long as it is ready to go on, it is not pending.
        for (std::size_t before = 1; chain.pending() == nullptr || before != sent;) {
            before = sent;
            co_await settle();
        }

        writer.frame.destroy();
        CHECK(chain.pending() == nullptr);
        const auto writes = [&]() -> task<> {
            co_await send_text(connection.near, "end");
            co_await connection.near.finish();
        };
        const auto reads = [&]() -> task<> {
            std::vector<std::byte> space(64 * 1024);
            for (;;) {
                const io_result<std::size_t> got = co_await connection.far.read_some(space);
                if (!got.ok()) break;
                received += got.value();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(reads());
            co_return;
        };
        co_await with_group(body);

        CHECK(sent > 0);
        CHECK(received == sent + 3);
    });
}
