// SPDX-License-Identifier: BSL-1.0
//
// Which scenarios are played how fast and how often: the rows of the tables.
//
// The counts are those of the tables that the suite sets out to reproduce. What one event of a scenario
// consists of, and how many may be under way, stands here as well, so that the load, the facility's
// log and the tests agree on it.
#pragma once

#include <exchange/bench/scenarios.hpp>
#include <exchange/core/events.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace exchange::bench {

/// What one event of a scenario is made of.
struct event_shape {
    std::uint32_t before = 0;          ///< Inbound messages that precede it and are not measured.
    std::uint32_t derived_before = 0;  ///< Messages derived from these, together.
    std::uint32_t measured = 1;        ///< Inbound messages that are; the first is the trigger.
    std::uint32_t derived = 0;         ///< Messages derived from these, together.

    /// What precedes comes over another connection than what is measured. Nothing orders two
    /// connections, so the trigger waits until all that precedes it was answered.
    bool two_connections = false;

    /// How many events may be under way where there is no rate. A sweep is alone: the orders that the next
    /// one is meant for would change the book that it meets.
    std::uint32_t under_way_max = 1;

    [[nodiscard]] constexpr std::uint32_t inbound() const noexcept { return before + measured; }
    [[nodiscard]] constexpr std::uint32_t derived_in_all() const noexcept {
        return derived_before + derived;
    }
};

[[nodiscard]] event_shape shape_of(scenario_name which) noexcept;

/// How a command was answered: what its first message is, and the reason that stands in it, if one does. An
/// order that was refused for a wrong price derives one message, too, and measures something else.
struct answer {
    event_kind kind{};
    std::uint8_t reason = 0;

    bool operator==(const answer&) const = default;
};
using answers = std::array<answer, 2>;  ///< Of the measured commands of an event, in their order.

[[nodiscard]] answers answers_of(scenario_name which, book_state state) noexcept;

template <class Event>
[[nodiscard]] answer answer_of(const Event& it) noexcept {
    if constexpr (requires { it.reason; }) return {Event::kind, number(it.reason)};
    else return {Event::kind};
}

inline constexpr std::uint32_t unbounded = 0;

/// One row of one table.
struct cell {
    scenario_name which = scenario_name::place_and_cancel;
    book_state state = book_state::empty;
    std::uint32_t rate_per_second = unbounded;  ///< Of triggers.
    std::uint32_t events = 0;                   ///< Measured in one turn.
    std::uint32_t warm_up_events = 0;           ///< Played before them, at the same rate.
    double kept_share = 0.99;  ///< Of the rate, below which the row counts as saturated.

    [[nodiscard]] constexpr std::uint32_t events_in_all() const noexcept {
        return warm_up_events + events;
    }
};

/// In so many turns a contender plays at least as many events as the tables count. One long turn would be
/// quieter in itself, but half a minute of a shared machine lies between it and the next contender's
/// (docs/decisions/0020-short-turns.md).
inline constexpr std::uint32_t turns_of_row = 20;

/// Every row, in the order of the tables.
[[nodiscard]] std::vector<cell> all_cells();

/// Both ends of each table, for a quick look: a rate that every contender keeps, and none.
[[nodiscard]] std::vector<cell> quick_cells();

/// One row of each of the eight scenarios, over in a tenth of a second: so many turns fit into a minute that
/// medians of a few have an interval. One pause of the machine is more than a hundredth of that, so they
/// are forgiven much of their rate.
[[nodiscard]] std::vector<cell> glance_cells();

/// Rows of an exchange with a gateway in front: those of a quick look, each turn over in a second or less.
[[nodiscard]] std::vector<cell> end_to_end_cells();

/// One row whose events are so many a second that each second has tails, for several seconds.
[[nodiscard]] std::vector<cell> jitter_cells();

/// The same, for two seconds.
[[nodiscard]] std::vector<cell> short_jitter_cells();

/// Three rows through a gateway, to turn screws at.
[[nodiscard]] std::vector<cell> tuned_end_to_end_cells();

/// A few rows of different kinds, to turn screws at.
[[nodiscard]] std::vector<cell> tuned_cells();

/// Such as `2b_filled_10000` and `8_empty_unbounded`.
[[nodiscard]] std::string name_of(const cell& it);

/// For people.
[[nodiscard]] std::string describe(const cell& it);

}  // namespace exchange::bench
