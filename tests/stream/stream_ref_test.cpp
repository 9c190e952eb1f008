// SPDX-License-Identifier: BSL-1.0
//
// A reference does what its stream does, and nothing that it cannot.
#include <gyre/stream/stream_ref.hpp>

#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/split.hpp>
#include <gyre/sync/task_group.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

static_assert(duplex_stream<stream_ref<memory_stream>>);
static_assert(half_closing_stream<stream_ref<memory_stream>>);
static_assert(lease_stream<stream_ref<stream_socket>> && !lease_stream<stream_ref<memory_stream>>);
static_assert(read_stream<stream_ref<trickle>> && !write_stream<stream_ref<trickle>>);
static_assert(!read_stream<stream_ref<sink>> && !half_closing_stream<stream_ref<sink>>);

}  // namespace

TEST_CASE("what owns a reference leaves the stream to its owner") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{16};
        std::array<std::byte, 4> space;
        {
            any_stream erased{stream_ref{pipe.first}};
            static_cast<void>(co_await write_all(erased, bytes_of("by reference")));
        }

        static_cast<void>(co_await pipe.first.write_some(bytes_of("")));
        const auto got = co_await read_exactly(pipe.second, space);
        const auto put = co_await pipe.first.write_some(bytes_of("."));
        stream_ref{pipe.first}.shutdown_send();
        std::string rest(9, ' ');
        static_cast<void>(co_await read_exactly(pipe.second, rest));
        const auto end = co_await pipe.second.read_some(space);

        CHECK(got.ok());
        CHECK(put.ok());
        CHECK(rest == "eference.");
        CHECK(end.error() == errc::eof);
    });
}

TEST_CASE("a message by a reference keeps others off its stream") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{2};
        any_stream stream{std::move(pipe.first)};
        stream_ref by{stream};
        std::array<std::byte, 4> space;
        io_result<std::size_t> whole;
        const auto sends = [&]() -> task<> { whole = co_await write_all(by, bytes_of("abcd")); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(sends());
            co_await settle();
            const auto refused = co_await stream.write_some(bytes_of("x"));
            CHECK(refused.error() == errc::busy);
            const auto got = co_await read_exactly(pipe.second, space);
            CHECK(got.ok());
        };

        co_await with_group(body);

        CHECK(whole.value() == 4);
    });
}

TEST_CASE("between two writes of a message by a reference others are kept off as well") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        any_stream stream{std::move(pipe.first)};
        stream_ref by{stream};
        message_writer_of<stream_ref<any_stream>> message{by};

        const auto part = co_await message.write_some(bytes_of("ab"));
        const auto refused = co_await stream.write_some(bytes_of("x"));
        message.end();
        const auto taken = co_await stream.write_some(bytes_of("y"));

        CHECK(part.ok());
        CHECK(refused.error() == errc::busy);
        CHECK(taken.ok());
    });
}
