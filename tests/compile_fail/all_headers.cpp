// SPDX-License-Identifier: BSL-1.0
//
// All headers together compile without a warning, those included that programs may ask for beside ours.
//
// needs Boost.Asio
#include <gyre/gyre.hpp>
#include <gyre/interop/asio.hpp>
#include <gyre/interop/callbacks.hpp>
#include <gyre/interop/future.hpp>
#include <gyre/interop/springboard.hpp>

gyre::task<> everything(gyre::io_context& loop, gyre::tcp_socket& peer, gyre::task_group& group) {
    gyre::strand one_at_a_time{loop};
    co_await gyre::on(one_at_a_time, []() -> gyre::task<> { co_return; }());
    group.spawn([]() -> gyre::task<> { co_return; });
    auto [first, second] =
        co_await gyre::when_all(gyre::sleep_for(std::chrono::seconds{1}), peer.read());
    if (first.ok() && second.ok()) co_await gyre::yield();
}
