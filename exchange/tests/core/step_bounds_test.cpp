// SPDX-License-Identifier: BSL-1.0
//
// How much a command does in one step at the most, whatever takes it long.
#include <exchange/core/partition.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

using namespace exchange;
using namespace exchange::testing;

namespace {

partition_limits work_of_a_step(std::uint32_t most) {
    partition_limits limits = small_limits();
    limits.step_work_max = most;
    return limits;
}

struct steps {
    std::size_t count = 0;     // begin and each resume
    std::size_t messages = 0;  // the most that one of them told
};

template <class Command>
steps carry_out(trading_fixture& it, const Command& what) {
    steps made;
    std::size_t told = 0;
    const auto take = [&](const event_batch& batch) { told += batch.events.size(); };
    const auto note = [&] {
        ++made.count;
        made.messages = std::max(made.messages, std::exchange(told, 0));
    };
    it.partition().begin(2'000'000'000, what, event_sink::to(take));
    note();
    while (it.partition().busy()) {
        it.partition().resume(event_sink::to(take));
        note();
    }
    return made;
}

}  // namespace

TEST_CASE("a mass cancel tells in each step what its work allows, and no more") {
    trading_fixture it{work_of_a_step(5 * work_of_cancel)};
    for (int each = 0; each < 50; ++each) it.enter(1, order_side::buy, 1, 90 - each);
    const steps made = carry_out(
        it, cancel_orders{session_id{1}, it.next_seq(1), account_id{1}, future, side_filter::both});
    CHECK(made.count >= 50 / 5);
    CHECK(made.messages <= 5 * work_of_cancel + 20);
}

TEST_CASE("orders that a mass cancel only looks at cost a step their work, too") {
    trading_fixture it{work_of_a_step(5)};
    for (int each = 0; each < 50; ++each) it.enter(1, order_side::buy, 1, 90 - each);
    const steps made = carry_out(
        it, cancel_orders{session_id{1}, it.next_seq(1), account_id{1}, future, side_filter::sell});
    CHECK(made.count >= 50 / 5);
}

TEST_CASE("a fill-or-kill looks at so many prices or orders in a step") {
    for (const auto group : {self_trade_group::none, self_trade_group{7}}) {
        trading_fixture it{work_of_a_step(5)};
        define_account related = any_account(2);
        related.action = definition_action::change;
        related.group = group;
        it.tell(related);
        for (int each = 0; each < 50; ++each) it.enter(1, order_side::sell, 1, 100 + each);
        const steps made = carry_out(
            it, it.limit_order(2, order_side::buy, 1'000, 200, time_in_force::fill_or_kill));
        CHECK(made.count >= 50 / 5);
    }
}

TEST_CASE("expiry and a change of a product look at so many markets in a step") {
    trading_fixture it{work_of_a_step(2)};
    for (std::uint32_t each = 2; each <= 8; ++each) it.tell(any_instrument(instrument_id{each}));
    define_product changed = any_product();
    changed.action = definition_action::change;
    CHECK(carry_out(it, changed).count >= 4);
    CHECK(carry_out(it, expire_instruments{}).count >= 4);
}
