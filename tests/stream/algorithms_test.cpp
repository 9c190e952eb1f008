// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/algorithms.hpp promises: whole messages over streams that transfer some bytes at
// a time, end early, fail, or are stopped halfway. exception_test.cpp has streams that throw.
#include <gyre/stream/algorithms.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <stream/scripted_stream.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

std::string some_text(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>('a' + at * 7 % 26);
    return text;
}

template <class Stream>
task<> write_text(Stream& to, std::string_view text) {
    const io_result<std::size_t> written = co_await write_all(to, bytes_of(text));
    CHECK(written.ok());
    CHECK(written.value() == text.size());
}

template <class Stream>
task<> read_text(Stream& from, std::string& into) {
    const mutable_buffer space = std::as_writable_bytes(std::span{into});
    const io_result<std::size_t> got = co_await read_exactly(from, space);
    CHECK(got.ok());
    CHECK(got.value() == into.size());
}

/// Sends `size` bytes from one end to the other, all written and exactly read.
template <class Stream>
task<> check_transfer(Stream& from, Stream& to, std::size_t size) {
    const std::string sent = some_text(size);
    std::string received(size, '\0');
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(write_text(from, sent));
        group.spawn(read_text(to, received));
        co_return;
    };
    co_await with_group(body);
    CHECK(received == sent);
}

}  // namespace

TEST_CASE(
    "several buffers are written as one message to a stream that takes some bytes at a time") {
    on_every_backend([](io_context&) -> task<> {
        const std::array parts{bytes_of(""),   bytes_of("hello"), bytes_of(""),
                               bytes_of(", "), bytes_of("world"), bytes_of("")};
        for (const std::size_t at_once : {1, 2, 3, 5, 100}) {
            for (const pace how : {pace::at_once, pace::waits}) {
                sink to{at_once, 1000, how};
                sink torn{at_once, 6, how};

                const io_result<std::size_t> whole = co_await write_all(to, parts);
                const io_result<std::size_t> some = co_await write_all(torn, parts);
                const io_result<std::size_t> none = co_await write_all(to, const_buffers{});

                CHECK(whole.value() == 12);
                CHECK(to.text == "hello, world");
                CHECK(some.error() == errc::broken_pipe);
                CHECK(some.value() == 6);
                CHECK(none.ok());
            }
        }
    });
}

TEST_CASE("everything is written and read through pipes of any size") {
    on_every_backend([](io_context&) -> task<> {
        for (std::size_t capacity : {1, 2, 3, 7, 64}) {
            memory_pipe pipe{capacity};
            for (std::size_t size : {0, 1, 2, 63, 64, 65, 1000}) {
                co_await check_transfer(pipe.first, pipe.second, size);
            }
        }
    });
}

TEST_CASE("everything is written and read through sockets, more than they buffer included") {
    on_every_backend([](io_context& io) -> task<> {
        constexpr std::size_t much = 8 << 20;
        auto [first, second] = local_pair(io);
        auto [client, server] = connected_pair(io);

        co_await check_transfer(first, second, much);
        co_await check_transfer(client, server, much);
        co_await check_transfer(server, client, 1);
    });
}

TEST_CASE("short transfers are continued, whether the stream waits or not") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text = some_text(100);
        for (const pace how : {pace::at_once, pace::waits}) {
            trickle source{text, {1, 5, 20, 1}, errc::eof, how};
            sink target{7, 1000, how};
            std::string received(text.size(), '\0');

            co_await read_text(source, received);
            co_await write_text(target, text);

            CHECK(received == text);
            CHECK(source.reads == 5);
            CHECK(target.text == text);
            CHECK(target.writes == 15);
        }
    });
}

TEST_CASE("nothing to transfer completes at once and touches no stream") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"", {}, errc::connection_reset};
        sink target{1, 0};

        const io_result<std::size_t> got = co_await read_exactly(source, {});
        const io_result<std::size_t> put = co_await write_all(target, {});

        CHECK(got.ok());
        CHECK(put.ok());
        CHECK(source.reads == 0);
        CHECK(target.writes == 0);
    });
}

TEST_CASE("messages of no bytes let others run, for ever though they may be repeated") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        stream_socket& on = server;
        const std::vector<const_buffer> nothing(3);

        co_await check_gives_way([&on] { return read_exactly(on, mutable_buffer{}); });
        co_await check_gives_way([&on] { return write_all(on, const_buffer{}); });
        co_await check_gives_way([&] { return write_all(on, nothing); });
    });
}

