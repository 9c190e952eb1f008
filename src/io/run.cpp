// SPDX-License-Identifier: BSL-1.0
//
// How programs end: see include/gyre/io/run.hpp.
#include <gyre/io/run.hpp>

#include <gyre/coro/task_dump.hpp>
#include <gyre/runtime/pool_dump.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <csignal>
#include <cstdio>
#include <string>

namespace gyre {

program::program(const run_options& options) noexcept : options_{options}, loop_{options.loop} {
    io_result<signal_set> opened = signal_set::open(loop_, {SIGINT, SIGTERM});
    signals_status_ = opened.error();
    signals_ = opened.take();
    if (options.dump_signal == 0) return;
    io_result<signal_set> for_dumps = signal_set::open(loop_, {options.dump_signal});
    dump_signals_status_ = for_dumps.error();
    dump_signals_ = for_dumps.take();
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
        signals_.exit_on_second(options_.signal_gap);
        watcher_ = launch(loop_, watch(std::move(target)), or_terminate{});
    }
    if (dump_signals_status_) {
        std::fprintf(stderr, "gyre: %s; signal %d will print nothing\n",
                     dump_signals_status_.message().c_str(), options_.dump_signal);
    } else if (options_.dump_signal != 0) {
        dumper_ = launch(loop_, dump_at_signals(), or_terminate{});
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

task<> program::dump_at_signals() {
    for (;;) {
        const io_result<int> signal = co_await dump_signals_.wait();
        if (!signal.ok()) co_return;
        std::fprintf(stderr, "gyre: waiting coroutines:\n%s", dump_tasks(loop_).c_str());
        if (options_.dump_pool == nullptr) continue;
        const std::string of_pool = co_await dump_tasks(*options_.dump_pool);
        std::fprintf(stderr, "gyre: waiting coroutines of the pool:\n%s", of_pool.c_str());
    }
}

int program::exit_status(error failed) noexcept {
    if (!failed || failed == errc::canceled) return 0;
    std::fprintf(stderr, "gyre: %s\n", failed.message().c_str());
    return 1;
}

}  // namespace gyre
