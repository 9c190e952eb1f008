// SPDX-License-Identifier: BSL-1.0
//
// Knows when all that was derived has been written, so that an observer hears of the same moments whichever
// pipeline it observes.
//
// A batch is answered by several writers: its own connection's, others', the feed's. Each tells this.
#pragma once

#include <exchange/net/application/span_observer.hpp>

#include <cstdint>

namespace exchange {

/// Threads:  that of the facility's context.
class span_watch {
public:
    /// @param  observer  Borrowed, or null.
    explicit span_watch(span_observer* observer) noexcept : observer_{observer} {}

    void received() noexcept {
        if (observer_ == nullptr) return;
        observing_ = true;
        observer_->received();
    }
    void carried_out() noexcept {
        if (observer_ == nullptr) return;
        observing_ = true;  // A batch of several turns is written several times.
        observer_->carried_out();
    }

    /// One connection more, or one less, has output that is not written yet.
    void note_unwritten() noexcept { ++unwritten_; }
    void note_clean() noexcept { --unwritten_; }

    /// A writer is through, and so is the feed.
    void note_written() noexcept {
        if (observer_ == nullptr || !observing_ || unwritten_ > 0) return;
        observing_ = false;
        observer_->written();
    }

private:
    span_observer* observer_;
    std::uint64_t unwritten_ = 0;  // Connections with output.
    bool observing_ = false;       // Received or carried out since all was written?
};

}  // namespace exchange
