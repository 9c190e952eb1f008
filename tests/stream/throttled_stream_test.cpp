// SPDX-License-Identifier: BSL-1.0
//
// Not faster than the limiter, not less than the stream, and what is owed is not forgotten.
#include <gyre/stream/throttled_stream.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/null_stream.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <chrono>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// A byte each 10 microseconds, ten at once.
constexpr rate_limit slow{100'000, 1s, 10};

/// No token in a test's time once the first ten are gone.
constexpr rate_limit hardly_any{1, 1h, 10};

}  // namespace

TEST_CASE("bytes come no faster than the limiter allows, and all of them") {
    on_every_backend([](io_context& io) -> task<> {
        rate_limiter limiter{io, slow};
        const std::string text(500, 'x');
        throttled_stream source{trickle{text, {}}, {.reads = &limiter}};
        sink into{100};
        const time_point begun = io.read_clock();

        const auto count = co_await copy(source, into);

        // The bucket grants ten at once, and what is read last need not be granted yet.
        CHECK(count.value() == 500);
        CHECK(into.text == text);
        CHECK(io.read_clock() - begun >= 480 * 10us);
    });
}

TEST_CASE("bytes go no faster than the limiter allows, and all of them") {
    on_every_backend([](io_context& io) -> task<> {
        rate_limiter limiter{io, slow};
        const std::string text(500, 'x');
        sink target{1000};
        throttled_stream into{stream_ref{target}, {.writes = &limiter}};
        const time_point begun = io.read_clock();

        const auto put = co_await write_all(into, bytes_of(text));

        CHECK(put.value() == 500);
        CHECK(target.text == text);
        CHECK(target.writes == 50);
        CHECK(io.read_clock() - begun >= 480 * 10us);
    });
}

TEST_CASE("a direction without a limiter is as fast as its stream") {
    on_every_backend([](io_context& io) -> task<> {
        rate_limiter limiter{io, hardly_any};
        memory_pipe pipe{64};
        throttled_stream near{stream_ref{pipe.first}, {.reads = &limiter}};
        std::string received(60, ' ');

        const auto put = co_await write_all(near, bytes_of(std::string(60, 'x')));
        const auto got = co_await read_exactly(pipe.second, received);

        CHECK(put.ok());
        CHECK(got.ok());
    });
}

TEST_CASE("what is owed stays owed when a stop ends the wait, and no byte is lost") {
    on_every_backend([](io_context& io) -> task<> {
        rate_limiter none_left{io, hardly_any};
        trickle source{"0123456789abcdefghij", {}};
        throttled_stream reads{stream_ref{source}, {.reads = &none_left}};
        std::array<std::byte, 20> space{};

        const auto first = co_await reads.read_some(space);
        const auto second = co_await reads.read_some(std::span{space}.subspan(10));
        const auto nothing = co_await reads.read_some(mutable_buffer{});
        const auto stopped = co_await with_timeout(1ms, reads.read_some(space));
        const auto stopped_again = co_await with_timeout(1ms, reads.read_some(space));

        CHECK(first.value() == 10);
        CHECK(second.value() == 10);
        CHECK(text_of(space) == "0123456789abcdefghij");
        CHECK(nothing.ok());
        CHECK(stopped.error() == errc::timed_out);
        CHECK(stopped.value() == 0);
        CHECK(stopped_again.error() == errc::timed_out);
        CHECK(none_left.available() == 0);
        CHECK(source.reads == 3);
    });
}

TEST_CASE("only bytes that were transferred are paid for") {
    on_every_backend([](io_context& io) -> task<> {
        rate_limiter limiter{io, hardly_any};
        throttled_stream ended{null_stream{}, {.reads = &limiter}};
        std::array<std::byte, 8> space;

        for (int time = 0; time < 100; ++time) {
            const auto end = co_await ended.read_some(space);
            CHECK(end.error() == errc::eof);
        }

        CHECK(limiter.available() == 10);
    });
}

TEST_CASE("streams that share a limiter share its rate") {
    on_every_backend([](io_context& io) -> task<> {
        rate_limiter limiter{io, hardly_any};
        throttled_stream one{zero_stream{}, {.reads = &limiter}};
        throttled_stream other{zero_stream{}, {.reads = &limiter}};
        std::array<std::byte, 6> space;

        static_cast<void>(co_await one.read_some(space));
        static_cast<void>(co_await other.read_some(space));
        const auto paid = co_await with_timeout(1ms, one.read_some(space));
        const auto unpaid = co_await with_timeout(1ms, other.read_some(space));

        CHECK(paid.value() == 6);
        CHECK(unpaid.error() == errc::timed_out);
    });
}

namespace {

struct reads_throttled {
    static constexpr const char* name = "throttled_stream::read_some";
    explicit reads_throttled(io_context& io) : limiter{io, hardly_any} {}

    task<io_result<std::size_t>> wait() {
        io_result<std::size_t> got;
        for (int time = 0; time < 3 && got.ok(); ++time) got = co_await zeros.read_some(space);
        co_return got;
    }

    rate_limiter limiter;
    throttled_stream<zero_stream> zeros{{}, {.reads = &limiter}};
    std::array<std::byte, 8> space;
};

}  // namespace

TEST_CASE("a throttled read that waits for tokens is canceled by a stop") {
    check_stopped_before_start<reads_throttled>();
    check_stopped_while_pending<reads_throttled>();
}

TEST_CASE("a throttled message keeps other writers off from its first piece to its last") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        rate_limiter limiter{io, hardly_any};
        throttled_stream near{stream_ref{client}, {.writes = &limiter}};
        std::array<std::byte, 64> space{};
        io_result<std::size_t> other{errc::malformed};
        const auto write_between = [&]() -> task<io_result<>> {
            co_await settle();
            other = co_await client.write_some(bytes_of("x"));
            co_return errc::eof;  // Ends the message, which would take ten hours.
        };

        const auto both = co_await when_all(
            write_all(near, bytes_of("a message in so many pieces")), write_between());
        const auto after = co_await client.write_some(bytes_of("!"));
        const auto got = co_await server.read_some(space);

        const io_result<std::size_t>& message = std::get<0>(both);
        CHECK(message.error() == errc::canceled);
        CHECK(message.value() == 20);  // Ten, paid for with what the bucket had, and ten.
        CHECK(other.error() == errc::busy);
        CHECK(after.ok());
        CHECK(text_of(const_buffer{space}.first(got.value())) == "a message in so many!");
    });
}
