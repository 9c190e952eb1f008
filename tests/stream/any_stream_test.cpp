// SPDX-License-Identifier: BSL-1.0
//
// What erased streams add to the laws of every stream: exclusion, no allocation of their own, any source.
#include <gyre/stream/any_stream.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>

#include <stream/scripted_stream.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// A sink that gathers, and notes how many buffers it was given at once.
class gatherer {
public:
    explicit gatherer(std::vector<std::size_t>& calls) : calls_{&calls} {}

    class message_writer {
    public:
        explicit message_writer(gatherer& to) noexcept : to_{&to} {}
        task<io_result<std::size_t>> write_some(const_buffer from) {
            to_->calls_->push_back(1);
            co_return io_result<std::size_t>{from.size()};
        }
        task<io_result<std::size_t>> write_some(const_buffers from, std::size_t skipped) {
            to_->calls_->push_back(from.size());
            co_return io_result<std::size_t>{size_of(from) - skipped};
        }
        void end() noexcept {}

    private:
        gatherer* to_;
    };

    task<io_result<std::size_t>> write_some(const_buffer from) {
        co_return io_result<std::size_t>{from.size()};
    }

private:
    std::vector<std::size_t>* calls_;
};

// Two ends of a pipe, erased.
struct erased_pipe {
    explicit erased_pipe(std::size_t capacity) : erased_pipe{memory_pipe{capacity}} {}
    explicit erased_pipe(memory_pipe pipe)
        : first{std::move(pipe.first)}, second{std::move(pipe.second)} {}

    any_stream first;
    any_stream second;
};

task<> note_read(any_stream& from, io_result<std::size_t>& got) {
    std::array<std::byte, 4> space;
    got = co_await from.read_some(space);
}
task<> note_write_all(any_stream& to, std::string_view text, io_result<std::size_t>& put) {
    put = co_await write_all(to, bytes_of(text));
}

}  // namespace

TEST_CASE("a second read of an erased stream is refused while one waits, which goes on") {
    on_every_backend([](io_context&) -> task<> {
        erased_pipe pipe{4};
        io_result<std::size_t> first;
        io_result<std::size_t> second;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pipe.first, first));
            co_await settle();
            co_await note_read(pipe.first, second);
            const auto put = co_await pipe.second.write_some(bytes_of("ab"));
            CHECK(put.ok());
        };

        co_await with_group(body);

        CHECK(second.error() == errc::busy);
        CHECK(first.ok());
        CHECK(first.value() == 2);
    });
}

TEST_CASE("a message to an erased stream keeps other writers off until its end") {
    on_every_backend([](io_context&) -> task<> {
        erased_pipe pipe{2};
        std::array<std::byte, 6> space;
        io_result<std::size_t> whole;
        io_result<std::size_t> other;
        io_result<std::size_t> single;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_write_all(pipe.first, "abcdef", whole));
            co_await settle();
            co_await note_write_all(pipe.first, "xyz", other);
            single = co_await pipe.first.write_some(bytes_of("x"));
            const auto got = co_await read_exactly(pipe.second, space);
            CHECK(got.ok());
            co_await group.join();
            co_await note_write_all(pipe.first, "g", single);
        };

        co_await with_group(body);

        CHECK(text_of(space) == "abcdef");
        CHECK(whole.value() == 6);
        CHECK(other.error() == errc::busy);
        CHECK(single.ok());
    });
}

TEST_CASE("between two steps of a message an erased stream still refuses others") {
    on_every_backend([](io_context&) -> task<> {
        erased_pipe pipe{8};
        {
            any_stream::message_writer message{pipe.first};
            const auto begun = co_await message.write_some(bytes_of("ab"));
            const auto refused = co_await pipe.first.write_some(bytes_of("x"));
            const auto more = co_await message.write_some(bytes_of("cd"));

            CHECK(begun.ok());
            CHECK(refused.error() == errc::busy);
            CHECK(more.ok());
        }
        const auto after = co_await pipe.first.write_some(bytes_of("e"));

        CHECK(after.ok());
    });
}

