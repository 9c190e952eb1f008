// SPDX-License-Identifier: BSL-1.0
//
// Who has been silent for how long: the two timers that both sides of a SoupBinTCP session keep.
//
// A side that has sent nothing for a second sends a heartbeat, and one that has heard nothing for
// fifteen gives the connection up. The caller tells the time.
#pragma once

#include <exchange/codec/soup_packet.hpp>

#include <algorithm>

namespace exchange {

/// Threads:  One at a time.  Cost:  None.
class soup_liveness {
public:
    soup_liveness(const soup_options& options, gyre::time_point now) noexcept
        : heartbeat_after_{options.heartbeat_after}, dead_after_{options.dead_after} {
        sent(now);
        heard(now);
    }

    void sent(gyre::time_point now) noexcept {
        heartbeat_due_ = gyre::deadline_after(now, heartbeat_after_);
    }
    void heard(gyre::time_point now) noexcept { dead_at_ = gyre::deadline_after(now, dead_after_); }

    [[nodiscard]] bool heartbeat_due(gyre::time_point now) const noexcept {
        return now >= heartbeat_due_;
    }
    [[nodiscard]] bool peer_is_dead(gyre::time_point now) const noexcept { return now >= dead_at_; }

    /// When one of the two will be due.
    [[nodiscard]] gyre::time_point deadline() const noexcept {
        return std::min(heartbeat_due_, dead_at_);
    }

private:
    gyre::duration heartbeat_after_;
    gyre::duration dead_after_;
    gyre::time_point heartbeat_due_;
    gyre::time_point dead_at_;
};

}  // namespace exchange
