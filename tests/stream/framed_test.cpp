// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/framed.hpp promises: frames wherever reads and writes split them, and nothing lost when
// one is stopped, too large or cut off by the end.
#include <gyre/stream/framed.hpp>

#include <base/ending.hpp>
#include <gyre/stream/codecs.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <stream/scripted_stream.hpp>
#include <support/disposable.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

std::string copy_of(std::string_view line) { return std::string{line}; }
std::string copy_of(const_buffer frame) { return std::string{text_of(frame)}; }

/// Reads to the end of the stream, in steps of a codec.
template <class Stream, class Codec>
task<> read_all(framed_reader<Stream, Codec>& frames, std::vector<std::string>& into) {
    for (;;) {
        const auto frame = co_await frames.next();
        if (!frame.ok()) {
            CHECK(frame.error() == errc::eof);
            co_return;
        }
        into.push_back(copy_of(frame.value()));
    }
}

length_delimited_codec short_lengths() {
    return length_delimited_codec{{.prefix_bytes = 2, .order = std::endian::little}};
}

std::string random_text(std::mt19937& random, std::size_t size) {
    std::string text(size, ' ');
    for (char& each : text) each = static_cast<char>('a' + random() % 26);
    return text;
}

}  // namespace

TEST_CASE("lines are found wherever the reads split them") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text = "first\r\n\r\nsecond\nthird\r\n";
        for (std::size_t split = 1; split < text.size(); ++split) {
            for (std::size_t then = 1; then < 4; ++then) {
                trickle source{text, {split, then}};
                buffered_reader reader{source, 16};
                framed_reader lines{reader, lines_codec{}};
                std::vector<std::string> found;

                co_await read_all(lines, found);

                CHECK(found == std::vector<std::string>{"first", "", "second", "third"});
                CHECK(reader.window().empty());
            }
        }
    });
}

TEST_CASE("frames are found wherever the reads split them") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text = "\3\0abc\0\0\5\0defgh"s;
        for (std::size_t split = 1; split < text.size(); ++split) {
            for (std::size_t then = 1; then < 4; ++then) {
                trickle source{text, {split, then}};
                buffered_reader reader{source, 7};
                framed_reader frames{reader, short_lengths()};
                std::vector<std::string> found;

                co_await read_all(frames, found);

                CHECK(found == std::vector<std::string>{"abc", "", "defgh"});
            }
        }
    });
}

TEST_CASE("pieces of one size are read as they were written") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"abcdefghij", {1, 4, 2}};
        buffered_reader reader{source, 5};
        framed_reader pieces{reader, fixed_size_codec{4}};
        std::vector<std::string> found;

        co_await read_all(pieces, found);

        CHECK(found == std::vector<std::string>{"abcd", "efgh"});
        CHECK(text_of(reader.window()) == "ij");
    });
}

TEST_CASE("a frame is a view of the reader's buffer: several of one read are not moved") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"one\ntwo\n", {}};
        buffered_reader reader{source, 16};
        framed_reader lines{reader, lines_codec{}};

        const auto first = co_await lines.next();
        const auto second = co_await lines.next();

        CHECK(first.value() == "one");
        CHECK(second.value().data() == first.value().data() + 4);
        CHECK(source.reads == 1);
    });
}

TEST_CASE("what came without its end is kept, and read on if more comes") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{16};
        buffered_reader reader{pipe.first, 16};
        framed_reader lines{reader, lines_codec{}};
        static_cast<void>(co_await pipe.second.write_some(bytes_of("whole\nhal")));
        pipe.second.shutdown_send();

        const auto whole = co_await lines.next();
        const auto end = co_await lines.next();
        const auto again = co_await lines.next();

        CHECK(whole.ok());
        CHECK(end.error() == errc::eof);
        CHECK(again.error() == errc::eof);
        CHECK(text_of(reader.window()) == "hal");
    });
}

TEST_CASE("another codec may go on where one has stopped") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"UPGRADE\r\n\2\0ab\3\0cde"s, {}};
        buffered_reader reader{source, 32};
        framed_reader lines{reader, lines_codec{}};
        framed_reader frames{reader, short_lengths()};
        std::vector<std::string> found;

        const auto line = co_await lines.next();
        const std::string head{line.value()};
        co_await read_all(frames, found);

        CHECK(head == "UPGRADE");
        CHECK(found == std::vector<std::string>{"ab", "cde"});
    });
}

