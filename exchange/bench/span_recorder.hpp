// SPDX-License-Identifier: BSL-1.0
//
// A pipeline's own account of itself (span_observer.hpp), as the record that is evaluated.
//
// The pipeline says that bytes came and that all was written; how many messages that were, the host
// knows. Each of the two moments costs one reading of the clock, the same for every contender.
#pragma once

#include <exchange/bench/span_log.hpp>
#include <exchange/net/application/order_entry_host.hpp>
#include <exchange/net/application/span_observer.hpp>

#include <chrono>
#include <cstdint>

namespace exchange::bench {

/// Threads:  one at a time, that of the facility.
class span_recorder final : public span_observer {
public:
    /// @param  host  Borrowed. Commands that it has carried out already are not of the load.
    /// @param  spans    Borrowed.
    span_recorder(const order_entry_host& host, span_log& spans) noexcept
        : host_{host}, spans_{spans}, told_{host.counts().commands} {}

    void received() noexcept override {
        tell();  // What came before this was received before this.
        received_at_ = std::chrono::steady_clock::now();
    }

    void carried_out() noexcept override {}

    void written() noexcept override {
        tell();
        spans_.flushed(std::chrono::steady_clock::now());
    }

private:
    void tell() noexcept {
        const std::uint64_t carried_out = host_.counts().commands;
        spans_.received(received_at_, carried_out - told_);
        told_ = carried_out;
    }

    const order_entry_host& host_;
    span_log& spans_;
    std::uint64_t told_;
    gyre::time_point received_at_{};
};

}  // namespace exchange::bench
