// SPDX-License-Identifier: BSL-1.0
//
// The eight scenarios by which the exchange is measured, as commands: what is set up, what is not
// measured, what is, and how many messages must come of it.
//
// Golden tests, the micro bench and the scenario player all run these, so a figure and a test speak of
// the same thing. The filled book lies beyond every price that a scenario trades at, so the fills are
// the same in both states.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/venue.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace exchange::bench {

enum class scenario_name : std::uint8_t {
    place_and_cancel,       // 1
    ioc_without_execution,  // 2
    fok_without_execution,  // 2b, filled only
    amend_quantity,         // 3
    trade,                  // 4
    sweep_one_level,        // 5
    sweep_adjacent_levels,  // 6
    sweep_sparse_levels,    // 7
    mass_cancel,            // 8
};

enum class book_state : std::uint8_t { empty, filled };

[[nodiscard]] std::string_view title(scenario_name which) noexcept;

/// One scenario in one book state. Deterministic: the same calls give the same commands.
class scenario {
public:
    static constexpr std::uint64_t seed = 20'260'519;

    scenario(scenario_name which, book_state state);

    /// A partition that can hold it.
    [[nodiscard]] static partition_limits limits();

    /// Definitions, background, and orders that stay: applied once.
    [[nodiscard]] std::vector<command> prepare();

    /// Appends what precedes the next event and is not measured.
    void before(std::vector<command>& to);

    /// Appends the inbound messages of the next event: one, in `place_and_cancel` two.
    void measured(std::vector<command>& to);

    /// How many messages each event derives.
    [[nodiscard]] std::uint32_t derived() const noexcept;

    /// How many inbound messages each event has.
    [[nodiscard]] std::uint32_t inbound() const noexcept;

private:
    static constexpr price_ticks middle = 100'000;
    static constexpr std::uint16_t maker = 1;
    static constexpr std::uint16_t taker = 2;
    static constexpr std::uint16_t background_first = 3;
    static constexpr std::uint16_t background_accounts = 100;
    static constexpr std::uint32_t amended_orders = 1'000;

    [[nodiscard]] std::uint32_t markets() const noexcept;
    [[nodiscard]] price_ticks half_gap() const noexcept;
    [[nodiscard]] client_sequence next_seq(std::uint16_t session);
    [[nodiscard]] std::uint32_t random_below(std::uint32_t end);
    [[nodiscard]] enter_order limit_order(std::uint16_t session, order_side side, price_ticks price,
                                          contracts quantity,
                                          time_in_force tif = time_in_force::good_till_cancel);
    [[nodiscard]] price_ticks sweep_price(std::uint32_t at) const noexcept;
    void fill_book(std::vector<command>& to, instrument_id in, std::uint32_t levels,
                   std::uint32_t orders_per_level);

    scenario_name which_;
    book_state state_;
    std::uint64_t random_ = seed;
    std::vector<std::uint64_t> sequences_;
    std::vector<contracts> amended_;  // What is left of each own order of `amend_quantity`.
};

}  // namespace exchange::bench
