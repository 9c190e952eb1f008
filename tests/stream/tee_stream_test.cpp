// SPDX-License-Identifier: BSL-1.0
//
// What is read is in the copy, in order and once, whatever is stopped or fails.
#include <gyre/stream/tee_stream.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/null_stream.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <chrono>
#include <random>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("what is read is in the copy before the read is over") {
    on_every_backend([](io_context&) -> task<> {
        for (const pace how : {pace::at_once, pace::waits}) {
            sink copy{2, 1000, how};
            tee_stream tee{trickle{"abcdefgh", {3}, errc::eof, how}, stream_ref{copy}, 4};
            std::array<std::byte, 8> space{};

            const auto first = co_await tee.read_some(space);
            CHECK(copy.text == "abc");
            const auto second = co_await tee.read_some(space);
            CHECK(copy.text == "abcdefg");
            const auto third = co_await tee.read_some(space);
            const auto end = co_await tee.read_some(space);
            const auto nothing = co_await tee.read_some(mutable_buffer{});

            CHECK(first.value() == 3);
            CHECK(second.value() == 4);
            CHECK(third.value() == 1);
            CHECK(end.error() == errc::eof);
            CHECK(nothing.ok());
            CHECK(copy.text == "abcdefgh");
            CHECK(tee.uncopied() == 0);
        }
    });
}

TEST_CASE("a failure of the copy is told behind the bytes, and nothing is read any more") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"abcdefghijkl", {4, 4, 4}};
        sink copy{3, 6};
        tee_stream tee{stream_ref{source}, stream_ref{copy}, 8};
        std::array<std::byte, 4> space{};

        const auto first = co_await tee.read_some(space);
        const auto second = co_await tee.read_some(space);
        const std::string got{text_of(space)};
        const int reads = source.reads;
        const auto told = co_await tee.read_some(space);
        const auto told_again = co_await tee.read_some(space);
        const int reads_after = source.reads;
        const auto nothing = co_await tee.read_some(mutable_buffer{});

        CHECK(first.value() == 4);
        CHECK(second.ok());
        CHECK(second.value() == 4);
        CHECK(got == "efgh");
        CHECK(tee.copy_failure() == errc::broken_pipe);
        CHECK(tee.uncopied() == 2);
        CHECK(told.error() == errc::broken_pipe);
        CHECK(told.value() == 0);
        CHECK(told_again.error() == errc::broken_pipe);
        CHECK(nothing.ok());
        CHECK(reads_after == reads);
    });
}

TEST_CASE("a failure of the stream is no failure of the copy") {
    on_every_backend([](io_context&) -> task<> {
        tee_stream tee{trickle{"a", {}, errc::connection_reset}, null_stream{}, 8};
        std::array<std::byte, 4> space;

        static_cast<void>(co_await tee.read_some(space));
        const auto failed = co_await tee.read_some(space);

        CHECK(failed.error() == errc::connection_reset);
        CHECK_FALSE(tee.copy_failure());
    });
}

TEST_CASE("a read that is stopped while the copy waits has its bytes, and the copy goes on later") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe copy{2};
        tee_stream tee{trickle{"abcdefgh", {4, 4}}, stream_ref{copy.first}, 8};
        std::array<std::byte, 4> space{};
        std::string copied(4, ' ');

        const auto bytes = co_await with_timeout(1ms, tee.read_some(space));
        const std::string got{text_of(space)};
        const std::size_t uncopied = tee.uncopied();
        const auto stopped = co_await with_timeout(1ms, tee.read_some(space));
        const auto reads = [&]() -> task<> {
            const auto next = co_await tee.read_some(space);
            CHECK(next.value() == 4);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            static_cast<void>(co_await read_exactly(copy.second, copied));
            std::string rest(4, ' ');
            static_cast<void>(co_await read_exactly(copy.second, rest));
            copied += rest;
        };
        co_await with_group(body);

        CHECK(bytes.ok());
        CHECK(bytes.value() == 4);
        CHECK(got == "abcd");
        CHECK(uncopied == 2);
        CHECK(stopped.error() == errc::timed_out);
        CHECK(stopped.value() == 0);
        CHECK_FALSE(tee.copy_failure());
        CHECK(text_of(space) == "efgh");
        CHECK(copied == "abcdefgh");
    });
}

TEST_CASE("whenever reads are stopped, the copy and what was read are the same") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    const auto test = [seed](io_context&) -> task<> {
        std::mt19937 random{seed};
        memory_pipe source{32};
        memory_pipe copy{8};
        tee_stream tee{stream_ref{source.second}, stream_ref{copy.first}, {1, 16}};
        std::string text(20'000, ' ');
        for (char& each : text) each = static_cast<char>('a' + random() % 26);
        std::string received;
        std::string copied;
        const auto moment = [&] { return std::chrono::microseconds{random() % 30}; };
        const auto writes = [&]() -> task<> {
            static_cast<void>(co_await write_all(source.first, bytes_of(text)));
            source.first.shutdown_send();
        };
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 24> space;
            for (;;) {
                const auto got = co_await with_timeout(moment(), tee.read_some(space));
                if (got.error() == errc::eof) break;
                CHECK((got.ok() || got.error() == errc::timed_out));
                received += text_of(std::span{space}.first(got.value()));
            }
            copy.first.shutdown_send();
        };
        const auto drains = [&]() -> task<> {
            std::array<std::byte, 5> space;
            for (;;) {
                const auto got = co_await copy.second.read_some(space);
                if (!got.ok()) co_return;
                copied += text_of(std::span{space}.first(got.value()));
                if (random() % 16 == 0) static_cast<void>(co_await sleep_for(moment()));
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(reads());
            group.spawn(drains());
            co_return;
        };

        co_await with_group(body);

        CHECK(received == text);
        CHECK(copied == text);
    };
    on_every_backend(test);
}

namespace {

struct reads_teed : needs_no_loop {
    static constexpr const char* name = "tee_stream::read_some";
    using needs_no_loop::needs_no_loop;

    auto wait() { return tee.read_some(space); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    tee_stream<stream_ref<memory_stream>, null_stream> tee{pipe.first, {}, 8};
    std::array<std::byte, 4> space;
};

}  // namespace

TEST_CASE("a tee that waits for its stream is canceled by a stop") {
    check_stopped_before_start<reads_teed>();
    check_stopped_while_pending<reads_teed>();
    check_stopped_then_woken<reads_teed>();
}
