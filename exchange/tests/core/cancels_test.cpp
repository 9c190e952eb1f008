// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/cancels.hpp promises: many orders go by one command, those that are meant and no others,
// in the same order however small the steps are.
#include <exchange/core/cancels.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

using lines = std::vector<std::string>;

constexpr instrument_id other{2};

// Account 1 has the sessions 1 and 5; both enter orders of either side in two markets.
struct many_orders : trading_fixture {
    explicit many_orders(std::uint32_t step_work) : trading_fixture{limits_with(step_work)} {
        tell(any_instrument(other));
        tell(set_phase{other, market_phase::continuous});
        tell(session_of(5, 1));
        for (const std::uint16_t session : {1, 2, 5}) {
            for (int each = 0; each < 4; ++each) {
                enter_order it =
                    limit_order(session, each % 2 == 0 ? order_side::buy : order_side::sell, 1,
                                each % 2 == 0 ? 90 - each : 110 + each,
                                each < 2 ? time_in_force::day : time_in_force::good_till_cancel);
                it.instrument = session == 5 ? other : future;
                tell(it);
            }
        }
    }
    static partition_limits limits_with(std::uint32_t step_work) {
        partition_limits limits = small_limits();
        limits.step_work_max = step_work;
        return limits;
    }

    std::size_t cancelled() const {
        std::size_t count = 0;
        for (const event& each : said()) count += each.kind == event_kind::order_cancelled ? 1 : 0;
        return count;
    }
    [[nodiscard]] std::uint32_t resting() { return partition().state().memory.orders.in_use(); }
};

cancel_orders mass(trading_fixture& it, instrument_id in, side_filter sides) {
    return {session_id{1}, it.next_seq(1), account_id{1}, in, sides};
}

}  // namespace

TEST_CASE(
    "a mass cancel takes what is meant: all, of a market, of a side, and of no other account") {
    for (const auto& [in, sides, expected] :
         {std::tuple{instrument_id::none, side_filter::both, 8u},
          {future, side_filter::both, 4u},
          {other, side_filter::buy, 2u},
          {instrument_id::none, side_filter::sell, 4u}}) {
        many_orders it{2'048};
        it.tell(mass(it, in, sides));
        CHECK(it.cancelled() == expected);
        CHECK(it.resting() == 12 - expected);
    }
}

TEST_CASE("however small the steps are, the same is said in the same order") {
    const auto play = [](std::uint32_t step_work, const command& what) {
        many_orders it{step_work};
        it.tell(what);
        return it.lines();
    };
    const command all[] = {
        cancel_orders{session_id{1}, client_sequence{100}, account_id{1}, instrument_id::none,
                      side_filter::both},
        set_account_state{account_id{1}, account_state::blocked},
        end_session{session_id{5}},
        end_day{future},
        retire{definition_kind::instrument, 1},
        retire{definition_kind::account, 1},
        retire{definition_kind::session, 1},
    };
    for (const command& each : all) {
        const lines whole = play(100'000, each);
        CHECK(whole.size() > 4);
        for (const std::uint32_t step_work : {1u, 2u, 5u, 13u})
            CHECK(play(step_work, each) == whole);
    }
}

TEST_CASE(
    "a day ends for Day orders only, a retirement for all, bids first and best prices first") {
    many_orders it{1};
    it.tell(end_day{future});
    CHECK(it.cancelled() == 4);
    it.tell(retire{definition_kind::instrument, number(future)});
    REQUIRE(it.cancelled() == 4);
    std::vector<price_ticks> prices;
    for (const event& each : it.said())
        if (each.kind == event_kind::order_cancelled) prices.push_back(each.order_cancelled.price);
    CHECK(prices == std::vector<price_ticks>{88, 88, 113, 113});
}
