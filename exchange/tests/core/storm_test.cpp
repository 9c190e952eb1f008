// SPDX-License-Identifier: BSL-1.0
//
// The partition against its model in twelve storms, and proof that the judges notice what is wrong.
//
// EXCHANGE_STORM_COMMANDS says how many commands each shape gets, EXCHANGE_STORM_SEED where to begin. A
// failure prints its seed and the few commands that are left of it when all others are taken out.
#include <exchange/tests/support/storm.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace exchange;
using namespace exchange::testing;

namespace {

constexpr std::uint64_t commands_per_episode = 4'000;

// Of a storm whose prelude defines, and does nothing else.
constexpr std::uint64_t calm_seed = 4;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const asked = std::getenv(variable);
    return asked == nullptr ? otherwise : std::strtoull(asked, nullptr, 10);
}

using spoiler = std::function<void(event&)>;

bool fails(const partition_limits& limits, const std::vector<step>& steps, const spoiler& spoil) {
    duel fight{limits};
    fight.spoil_with(spoil);
    for (const step& each : steps) {
        if (!fight.play(each)) return true;
    }
    return !fight.finish();
}

// What no command does to a partition, to see that it is noticed.
venue& tampered(duel& fight) { return const_cast<venue&>(fight.real().state()); }

step limit_order(std::uint16_t session, std::uint32_t client_seq, order_side side) {
    enter_order it{};
    it.session = session_id{session};
    it.client_seq = client_sequence{client_seq};
    it.instrument = instrument_id{1};
    it.side = side;
    it.type = order_type::limit;
    it.tif = time_in_force::day;
    it.price = 1'000;
    it.quantity = 4;
    return {1'000 + client_seq, it, {}};
}

struct outcome {
    std::uint64_t messages = 0;
    std::size_t standing_max = 0;
    std::uint64_t accented = 0;
    tally seen;
    std::string complaint;
    std::vector<step> shortest;
};

// One storm from calm to calm: everything from the definitions on.
outcome weather(storm_shape shape, std::uint64_t seed, std::uint64_t commands,
                const spoiler& spoil = {}, storm_accent accent = storm_accent::none) {
    storm blow{shape, seed, accent};
    const partition_limits limits = blow.limits();
    duel fight{limits};
    fight.spoil_with(spoil);
    std::vector<step> steps = blow.prelude();
    std::size_t played = 0;
    while (played < steps.size() && fight.play(steps[played])) ++played;
    bool good = played == steps.size();
    steps.resize(good ? played : played + 1);
    std::size_t standing_max = 0;
    while (good && commands-- > 0) {
        steps.push_back(blow.next(fight.judge()));
        good = fight.play(steps.back());
        standing_max = std::max(standing_max, fight.judge().orders().size());
    }
    good = good && fight.finish();
    outcome found{fight.messages(), standing_max,      blow.accented(),
                  fight.seen(),     fight.complaint(), {}};
    if (!good) {
        found.shortest = shrink(std::move(steps), [&](const std::vector<step>& some) {
            return fails(limits, some, spoil);
        });
    }
    return found;
}

void require_agreement(const outcome& found, std::uint64_t seed) {
    std::string code;
    for (const step& each : found.shortest) code += as_code(each) + '\n';
    REQUIRE_MESSAGE(found.complaint.empty(), "EXCHANGE_STORM_SEED=", seed, ": ", found.complaint,
                    "\n", code);
}

// What an accent is for, so many times in a thousand commands: about a third of what is usual, and mostly
// several times of what comes without the accent.
void check_effects(storm_accent accent, const tally& seen, std::uint64_t commands) {
    const auto often = [commands](std::uint64_t happened, std::uint64_t per_mille) {
        CHECK(1'000 * happened >= per_mille * commands);
    };
    switch (accent) {
        case storm_accent::none: return;
        case storm_accent::stops:
            often(seen.of(event_kind::stop_entered), 30);
            return often(seen.of(event_kind::stop_triggered), 15);
        case storm_accent::icebergs: {
            const auto kind = command_kind::enter_advanced_order;
            CHECK(8 * seen.refusals_of(kind, reject_reason::invalid_combination) < seen.of(kind));
            return often(seen.hidden_fills(), 60);
        }
        case storm_accent::minimum_quantities:
            return often(seen.of(cancel_reason::minimum_quantity), 25);
        case storm_accent::last_days:
            often(seen.of(cancel_reason::expired), 1);
            return often(seen.dated(), 30);
        case storm_accent::quotes: return often(seen.of(cancel_reason::quote_replaced), 35);
        case storm_accent::protections:
            often(seen.of(event_kind::protection_set), 25);
            return often(seen.of(event_kind::protection_struck), 1);
        case storm_accent::phases:
            often(seen.of(event_kind::phase_changed), 15);
            return often(seen.of(event_kind::auction_result), 3);
    }
}

void check_storm(storm_shape shape, storm_accent accent = storm_accent::none) {
    // What an accent brings forward is in the other storms as well.
    // But in each climate it has to do what it is for.
    constexpr std::uint64_t in_each_climate = storm_climates * commands_per_episode;
    const std::uint64_t every_day =
        accent == storm_accent::none ? STORM_COMMANDS
                                     : std::max<std::uint64_t>(STORM_COMMANDS / 5, in_each_climate);
    const std::uint64_t commands = number_from("EXCHANGE_STORM_COMMANDS", every_day);
    const std::uint64_t first_seed = number_from("EXCHANGE_STORM_SEED", 1 + number(accent));
    std::uint64_t messages = 0;
    std::size_t standing_max = 0;
    std::uint64_t accented = 0;
    tally seen;
    for (std::uint64_t played = 0; played < commands; played += commands_per_episode) {
        const std::uint64_t seed = first_seed + played / commands_per_episode;
        const std::uint64_t now = std::min(commands - played, commands_per_episode);
        const outcome found = weather(shape, seed, now, {}, accent);
        messages += found.messages;
        accented += found.accented;
        standing_max = std::max(standing_max, found.standing_max);
        seen += found.seen;
        require_agreement(found, seed);
    }
    CHECK(messages > commands);
    if (accent != storm_accent::none) CHECK(accented > commands / 10);
    if (commands >= in_each_climate) check_effects(accent, seen, commands);
    if (commands >= storm_climates * commands_per_episode) CHECK(standing_max > 2'000);
    MESSAGE(std::string{name_of(shape)}, ", ", std::string{name_of(accent)}, ": ", commands,
            " commands from seed ", first_seed, ", ", accented, " accented, ", messages,
            " messages agree, up to ", standing_max, " orders standing\n", seen.text());
}

}  // namespace

TEST_CASE("storm: near the touch, core and model agree on every message") {
    check_storm(storm_shape::near_touch);
}

TEST_CASE("storm: at wide and sparse prices, core and model agree on every message") {
    check_storm(storm_shape::wide_sparse);
}

TEST_CASE("storm: under many cancels, core and model agree on every message") {
    check_storm(storm_shape::heavy_cancel);
}

TEST_CASE("storm: under many amends, core and model agree on every message") {
    check_storm(storm_shape::heavy_amend);
}

TEST_CASE("storm: with many accounts, core and model agree on every message") {
    check_storm(storm_shape::many_accounts);
}

TEST_CASE("storm: among stops, core and model agree on every message") {
    check_storm(storm_shape::near_touch, storm_accent::stops);
}

TEST_CASE("storm: among icebergs, core and model agree on every message") {
    check_storm(storm_shape::near_touch, storm_accent::icebergs);
}

TEST_CASE("storm: among minimum quantities, core and model agree on every message") {
    check_storm(storm_shape::near_touch, storm_accent::minimum_quantities);
}

TEST_CASE("storm: among last days, core and model agree on every message") {
    check_storm(storm_shape::near_touch, storm_accent::last_days);
}

TEST_CASE("storm: among quotes, core and model agree on every message") {
    check_storm(storm_shape::near_touch, storm_accent::quotes);
}

TEST_CASE("storm: among protections, core and model agree on every message") {
    check_storm(storm_shape::near_touch, storm_accent::protections);
}

TEST_CASE("storm: among phases, core and model agree on every message") {
    check_storm(storm_shape::near_touch, storm_accent::phases);
}

TEST_CASE("storm: every command, message and reason is reached, and no refusal against the rules") {
    const std::uint64_t first = number_from("EXCHANGE_STORM_SEED", 1);
    tally seen;
    for (std::uint64_t seed = first; seed < first + 2 * storm_climates; ++seed) {
        for (std::uint8_t shape = 0; shape <= number(storm_shape::many_accounts); ++shape) {
            const outcome found = weather(storm_shape{shape}, seed, 2'000);
            require_agreement(found, seed);
            seen += found.seen;
        }
    }

    CHECK_MESSAGE(seen.complaint().empty(), seen.complaint());
}

TEST_CASE("a wrong message is noticed and shrinks to the commands that it takes") {
    // As if a trade above 1,000 printed another price: two orders, a market, and one client or two.
    const spoiler spoil = [](event& it) {
        if (it.kind == event_kind::trade && it.trade.price > 1'000) ++it.trade.price;
    };

    const outcome found = weather(storm_shape::near_touch, 7, commands_per_episode, spoil);

    CHECK(found.complaint == "the trade that is printed is not the one that happened");
    CHECK(found.shortest.size() >= 7);
    CHECK(found.shortest.size() <= 9);
    CHECK(as_code(found.shortest.back()).starts_with("step{"));
}

TEST_CASE("what only a whole comparison notices is noticed when an episode ends") {
    storm calm{storm_shape::near_touch, calm_seed};
    duel fight{calm.limits()};
    for (const step& each : calm.prelude()) REQUIRE(fight.play(each));
    REQUIRE(fight.play(limit_order(1, 1, order_side::buy)));
    REQUIRE(fight.finish());
    const auto finds = [&](const char* what) {
        CHECK_FALSE(fight.finish());
        CHECK(fight.complaint() == what);
    };

    SUBCASE("an account that miscounts") {
        ++tampered(fight).accounts[1].open_orders;
        finds("an account miscounts its orders");
    }
    SUBCASE("a holding that has more open than rests") {
        ++tampered(fight).holdings[1].open[0];
        finds("the open quantity of an account is wrong");
    }
    SUBCASE("a node that no price needs") {
        static_cast<void>(tampered(fight).memory.levels.nodes.take());
        finds("nodes for far prices are lost");
    }
}

TEST_CASE("a position that is wrong on either side of a fill is noticed with the fill") {
    for (const holding_index wrong : {1u, 2u}) {
        storm calm{storm_shape::near_touch, calm_seed};
        duel fight{calm.limits()};
        for (const step& each : calm.prelude()) REQUIRE(fight.play(each));
        REQUIRE(fight.play(limit_order(1, 1, order_side::buy)));
        REQUIRE(fight.play(limit_order(3, 1, order_side::sell)));
        REQUIRE(fight.play(limit_order(1, 2, order_side::buy)));

        ++tampered(fight).holdings[wrong].position;

        CHECK_FALSE(fight.play(limit_order(3, 2, order_side::sell)));
        CHECK(fight.complaint() == "a position is wrong after a fill");
    }
}

TEST_CASE("a client's command that nobody answers is noticed") {
    const spoiler spoil = [](event& it) {
        if (it.kind != event_kind::order_cancelled) return;
        order_cancelled& said = it.order_cancelled;
        if (said.request_session != said.session) said.request_session = session_id::none;
    };

    const outcome found = weather(storm_shape::heavy_cancel, 9, commands_per_episode, spoil);

    CHECK(found.complaint == "a client's command is not answered");
    CHECK(found.shortest.size() < 10);
}

TEST_CASE("a level that tells a wrong sum is noticed") {
    const spoiler spoil = [](event& it) {
        if (it.kind == event_kind::price_level_update && it.price_level_update.orders == 3) {
            ++it.price_level_update.quantity;
        }
    };

    const outcome found = weather(storm_shape::near_touch, 7, commands_per_episode, spoil);

    CHECK_FALSE(found.complaint.empty());
    CHECK(found.shortest.size() < 15);
}
