// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/core_gaps.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace exchange::bench {
namespace {

using gyre::duration;
using namespace std::chrono_literals;

struct overlap {
    duration ours{};
    duration foreign{};
};

duration part(duration of, duration shared, duration whole) noexcept {
    return duration{static_cast<duration::rep>(static_cast<double>(of.count()) *
                                               static_cast<double>(shared.count()) /
                                               static_cast<double>(whole.count()))};
}

/// A gap that reaches beyond the message counts by the part that it shares with it.
overlap overlap_of(const delayed_message& message, std::span<const core_gap> gaps) noexcept {
    overlap made;
    auto at = std::ranges::upper_bound(gaps, message.due, {}, &core_gap::end);
    for (; at != gaps.end() && at->begin < message.complete; ++at) {
        const duration shared =
            std::min(at->end, message.complete) - std::max(at->begin, message.due);
        const duration whole = at->end - at->begin;
        made.foreign += part(at->foreign(), shared, whole);
        made.ours += part(whole - at->foreign(), shared, whole);
    }
    return made;
}

}  // namespace

duration core_gap::foreign() const noexcept {
    return std::clamp(end - begin - ours, duration{}, end - begin);
}

noise_floor floor_of(std::span<const core_gap> gaps, duration sampled) noexcept {
    const double seconds = std::chrono::duration<double>(sampled).count();
    const auto above = [&](duration least) {
        const auto found = std::ranges::count_if(
            gaps, [least](const core_gap& each) { return each.foreign() >= least; });
        return static_cast<double>(found) / seconds;
    };
    noise_floor made{
        .above_10us = above(10us), .above_100us = above(100us), .above_1ms = above(1ms)};
    duration lost{};
    for (const core_gap& each : gaps) {
        lost += each.foreign();
        made.longest = std::max(made.longest, each.foreign());
    }
    made.lost = std::chrono::duration<double>(lost).count() / seconds;
    return made;
}

std::string_view describe(delay_cause it) noexcept {
    switch (it) {
        case delay_cause::host: return "host";
        case delay_cause::turn: return "turn";
        case delay_cause::kernel: break;
    }
    return "kernel";
}

explained_delay explain(const delayed_message& message, duration usual,
                        std::span<const core_gap> served, std::span<const core_gap> load) noexcept {
    const overlap of_served = overlap_of(message, served);
    // Both cores may have been away together.
    explained_delay made{.message = message,
                         .host = std::max(of_served.foreign, overlap_of(message, load).foreign),
                         .turn = of_served.ours};
    const duration excess = message.complete - message.due - usual;
    if (2 * made.host >= excess) made.cause = delay_cause::host;
    else if (2 * made.turn >= excess) made.cause = delay_cause::turn;
    return made;
}

std::vector<explained_delay> worst_delays(std::span<const delayed_message> messages, duration usual,
                                          std::size_t count_max, std::span<const core_gap> served,
                                          std::span<const core_gap> load) {
    std::vector<std::size_t> longest_first(messages.size());
    std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
    std::ranges::sort(longest_first, std::ranges::greater{}, [&](std::size_t each) {
        return messages[each].complete - messages[each].due;
    });
    std::vector<explained_delay> made;
    for (const std::size_t each : longest_first) {
        if (made.size() == count_max) break;
        const delayed_message& it = messages[each];
        const bool known = std::ranges::any_of(made, [&it](const explained_delay& other) {
            return it.due < other.message.complete && other.message.due < it.complete;
        });
        if (!known) made.push_back(explain(it, usual, served, load));
    }
    return made;
}

}  // namespace exchange::bench
