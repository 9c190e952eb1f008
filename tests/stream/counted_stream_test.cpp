// SPDX-License-Identifier: BSL-1.0
//
// A stream's bytes, counted as they go through.
#include <gyre/stream/counted_stream.hpp>

#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/sync/timeout.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>

#include <array>
#include <chrono>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

static_assert(duplex_stream<counted_stream<memory_stream>>);
static_assert(half_closing_stream<counted_stream<memory_stream>>);
static_assert(!write_stream<counted_stream<trickle>> && !read_stream<counted_stream<sink>>);

TEST_CASE("bytes are counted in each direction, and only those that went through") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{4};
        counted_stream near{stream_ref{pipe.first}};
        std::array<std::byte, 8> space;

        const auto part = co_await near.write_some(bytes_of("abcdef"));
        const auto full = co_await with_timeout(1ms, near.write_some(bytes_of("x")));
        static_cast<void>(co_await pipe.second.write_some(bytes_of("123")));
        const auto got = co_await near.read_some(space);
        const auto none = co_await with_timeout(1ms, near.read_some(space));

        CHECK(part.value() == 4);
        CHECK(full.error() == errc::timed_out);
        CHECK(got.value() == 3);
        CHECK(none.error() == errc::timed_out);
        CHECK(near.bytes_written() == 4);
        CHECK(near.bytes_read() == 3);
    });
}

TEST_CASE("a message through a counted stream is counted, gathered, and keeps other writers off") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        counted_stream near{stream_ref{client}};
        const std::string large(4 << 20, 'x');
        const std::array<const_buffer, 3> parts{bytes_of("a"), bytes_of("bc"), bytes_of("def")};
        std::array<std::byte, 8> space{};

        const auto small = co_await write_all(near, const_buffers{parts});
        const auto got = co_await server.read_some(space);
        const auto torn = co_await with_timeout(5ms, write_all(near, bytes_of(large)));
        message_writer_of<decltype(near)> message{near};
        const std::uint64_t before = near.bytes_written();
        std::vector<std::byte> drained(8 << 20);
        while (client.is_open() && near.bytes_written() == before) {
            static_cast<void>(co_await server.read_some(drained));
            static_cast<void>(co_await message.write_some(bytes_of("first")));
        }
        const auto other = co_await client.write_some(bytes_of("x"));
        message.end();
        const auto after = co_await with_timeout(1s, client.write_some(bytes_of("x")));

        CHECK(small.value() == 6);
        CHECK(text_of(const_buffer{space}.first(got.value())) == "abcdef");
        CHECK(torn.error() == errc::timed_out);
        CHECK(before == 6 + torn.value());
        CHECK(near.bytes_written() > before);
        CHECK(other.error() == errc::busy);
        CHECK(after.ok());
    });
}
