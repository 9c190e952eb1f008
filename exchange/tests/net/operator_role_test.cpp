// SPDX-License-Identifier: BSL-1.0
//
// The whole table of who may do what, said a second time by hand.
#include <exchange/net/application/operator_role.hpp>

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace exchange;

namespace {

using enum operator_role;

using kind = command_kind;

constexpr auto create = definition_action::create;
constexpr auto change = definition_action::change;

struct row {
    command_kind command;
    definition_action action;
    bool by_viewer, by_market, by_risk, by_administrator;
};

const std::vector<row> the_table{
    {kind::define_product, create, false, false, false, true},
    {kind::define_product, change, false, false, false, true},
    {kind::define_instrument, create, false, false, false, true},
    {kind::define_instrument, change, false, false, false, true},
    {kind::define_account, create, false, false, false, true},
    {kind::define_account, change, false, false, true, true},
    {kind::define_session, create, false, false, false, true},
    {kind::define_session, change, false, false, false, true},
    {kind::set_phase, create, false, true, false, true},
    {kind::set_account_state, create, false, false, true, true},
    {kind::set_settlement_price, create, false, true, false, true},
    {kind::end_session, create, false, false, true, true},
    {kind::end_day, create, false, true, false, true},
    {kind::retire, create, false, false, false, true},
    {kind::expire_instruments, create, false, true, false, true},
    {kind::set_position, create, false, false, false, true},
    {kind::uncross, create, false, true, false, true},
    {kind::set_interruption, create, false, true, false, true},
    {kind::advance_phases, create, false, true, false, true},
    {kind::schedule_phase, create, false, true, false, true},
    {kind::bust_trade, create, false, false, true, true},
};

}  // namespace

TEST_CASE("each role may give its own commands and no others") {
    for (const row& each : the_table) {
        CAPTURE(+number(each.command));
        CHECK(may_give(viewer, each.command, each.action) == each.by_viewer);
        CHECK(may_give(operator_role::market, each.command, each.action) == each.by_market);
        CHECK(may_give(risk, each.command, each.action) == each.by_risk);
        CHECK(may_give(administrator, each.command, each.action) == each.by_administrator);
    }
    for (const kind of_clients : {kind::enter_order, kind::amend_order, kind::cancel_order,
                                  kind::cancel_orders, kind::enter_quote})
        for (const operator_role each : {viewer, operator_role::market, risk})
            CHECK_FALSE(may_give(each, of_clients, create));
}

TEST_CASE("a definition is judged by its action") {
    define_account limits{};
    CHECK_FALSE(may_give(risk, limits));
    limits.action = change;
    CHECK(may_give(risk, limits));
    limits.action = definition_action{7};
    CHECK_FALSE(may_give(risk, limits));
    CHECK(may_give(administrator, limits));  // The core refuses it.
}

TEST_CASE("a role is found by its word") {
    for (const operator_role each : {viewer, operator_role::market, risk, administrator})
        CHECK(find_role(describe(each)) == each);
    CHECK_FALSE(find_role("root"));
    CHECK(describe(operator_role{9}) == "unknown");
}
