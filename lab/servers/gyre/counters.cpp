// SPDX-License-Identifier: BSL-1.0
//
// Asks the loop of the coroutine that awaits it.
#include <lab/servers/gyre/counters.hpp>
#include <lab/servers/gyre/server.hpp>

gyre::task<> servers::tell_counters() {
    const auto told = co_await gyre::immediate{[](gyre::io_context& loop) noexcept {
        loop_figures all;
        all.add(loop);
        all.tell();
        tell("blocks_made", loop.receive_memory().blocks_made);
        return gyre::io_result<>{};
    }};
    static_cast<void>(told);
}