TEST_CASE("a line that is too long is an error until it is skipped, and loses nothing") {
    on_every_backend([](io_context&) -> task<> {
        const std::string long_line(1000, 'x');
        for (const std::size_t piece : {1, 3, 4, 7, 100}) {
            trickle source{"a\n" + long_line + "\r\nb\n", std::vector<std::size_t>(2000, piece)};
            buffered_reader reader{source, 8};
            framed_reader lines{reader, lines_codec{4}};
            std::vector<std::string> rest;

            const auto first = co_await lines.next();
            const std::string first_text{first.value()};
            const auto long_one = co_await lines.next();
            const auto the_same = co_await lines.next();
            const std::string kept{text_of(reader.window())};
            lines.skip();
            co_await read_all(lines, rest);

            CHECK(first_text == "a");
            CHECK(long_one.error() == errc::limit_exceeded);
            CHECK(long_one.value().empty());
            CHECK(the_same.error() == errc::limit_exceeded);
            CHECK(kept.size() >= 5);
            CHECK(long_line.starts_with(kept));
            CHECK(rest == std::vector<std::string>{"b"});
        }
    });
}

TEST_CASE("what the reader holds is a limit as well, with every codec") {
    on_every_backend([](io_context&) -> task<> {
        trickle of_lines{"12345678\nb\n", {}};
        trickle of_lengths{"\7\0abcdefg\1\0x"s, {}};
        trickle of_pieces{"abcdefghi", {}};
        buffered_reader reader_of_lines{of_lines, 8};
        buffered_reader reader_of_lengths{of_lengths, 8};
        buffered_reader reader_of_pieces{of_pieces, 8};
        framed_reader lines{reader_of_lines, lines_codec{}};
        framed_reader frames{reader_of_lengths, short_lengths()};
        framed_reader pieces{reader_of_pieces, fixed_size_codec{9}};
        std::vector<std::string> more_lines;
        std::vector<std::string> more_frames;

        const auto line = co_await lines.next();
        const auto frame = co_await frames.next();
        const auto piece = co_await pieces.next();
        lines.skip();
        frames.skip();
        co_await read_all(lines, more_lines);
        co_await read_all(frames, more_frames);

        CHECK(line.error() == errc::limit_exceeded);
        CHECK(frame.error() == errc::limit_exceeded);
        CHECK(piece.error() == errc::limit_exceeded);
        CHECK(of_pieces.reads == 0);
        CHECK(more_lines == std::vector<std::string>{"b"});
        CHECK(more_frames == std::vector<std::string>{"x"});
    });
}

TEST_CASE("a frame that is too large is refused by its length alone, and takes no memory") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{16};
        buffered_reader reader{pipe.first, {4, 1 << 20}};
        framed_reader frames{reader, length_delimited_codec{{.frame_bytes_max = 1000}}};
        static_cast<void>(co_await pipe.second.write_some(bytes_of("\0\0\xff\xff"sv)));

        const auto refused = co_await frames.next();

        CHECK(refused.error() == errc::limit_exceeded);
        CHECK(reader.capacity() == 4);
    });
}

TEST_CASE("a skip that is stopped goes on with the next call") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{64};
        buffered_reader reader{pipe.first, 8};
        framed_reader lines{reader, lines_codec{}};
        static_cast<void>(co_await pipe.second.write_some(bytes_of("0123456789")));

        const auto too_long = co_await lines.next();
        lines.skip();
        const auto stopped = co_await with_timeout(1ms, lines.next());
        static_cast<void>(co_await pipe.second.write_some(bytes_of("tail\nnext\n")));
        const auto next = co_await lines.next();

        CHECK(too_long.error() == errc::limit_exceeded);
        CHECK(stopped.error() == errc::timed_out);
        CHECK(next.value() == "next");
    });
}

TEST_CASE("a frame may be skipped before it is looked at, and then one only") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"\1\0a\1\0b\1\0c"s, {1, 1, 1, 1}};
        buffered_reader reader{source, 8};
        framed_reader frames{reader, short_lengths()};
        std::vector<std::string> found;

        frames.skip();
        co_await read_all(frames, found);

        CHECK(found == std::vector<std::string>{"b", "c"});
    });
}

