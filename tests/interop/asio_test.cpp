// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/asio.hpp brings, all at once: every crossing of the border in one conversation.
#include <interop/asio_threads.hpp>

#include <gyre/interop/callbacks.hpp>
#include <gyre/sync/sleep.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("a callback, an Asio timer, a springboard and an Asio operation meet in one task") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        asio_guest guest{host, loop};
        std::string story;

        const auto called = [&](int times) -> springboard<int> {
            co_await yield();
            co_return times + 1;
        };
        const auto all_of_it = [&]() -> task<io_result<int>> {
            asio::steady_timer timer{host, 1ms};
            const auto waited = co_await timer.async_wait(use_io_result);
            story += waited.ok() ? "timer " : "? ";
            const auto start = [&](callback<int> done) {
                asio::post(host, [&, done = std::move(done)]() mutable {
                    called(1).call(loop, std::move(done));  // A callback is a handler, too.
                });
            };
            const auto twice = co_await from_callback<int>(start);
            story += twice.value() == 2 ? "callback " : "? ";
            co_return twice;
        };
        async_run(guest, all_of_it(), [&](boost::system::error_code failure, int value) {
            story += !failure && value == 2 ? "operation" : "?";
        });
        host.run_for(patience);
        CHECK(story == "timer callback operation");
    });
}
