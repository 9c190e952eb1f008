// SPDX-License-Identifier: BSL-1.0
//
// A bucket that fills with tokens: the arithmetic of rates, without a loop or a wait.
//
// rate_limiter.hpp waits for tokens by it; a table with a bucket for each peer (io/peer_limits.hpp) keeps
// no more than these sixteen bytes for each. Fractions of a token are kept, so a count is exact at any rate.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/time.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace gyre {

/// `tokens` in each `per`, of which `burst` may be taken at once after a rest.
struct rate_limit {
    std::uint64_t tokens;
    duration per;
    std::uint64_t burst;
};

/// Such a rate in units of which a nanosecond brings `gain` and a token is `price`: both whole numbers, so
/// that nothing is rounded.
class token_rate {
public:
    /// @param  limit  Nothing in it is zero, and `burst` times `per` in nanoseconds fits into 63 bits: at
    ///                a second nine thousand million tokens.
    explicit token_rate(const rate_limit& limit) noexcept
        : gain_{limit.tokens},
          price_{static_cast<std::uint64_t>(limit.per.count())},
          burst_{limit.burst} {
        constexpr std::uint64_t units_max = std::numeric_limits<std::int64_t>::max();
        expects(limit.tokens > 0 && limit.per > duration::zero() && limit.burst > 0,
                "a rate is some tokens in some time, and at least one of them at once");
        expects(burst_ <= units_max / price_ && gain_ <= units_max,
                "the rate or the burst is too large to be counted exactly");
    }

    [[nodiscard]] std::uint64_t gain() const noexcept { return gain_; }
    [[nodiscard]] std::uint64_t price() const noexcept { return price_; }
    [[nodiscard]] std::uint64_t burst() const noexcept { return burst_; }

private:
    std::uint64_t gain_;
    std::uint64_t price_;
    std::uint64_t burst_;
};

/// What one bucket holds. Always asked with the same rate; a time before the last look counts as that.
class token_bucket {
public:
    /// Full.
    token_bucket(const token_rate& at, time_point now) noexcept
        : credit_{at.burst() * at.price()}, filled_{now} {}

    /// What has come in since the last look.
    void refill(const token_rate& at, time_point now) noexcept {
        const auto passed = static_cast<std::uint64_t>(time_left(now, filled_).count());
        const std::uint64_t missing = at.burst() * at.price() - credit_;
        // Compared first, so that the product cannot overflow.
        credit_ += passed > missing / at.gain() ? missing : passed * at.gain();
        if (now > filled_) filled_ = now;
    }

    /// Takes `tokens`, at most a burst, if there are so many now.
    [[nodiscard]] bool take(const token_rate& at, time_point now, std::uint64_t tokens) noexcept {
        refill(at, now);
        if (credit_ < tokens * at.price()) return false;
        credit_ -= tokens * at.price();
        return true;
    }

    /// Puts back `tokens` that were taken and not used, as far as there is room for them.
    void give_back(const token_rate& at, std::uint64_t tokens) noexcept {
        credit_ += std::min(tokens * at.price(), at.burst() * at.price() - credit_);
    }

    /// When there will be `tokens`, which is the last look if there were.
    [[nodiscard]] time_point ready_at(const token_rate& at, std::uint64_t tokens) const noexcept {
        const std::uint64_t wanted = tokens * at.price();
        if (wanted <= credit_) return filled_;
        return deadline_after(filled_, duration{(wanted - credit_ + at.gain() - 1) / at.gain()});
    }

    /// Whole tokens at the last look.
    [[nodiscard]] std::uint64_t available(const token_rate& at) const noexcept {
        return credit_ / at.price();
    }

    /// Whether nothing was missing at the last look.
    [[nodiscard]] bool full(const token_rate& at) const noexcept {
        return credit_ == at.burst() * at.price();
    }

private:
    std::uint64_t credit_;  // Invariant: at most the burst's worth.
    time_point filled_;     // When `credit_` was right.
};

}  // namespace gyre
