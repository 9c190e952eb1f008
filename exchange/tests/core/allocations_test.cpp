// SPDX-License-Identifier: BSL-1.0
//
// The promise that nothing is allocated after the start, counted in front of malloc itself.
#include <exchange/bench/scenarios.hpp>
#include <exchange/core/partition.hpp>
#include <lab/kit/allocations.hpp>

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

TEST_CASE("an allocation would be counted") {
    const std::uint64_t before = lab::allocations_of_this_thread();

    std::vector<int> allocated(1'000);
    int* const volatile escaped = allocated.data();  // Or the compiler may do without.

    CHECK(lab::allocations_of_this_thread() == before + 1);
    CHECK(escaped != nullptr);
}