TEST_CASE("whenever reads are stopped, frames come whole and in order") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    const auto test = [seed](io_context&) -> task<> {
        std::mt19937 random{seed};
        std::vector<std::string> sent(300);
        std::vector<std::string> received;
        std::string bytes;
        for (std::string& each : sent) {
            each = random_text(random, random() % 60);
            bytes += static_cast<char>(each.size());
            bytes += '\0';
            bytes += each;
        }
        memory_pipe pipe{16};
        buffered_reader reader{pipe.first, {2, 64}};
        framed_reader frames{reader, short_lengths()};
        const auto moment = [&] { return std::chrono::microseconds{random() % 40}; };
        const auto writes = [&]() -> task<> {
            for (std::size_t at = 0; at < bytes.size();) {
                const std::size_t size =
                    std::min<std::size_t>(1 + random() % 20, bytes.size() - at);
                const auto put = co_await write_all(pipe.second, bytes_of(bytes).subspan(at, size));
                at += put.value();
                if (random() % 4 == 0) static_cast<void>(co_await sleep_for(moment()));
            }
            pipe.second.shutdown_send();
        };
        const auto reads = [&]() -> task<> {
            for (;;) {
                const auto frame = co_await with_timeout(moment(), frames.next());
                if (frame.error() == errc::eof) co_return;
                CHECK((frame.ok() || frame.error() == errc::timed_out));
                if (frame.ok()) received.push_back(copy_of(frame.value()));
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(reads());
            co_return;
        };

        co_await with_group(body);

        CHECK(received == sent);
        CHECK(reader.window().empty());
    };
    on_every_backend(test);
}

TEST_CASE("frames that are written are read, whatever pieces the stream takes") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    const auto check = [seed](const auto& codec) {
        const auto test = [&codec, seed](io_context&) -> task<> {
            std::mt19937 random{seed};
            memory_pipe pipe{5};
            buffered_writer writer{pipe.first, {4, 128}};
            buffered_reader reader{pipe.second, {1, 128}};
            framed_writer out{writer, codec};
            framed_reader in{reader, codec};
            std::vector<std::string> sent;
            std::vector<std::string> received;
            const auto writes = [&]() -> task<> {
                for (int each = 0; each < 200; ++each) {
                    sent.push_back(random_text(random, random() % 100));
                    const io_result<> taken = co_await out.write(bytes_of(sent.back()));
                    CHECK(taken.ok());
                    if (random() % 8 == 0) static_cast<void>(co_await out.flush());
                }
                const io_result<> flushed = co_await out.flush();
                CHECK(flushed.ok());
                pipe.first.shutdown_send();
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(writes());
                group.spawn(read_all(in, received));
                co_return;
            };

            co_await with_group(body);

            CHECK(received == sent);
        };
        on_every_backend(test);
    };
    check(lines_codec{});
    check(lines_codec{100, line_ending::crlf});
    check(length_delimited_codec{});
    check(length_delimited_codec{{.prefix_bytes = 8, .prefix_counted = true}});
}

TEST_CASE("a frame that the writer cannot hold is not taken, and fits exactly if it just fits") {
    on_every_backend([](io_context&) -> task<> {
        sink target{100};
        buffered_writer writer{target, 6};
        framed_writer frames{writer, short_lengths()};

        const io_result<> fits = co_await frames.write(bytes_of("abcd"));
        const io_result<> too_large = co_await frames.write(bytes_of("abcde"));
        const io_result<> flushed = co_await frames.flush();

        CHECK(fits.ok());
        CHECK(too_large.error() == errc::limit_exceeded);
        CHECK(flushed.ok());
        CHECK(target.text == "\4\0abcd"s);
        CHECK(target.writes == 1);
    });
}

TEST_CASE("a frame that the codec refuses leaves what was collected as it was") {
    on_every_backend([](io_context&) -> task<> {
        sink target{100};
        buffered_writer writer{target, 64};
        framed_writer lines{writer, lines_codec{}};
        static_cast<void>(co_await lines.write(bytes_of("one")));

        const io_result<> refused = co_await lines.write(bytes_of("two\nthree"));
        static_cast<void>(co_await lines.flush());

        CHECK(refused.error() == errc::invalid_argument);
        CHECK(target.text == "one\n");
    });
}

