// SPDX-License-Identifier: BSL-1.0
//
// Waiting for a signal or for the end of waiting: see signal_set.hpp.
#include <exchange/net/gyre/signal_set.hpp>

#include <gyre/sync/when_any.hpp>

#include <tuple>
#include <utility>

namespace exchange {

using gyre::io_result;
using gyre::task;

io_result<gyre_signal_set> gyre_signal_set::open(gyre::io_context& on,
                                                 std::initializer_list<int> signals) {
    io_result<gyre::signal_set> opened = gyre::signal_set::open(on, signals);
    if (!opened.ok()) return opened.error();
    gyre_signal_set made;
    made.signals_ = opened.take();
    made.canceled_ = std::make_unique<gyre::event>();
    return io_result<gyre_signal_set>{std::move(made)};
}

task<io_result<int>> gyre_signal_set::wait() {
    canceled_->reset();
    auto ended = co_await gyre::when_any(signals_.wait(), canceled_->wait());
    // Whichever was first: a signal that came in the same moment is no less a signal.
    co_return std::get<0>(ended.results);
}

void gyre_signal_set::cancel() noexcept { canceled_->set(); }

}  // namespace exchange
