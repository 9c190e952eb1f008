// SPDX-License-Identifier: BSL-1.0
//
// The numbers of each row.
#include <exchange/bench/cells.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

namespace exchange::bench {
namespace {

constexpr std::uint32_t part_of_a_second = 4;
constexpr std::uint32_t events_min = 5'000;     // Fewer have no p99.9,
constexpr std::uint32_t slow_events_min = 100;  // which would take a slow row five seconds.
constexpr std::uint32_t slow_rate = 1'000;

struct row {
    std::uint32_t rate_per_second;
    std::uint32_t events;
};

using rows = std::array<row, 5>;

constexpr rows single_messages = {{{1'000, 10'000},
                                   {10'000, 100'000},
                                   {100'000, 1'000'000},
                                   {200'000, 1'000'000},
                                   {unbounded, 1'000'000}}};
constexpr rows place_and_cancel_empty = {{{1'000, 10'000},
                                          {10'000, 100'000},
                                          {100'000, 1'000'000},
                                          {200'000, 2'000'000},
                                          {unbounded, 2'000'000}}};
constexpr rows sweeps = {{{1'000, 2'000},
                          {10'000, 50'000},
                          {100'000, 100'000},
                          {200'000, 100'000},
                          {unbounded, 100'000}}};
constexpr std::array<row, 3> mass_cancels = {{{1'000, 500}, {10'000, 10'000}, {unbounded, 20'000}}};

struct player {
    scenario_name which;
    std::string_view key;
    bool with_empty_book = true;
};

constexpr std::array<player, 9> players = {{
    {scenario_name::place_and_cancel, "1"},
    {scenario_name::ioc_without_execution, "2"},
    {scenario_name::fok_without_execution, "2b", false},
    {scenario_name::amend_quantity, "3"},
    {scenario_name::trade, "4"},
    {scenario_name::sweep_one_level, "5"},
    {scenario_name::sweep_adjacent_levels, "6"},
    {scenario_name::sweep_sparse_levels, "7"},
    {scenario_name::mass_cancel, "8"},
}};

std::span<const row> rows_of(scenario_name which, book_state state) {
    switch (which) {
        case scenario_name::place_and_cancel:
            if (state == book_state::empty) return place_and_cancel_empty;
            return single_messages;
        case scenario_name::ioc_without_execution:
        case scenario_name::fok_without_execution:
        case scenario_name::amend_quantity:
        case scenario_name::trade: return single_messages;
        case scenario_name::sweep_one_level:
        case scenario_name::sweep_adjacent_levels:
        case scenario_name::sweep_sparse_levels: return sweeps;
        case scenario_name::mass_cancel: return mass_cancels;
    }
    return {};
}

/// Single messages without a pause are over in a second, and what a twentieth of it says is off by a tenth.
bool is_short(const row& one) {
    return one.rate_per_second == unbounded && one.events >= 1'000'000;
}

std::uint32_t events_of_turn(const row& one) {
    const std::uint32_t part = is_short(one) ? part_of_a_second : turns_of_row;
    const std::uint32_t least = one.rate_per_second == slow_rate ? slow_events_min : events_min;
    return std::max(one.events / part, least);
}

std::string_view key_of(scenario_name which) {
    return std::ranges::find(players, which, &player::which)->key;
}

std::string_view name_of(book_state state) {
    return state == book_state::empty ? "empty" : "filled";
}

std::vector<cell> those_called(std::initializer_list<std::string_view> names,
                               std::vector<cell> among) {
    std::erase_if(among, [names](const cell& each) {
        return std::ranges::find(names, name_of(each)) == names.end();
    });
    return among;
}

std::vector<cell> jitter_for(std::uint32_t seconds) {
    constexpr std::uint32_t rate = 20'000;
    // A pause of the host is what is looked for, so it spoils nothing.
    return {{.which = scenario_name::ioc_without_execution,
             .state = book_state::filled,
             .rate_per_second = rate,
             .events = seconds * rate,
             .warm_up_events = rate / 2,
             .kept_share = 0.9}};
}

}  // namespace

event_shape shape_of(scenario_name which) noexcept {
    constexpr std::uint32_t many = 64;
    constexpr std::uint32_t few = 4;  // Of 1,600 messages each.
    switch (which) {
        case scenario_name::place_and_cancel:
            return {.measured = 2, .derived = 8, .under_way_max = many};
        case scenario_name::ioc_without_execution:
        case scenario_name::fok_without_execution: return {.derived = 1, .under_way_max = many};
        case scenario_name::amend_quantity: return {.derived = 4, .under_way_max = many};
        case scenario_name::trade:
            // Makers of later events queue behind the one that is meant: the fill is the same.
            return {.before = 1,
                    .derived_before = 4,
                    .derived = 10,
                    .two_connections = true,
                    .under_way_max = many};
        case scenario_name::sweep_one_level:
            return {.before = 10, .derived_before = 40, .derived = 100, .two_connections = true};
        case scenario_name::sweep_adjacent_levels:
        case scenario_name::sweep_sparse_levels:
            // The first order is the best; those behind it leave the top of the book as it is.
            return {.before = 10, .derived_before = 31, .derived = 100, .two_connections = true};
        case scenario_name::mass_cancel:
            return {.before = 100, .derived_before = 800, .derived = 800, .under_way_max = few};
    }
    return {};
}

answers answers_of(scenario_name which, book_state state) noexcept {
    const auto cancelled = [](cancel_reason why) {
        return answer{event_kind::order_cancelled, number(why)};
    };
    switch (which) {
        case scenario_name::place_and_cancel:
            return {answer{event_kind::order_entered}, cancelled(cancel_reason::requested)};
        case scenario_name::ioc_without_execution:
        case scenario_name::fok_without_execution:
            if (state == book_state::empty)
                return {answer{event_kind::order_rejected, number(reject_reason::no_counterparty)}};
            if (which == scenario_name::fok_without_execution)
                return {cancelled(cancel_reason::fill_or_kill)};
            return {cancelled(cancel_reason::immediate_or_cancel)};
        case scenario_name::amend_quantity:
            return {answer{event_kind::order_amended, number(amend_reason::requested)}};
        case scenario_name::trade:
        case scenario_name::sweep_one_level:
        case scenario_name::sweep_adjacent_levels:
        case scenario_name::sweep_sparse_levels: return {answer{event_kind::order_executed}};
        case scenario_name::mass_cancel: return {cancelled(cancel_reason::mass_cancel)};
    }
    return {};
}

std::vector<cell> all_cells() {
    std::vector<cell> all;
    for (const player& each : players) {
        for (const book_state state : {book_state::empty, book_state::filled}) {
            if (state == book_state::empty && !each.with_empty_book) continue;
            for (const row& one : rows_of(each.which, state)) {
                const std::uint32_t events = events_of_turn(one);
                all.push_back({each.which, state, one.rate_per_second, events, events / 10});
            }
        }
    }
    return all;
}

std::vector<cell> quick_cells() {
    constexpr std::uint32_t easy_rate = 10'000;
    std::vector<cell> found = all_cells();
    std::erase_if(found, [](const cell& each) {
        return each.rate_per_second != easy_rate && each.rate_per_second != unbounded;
    });
    return found;
}

std::vector<cell> glance_cells() {
    std::vector<cell> found = all_cells();
    std::erase_if(found, [](const cell& each) {
        return each.rate_per_second != slow_rate || each.state != book_state::filled ||
               each.which == scenario_name::fok_without_execution;
    });
    for (cell& each : found) {
        each.events = slow_events_min;
        each.warm_up_events = slow_events_min / 10;
        each.kept_share = 0.5;
    }
    return found;
}

std::vector<cell> end_to_end_cells() {
    std::vector<cell> found = quick_cells();
    for (cell& each : found) {
        const std::uint32_t events_max = each.which == scenario_name::mass_cancel ? 1'000 : 20'000;
        each.events = std::min(each.events, events_max);
        each.warm_up_events = each.events / 10;
    }
    return found;
}

std::vector<cell> jitter_cells() { return jitter_for(8); }
std::vector<cell> short_jitter_cells() { return jitter_for(2); }

std::vector<cell> tuned_cells() {
    return those_called(
        {"1_filled_1000", "1_filled_100000", "3_filled_10000", "4_filled_10000", "5_filled_10000",
         "8_filled_1000", "1_filled_unbounded", "8_filled_unbounded"},
        all_cells());
}

std::vector<cell> tuned_end_to_end_cells() {
    return those_called({"1_filled_10000", "5_filled_10000", "1_filled_unbounded"},
                        end_to_end_cells());
}

std::string name_of(const cell& it) {
    std::string name{key_of(it.which)};
    name += '_';
    name += name_of(it.state);
    name += '_';
    name += it.rate_per_second == unbounded ? "unbounded" : std::to_string(it.rate_per_second);
    return name;
}

std::string describe(const cell& it) {
    std::string text{title(it.which)};
    text += ", ";
    text += name_of(it.state);
    text += " book, ";
    text += std::to_string(it.events) + " events";
    text += it.rate_per_second == unbounded
                ? ", at most " + std::to_string(shape_of(it.which).under_way_max) + " under way"
                : " at " + std::to_string(it.rate_per_second) + " per second";
    return text;
}

}  // namespace exchange::bench
