// SPDX-License-Identifier: BSL-1.0
//
// When the tick after this one is due: see include/gyre/sync/interval.hpp.
#include <gyre/sync/interval.hpp>

namespace gyre {

time_point interval::take(time_point now) noexcept {
    const time_point due = next_;
    next_ = deadline_after(due, period_);
    if (next_ > now) return due;
    switch (missed_) {
        case missed_ticks::burst: break;
        case missed_ticks::delay: next_ = deadline_after(now, period_); break;
        case missed_ticks::skip: {
            // NOLINTNEXTLINE(readability-suspicious-call-argument): how late it is.
            const duration late = time_left(now, due);
            next_ = deadline_after(now, period_ - late % period_);
            break;
        }
    }
    return due;
}

}  // namespace gyre
