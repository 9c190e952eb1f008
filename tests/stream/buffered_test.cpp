// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/buffered.hpp promises: delimiters wherever the reads split them, bounds, and a
// window and a store that keep what a stop interrupted.
#include <gyre/stream/buffered.hpp>

#include <base/ending.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <stream/scripted_stream.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <csignal>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("a delimiter is found wherever the reads split it") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text = "first\r\n\r\nsecond\r\n\r\n";
        for (std::size_t split = 1; split < text.size(); ++split) {
            for (std::size_t then = 1; then < 4; ++then) {
                trickle source{text, {split, then}};
                buffered_reader<trickle> reader{source, 64};

                const io_result<const_buffer> first = co_await reader.read_until("\r\n\r\n");
                const std::string first_text{text_of(first.value())};
                reader.consume(first.value().size());
                const io_result<const_buffer> second = co_await reader.read_until("\r\n\r\n");
                const std::string second_text{text_of(second.value())};
                reader.consume(second.value().size());
                const io_result<const_buffer> none = co_await reader.read_until("\r\n\r\n");

                CHECK(first_text == "first\r\n\r\n");
                CHECK(second_text == "second\r\n\r\n");
                CHECK(none.error() == errc::eof);
                CHECK(reader.window().empty());
            }
        }
    });
}

TEST_CASE("a delimiter found byte by byte is found once it is whole") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text = "ababac|rest";
        trickle source{text, std::vector<std::size_t>(text.size(), 1)};
        buffered_reader<trickle> reader{source, 64};

        const io_result<const_buffer> found = co_await reader.read_until("abac");

        CHECK(text_of(found.value()) == "ababac");
        CHECK(source.reads == 6);
    });
}

TEST_CASE("a message that was read already needs no further read") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"a\nb\n", {}};
        buffered_reader<trickle> reader{source, 8};

        const io_result<const_buffer> first = co_await reader.read_until("\n");
        const io_result<const_buffer> again = co_await reader.read_until("\n");
        reader.consume(2);
        const io_result<const_buffer> second = co_await reader.read_until("\n");

        CHECK(text_of(first.value()).size() == 2);
        CHECK(again.value().data() == first.value().data());
        CHECK(text_of(second.value()) == "b\n");
        CHECK(source.reads == 1);
    });
}

TEST_CASE("a fill adds what one read yields, until the window has reached its bound") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"abcdefg", {2, 3}};
        buffered_reader<trickle> reader{source, 5};
        trickle nothing{"", {}};
        buffered_reader<trickle> at_end{nothing, 5};

        const io_result<std::size_t> first = co_await reader.fill();
        const io_result<std::size_t> second = co_await reader.fill();
        const io_result<std::size_t> too_much = co_await reader.fill();
        const io_result<std::size_t> none = co_await at_end.fill();

        CHECK(first.value() == 2);
        CHECK(second.value() == 3);
        CHECK(too_much.error() == errc::limit_exceeded);
        CHECK(too_much.value() == 0);
        CHECK(text_of(reader.window()) == "abcde");
        CHECK(none.error() == errc::eof);
    });
}

TEST_CASE("a message may fill the reader exactly, and one byte more is too much") {
    on_every_backend([](io_context&) -> task<> {
        trickle fits{"1234567\n", {3}};
        trickle too_long{"12345678\n", {3}};
        buffered_reader<trickle> reader_of_fits{fits, 8};
        buffered_reader<trickle> reader_of_too_long{too_long, 8};

        const io_result<const_buffer> whole = co_await reader_of_fits.read_until("\n");
        const io_result<const_buffer> part = co_await reader_of_too_long.read_until("\n");
        const io_result<const_buffer> part_again = co_await reader_of_too_long.read_until("\n");

        CHECK(text_of(whole.value()) == "1234567\n");
        CHECK(part.error() == errc::limit_exceeded);
        CHECK(part.value().empty());
        CHECK(part_again.error() == errc::limit_exceeded);
        CHECK(text_of(reader_of_too_long.window()) == "12345678");
    });
}

TEST_CASE("room that was consumed is used again") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"12\n3456\n78901\n", {5, 4, 5}};
        buffered_reader<trickle> reader{source, 6};
        std::vector<std::string> lines;

        for (;;) {
            const io_result<const_buffer> line = co_await reader.read_until("\n");
            if (!line.ok()) {
                CHECK(line.error() == errc::eof);
                break;
            }
            lines.emplace_back(text_of(line.value()));
            reader.consume(line.value().size());
        }

        CHECK(lines == std::vector<std::string>{"12\n", "3456\n", "78901\n"});
    });
}

