// SPDX-License-Identifier: BSL-1.0
//
// Drawing delays: see include/gyre/io/backoff.hpp.
#include <gyre/io/backoff.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/io_context.hpp>

#include <algorithm>

namespace gyre {

backoff::backoff(const backoff_options& options) noexcept : options_{options} {
    expects(options.first > duration::zero() && options.most >= options.first,
            "delays that are above 0, and a longest that is no shorter than the first");
    if (options.seed) {
        state_ = *options.seed;
        seeded_ = true;
    }
    reset();
}

void backoff::reset() noexcept {
    failures_ = 0;
    span_ = options_.first;
}

duration backoff::next() noexcept {
    constexpr int growth = 2;
    constexpr int spread = 3;
    ++failures_;
    if (options_.how == jitter::decorrelated) {
        span_ = draw(options_.first, times(span_, spread, options_.most));
        return span_;
    }
    const duration span = span_;
    span_ = times(span_, growth, options_.most);
    return options_.how == jitter::none ? span : draw(duration::zero(), span);
}

duration backoff::times(duration span, int factor, duration most) noexcept {
    return span > most / factor ? most : span * factor;
}

// splitmix64: any seed will do, and 2^64 numbers come before the first one again.
duration backoff::draw(duration least, duration most) noexcept {
    if (!seeded_) {
        io_context* const on = io_context::current();
        expects(on != nullptr, "a backoff without a seed draws its first delay on a loop");
        state_ = on->host().entropy();
        seeded_ = true;
    }
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    mixed ^= mixed >> 31;
    const double share = static_cast<double>(mixed >> 11) * 0x1p-53;  // In [0, 1).
    const auto width = static_cast<double>((most - least).count());
    return std::min(most, least + duration{static_cast<duration::rep>(share * width)});
}

}  // namespace gyre
