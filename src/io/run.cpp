// SPDX-License-Identifier: BSL-1.0
//
// How programs end: see include/gyre/io/run.hpp.
#include <gyre/io/run.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <csignal>
#include <cstdio>

namespace gyre {

program::program(const run_options& options) noexcept : options_{options}, loop_{options.loop} {
    io_result<signal_set> opened = signal_set::open(loop_, {SIGINT, SIGTERM});
    signals_status_ = opened.error();
    signals_ = opened.take();
}

bool program::can_run() const noexcept {
    const error failed = loop_.status();
    if (!failed) return true;
    std::fprintf(stderr, "gyre: %s: %s\n", failed.message().c_str(),
                 loop_.backend().reason.c_str());
    return false;
}

void program::run_watched(stop_handle target) {
    if (signals_status_) {
        std::fprintf(stderr, "gyre: %s; a signal will end the process at once\n",
                     signals_status_.message().c_str());
    } else {
        signals_.exit_on_second();
        watcher_ = launch(loop_, watch(std::move(target)), or_terminate{});
    }
    loop_.run();
}

task<> program::watch(stop_handle target) {
    const io_result<int> first = co_await signals_.wait();
    if (!first.ok()) co_return;
    target.request_drain();

    const io_result<> grace_over = co_await sleep_for(options_.grace);
    if (grace_over.ok()) target.request_stop();
}

int program::exit_status(error failed) noexcept {
    if (!failed || failed == errc::canceled) return 0;
    std::fprintf(stderr, "gyre: %s\n", failed.message().c_str());
    return 1;
}

}  // namespace gyre
