// SPDX-License-Identifier: BSL-1.0
//
// A stream's bytes, counted as they go through.
#include <gyre/stream/counted_stream.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/sync/timeout.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>

#include <array>
#include <chrono>

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