TEST_CASE("messages on a stream that is always ready let others run") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{std::string(2'000'000, 'x'), std::vector<std::size_t>(2'000'000, 1)};
        sink into{1, 0};
        std::array<std::byte, 1> space{};
        const const_buffer byte{space};

        co_await check_gives_way([&] { return read_exactly(source, mutable_buffer{space}); });
        co_await check_gives_way([&] { return write_all(into, byte); });
    });
}

TEST_CASE("an end in the middle is reported with the bytes before it") {
    on_every_backend([](io_context&) -> task<> {
        for (const errc end : {errc::eof, errc::connection_reset}) {
            for (const pace how : {pace::at_once, pace::waits}) {
                trickle source{"abcde", {2}, end, how};
                std::array<std::byte, 8> space;

                const io_result<std::size_t> got = co_await read_exactly(source, space);

                CHECK(got.error() == end);
                CHECK(got.value() == 5);
                CHECK(text_of(std::span{space}.first(5)) == "abcde");
            }
        }
    });
}

TEST_CASE("a failed write is reported with the bytes before it") {
    on_every_backend([](io_context&) -> task<> {
        sink target{3, 5};

        const io_result<std::size_t> put = co_await write_all(target, bytes_of("abcdefgh"));

        CHECK(put.error() == errc::broken_pipe);
        CHECK(put.value() == 5);
        CHECK(target.text == "abcde");
    });
}

TEST_CASE("a read that is stopped in the middle reports its progress, and may go on after it") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{16};
        std::array<std::byte, 8> space;
        static_cast<void>(co_await pipe.first.write_some(bytes_of("abc")));

        const io_result<std::size_t> part =
            co_await with_timeout(1ms, read_exactly(pipe.second, space));
        static_cast<void>(co_await pipe.first.write_some(bytes_of("defgh")));
        const io_result<std::size_t> rest =
            co_await read_exactly(pipe.second, std::span{space}.subspan(part.value()));

        CHECK(part.error() == errc::timed_out);
        CHECK(part.value() == 3);
        CHECK(rest.value() == 5);
        CHECK(text_of(space) == "abcdefgh");
    });
}

TEST_CASE("a write that is stopped in the middle reports its progress") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{5};

        const io_result<std::size_t> part =
            co_await with_timeout(1ms, write_all(pipe.first, bytes_of("abcdefgh")));

        CHECK(part.error() == errc::timed_out);
        CHECK(part.value() == 5);
    });
}

TEST_CASE("a write to a socket whose peer does not read is stopped with its progress") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        const std::string text = some_text(16 << 20);

        const io_result<std::size_t> part =
            co_await with_timeout(20ms, write_all(client, bytes_of(text)));
        std::string received(part.value(), '\0');
        co_await read_text(server, received);

        CHECK(part.error() == errc::timed_out);
        CHECK(part.value() > 0);
        CHECK(part.value() < text.size());
        CHECK(received == std::string_view{text}.substr(0, part.value()));
    });
}

TEST_CASE("a stop that the stream itself asks for, before it first waits, reaches a limit on it") {
    struct stops_and_waits {
        task_group& group;
        event unset;

        task<io_result<std::size_t>> write_some(const_buffer) {
            group.request_stop();
            const io_result<> waited = co_await unset.wait();
            co_return waited.error();
        }
    };
    on_every_backend([](io_context&) -> task<> {
        io_result<std::size_t> outcome;
        const auto body = [&](task_group& group) -> task<> {
            const auto child = [&]() -> task<> {
                stops_and_waits stream{group, {}};
                outcome = co_await with_timeout(200ms, write_all(stream, bytes_of("abc")));
            };
            group.spawn(child());
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(outcome.error() == errc::canceled);
    });
}

TEST_CASE("a copy ends when its source does, having copied everything") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text = some_text(1000);
        std::array<std::byte, 64> space;
        trickle source{text, {1, 2, 3, 100}};
        sink target{10};
        trickle same_again{text, {}, errc::eof, pace::waits};
        sink by_default{text.size()};

        const io_result<std::uint64_t> copied = co_await copy(source, target, space);
        const io_result<std::uint64_t> copied_too = co_await copy(same_again, by_default);

        CHECK(copied.ok());
        CHECK(copied.value() == text.size());
        CHECK(target.text == text);
        CHECK(copied_too.ok());
        CHECK(by_default.text == text);
    });
}

TEST_CASE("a copy of nothing copies nothing") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"", {}};
        sink target{10};

        const io_result<std::uint64_t> copied = co_await copy(source, target);

        CHECK(copied.ok());
        CHECK(copied.value() == 0);
        CHECK(target.writes == 0);
    });
}

