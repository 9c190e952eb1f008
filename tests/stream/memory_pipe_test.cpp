// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/memory_pipe.hpp promises beyond the laws of streams, which
// tests/laws/stream_laws_test.cpp asks of it as of any socket.
#include <gyre/stream/memory_pipe.hpp>

#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct reads_from_pipe : needs_no_loop {
    static constexpr const char* name = "memory pipe read";
    using needs_no_loop::needs_no_loop;

    auto wait() { return pipe.first.read_some(space); }
    void wake() { pipe.second.shutdown_send(); }

    memory_pipe pipe{1};
    std::array<std::byte, 2> space;
};

struct writes_to_pipe {
    static constexpr const char* name = "memory pipe write";
    explicit writes_to_pipe(io_context&) {}

    task<io_result<std::size_t>> wait() {
        static_cast<void>(co_await pipe.first.write_some(bytes_of("a")));
        const io_result<std::size_t> written = co_await pipe.first.write_some(bytes_of("b"));
        co_return written;
    }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
};

task<> note_read(memory_stream& from, std::size_t size, std::string& into, error& outcome) {
    std::vector<std::byte> space(size);
    const io_result<std::size_t> got = co_await from.read_some(space);
    into = text_of(std::span{space}.first(got.value()));
    outcome = got.error();
}

task<> note_write(memory_stream& to, std::string text, io_result<std::size_t>& outcome) {
    outcome = co_await to.write_some(bytes_of(text));
}

}  // namespace

TEST_CASE("bytes go both ways, each way by itself") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        std::string at_first;
        std::string at_second;
        error failed;

        const io_result<std::size_t> there = co_await pipe.first.write_some(bytes_of("ping"));
        const io_result<std::size_t> back = co_await pipe.second.write_some(bytes_of("pong!"));
        co_await note_read(pipe.first, 8, at_first, failed);
        co_await note_read(pipe.second, 8, at_second, failed);

        CHECK(there.value() == 4);
        CHECK(back.value() == 5);
        CHECK(at_first == "pong!");
        CHECK(at_second == "ping");
        CHECK_FALSE(failed);
    });
}

TEST_CASE("a full pipe takes what there is room for, and then makes its writer wait") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{4};
        std::string received;
        error failed;

        const io_result<std::size_t> part = co_await pipe.first.write_some(bytes_of("abcdef"));
        const io_result<std::size_t> late =
            co_await with_timeout(1ms, pipe.first.write_some(bytes_of("ef")));
        co_await note_read(pipe.second, 8, received, failed);

        CHECK(part.value() == 4);
        CHECK(late.error() == errc::timed_out);
        CHECK(late.value() == 0);
        CHECK(received == "abcd");
    });
}

TEST_CASE("a writer that waits goes on with as much as was read") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{4};
        io_result<std::size_t> waited = errc::malformed;
        std::string received;
        std::string rest;
        error failed;
        const auto body = [&](task_group& group) -> task<> {
            static_cast<void>(co_await pipe.first.write_some(bytes_of("abcd")));
            group.spawn(note_write(pipe.first, "efgh", waited));
            co_await settle();
            CHECK(waited.error() == errc::malformed);
            co_await note_read(pipe.second, 3, received, failed);
        };
        co_await with_group(body);
        co_await note_read(pipe.second, 8, rest, failed);

        CHECK(waited.ok());
        CHECK(waited.value() == 3);
        CHECK(received == "abc");
        CHECK(rest == "defg");
    });
}

TEST_CASE("one large read lets many waiting writers go on, in order and without recursion") {
    on_every_backend([](io_context&) -> task<> {
        constexpr int writers = 50'000;
        memory_pipe pipe{writers};
        std::vector<io_result<std::size_t>> outcomes(writers, errc::malformed);
        std::string received;
        error failed;
        const std::string full(writers, 'x');
        const auto body = [&](task_group& group) -> task<> {
            static_cast<void>(co_await pipe.first.write_some(bytes_of(full)));
            for (int each = 0; each < writers; ++each) {
                const char letter = static_cast<char>('a' + each % 26);
                group.spawn(note_write(pipe.first, std::string(1, letter),
                                       outcomes[static_cast<std::size_t>(each)]));
            }
            co_await settle();
            co_await note_read(pipe.second, writers, received, failed);
            co_await group.join();
            co_await note_read(pipe.second, writers, received, failed);
        };

        co_await with_group(body);

        CHECK(received.size() == writers);
        CHECK(received.substr(0, 30) == "abcdefghijklmnopqrstuvwxyzabcd");
    });
}

