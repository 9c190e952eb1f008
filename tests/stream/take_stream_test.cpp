// SPDX-License-Identifier: BSL-1.0
//
// So many bytes and not one more, wherever the stream ends.
#include <gyre/stream/take_stream.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/null_stream.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <string>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("a take ends behind its bytes, and leaves the next ones to the stream") {
    on_every_backend([](io_context&) -> task<> {
        trickle source{"bodynext", {3}};
        take_stream body{stream_ref{source}, 4};
        std::array<std::byte, 8> space;

        const auto first = co_await body.read_some(space);
        const auto second = co_await body.read_some(space);
        const auto end = co_await body.read_some(space);
        const auto nothing = co_await body.read_some(mutable_buffer{});
        const int reads = source.reads;
        const auto next = co_await source.read_some(space);

        CHECK(first.value() == 3);
        CHECK(second.value() == 1);
        CHECK(end.error() == errc::eof);
        CHECK(end.value() == 0);
        CHECK(nothing.ok());
        CHECK(body.left() == 0);
        CHECK(reads == 3);
        CHECK(text_of(std::span{space}.first(next.value())) == "next");
    });
}

TEST_CASE("a stream that ends before its time tells how much was missing") {
    on_every_backend([](io_context&) -> task<> {
        take_stream body{trickle{"abc", {}}, 5};
        sink copied{8};

        const auto count = co_await copy(body, copied);

        CHECK(count.value() == 3);
        CHECK(body.left() == 2);
    });
}

TEST_CASE("a take of nothing is empty, and lets others have their turn") {
    on_every_backend([](io_context&) -> task<> {
        std::array<std::byte, 8> space;
        take_stream none{zero_stream{}, 0};

        const auto end = co_await none.read_some(space);
        CHECK(end.error() == errc::eof);
        co_await check_gives_way([&] { return none.read_some(space); });
    });
}

namespace {

struct reads_a_part : needs_no_loop {
    static constexpr const char* name = "take_stream::read_some";
    using needs_no_loop::needs_no_loop;

    auto wait() { return part.read_some(space); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    take_stream<stream_ref<memory_stream>> part{pipe.first, 4};
    std::array<std::byte, 4> space;
};

}  // namespace

TEST_CASE("a take that waits is canceled by a stop, before it begins and while it waits") {
    check_stopped_before_start<reads_a_part>();
    check_stopped_while_pending<reads_a_part>();
    check_stopped_then_woken<reads_a_part>();
}
