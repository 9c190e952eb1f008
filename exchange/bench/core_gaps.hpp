// SPDX-License-Identifier: BSL-1.0
//
// What a core did while nobody looked at the clock, and which late message that explains.
//
// A thread that does nothing but read the clock sees each moment at which its core was taken away: by what is
// measured, by another program, by the hypervisor. Beside the message that was under way at the time, such a
// gap tells whose fault the delay was. core_sampler.hpp collects gaps.
#pragma once

#include <gyre/base/time.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace exchange::bench {

/// From one reading of the clock to the next, which came too late.
struct core_gap {
    gyre::time_point begin;
    gyre::time_point end;
    gyre::duration ours{};  ///< For so long what is measured had the core.

    /// For so long something else had it, or nothing.
    [[nodiscard]] gyre::duration foreign() const noexcept;
};

/// How often, and for how long, a core was away for other reasons than what is measured.
struct noise_floor {
    double above_10us = 0;  ///< Gaps a second; so are these two.
    double above_100us = 0;
    double above_1ms = 0;
    gyre::duration longest{};
    double lost = 0;  ///< Share of the time.
};

/// @param  sampled  For how long it was looked; more than 0.
[[nodiscard]] noise_floor floor_of(std::span<const core_gap> gaps, gyre::duration sampled) noexcept;

/// Whose fault a delay was.
enum class delay_cause {
    host,    ///< A core was away: another program, an interrupt, the hypervisor.
    turn,    ///< The loops that are measured ran all the time: what they did took long.
    kernel,  ///< Neither: the message was under way, or a thread was not woken.
};
[[nodiscard]] std::string_view describe(delay_cause it) noexcept;

/// A message, from when it was due until its last effect had arrived.
struct delayed_message {
    gyre::time_point due;
    gyre::time_point complete;
};

struct explained_delay {
    delayed_message message;
    gyre::duration host{};  ///< So much of that a core was away,
    gyre::duration turn{};  ///< and for so long what is measured ran.
    delay_cause cause = delay_cause::kernel;
};

/// Who had the core for at least half of what the message took longer than usual?
///
/// @param  usual    What a message takes.
/// @param  served   Gaps of the core of what is measured, in their order.
/// @param  load     Those of the load's, of which nothing is ours.
[[nodiscard]] explained_delay explain(const delayed_message& message, gyre::duration usual,
                                      std::span<const core_gap> served,
                                      std::span<const core_gap> load) noexcept;

/// The longest, one of those that were under way together, explained.
///
/// @param  messages  In the order in which they were due.
[[nodiscard]] std::vector<explained_delay> worst_delays(std::span<const delayed_message> messages,
                                                        gyre::duration usual, std::size_t count_max,
                                                        std::span<const core_gap> served,
                                                        std::span<const core_gap> load);

}  // namespace exchange::bench