TEST_CASE("after a shutdown the peer reads what was written and then, for ever, the end") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        std::string received;
        std::string nothing_more;
        error first;
        error second;
        error third;
        static_cast<void>(co_await pipe.first.write_some(bytes_of("abc")));
        pipe.first.shutdown_send();
        pipe.first.shutdown_send();

        co_await note_read(pipe.second, 8, received, first);
        co_await note_read(pipe.second, 8, nothing_more, second);
        co_await note_read(pipe.second, 8, nothing_more, third);
        const io_result<std::size_t> written = co_await pipe.first.write_some(bytes_of("d"));
        const io_result<std::size_t> back = co_await pipe.second.write_some(bytes_of("e"));

        CHECK_FALSE(first);
        CHECK(received == "abc");
        CHECK(second == errc::eof);
        CHECK(third == errc::eof);
        CHECK(written.error() == errc::broken_pipe);
        CHECK(back.ok());
    });
}

TEST_CASE("destroying an end lets the other read what was written, and refuses its writes") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{8};
        std::string received;
        std::string nothing_more;
        error first;
        error second;
        {
            memory_stream dies = std::move(pipe.first);
            static_cast<void>(co_await dies.write_some(bytes_of("abc")));
        }

        co_await note_read(pipe.second, 8, received, first);
        co_await note_read(pipe.second, 8, nothing_more, second);
        const io_result<std::size_t> written = co_await pipe.second.write_some(bytes_of("d"));

        CHECK(received == "abc");
        CHECK(second == errc::eof);
        CHECK(written.error() == errc::broken_pipe);
        CHECK(written.error().during() == activity::write);
    });
}

TEST_CASE("destroying an end wakes the other, whether it reads or writes") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{1};
        std::optional<memory_stream> dies{std::move(pipe.first)};
        io_result<std::size_t> written;
        std::string received = "something";
        error read_end;
        const auto body = [&](task_group& group) -> task<> {
            static_cast<void>(co_await pipe.second.write_some(bytes_of("a")));
            group.spawn(note_write(pipe.second, "b", written));
            group.spawn(note_read(pipe.second, 1, received, read_end));
            co_await settle();
            dies.reset();
        };

        co_await with_group(body);

        CHECK(written.error() == errc::broken_pipe);
        CHECK(received.empty());
        CHECK(read_end == errc::eof);
    });
}

TEST_CASE("both ends may be destroyed while a wake-up is on its way") {
    on_every_backend([](io_context&) -> task<> {
        std::optional<memory_pipe> pipe{std::in_place, 1};
        std::string received;
        error read_end = errc::malformed;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pipe->second, 1, received, read_end));
            co_await settle();
            static_cast<void>(co_await pipe->first.write_some(bytes_of("a")));
            pipe.reset();
        };

        co_await with_group(body);

        CHECK(received == "a");
        CHECK_FALSE(read_end);
    });
}

TEST_CASE("a shutdown of one's own side ends one's own waiting write") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{1};
        io_result<std::size_t> written;
        const auto body = [&](task_group& group) -> task<> {
            static_cast<void>(co_await pipe.first.write_some(bytes_of("a")));
            group.spawn(note_write(pipe.first, "b", written));
            co_await settle();
            pipe.first.shutdown_send();
        };

        co_await with_group(body);

        CHECK(written.error() == errc::broken_pipe);
    });
}

TEST_CASE("what was made of an end may be awaited after both are gone") {
    on_every_backend([](io_context&) -> task<> {
        std::optional<memory_pipe> pipe{std::in_place, 4};
        std::array<std::byte, 4> space;
        auto read = pipe->first.read_some(space);
        auto write = pipe->first.write_some(bytes_of("late"));
        pipe.reset();

        const io_result<std::size_t> got = co_await read;
        const io_result<std::size_t> written = co_await write;

        CHECK(got.error() == errc::closed);
        CHECK(written.error() == errc::closed);
    });
}

TEST_CASE("an end that is assigned to ends its old connection first") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe old{4};
        memory_pipe other{4};
        std::string received;
        error ended;

        old.first = std::move(other.first);
        co_await note_read(old.second, 4, received, ended);
        const io_result<std::size_t> written = co_await old.first.write_some(bytes_of("hi"));
        error failed;
        co_await note_read(other.second, 4, received, failed);

        CHECK(ended == errc::eof);
        CHECK(written.ok());
        CHECK(received == "hi");
    });
}

TEST_CASE(
    "reads and writes of a pipe are canceled by a stop, before they begin and while they wait") {
    check_stopped_before_start<reads_from_pipe>();
    check_stopped_before_start<writes_to_pipe>();
    check_stopped_while_pending<reads_from_pipe>();
    check_stopped_while_pending<writes_to_pipe>();
    check_stopped_then_woken<reads_from_pipe>();
    check_stopped_then_woken<writes_to_pipe>();
}
