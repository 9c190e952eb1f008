// SPDX-License-Identifier: BSL-1.0
//
// Nothing, for ever: ends, zeros, and a sink without a bottom.
#include <gyre/stream/null_stream.hpp>

#include <gyre/stream/algorithms.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <string>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("nothing has ended from the beginning, and takes all that is written") {
    on_every_backend([](io_context&) -> task<> {
        null_stream nothing;
        std::array<std::byte, 4> space;
        const std::string text(100'000, 'x');

        const auto end = co_await nothing.read_some(space);
        const auto empty = co_await nothing.read_some(mutable_buffer{});
        const auto put = co_await nothing.write_some(bytes_of(text));

        CHECK(end.error() == errc::eof);
        CHECK(end.value() == 0);
        CHECK(empty.ok());
        CHECK(put.value() == text.size());
    });
}

TEST_CASE("zeros fill whatever is read into") {
    on_every_backend([](io_context&) -> task<> {
        zero_stream zeros;
        std::array<std::byte, 4> space;
        space.fill(std::byte{9});

        const auto got = co_await zeros.read_some(std::span{space}.first(3));
        const auto put = co_await zeros.write_some(bytes_of("xy"));

        CHECK(got.value() == 3);
        CHECK(space == std::array{std::byte{}, std::byte{}, std::byte{}, std::byte{9}});
        CHECK(put.value() == 2);
    });
}

TEST_CASE("what never waits lets others have their turn") {
    on_every_backend([](io_context&) -> task<> {
        std::array<std::byte, 4> space;

        co_await check_gives_way([&] { return null_stream{}.read_some(space); });
        co_await check_gives_way([&] { return null_stream{}.write_some(space); });
        co_await check_gives_way([&] { return zero_stream{}.read_some(space); });
    });
}

namespace {

struct reads_zeros : needs_no_loop {
    static constexpr const char* name = "zero_stream::read_some";
    using needs_no_loop::needs_no_loop;

    auto wait() { return zero_stream{}.read_some(space); }

    std::array<std::byte, 4> space;
};

struct writes_to_nothing : needs_no_loop {
    static constexpr const char* name = "null_stream::write_some";
    using needs_no_loop::needs_no_loop;

    auto wait() { return null_stream{}.write_some(bytes_of("x")); }
};

}  // namespace

TEST_CASE("what could be done at once is not begun once stopped") {
    check_stopped_before_start<reads_zeros>();
    check_stopped_before_start<writes_to_nothing>();
}
