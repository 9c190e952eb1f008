// SPDX-License-Identifier: BSL-1.0
//
// See the header: the two clocks of the machine.
#include <exchange/net/application/sequencer_clock.hpp>

#include <chrono>

namespace exchange {
namespace {

template <class Clock>
timestamp_ns nanoseconds_of() noexcept {
    const auto since = Clock::now().time_since_epoch();
    return static_cast<timestamp_ns>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace

timestamp_ns wall_time() noexcept { return nanoseconds_of<std::chrono::system_clock>(); }

timestamp_ns steady_time() noexcept { return nanoseconds_of<std::chrono::steady_clock>(); }

}  // namespace exchange
