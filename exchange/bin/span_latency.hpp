// SPDX-License-Identifier: BSL-1.0
//
// How long what comes in stays inside a facility: from when the first bytes are in memory until the
// kernel has the last byte of all that was derived from them.
#pragma once

#include <exchange/management/latency_histogram.hpp>
#include <exchange/net/application/span_observer.hpp>

#include <chrono>

namespace exchange {

/// Counts one span after the other. One in which several clients are served is one span, as long as the
/// longest.
///
/// Threads:  that of the facility's context.
/// Cost:     two readings of the clock for a span.
class span_latency final : public span_observer {
public:
    void received() noexcept override {
        if (open_) return;
        open_ = true;
        worked_ = false;
        begun_ = std::chrono::steady_clock::now();
    }
    void carried_out() noexcept override { worked_ = true; }
    void written() noexcept override {
        if (open_ && worked_) seen_.record(std::chrono::steady_clock::now() - begun_);
        open_ = false;
    }

    [[nodiscard]] const latency_histogram& seen() const noexcept { return seen_; }

private:
    latency_histogram seen_;
    std::chrono::steady_clock::time_point begun_;
    bool open_ = false;
    bool worked_ = false;  // Something was carried out in it.
};

}  // namespace exchange
