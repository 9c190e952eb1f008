// SPDX-License-Identifier: BSL-1.0
//
// The halves of a stream: who may go first, what the peer sees then, and how they become one again.
#include <gyre/stream/split.hpp>

#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/task_group.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

static_assert(read_stream<read_half<memory_stream>>);
static_assert(half_closing_stream<write_half<memory_stream>>);
static_assert(!write_stream<read_half<memory_stream>>);
static_assert(!read_stream<write_half<memory_stream>>);

task<> send_and_go(write_half<memory_stream> by, std::string text) {
    const io_result<std::size_t> put = co_await write_all(by, bytes_of(text));
    CHECK(put.ok());
}

task<> read_to_end(read_half<memory_stream> from, std::string& text) {
    std::array<std::byte, 3> space;
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (!got.ok()) break;
        text += text_of(std::span{space}.first(got.value()));
    }
}

}  // namespace

TEST_CASE("two tasks that own a half each carry both directions, and the end of each") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{4};
        std::string here;
        std::string there;
        auto [near_reads, near_writes] = split(std::move(pipe.first));
        auto [far_reads, far_writes] = split(std::move(pipe.second));
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(send_and_go(std::move(near_writes), "a question"));
            group.spawn(read_to_end(std::move(near_reads), here));
            group.spawn(send_and_go(std::move(far_writes), "a longer answer"));
            group.spawn(read_to_end(std::move(far_reads), there));
            co_return;
        };

        co_await with_group(body);

        CHECK(there == "a question");
        CHECK(here == "a longer answer");
    });
}

TEST_CASE("a write half that is dropped ends its direction only") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        std::array<std::byte, 8> space;
        auto [reads, writes] = split(std::move(pipe.first));
        {
            const write_half<memory_stream> dropped = std::move(writes);
        }

        const auto end = co_await pipe.second.read_some(space);
        const auto put = co_await pipe.second.write_some(bytes_of("still"));
        const auto got = co_await reads.read_some(space);

        CHECK(end.error() == errc::eof);
        CHECK(put.ok());
        CHECK(got.value() == 5);
    });
}

TEST_CASE("a write half that is assigned to ends the direction it had") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe one{8};
        memory_pipe other{8};
        std::array<std::byte, 8> space;
        auto halves = split(std::move(one.first));
        auto others = split(std::move(other.first));

        halves.writes = std::move(others.writes);
        const auto end = co_await one.second.read_some(space);
        const auto put = co_await halves.writes.write_some(bytes_of("x"));

        CHECK(end.error() == errc::eof);
        CHECK(put.ok());
    });
}

TEST_CASE("a read half that is dropped leaves the other to write, and the stream open") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        std::array<std::byte, 8> space;
        auto [reads, writes] = split(std::move(pipe.first));
        {
            const read_half<memory_stream> dropped = std::move(reads);
        }

        const auto put = co_await writes.write_some(bytes_of("on"));
        const auto got = co_await pipe.second.read_some(space);
        const auto back = co_await pipe.second.write_some(bytes_of("unread"));

        CHECK(put.ok());
        CHECK(got.value() == 2);
        CHECK(back.ok());
    });
}

TEST_CASE("when both halves are gone the stream is closed") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        {
            const auto halves = split(std::move(pipe.first));
        }

        const auto put = co_await pipe.second.write_some(bytes_of("x"));

        CHECK(put.error() == errc::broken_pipe);
    });
}

TEST_CASE("halves become the stream that they were, with both directions open") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        memory_pipe other{8};
        std::array<std::byte, 8> space;
        auto [reads, writes] = split(std::move(pipe.first));
        const auto others = split(std::move(other.first));
        CHECK(reads.belongs_to(writes));
        CHECK_FALSE(reads.belongs_to(others.writes));

        memory_stream whole = reunite(std::move(reads), std::move(writes));
        const auto put = co_await whole.write_some(bytes_of("whole"));
        const auto got = co_await pipe.second.read_some(space);

        CHECK(put.ok());
        CHECK(got.value() == 5);
    });
}

TEST_CASE("a message by a half is one of its stream: others are kept off") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{2};
        std::array<std::byte, 4> space;
        io_result<std::size_t> whole;
        auto [reads, writes] = split(any_stream{std::move(pipe.first)});
        const auto sends = [&]() -> task<> {
            whole = co_await write_all(writes, bytes_of("abcd"));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(sends());
            co_await settle();
            const auto refused = co_await writes.write_some(bytes_of("x"));
            CHECK(refused.error() == errc::busy);
            const auto got = co_await read_exactly(pipe.second, space);
            CHECK(got.ok());
        };

        co_await with_group(body);

        CHECK(whole.value() == 4);
        CHECK(text_of(space) == "abcd");
    });
}
