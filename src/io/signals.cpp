// SPDX-License-Identifier: BSL-1.0
//
// The wait of include/gyre/io/signals.hpp.
#include <gyre/io/signals.hpp>

#include <gyre/sync/sleep.hpp>

#include <poll.h>

#include <chrono>

namespace gyre {
namespace {

constexpr duration retry_pause = std::chrono::milliseconds{100};

bool is_shortage(error failed) noexcept {
    return failed == errc::not_enough_memory || failed == errc::no_buffer_space ||
           failed == errc::no_space_on_device || failed == errc::resource_unavailable;
}

struct finish_signal_wait {
    [[nodiscard]] std::int32_t prepare(operation&, io_context&) const noexcept { return 0; }
    [[nodiscard]] io_result<> operator()(const operation& op) const noexcept {
        return op.result < 0 ? error::from_errno(-op.result, activity::signal) : error{};
    }
};

}  // namespace

io_result<signal_set> signal_set::open(io_context& on, std::initializer_list<int> signals) {
    io_result<signal_subscription> opened = signal_subscription::open(on, signals);
    if (!opened.ok()) return opened.error();
    signal_set made;
    made.subscription_ = opened.take();
    return io_result<signal_set>{std::move(made)};
}

task<io_result<int>> signal_set::wait_for(signal_subscription::delivery from) {
    if (!from.event.lasts()) co_return error{errc::closed, activity::signal};
    for (;;) {
        if (!from.hears()) co_return error{errc::closed, activity::signal};
        if (const int signal = from.take(); signal != 0) co_return io_result<int>{signal};
        submission<wait_ready_operation, finish_signal_wait> waiting{from.event,
                                                                     wait_ready_operation{POLLIN}};
        const io_result<> ready = co_await waiting;
        if (!ready.ok()) {
            if (!is_shortage(ready.error())) co_return ready.error();
            const io_result<> paused = co_await sleep_for(retry_pause);
            if (!paused.ok()) co_return paused.error();
        }
        // The set has gone, and its signals with it.
        if (!from.event.lasts()) co_return error{errc::canceled, activity::signal};
    }
}

}  // namespace gyre
