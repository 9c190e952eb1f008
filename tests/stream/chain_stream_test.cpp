// SPDX-License-Identifier: BSL-1.0
//
// One stream after another: in order, each to its end, and errors of neither hidden.
#include <gyre/stream/chain_stream.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/null_stream.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/stream/take_stream.hpp>
#include <stream/scripted_stream.hpp>

#include <support/harness.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <string>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("what is chained is read in order, whatever kind of streams they are") {
    on_every_backend([](io_context&) -> task<> {
        for (const pace how : {pace::at_once, pace::waits}) {
            memory_pipe pipe{8};
            static_cast<void>(co_await pipe.first.write_some(bytes_of("middle ")));
            pipe.first.shutdown_send();
            chain_stream rest{stream_ref{pipe.second}, trickle{"end", {1, 1}, errc::eof, how}};
            chain_stream all{trickle{"begin ", {2, 3}, errc::eof, how}, std::move(rest)};
            sink into{100};
            std::array<std::byte, 4> space;

            const auto count = co_await copy(all, into, space);
            const auto again = co_await all.read_some(space);

            CHECK(count.value() == 16);
            CHECK(into.text == "begin middle end");
            CHECK(again.error() == errc::eof);
        }
    });
}

TEST_CASE("a failure of the first is told, and is not its end") {
    on_every_backend([](io_context&) -> task<> {
        trickle second{"second", {}};
        chain_stream all{trickle{"a", {}, errc::connection_reset}, stream_ref{second}};
        std::array<std::byte, 4> space;

        const auto bytes = co_await all.read_some(space);
        const auto failed = co_await all.read_some(space);
        const auto still = co_await all.read_some(space);

        CHECK(bytes.value() == 1);
        CHECK(failed.error() == errc::connection_reset);
        CHECK(still.error() == errc::connection_reset);
        CHECK(second.reads == 0);
    });
}

TEST_CASE("a chain that is never empty lets others have their turn") {
    on_every_backend([](io_context&) -> task<> {
        std::array<std::byte, 1> space;
        chain_stream zeros{null_stream{}, zero_stream{}};
        chain_stream letters{null_stream{}, trickle{std::string(2'000'000, 'x'), {}}};

        co_await check_gives_way([&] { return zeros.read_some(space); });
        co_await check_gives_way([&] { return letters.read_some(space); });
    });
}

namespace {

struct reads_second : needs_no_loop {
    static constexpr const char* name = "chain_stream::read_some";
    using needs_no_loop::needs_no_loop;

    auto wait() { return chain.read_some(space); }
    void wake() { pipe.second.close(); }

    memory_pipe pipe{1};
    chain_stream<null_stream, stream_ref<memory_stream>> chain{{}, pipe.first};
    std::array<std::byte, 4> space;
};

}  // namespace

TEST_CASE("a chain that waits is canceled by a stop, before it begins and while it waits") {
    check_stopped_before_start<reads_second>();
    check_stopped_while_pending<reads_second>();
    check_stopped_then_woken<reads_second>();
}
