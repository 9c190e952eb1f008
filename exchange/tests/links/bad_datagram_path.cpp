// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/links/bad_datagram_path.hpp>

#include <algorithm>
#include <utility>

namespace exchange::testing {

void bad_datagram_path::take(std::span<const std::byte> datagram, gyre::time_point now) {
    ++counts_.taken;
    if (calm_) return hold(datagram, now);
    if (is_dropped()) {
        ++counts_.dropped;
        return;
    }
    const bool late = falls(faults_.delay_one_in);
    hold(datagram, late ? now + some_of(faults_.delay_max, dice_) : now);
    if (!falls(faults_.duplicate_one_in)) return;
    ++counts_.duplicated;
    hold(datagram, now + some_of(faults_.delay_max, dice_));
}

bool bad_datagram_path::is_dropped() {
    if (burst_left_ > 0) {
        --burst_left_;
        return true;
    }
    const bool overdue =
        faults_.burst_one_in != 0 && counts_.bursts == 0 && counts_.taken > first_burst_within;
    if (overdue || falls(faults_.burst_one_in)) {
        ++counts_.bursts;
        burst_left_ = dice_.below(faults_.burst_max);
        return true;
    }
    return falls(faults_.drop_one_in);
}

void bad_datagram_path::hold(std::span<const std::byte> datagram, gyre::time_point due) {
    if (held_.size() == held_max) {
        ++counts_.crowded;
        return;
    }
    held_.push_back({due, counts_.taken, {datagram.begin(), datagram.end()}});
    std::push_heap(held_.begin(), held_.end());
}

std::optional<std::vector<std::byte>> bad_datagram_path::next(gyre::time_point now) {
    if (held_.empty() || (!calm_ && held_.front().due > now)) return std::nullopt;
    std::pop_heap(held_.begin(), held_.end());
    held_datagram due = std::move(held_.back());
    held_.pop_back();
    if (due.number < last_sent_) ++counts_.overtaken;
    last_sent_ = std::max(last_sent_, due.number);
    return std::move(due.bytes);
}

}  // namespace exchange::testing
