// SPDX-License-Identifier: BSL-1.0
//
// The promise that nothing is allocated after the start, counted in front of malloc itself.
#include <exchange/bench/scenarios.hpp>
#include <exchange/core/partition.hpp>
#include <exchange/tests/support/trading_fixture.hpp>
#include <lab/kit/allocations.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace exchange;
using bench::book_state;
using bench::scenario;
using bench::scenario_name;

TEST_CASE("from the first definition on, no command of any scenario allocates") {
    using enum scenario_name;
    for (const scenario_name which :
         {place_and_cancel, ioc_without_execution, fok_without_execution, amend_quantity, trade,
          sweep_one_level, sweep_adjacent_levels, sweep_sparse_levels, mass_cancel}) {
        for (const book_state state : {book_state::empty, book_state::filled}) {
            scenario script{which, state};
            partition core{scenario::limits()};
            std::vector<command> commands = script.prepare();
            for (int each = 0; each < 20; ++each) {
                script.before(commands);
                script.measured(commands);
            }
            std::uint64_t messages = 0;
            const auto take = [&](const event_batch& batch) { messages += batch.events.size(); };

            const std::uint64_t before = lab::allocations_of_this_thread();
            for (const command& each : commands) core.apply(1, each, event_sink::to(take));
            const std::uint64_t after = lab::allocations_of_this_thread();

            CHECK_MESSAGE(after == before, bench::title(which));
            CHECK(messages > 20);
        }
    }
}

TEST_CASE("no command about advanced orders or protections allocates") {
    using enum order_side;
    partition core{testing::small_limits()};
    std::vector<command> commands{testing::any_product(), testing::any_instrument(),
                                  set_phase{testing::future, market_phase::continuous}};
    for (const std::uint16_t each : {std::uint16_t{1}, std::uint16_t{2}}) {
        commands.push_back(testing::any_account(each));
        commands.push_back(testing::session_of(each, each));
    }
    std::uint64_t last = 0;
    const auto order = [&](std::uint16_t session, order_side side, price_ticks price,
                           contracts quantity) {
        return enter_order{session_id{session},
                           client_sequence{++last},
                           testing::future,
                           side,
                           order_type::limit,
                           time_in_force::good_till_cancel,
                           execution_instruction::none,
                           self_trade_action::account_default,
                           price,
                           quantity};
    };
    commands.push_back(
        set_protection{session_id{1}, client_sequence{++last}, product_id{1}, 1'000, 3, 0, 0});
    commands.push_back(enter_quote{session_id{1}, client_sequence{++last}, testing::future,
                                   self_trade_action::account_default, 90, 99, 5, 5});
    for (int each = 0; each < 20; ++each) {
        commands.push_back(testing::stop(order(2, buy, 120, 3), 100 + each));
        enter_advanced_order hidden = testing::iceberg(order(1, sell, 100 + each, 3), 2);
        hidden.tif = time_in_force::good_till_date;
        hidden.expiry_yyyymmdd = 20'301'220;
        commands.push_back(hidden);
    }
    commands.push_back(order(2, buy, 99, 5));   // Strikes the protection,
    commands.push_back(order(2, buy, 100, 3));  // and triggers one stop after the other.
    commands.push_back(cancel_orders{session_id{1}, client_sequence{++last}, account_id{1},
                                     instrument_id::none, side_filter::both});
    std::uint64_t messages = 0;
    const auto take = [&](const event_batch& batch) { messages += batch.events.size(); };

    const std::uint64_t before = lab::allocations_of_this_thread();
    for (const command& each : commands) core.apply(1, each, event_sink::to(take));

    CHECK(lab::allocations_of_this_thread() == before);
    CHECK(messages > 400);
}

TEST_CASE("no auction, interruption or bust allocates") {
    using enum order_side;
    testing::trading_fixture it;
    std::vector<command> commands{set_phase{testing::future, market_phase::pre_open}};
    for (price_ticks each = 0; each < 200; ++each)
        commands.push_back(it.limit_order(each % 2 == 0 ? 1 : 2, each % 2 == 0 ? buy : sell, 3,
                                          each % 2 == 0 ? 100 + each : 150 - each / 2));
    commands.push_back(uncross{testing::future});
    commands.push_back(set_interruption{testing::future, 5, 1});
    commands.push_back(it.limit_order(3, buy, 1'000, 1'000));
    commands.push_back(advance_phases{});
    commands.push_back(bust_trade{testing::future, trade_id{1}});
    std::uint64_t messages = 0;
    std::uint64_t busts = 0;
    const auto take = [&](const event_batch& batch) {
        messages += batch.events.size();
        for (const event& each : batch.events) busts += each.kind == event_kind::trade_busted;
    };

    const std::uint64_t before = lab::allocations_of_this_thread();
    timestamp_ns now = 2'000'000'000;
    for (const command& each : commands)
        it.partition().apply(now += 10, each, event_sink::to(take));
    const std::uint64_t after = lab::allocations_of_this_thread();

    CHECK(after == before);
    CHECK(messages > 1'000);
    CHECK(busts == 1);
}

TEST_CASE("an allocation would be counted") {
    const std::uint64_t before = lab::allocations_of_this_thread();

    std::vector<int> allocated(1'000);
    int* const volatile escaped = allocated.data();  // Or the compiler may do without.

    CHECK(lab::allocations_of_this_thread() == before + 1);
    CHECK(escaped != nullptr);
}