TEST_CASE("the end of the stream leaves what came before it in the window") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"no newline", {4}};
        buffered_reader<trickle> reader{source, 64};

        const io_result<const_buffer> line = co_await reader.read_until("\n");
        const io_result<const_buffer> bytes = co_await reader.read_at_least(20);

        CHECK(line.error() == errc::eof);
        CHECK(line.value().empty());
        CHECK(bytes.error() == errc::eof);
        CHECK(text_of(reader.window()) == "no newline");
    });
}

TEST_CASE("a search that is stopped may be repeated, and finds what came before and after") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{16};
        buffered_reader<memory_stream> reader{pipe.second, 16};
        static_cast<void>(co_await pipe.first.write_some(bytes_of("abc\r")));

        const io_result<const_buffer> late = co_await with_timeout(1ms, reader.read_until("\r\n"));
        static_cast<void>(co_await pipe.first.write_some(bytes_of("\n")));
        const io_result<const_buffer> found = co_await reader.read_until("\r\n");

        CHECK(late.error() == errc::timed_out);
        CHECK(text_of(found.value()) == "abc\r\n");
    });
}

TEST_CASE("at least so many bytes are there, or the reader says why not") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"abcdefgh", {2, 3}};
        buffered_reader<trickle> reader{source, 6};

        const io_result<const_buffer> none = co_await reader.read_at_least(0);
        const int reads_for_none = source.reads;
        const io_result<const_buffer> four = co_await reader.read_at_least(4);
        const std::string text{text_of(four.value())};
        const io_result<const_buffer> too_many = co_await reader.read_at_least(7);
        const io_result<const_buffer> all_it_holds = co_await reader.read_at_least(6);

        CHECK(none.ok());
        CHECK(reads_for_none == 0);
        CHECK(text == "abcde");
        CHECK(too_many.error() == errc::limit_exceeded);
        CHECK(text_of(all_it_holds.value()) == "abcdef");
    });
}

TEST_CASE("a reader whose messages are all in the window lets others run") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        buffered_reader<stream_socket> reader{server, 64};
        static_cast<void>(co_await write_all(client, bytes_of("a line\n")));
        static_cast<void>(co_await reader.fill());

        co_await check_gives_way([&reader] { return reader.read_until("\n"); });
        co_await check_gives_way([&reader] { return reader.read_at_least(7); });
        co_await check_gives_way([&reader] { return reader.read_some(mutable_buffer{}); });
        co_await check_gives_way([&reader] { return reader.read_at_least(65); });
        CHECK(text_of(reader.window()) == "a line\n");
    });
}

TEST_CASE("a writer that has room for all it is given lets others run") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        buffered_writer<stream_socket> writer{client, 64};

        co_await check_gives_way([&writer] { return writer.write({}); });
        co_await check_gives_way([&writer] { return writer.flush(); });
    });
}

TEST_CASE("an empty delimiter is found at once") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"abc", {}};
        buffered_reader<trickle> reader{source, 8};

        const io_result<const_buffer> found = co_await reader.read_until("");

        CHECK(found.ok());
        CHECK(found.value().empty());
        CHECK(source.reads == 0);
    });
}

TEST_CASE("a reader is a stream itself: first its window, then what follows") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"head\nbody and more", {9}};
        buffered_reader<trickle> reader{source, 32};
        const io_result<const_buffer> head = co_await reader.read_until("\n");
        reader.consume(head.value().size());
        std::array<std::byte, 3> small;
        std::string rest;

        const io_result<std::size_t> nothing = co_await reader.read_some({});
        for (;;) {
            const io_result<std::size_t> got = co_await reader.read_some(small);
            if (!got.ok()) {
                CHECK(got.error() == errc::eof);
                break;
            }
            rest += text_of(std::span{small}.first(got.value()));
        }

        CHECK(nothing.ok());
        CHECK(nothing.value() == 0);
        CHECK(rest == "body and more");
    });
}

TEST_CASE("what has as much room as its reader is read into directly, once the window is empty") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"head\nbody and more", {7, 11}};
        buffered_reader<trickle> reader{source, 8};
        const io_result<const_buffer> head = co_await reader.read_until("\n");
        reader.consume(head.value().size());
        std::array<std::byte, 32> large;

        const io_result<std::size_t> kept = co_await reader.read_some(large);
        const io_result<std::size_t> rest = co_await reader.read_some(std::span{large}.subspan(2));
        const io_result<std::size_t> end = co_await reader.read_some(large);

        CHECK(kept.value() == 2);
        CHECK(rest.value() == 11);
        CHECK(text_of(std::span{large}.first(13)) == "body and more");
        CHECK(end.error() == errc::eof);
    });
}

