// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/read_all.hpp promises: all of a stream as one text, or what came of it.
#include <gyre/stream/read_all.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/timeout.hpp>
#include <stream/scripted_stream.hpp>
#include <support/harness.hpp>

#include <cstdint>
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

/// Ends never, and says how much it was offered at a time.
class endless {
public:
    task<io_result<std::size_t>> read_some(mutable_buffer into) {
        given += into.size();
        largest = std::max(largest, into.size());
        co_return io_result<std::size_t>{into.size()};
    }

    std::size_t given = 0;
    std::size_t largest = 0;
};

}  // namespace

TEST_CASE("all of a stream is read, however it comes and however large it is") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t size : {0, 1, 16383, 16384, 16385, 100'000, 1'000'000}) {
            const std::string text = some_text(size);
            for (const pace how : {pace::at_once, pace::waits}) {
                const std::vector<std::size_t> pieces(100, 1 + size / 100);
                trickle from{text, pieces, errc::eof, how};

                const io_result<std::string> got = co_await read_all(from, 1'000'000);

                CHECK(got.error() == error{});
                CHECK(got.value() == text);
            }
        }
    });
}

TEST_CASE("as much as is allowed is read, and of one byte more what is allowed") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t size : {0, 1, 5, 16383, 16384, 16385, 32768, 300'000}) {
            const std::string text = some_text(size);
            trickle fits{text, {3, 1}};
            trickle not_quite{text + '!', {3, 1}};

            const io_result<std::string> all = co_await read_all(fits, size);
            const io_result<std::string> part = co_await read_all(not_quite, size);

            CHECK(all.error() == error{});
            CHECK(all.value() == text);
            CHECK(part.error() == errc::limit_exceeded);
            CHECK(part.error().message() == "read: limit exceeded");
            CHECK(part.value() == text);
        }
    });
}

TEST_CASE("a stream that does not end is read no further than is allowed") {
    on_every_backend([](io_context&) -> task<> {
        constexpr std::size_t bytes_max = 3'000'000;
        endless from;

        const io_result<std::string> got = co_await read_all(from, bytes_max);

        CHECK(got.error() == errc::limit_exceeded);
        CHECK(got.value().size() == bytes_max);
        CHECK(from.given == bytes_max + 1);
        CHECK(from.largest <= 256 * 1024);
    });
}

TEST_CASE("no bound is a bound as well") {
    on_every_backend([](io_context&) -> task<> {
        trickle from{"all", {1}};

        const io_result<std::string> got = co_await read_all(from, SIZE_MAX);

        CHECK(got.error() == error{});
        CHECK(got.value() == "all");
    });
}

TEST_CASE("a failure, and a stop, yield what came before them") {
    on_every_backend([](io_context&) -> task<> {
        trickle broken{"torn", {2, 1}, errc::connection_reset};
        memory_pipe silent{100};
        static_cast<void>(co_await silent.first.write_some(bytes_of("begun")));

        const io_result<std::string> torn = co_await read_all(broken, 100);
        const io_result<std::string> begun =
            co_await with_timeout(1ms, read_all(silent.second, 100));

        CHECK(torn.error() == errc::connection_reset);
        CHECK(torn.value() == "torn");
        CHECK(begun.error() == errc::timed_out);
        CHECK(begun.value() == "begun");
    });
}