TEST_CASE("a write that is stopped has taken nothing, and what was collected goes on") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{3};
        buffered_writer writer{pipe.first, 8};
        framed_writer lines{writer, lines_codec{}};
        std::string received(14, ' ');
        static_cast<void>(co_await lines.write(bytes_of("abcdefg")));

        const io_result<> stopped = co_await with_timeout(1ms, lines.write(bytes_of("ABCDE")));
        const std::size_t left = writer.buffered();
        const auto writes = [&]() -> task<> {
            const io_result<> taken = co_await lines.write(bytes_of("ABCDE"));
            const io_result<> flushed = co_await lines.flush();
            CHECK(taken.ok());
            CHECK(flushed.ok());
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            static_cast<void>(co_await read_exactly(pipe.second, received));
        };
        co_await with_group(body);

        CHECK(stopped.error() == errc::timed_out);
        CHECK(left == 5);
        CHECK(received == "abcdefg\nABCDE\n");
    });
}

TEST_CASE("frames that are there already let others have their turn") {
    on_every_backend([](io_context&) -> task<> {
        std::string text;
        for (int each = 0; each < 2'000'000; ++each) text += '\n';
        trickle source{std::move(text), {}};
        buffered_reader reader{source, 2'000'000};
        framed_reader lines{reader, lines_codec{}};

        co_await check_gives_way([&] { return lines.next(); });
    });
}

namespace {

/// A codec of a program's own: words, of which the program sees the length only.
struct words_codec {
    [[nodiscard]] found_frame find(const_buffer bytes, std::size_t seen) const noexcept {
        const std::size_t space = text_of(bytes).find(' ', seen);
        if (space == std::string_view::npos) return found_frame::partial(1);
        return found_frame::whole(0, space, space + 1);
    }
    [[nodiscard]] std::size_t view(const_buffer content) const noexcept { return content.size(); }
};

disposable read_in_frame(framed_reader<memory_stream, lines_codec>& lines) {
    static_cast<void>(co_await lines.next());
    FAIL_CHECK("resumed after its end");
}

}  // namespace

TEST_CASE("a program's own codec yields whatever it makes of a frame") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"three letters ", {2, 6}};
        buffered_reader reader{source, 16};
        framed_reader words{reader, words_codec{}};

        const io_result<std::size_t> first = co_await words.next();
        const io_result<std::size_t> second = co_await words.next();

        CHECK(first.value() == 5);
        CHECK(second.value() == 7);
    });
}

TEST_CASE("a coroutine destroyed in the middle of a frame takes nothing of it along") {
    on_every_backend([](io_context& io) -> task<> {
        memory_pipe pipe{16};
        buffered_reader reader{pipe.first, 16};
        framed_reader lines{reader, lines_codec{}};
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        const disposable waits = read_in_frame(lines);
        static_cast<void>(co_await pipe.second.write_some(bytes_of("begin")));
        waits.frame.promise().env = &surroundings;
        gyre::resume(waits.frame);
        co_await settle();

        waits.frame.destroy();
        static_cast<void>(co_await pipe.second.write_some(bytes_of("ning\n")));
        const auto line = co_await lines.next();

        CHECK(chain.pending() == nullptr);
        CHECK(line.value() == "beginning");
    });
}

namespace {

struct reads_line : needs_no_loop {
    static constexpr const char* name = "framed_reader::next";
    using needs_no_loop::needs_no_loop;

    auto wait() { return lines.next(); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    buffered_reader<memory_stream> reader{pipe.first, 8};
    framed_reader<memory_stream, lines_codec> lines{reader, lines_codec{}};
};

struct writes_frame : needs_no_loop {
    static constexpr const char* name = "framed_writer::write";
    using needs_no_loop::needs_no_loop;

    task<io_result<>> wait() {
        static_cast<void>(co_await frames.write(bytes_of("abcdef")));
        const io_result<> taken = co_await frames.write(bytes_of("abcdef"));
        co_return taken;
    }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    buffered_writer<memory_stream> writer{pipe.first, 8};
    framed_writer<memory_stream, length_delimited_codec> frames{writer, short_lengths()};
};

}  // namespace

TEST_CASE("frames that are waited for are canceled by a stop, before and while they wait") {
    check_stopped_before_start<reads_line>();
    check_stopped_before_start<writes_frame>();
    check_stopped_while_pending<reads_line>();
    check_stopped_while_pending<writes_frame>();
    check_stopped_then_woken<reads_line>();
    check_stopped_then_woken<writes_frame>();
}

TEST_CASE("a codec that lacks no bytes of a frame and has none is a failed check") {
    const ending how = ending_of([] {
        volatile std::size_t missing = 0;
        static_cast<void>(found_frame::partial(missing));
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a frame without the bytes that it lacks"));
}