TEST_CASE("whole messages are read exactly through a reader") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"4\nbodynext", {3, 1, 1}};
        buffered_reader<trickle> reader{source, 4};
        const io_result<const_buffer> head = co_await reader.read_until("\n");
        reader.consume(head.value().size());
        std::array<std::byte, 4> body;

        const io_result<std::size_t> got = co_await read_exactly(reader, body);

        CHECK(got.ok());
        CHECK(text_of(body) == "body");
    });
}

TEST_CASE("a writer writes nothing until it is flushed or full") {
    on_every_backend([](io_context&) -> task<> {
        sink target{100};
        buffered_writer<sink> writer{target, 8};

        static_cast<void>(co_await writer.write(bytes_of("abc")));
        static_cast<void>(co_await writer.write({}));
        static_cast<void>(co_await writer.write(bytes_of("defgh")));
        CHECK(target.writes == 0);
        CHECK(writer.buffered() == 8);
        static_cast<void>(co_await writer.write(bytes_of("i")));
        CHECK(target.text == "abcdefgh");
        CHECK(target.writes == 1);
        const io_result<> flushed = co_await writer.flush();
        const io_result<> nothing_left = co_await writer.flush();

        CHECK(flushed.ok());
        CHECK(nothing_left.ok());
        CHECK(target.text == "abcdefghi");
        CHECK(target.writes == 2);
    });
}

TEST_CASE("a large piece goes directly, behind what was collected") {
    on_every_backend([](io_context&) -> task<> {
        sink target{100};
        buffered_writer<sink> writer{target, 4};

        static_cast<void>(co_await writer.write(bytes_of("ab")));
        const io_result<std::size_t> large = co_await writer.write(bytes_of("0123456789"));

        CHECK(large.value() == 10);
        CHECK(writer.buffered() == 0);
        CHECK(target.text == "ab0123456789");
        CHECK(target.writes == 2);
    });
}

TEST_CASE("any pieces through a writer arrive in order") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    const auto test = [seed](io_context&) -> task<> {
        std::mt19937 random{seed};
        sink target{3};
        buffered_writer<sink> writer{target, 7};
        std::string sent;
        for (int piece = 0; piece < 500; ++piece) {
            std::string text(random() % 12, ' ');
            for (char& each : text) each = static_cast<char>('a' + random() % 26);
            const io_result<std::size_t> written = co_await writer.write(bytes_of(text));
            CHECK(written.value() == text.size());
            sent += text;
            if (random() % 16 == 0) static_cast<void>(co_await writer.flush());
        }

        static_cast<void>(co_await writer.flush());

        CHECK(target.text == sent);
    };
    on_every_backend(test);
}

TEST_CASE("a failed flush reports the failure") {
    on_every_backend([](io_context&) -> task<> {
        sink target{100, 2};
        buffered_writer<sink> writer{target, 4};
        static_cast<void>(co_await writer.write(bytes_of("abcd")));

        const io_result<std::size_t> next = co_await writer.write(bytes_of("e"));
        const io_result<> flushed = co_await writer.flush();

        CHECK(next.error() == errc::broken_pipe);
        CHECK(next.value() == 0);
        CHECK(flushed.error() == errc::broken_pipe);
    });
}

TEST_CASE("a flush that is stopped keeps what was not written, and the next one goes on there") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{3};
        buffered_writer<memory_stream> writer{pipe.first, 8};
        std::array<std::byte, 8> space;
        static_cast<void>(co_await writer.write(bytes_of("abcdefgh")));

        const io_result<> part = co_await with_timeout(1ms, writer.flush());
        const std::size_t kept = writer.buffered();
        const io_result<> none = co_await with_timeout(1ms, writer.flush());
        const auto flushes = [&]() -> task<> {
            const io_result<> rest = co_await writer.flush();
            CHECK(rest.ok());
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(flushes());
            static_cast<void>(co_await read_exactly(pipe.second, space));
        };
        co_await with_group(body);

        CHECK(part.error() == errc::timed_out);
        CHECK(kept == 5);
        CHECK(none.error() == errc::timed_out);
        CHECK(writer.buffered() == 0);
        CHECK(text_of(space) == "abcdefgh");
    });
}

namespace {

struct reads_until : needs_no_loop {
    static constexpr const char* name = "read_until";
    using needs_no_loop::needs_no_loop;

    auto wait() { return reader.read_until("\n"); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    buffered_reader<memory_stream> reader{pipe.first, 8};
};

struct reads_through_window : needs_no_loop {
    static constexpr const char* name = "buffered read_some";
    using needs_no_loop::needs_no_loop;