TEST_CASE("writing nothing takes an erased stream from no message") {
    on_every_backend([](io_context&) -> task<> {
        erased_pipe pipe{8};
        any_stream::message_writer one{pipe.first};
        any_stream::message_writer other{pipe.first};
        CHECK((co_await one.write_some(bytes_of("ab"))).ok());

        const auto nothing = co_await other.write_some(const_buffer{});
        const auto refused = co_await other.write_some(bytes_of("xy"));
        const auto more = co_await one.write_some(bytes_of("cd"));

        CHECK(nothing.ok());
        CHECK(refused.error() == errc::busy);
        CHECK(more.ok());
    });
}

TEST_CASE("several buffers reach a stream that gathers as one call, and others one by one") {
    on_every_backend([](io_context&) -> task<> {
        std::vector<std::size_t> calls;
        any_write_stream gathers{gatherer{calls}};
        std::array<std::byte, 6> space;
        const std::array<const_buffer, 4> parts{const_buffer{}, bytes_of("ab"), bytes_of("cd"),
                                                bytes_of("ef")};
        erased_pipe pipe{16};

        const auto gathered = co_await write_all(gathers, parts);
        const auto some = co_await pipe.first.write_some(const_buffers{parts});
        const auto rest = co_await write_all(pipe.first, std::span{parts}.subspan(2));
        const auto got = co_await read_exactly(pipe.second, space);

        CHECK(gathered.value() == 6);
        CHECK(calls == std::vector<std::size_t>{3});
        CHECK(some.value() == 2);
        CHECK(rest.value() == 4);
        CHECK(got.ok());
        CHECK(text_of(space) == "abcdef");
    });
}

TEST_CASE("a stream whose reads are tasks may be erased, whether they wait or not") {
    on_every_backend([](io_context&) -> task<> {
        for (const pace how : {pace::at_once, pace::waits}) {
            any_read_stream from{trickle{"a text in pieces", {1, 3, 2}, errc::eof, how}};
            std::array<std::byte, 16> space;

            const auto got = co_await read_exactly(from, space);
            const auto end = co_await from.read_some(space);

            CHECK(got.ok());
            CHECK(text_of(space) == "a text in pieces");
            CHECK(end.error() == errc::eof);
        }
    });
}

TEST_CASE("an erased stream without a stream is closed, and so is one that was moved from") {
    on_every_backend([](io_context&) -> task<> {
        std::array<std::byte, 4> space;
        any_stream none;
        erased_pipe pipe{4};
        any_stream taken{std::move(pipe.first)};

        const auto read = co_await none.read_some(space);
        const auto written = co_await pipe.first.write_some(bytes_of("x"));
        const auto moved = co_await taken.write_some(bytes_of("x"));

        CHECK(read.error() == errc::closed);
        CHECK(written.error() == errc::closed);
        CHECK(none.shutdown_send().error() == errc::closed);
        CHECK(moved.ok());
    });
}

TEST_CASE("an erased stream that is assigned to ends its old connection first") {
    on_every_backend([](io_context&) -> task<> {
        erased_pipe old{4};
        erased_pipe other{4};
        std::array<std::byte, 4> space;

        auto made_before = old.first.read_some(space);
        old.first = std::move(other.first);
        const auto ended = co_await old.second.read_some(space);
        const auto written = co_await old.first.write_some(bytes_of("hi"));
        const auto got = co_await other.second.read_some(space);
        const auto late = co_await made_before;

        CHECK(ended.error() == errc::eof);
        CHECK(late.error() == errc::closed);
        CHECK(written.ok());
        CHECK(got.value() == 2);
    });
}

TEST_CASE("an erased stream may be destroyed while a read of it waits, as the stream may") {
    on_every_backend([](io_context&) -> task<> {
        std::optional<erased_pipe> pipe{std::in_place, 4};
        io_result<std::size_t> got;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pipe->first, got));
            co_await settle();
            pipe.reset();
        };

        co_await with_group(body);

        CHECK((got.error() == errc::closed || got.error() == errc::eof));
    });
}
