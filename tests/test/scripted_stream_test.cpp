// SPDX-License-Identifier: BSL-1.0
//
// What a scripted stream gives and takes, and what it says of programs that do otherwise.
#include <gyre/test/scripted_stream.hpp>

#include <base/ending.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/test/world.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using gyre::test::script;
using gyre::test::scripted_stream;

namespace {

// Runs `program(stream)` in a world, and says how long it took there.
template <class Program>
duration run(script& by, const Program& program) {
    test::world world;
    const time_point began = world.now();
    const auto body = [&]() -> task<> {
        scripted_stream stream{by};
        co_await program(stream);
    };
    const auto outcome = world.run(world.add("here"), body(), 24h);
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    return world.now() - began;
}

// A read's text, or its error in brackets.
task<std::string> read_text(scripted_stream& from, std::size_t size = 64) {
    std::vector<std::byte> space(size);
    const io_result<std::size_t> got = co_await from.read_some(mutable_buffer{space});
    if (!got.ok()) co_return "[" + got.error().message() + "]";
    co_return std::string{text_of(std::span{space}.first(got.value()))};
}

task<io_result<std::size_t>> write_text(scripted_stream& to, std::string_view text) {
    const io_result<std::size_t> sent = co_await to.write_some(bytes_of(text));
    co_return sent;
}

bool says(const script& it, std::string_view what) {
    INFO(it.text());
    const bool found = it.text().find(what) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace

namespace {

// snippet: program
template <gyre::duplex_stream Stream>
gyre::task<gyre::io_result<>> say_goodbye(Stream server) {
    auto [unsent, sent] = co_await gyre::write_all(server, gyre::bytes_of("QUIT\r\n"));
    if (unsent) co_return unsent;
    gyre::buffered_reader answers{server, 512};
    auto answer = co_await gyre::with_timeout(5s, answers.read_until("\r\n"));
    if (!answer.ok()) co_return answer.error();
    const bool polite = gyre::text_of(answer.value()).starts_with("221 ");
    co_return polite ? gyre::error{} : gyre::error{gyre::errc::malformed};
}
// end of snippet

}  // namespace

TEST_CASE(
    "a client that says goodbye understands an answer in pieces, and gives up on half of one") {
    // snippet: script
    gyre::test::script peer;
    peer.expects("QUIT\r\n", 4)  // The first write is taken in part.
        .waits(2s)
        .gives("221 b")
        .gives("ye\r\n");
    gyre::test::script silent;
    silent.expects("QUIT\r\n").gives("221").stays_silent();
    gyre::test::world world;
    auto& client = world.add("client");

    auto ended = world.run(client, say_goodbye(gyre::test::scripted_stream{peer}));
    auto given_up = world.run(client, say_goodbye(gyre::test::scripted_stream{silent}));

    CHECK_MESSAGE(peer.ok(), peer.text());
    CHECK_MESSAGE(silent.ok(), silent.text());
    CHECK(ended.take().ok());
    CHECK(given_up.take().error() == gyre::errc::timed_out);
    // end of snippet
}

TEST_CASE("reads give the pieces that were written, and the rest of one that is too long") {
    script by;
    by.gives("220 re").gives("ady\r\n").ends();

    run(by, [](scripted_stream& it) -> task<> {
        const std::string first = co_await read_text(it);
        const std::string second = co_await read_text(it, 2);
        const std::string rest = co_await read_text(it);
        const std::string end = co_await read_text(it);
        const std::string again = co_await read_text(it);

        CHECK(first == "220 re");
        CHECK(second == "ad");
        CHECK(rest == "y\r\n");
        CHECK(end == "[" + error{errc::eof, activity::read}.message() + "]");
        CHECK(again == end);
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("a read fails once, and the next one goes on") {
    script by;
    by.gives("be").fails_read(errc::interrupted).gives("fore");

    run(by, [](scripted_stream& it) -> task<> {
        const std::string before = co_await read_text(it);
        std::array<std::byte, 8> space;
        const io_result<std::size_t> failed = co_await it.read_some(mutable_buffer{space});
        const std::string after = co_await read_text(it);

        CHECK(before == "be");
        CHECK(failed.error() == errc::interrupted);
        CHECK(failed.value() == 0);
        CHECK(after == "fore");
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("writes are taken whole, in part, and not") {
    script by;
    by.expects("hello")
        .expects("abcdef", 4)
        .takes(3)
        .fails_write(errc::no_buffer_space)
        .expects("x");

    run(by, [](scripted_stream& it) -> task<> {
        std::vector<std::size_t> counts;
        for (const char* each : {"he", "llo", "abcdef", "ef", "123"}) {
            const io_result<std::size_t> sent = co_await write_text(it, each);
            CHECK(sent.ok());
            counts.push_back(sent.value());
        }
        const io_result<std::size_t> failed = co_await write_text(it, "x");
        const io_result<std::size_t> sent = co_await write_text(it, "x");

        CHECK(counts == std::vector<std::size_t>{2, 3, 4, 2, 3});
        CHECK(failed.error() == errc::no_buffer_space);
        CHECK(failed.value() == 0);
        CHECK(sent.value() == 1);
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("a write of more than a step wants is taken up to its end") {
    script by;
    by.expects("question").gives("!").expects("more");

    run(by, [](scripted_stream& it) -> task<> {
        const io_result<std::size_t> sent = co_await write_text(it, "questionmore");
        const std::string answer = co_await read_text(it);
        const io_result<std::size_t> rest = co_await write_text(it, "more");

        CHECK(sent.value() == 8);
        CHECK(answer == "!");
        CHECK(rest.value() == 4);
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("steps come in their order, whoever is there first") {
    script by;
    by.expects("ask").gives("answer").expects("thanks").ends();

    run(by, [](scripted_stream& it) -> task<> {
        std::string order;
        const auto reads = [&]() -> task<> {
            order += co_await read_text(it);
            order += "|";
            const std::string end = co_await read_text(it);
            order += end.empty() ? "?" : "end";
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            co_await settle();
            static_cast<void>(co_await write_text(it, "ask"));
            order += "asked|";
            static_cast<void>(
                co_await write_text(it, "thanks"));  // Waits until the answer is read.
            order += "thanked|";
        };

        co_await with_group(body);

        CHECK(order.find("asked|") < order.find("thanked|"));
        CHECK(order.find("answer|") < order.find("end"));
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("time passes between steps, counted from the end of the one before") {
    script by;
    by.expects("ask").waits(2s).gives("late").waits(1h).ends();

    const duration took = run(by, [](scripted_stream& it) -> task<> {
        const time_point began = io_context::current()->now();
        static_cast<void>(co_await write_text(it, "ask"));
        static_cast<void>(co_await sleep_for(500ms));
        const std::string answer = co_await read_text(it);
        CHECK(answer == "late");
        CHECK(io_context::current()->now() - began == 2s);
        static_cast<void>(co_await sleep_for(2h));  // Longer than the script waits.
        static_cast<void>(co_await read_text(it));
    });

    CHECK(took == 2s + 2h);
    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("a reader and a writer that wait for the same moment both go on") {
    script by;
    by.waits(10ms).waits(20ms).expects("now").gives("then");

    const duration took = run(by, [](scripted_stream& it) -> task<> {
        std::string got;
        const auto reads = [&]() -> task<> { got = co_await read_text(it); };
        const auto writes = [&]() -> task<> { static_cast<void>(co_await write_text(it, "now")); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            group.spawn(writes());
            co_return;
        };
        co_await with_group(body);
        CHECK(got == "then");
    });

    CHECK(took == 30ms);
    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("silence lasts until the program gives up, and nothing remains of it") {
    script by;
    by.gives("half of it").stays_silent();

    const duration took = run(by, [](scripted_stream& it) -> task<> {
        std::array<std::byte, 32> space;
        const io_result<std::size_t> all =
            co_await with_timeout(5s, read_exactly(it, mutable_buffer{space}));
        CHECK(all.error() == errc::timed_out);
        CHECK(all.value() == 10);
    });

    CHECK(took == 5s);
    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("a half-closed stream is read on, and written no more") {
    script by;
    by.expects("all").expects_end().gives("answer").ends();

    run(by, [](scripted_stream& it) -> task<> {
        static_cast<void>(co_await write_text(it, "all"));
        it.shutdown_send();
        const std::string answer = co_await read_text(it);
        const io_result<std::size_t> refused = co_await write_text(it, "more");

        CHECK(answer == "answer");
        CHECK(refused.error() == errc::broken_pipe);
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("the end is what a script expects of a stream that does nothing else") {
    for (const bool half : {false, true}) {
        script by;
        by.expects_end();

        run(by, [half](scripted_stream& it) -> task<> {
            if (half) it.shutdown_send();
            it.close();
            co_return;
        });

        CHECK_MESSAGE(by.ok(), by.text());
    }
}

TEST_CASE("a script is of one stream") {
    const ending second = ending_of([] {
        script by;
        const scripted_stream first{by};
        const scripted_stream other{by};
    });

    CHECK(second.signal == SIGABRT);
    CHECK(second.said_that("a script is of one stream"));
}

// What goes wrong, and what is said of it.

namespace {

struct deviation {
    const char* name;
    void (*write)(script& by);
    task<> (*program)(scripted_stream& it);
    const char* said;
};

const std::vector<deviation> deviations{
    {"other bytes", [](script& by) { by.expects("GET / HTTP").gives("200"); },
     [](scripted_stream& it) -> task<> {
         const io_result<std::size_t> sent = co_await write_text(it, "GET /x\r\n");
         CHECK(sent.error() == errc::connection_aborted);
         CHECK(sent.value() == 0);
         const std::string after = co_await read_text(it);
         CHECK(after == "[" + error{errc::connection_aborted, activity::read}.message() + "]");
     },
     R"(step 1 of 2, expects "GET / HTTP": at byte 5 came "x\r\n")"},
    {"other bytes, later", [](script& by) { by.expects("abcdef"); },
     [](scripted_stream& it) -> task<> {
         static_cast<void>(co_await write_text(it, "abc"));
         static_cast<void>(co_await write_text(it, "dXf"));
     },
     R"(step 1 of 1, expects "abcdef", of which 3 bytes passed: at byte 4 came "Xf")"},
    {"a write after the last step", [](script& by) { by.expects("a"); },
     [](scripted_stream& it) -> task<> {
         static_cast<void>(co_await write_text(it, "a"));
         static_cast<void>(co_await write_text(it, "b"));
     },
     R"(a write of "b" came after the last step)"},
    {"a read after the last step", [](script& by) { by.gives("a"); },
     [](scripted_stream& it) -> task<> {
         static_cast<void>(co_await read_text(it));
         static_cast<void>(co_await read_text(it, 7));
     },
     "a read of up to 7 bytes came after the last step"},
    {"a write instead of the end", [](script& by) { by.expects_end(); },
     [](scripted_stream& it) -> task<> { static_cast<void>(co_await write_text(it, "\x01")); },
     R"(step 1 of 1, expects the end of sending: a write of "\x01" came)"},
    {"the end instead of a write", [](script& by) { by.takes(9); },
     [](scripted_stream& it) -> task<> {
         static_cast<void>(co_await write_text(it, "four"));
         it.shutdown_send();
     },
     "step 1 of 1, takes 9 bytes, of which 4 bytes passed: the end of sending came"},
    {"an early end", [](script& by) { by.gives("x").waits(3s).fails_read(errc::connection_reset); },
     [](scripted_stream& it) -> task<> {
         static_cast<void>(co_await read_text(it));
         it.close();
     },
     "remains: step 2 of 3, waits for 3000 ms\nremains: step 3 of 3, fails a read: "},
    {"a stream that is never used", [](script& by) { by.ends(); },
     [](scripted_stream&) -> task<> { co_return; }, "remains: step 1 of 1, ends\n"},
};

}  // namespace

TEST_CASE("a program that deviates is told, with the step, what was expected and what came") {
    for (const deviation& each : deviations) {
        INFO(each.name);
        script by;
        each.write(by);

        run(by, each.program);

        CHECK_FALSE(by.ok());
        says(by, each.said);
    }
}

TEST_CASE(
    "a program that waits for what the script waits for is found hanging, and the step is told") {
    script by;
    by.expects("hello").gives("welcome");
    test::world world;
    std::string got;
    const auto reads = [&]() -> task<> {
        scripted_stream stream{by};
        got = co_await read_text(stream);
    };

    const auto outcome = world.run(world.add("here"), reads());

    CHECK(outcome.how() == test::ending::hung);
    CHECK(outcome.text().find("scripted stream read") != std::string::npos);
    says(by, R"(remains: step 1 of 2, expects "hello")");
}

// The laws of streams (tests/laws/stream_laws_test.cpp), as far as one end can be asked for them.

TEST_CASE(
    "a scripted stream: an empty buffer transfers nothing, successfully and without waiting") {
    script by;
    by.stays_silent();

    run(by, [](scripted_stream& it) -> task<> {
        const io_result<std::size_t> read = co_await it.read_some(mutable_buffer{});
        const io_result<std::size_t> written = co_await it.write_some(const_buffer{});

        CHECK(read.ok());
        CHECK(read.value() == 0);
        CHECK(written.ok());
        CHECK(written.value() == 0);
    });

    CHECK(by.ok());
}

TEST_CASE(
    "a scripted stream: what is begun on a closed end, or was made before, ends with closed") {
    script by;
    by.gives("lost");

    run(by, [](scripted_stream& it) -> task<> {
        std::array<std::byte, 4> space;
        auto read = it.read_some(mutable_buffer{space});
        auto write = it.write_some(bytes_of("late"));
        it.close();
        const io_result<std::size_t> read_after = co_await read;
        const io_result<std::size_t> written_after = co_await write;
        const io_result<std::size_t> read_closed = co_await it.read_some(mutable_buffer{space});
        const io_result<std::size_t> written_closed = co_await write_text(it, "later");

        for (const auto& each : {read_after, written_after, read_closed, written_closed}) {
            CHECK(each.error() == errc::closed);
            CHECK(each.value() == 0);
        }
    });

    says(by, "remains: step 1 of 1, gives \"lost\"");
}

TEST_CASE(
    "a scripted stream: what was stopped before it began, or while it waits, transfers nothing") {
    script by;
    by.gives("kept").waits(1h).expects("sent").ends();

    run(by, [](scripted_stream& it) -> task<> {
        io_result<std::size_t> read;
        const auto tries = [&]() -> task<> {
            std::array<std::byte, 4> space;
            read = co_await it.read_some(mutable_buffer{space});
        };
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(tries());
            co_await group.join();
        };
        co_await with_group(body);
        const std::string kept = co_await read_text(it);
        const io_result<std::size_t> early = co_await with_timeout(1ms, write_text(it, "sent"));
        const io_result<std::size_t> late = co_await write_text(it, "sent");

        CHECK(read.error() == errc::canceled);
        CHECK(read.value() == 0);
        CHECK(kept == "kept");
        CHECK(early.error() == errc::timed_out);
        CHECK(early.value() == 0);
        CHECK(late.value() == 4);
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE(
    "a scripted stream: several reads are served in their order, also when the first is stopped") {
    script by;
    by.waits(10ms).gives("1").gives("2").ends();

    run(by, [](scripted_stream& it) -> task<> {
        std::string order;
        const auto read = [&](char name) -> task<> {
            const std::string got = co_await read_text(it);
            order += name + got;
        };
        const auto given_up = [&]() -> task<> {
            std::array<std::byte, 1> space;
            const auto got = co_await with_timeout(1ms, it.read_some(mutable_buffer{space}));
            CHECK(got.error() == errc::timed_out);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(given_up());
            co_await settle();
            group.spawn(read('a'));
            group.spawn(read('b'));
        };

        co_await with_group(body);

        CHECK(order == "a1b2");
    });

    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE(
    "a scripted stream: a drain ends nothing, and closing ends what is pending with canceled") {
    script by;
    by.stays_silent();

    run(by, [](scripted_stream& it) -> task<> {
        io_result<std::size_t> read;
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 4> space;
            read = co_await it.read_some(mutable_buffer{space});
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            co_await settle();
            group.request_drain();
            co_await settle();
            CHECK(read.ok());
            it.close();
        };

        co_await with_group(body);

        CHECK(read.error() == errc::canceled);
    });

    CHECK(by.ok());
}

namespace {

disposable read_in_frame(scripted_stream& from, mutable_buffer into) {
    static_cast<void>(co_await from.read_some(into));
    FAIL_CHECK("resumed after its end");
}

}  // namespace

TEST_CASE("a scripted stream: a coroutine destroyed while it reads takes no byte with it") {
    script by;
    by.waits(1s).gives("abcd");

    const duration took = run(by, [](scripted_stream& it) -> task<> {
        stop_chain chain;
        io_context& io = *io_context::current();
        const environment surroundings{io, &io, &chain};
        std::array<std::byte, 4> space{};
        const disposable reader = read_in_frame(it, space);
        reader.frame.promise().env = &surroundings;
        gyre::resume(reader.frame);
        std::string got;
        const auto reads = [&]() -> task<> { got = co_await read_text(it); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());  // Behind it.
            co_await settle();
            reader.frame.destroy();
        };

        co_await with_group(body);

        CHECK(got == "abcd");
        CHECK(space == std::array<std::byte, 4>{});
    });

    CHECK(took == 1s);
    CHECK_MESSAGE(by.ok(), by.text());
}

TEST_CASE("algorithms, buffers and erased streams work on a scripted stream as on any other") {
    script by;
    by.gives("one\ntw").gives("o\n").expects("three\n", 2).ends();

    run(by, [](scripted_stream& it) -> task<> {
        any_stream erased{std::move(it)};
        buffered_reader reader{erased, 16};
        const io_result<const_buffer> first = co_await reader.read_until("\n");
        CHECK(text_of(first.value()) == "one\n");
        reader.consume(first.value().size());
        const io_result<const_buffer> second = co_await reader.read_until("\n");
        CHECK(text_of(second.value()) == "two\n");
        reader.consume(second.value().size());
        const io_result<std::size_t> sent = co_await write_all(erased, bytes_of("three\n"));
        CHECK(sent.value() == 6);
        const io_result<const_buffer> end = co_await reader.read_until("\n");
        CHECK(end.error() == errc::eof);
    });

    CHECK_MESSAGE(by.ok(), by.text());
}