    auto wait() { return reader.read_some(space); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    buffered_reader<memory_stream> reader{pipe.first, 8};
    std::array<std::byte, 4> space;
};

struct flushes : needs_no_loop {
    static constexpr const char* name = "flush";
    using needs_no_loop::needs_no_loop;

    task<io_result<>> wait() {
        static_cast<void>(co_await writer.write(bytes_of("abcd")));
        const io_result<> flushed = co_await writer.flush();
        co_return flushed;
    }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    buffered_writer<memory_stream> writer{pipe.first, 8};
};

}  // namespace

TEST_CASE(
    "buffered reads and writes are canceled by a stop, before they begin and while they wait") {
    check_stopped_before_start<reads_until>();
    check_stopped_before_start<reads_through_window>();
    check_stopped_before_start<flushes>();
    check_stopped_while_pending<reads_until>();
    check_stopped_while_pending<reads_through_window>();
    check_stopped_while_pending<flushes>();
    check_stopped_then_woken<reads_until>();
    check_stopped_then_woken<reads_through_window>();
    check_stopped_then_woken<flushes>();
}

TEST_CASE("a reader that grows has memory for what came, not for what is wanted") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{2048};
        const std::string text(1000, 'x');
        buffered_reader<memory_stream> reader{pipe.first, {16, 1 << 20}};
        static_cast<void>(co_await pipe.second.write_some(bytes_of(text)));

        const auto part = co_await with_timeout(1ms, reader.read_at_least(1 << 20));
        const std::size_t came = reader.window().size();
        const std::size_t taken = reader.capacity();
        const auto too_much = co_await reader.read_at_least((1 << 20) + 1);
        reader.consume(1000);
        reader.shrink_to_fit();

        CHECK(part.error() == errc::timed_out);
        CHECK(came == 1000);
        CHECK(taken == 1024);
        CHECK(reader.capacity() == 0);
        CHECK(too_much.error() == errc::limit_exceeded);
        CHECK(reader.bytes_max() == 1 << 20);
    });
}

TEST_CASE("a window that grows keeps its content, whatever is read and consumed") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    const auto test = [seed](io_context&) -> task<> {
        std::mt19937 random{seed};
        std::string text(5000, ' ');
        std::vector<std::size_t> pieces(3000);
        for (char& each : text) each = static_cast<char>('a' + random() % 26);
        for (std::size_t& each : pieces) each = 1 + random() % 9;
        trickle source{text, pieces};
        buffered_reader<trickle> reader{source, {1, 64}};
        std::string received;

        for (;;) {
            const auto got = co_await reader.read_at_least(1 + random() % 64);
            if (!got.ok()) break;
            const std::size_t used = 1 + random() % got.value().size();
            received += text_of(got.value().first(used));
            reader.consume(used);
        }
        received += text_of(reader.window());

        CHECK(received == text);
    };
    on_every_backend(test);
}

namespace {

task<> fill_and_read_at_once() {
    memory_pipe pipe{16};
    buffered_reader<memory_stream> reader{pipe.first, 16};
    std::array<std::byte, 4> space{};
    static_cast<void>(co_await when_all(reader.fill(), reader.read_some(space)));
}

task<> flush_and_write_at_once() {
    memory_pipe pipe{1};
    buffered_writer<memory_stream> writer{pipe.first, 16};
    static_cast<void>(co_await writer.write(bytes_of("much")));
    static_cast<void>(co_await when_all(writer.flush(), writer.write(bytes_of("more"))));
}

void check_refused(task<> (*body)(), std::string_view why) {
    const ending how = ending_of([body] {
        io_context io;
        launch(io, body(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that(why));
}

}  // namespace

TEST_CASE("two awaits of a reader, or of a writer, at once are a failed check") {
    check_refused(&fill_and_read_at_once,
                  "a buffered reader is awaited by one coroutine at a time");
    check_refused(&flush_and_write_at_once,
                  "a buffered writer is awaited by one coroutine at a time");
}

TEST_CASE("a reader whose await was given up, or died with its frame, is awaited again") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{16};
        buffered_reader<memory_stream> reader{pipe.first, 16};

        const auto given_up = co_await with_timeout(1ms, reader.read_until("\n"));
        {
            const auto never_awaited = reader.fill();
            static_cast<void>(never_awaited);
        }
        static_cast<void>(co_await pipe.second.write_some(bytes_of("line\n")));
        const auto line = co_await reader.read_until("\n");

        CHECK(given_up.error() == errc::timed_out);
        CHECK(text_of(line.value()) == "line\n");
    });
}