TEST_CASE("a copy reports the failure of either side with the bytes that arrived") {
    on_every_backend([](io_context&) -> task<> {
        std::array<std::byte, 4> space;
        trickle breaks{"abcdefgh", {}, errc::connection_reset};
        sink takes_all{100};
        trickle source{"abcdefgh", {}};
        sink takes_six{100, 6};

        const io_result<std::uint64_t> read_failed = co_await copy(breaks, takes_all, space);
        const io_result<std::uint64_t> write_failed = co_await copy(source, takes_six, space);

        CHECK(read_failed.error() == errc::connection_reset);
        CHECK(read_failed.value() == 8);
        CHECK(write_failed.error() == errc::broken_pipe);
        CHECK(write_failed.value() == 6);
    });
}

TEST_CASE("a copy through pipes of any size, and through sockets, is faithful") {
    const auto forward = [](auto& from, auto& middle, auto& middle_out, auto& to) -> task<> {
        const std::string sent = some_text(5000);
        std::string received(sent.size(), '\0');
        const auto writes = [&]() -> task<> {
            co_await write_text(from, sent);
            CHECK(end_sending(from).ok());
        };
        const auto copies = [&]() -> task<> {
            const io_result<std::uint64_t> copied = co_await copy(middle, middle_out);
            CHECK(copied.ok());
            CHECK(copied.value() == sent.size());
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(copies());
            group.spawn(read_text(to, received));
            co_return;
        };
        co_await with_group(body);
        CHECK(received == sent);
    };
    const auto test = [&](io_context& io) -> task<> {
        for (std::size_t capacity : {1, 2, 64}) {
            memory_pipe in{capacity};
            memory_pipe out{capacity};
            co_await forward(in.first, in.second, out.first, out.second);
        }
        auto [client, server] = connected_pair(io);
        auto [first, second] = local_pair(io);
        memory_pipe out{16};
        co_await forward(client, server, first, second);
        auto [client_again, server_again] = connected_pair(io);
        co_await forward(client_again, server_again, out.first, out.second);
    };
    on_every_backend(test);
}

TEST_CASE("a stopped copy reports what arrived") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe in{16};
        sink target{100};
        static_cast<void>(co_await in.first.write_some(bytes_of("abc")));

        const io_result<std::uint64_t> copied = co_await with_timeout(1ms, copy(in.second, target));

        CHECK(copied.error() == errc::timed_out);
        CHECK(copied.value() == 3);
        CHECK(target.text == "abc");
    });
}

namespace {

struct writes_all : needs_no_loop {
    static constexpr const char* name = "write_all";
    using needs_no_loop::needs_no_loop;

    auto wait() { return write_all(pipe.first, bytes_of("ab")); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
};

struct reads_exactly : needs_no_loop {
    static constexpr const char* name = "read_exactly";
    using needs_no_loop::needs_no_loop;

    auto wait() { return read_exactly(pipe.first, space); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    std::array<std::byte, 2> space;
};

struct reads_exactly_from_socket {
    static constexpr const char* name = "read_exactly of a socket";
    explicit reads_exactly_from_socket(io_context& io) : ends{local_pair(io)} {}

    auto wait() { return read_exactly(ends.client, space); }

    socket_pair ends;
    std::array<std::byte, 2> space;
};

}  // namespace

TEST_CASE("whole messages are canceled by a stop, before they begin and while they wait") {
    check_stopped_before_start<writes_all>();
    check_stopped_before_start<reads_exactly>();
    check_stopped_before_start<reads_exactly_from_socket>();
    check_stopped_while_pending<writes_all>();
    check_stopped_while_pending<reads_exactly>();
    check_stopped_while_pending<reads_exactly_from_socket>();
}

TEST_CASE("whole messages that were stopped are canceled although their stream ends then") {
    check_stopped_then_woken<writes_all>();
    check_stopped_then_woken<reads_exactly>();
}

TEST_CASE("many steps of a stream that is always ready need no stack") {
    struct endless {
        task<io_result<std::size_t>> read_some(mutable_buffer) {
            co_return io_result<std::size_t>{std::size_t{1}};
        }
    };
    in_a_long_run([](io_context&) -> task<> {
        endless source;
        std::vector<std::byte> space(many_steps);

        const io_result<std::size_t> got = co_await read_exactly(source, space);

        CHECK(got.ok());
        CHECK(got.value() == space.size());
    });
}

TEST_CASE("many messages through a pipe need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        memory_pipe pipe{4};
        std::array<std::byte, 4> space;
        std::size_t total = 0;

        for (int time = 0; time < many_steps; ++time) {
            static_cast<void>(co_await write_all(pipe.first, bytes_of("abcd")));
            const io_result<std::size_t> got = co_await read_exactly(pipe.second, space);
            total += got.value();
        }

        CHECK(total == std::size_t{4} * many_steps);
    });
}
