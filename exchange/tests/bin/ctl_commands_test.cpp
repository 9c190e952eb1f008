// SPDX-License-Identifier: BSL-1.0
//
// What an operator's words mean: which command, with which terms, and what cannot be meant.
#include <exchange/bin/ctl_commands.hpp>

#include <exchange/management/words.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace exchange;

namespace {

// A configuration that defines this and nothing else.
template <class Command>
config config_with(const Command& what) {
    config made;
    made.opening.push_back({what, "here"});
    return made;
}

ctl_request parse(std::vector<std::string> words) {
    CLI::App options;
    ctl_request made;
    add_ctl_commands(options, made);
    std::ranges::reverse(words);  // As the parser wants them.
    options.parse(words);
    return made;
}

template <class Command>
Command meant_by(const std::vector<std::string>& words, const config& in = {}) {
    const ctl_request request = parse(words);
    REQUIRE(request.order);
    const std::optional<command> found = request.order(in);
    REQUIRE(found.has_value());
    REQUIRE(std::holds_alternative<Command>(*found));
    return std::get<Command>(*found);
}

void check_misunderstood(const std::vector<std::string>& words) {
    CAPTURE(words.back());
    CHECK_THROWS_AS(static_cast<void>(parse(words)), CLI::ParseError);
}

define_account a_full_account() {
    define_account it{};
    it.account = account_id{3};
    it.firm = firm_id{7};
    it.group = self_trade_group{2};
    it.self_trade = self_trade_action::cancel_both;
    it.open_orders_max = 1000;
    it.position_max = 50;
    it.cancel_burst_max = 4;
    return it;
}

}  // namespace

TEST_CASE("what is not said of a new thing has its default") {
    const auto product = meant_by<define_product>({"define", "product", "3", "--tick", "0:5"});
    CHECK(product.product == product_id{3});
    CHECK(product.multiplier == 1);
    CHECK(product.lot == 1);
    REQUIRE(product.bands == 1);
    CHECK(product.ticks[0].step == 5);
    CHECK(product.action == definition_action::create);

    const auto market = meant_by<define_instrument>(
        {"define", "instrument", "4", "--product", "3", "--market-band", "20"});
    CHECK(market.product == product_id{3});
    CHECK(market.type == instrument_kind::future);
    CHECK(market.market_band == 20);
    CHECK(market.collar == 0);

    // The configuration's is another's business: this number is new, or it is refused.
    const auto account =
        meant_by<define_account>({"define", "account", "3", "--firm", "1", "--self-trade", "allow",
                                  "--messages-per-second-max", "5", "--message-burst-max", "6",
                                  "--cancels-per-second-max", "7", "--cancel-burst-max", "8"},
                                 config_with(a_full_account()));
    CHECK(account.firm == firm_id{1});
    CHECK(account.self_trade == self_trade_action::allow);
    CHECK(account.messages_per_second_max == 5);
    CHECK(account.message_burst_max == 6);
    CHECK(account.cancels_per_second_max == 7);
    CHECK(account.cancel_burst_max == 8);
    CHECK(account.position_max == 0);
}

TEST_CASE("what is not said of a change is as the configuration has it") {
    const auto changed =
        meant_by<define_account>({"change", "account", "3", "--position-max", "60", "--group", "0"},
                                 config_with(a_full_account()));
    CHECK(changed.account == account_id{3});
    CHECK(changed.firm == firm_id{7});
    CHECK(changed.group == self_trade_group::none);
    CHECK(changed.self_trade == self_trade_action::cancel_both);
    CHECK(changed.open_orders_max == 1000);
    CHECK(changed.position_max == 60);
    CHECK(changed.cancel_burst_max == 4);
    CHECK(changed.action == definition_action::change);

    define_product product{};
    product.product = product_id{3};
    product.multiplier = 9;
    product.bands = 2;
    const auto with_one_band =
        meant_by<define_product>({"change", "product", "3", "--tick", "0:5"}, config_with(product));
    CHECK(with_one_band.multiplier == 9);
    CHECK(with_one_band.bands == 1);

    const define_session session{session_id{2}, account_id{1}, disconnect_policy::cancel_orders};
    const auto kept = meant_by<define_session>(
        {"change", "session", "2", "--on-disconnect", "keep_orders"}, config_with(session));
    CHECK(kept.account == account_id{1});
    CHECK(kept.on_disconnect == disconnect_policy::keep_orders);
}

TEST_CASE("a change of what the configuration does not define has defaults, and needs the rest") {
    const auto changed =
        meant_by<define_account>({"change", "account", "3", "--firm", "1", "--position-max", "60"});
    CHECK(changed.self_trade == self_trade_action::cancel_resting);
    CHECK(changed.position_max == 60);
    CHECK(changed.open_orders_max == 0);

    for (const std::string what : {"account", "instrument", "session"})
        CHECK_FALSE(parse({"change", what, "3"}).order({}).has_value());
    CHECK(meant_by<define_product>({"change", "product", "3"}).lot == 1);
}

TEST_CASE("retirements, expiries and positions are commands") {
    const auto market = meant_by<retire>({"retire", "instrument", "4"});
    CHECK(market.what == definition_kind::instrument);
    CHECK(market.number == 4);
    CHECK(meant_by<retire>({"retire", "product", "1"}).what == definition_kind::product);
    CHECK(meant_by<retire>({"retire", "account", "1"}).what == definition_kind::account);
    CHECK(meant_by<retire>({"retire", "session", "1"}).what == definition_kind::session);
    static_cast<void>(meant_by<expire_instruments>({"expire"}));
    const auto position = meant_by<set_position>({"position", "1", "4", "-5"});
    CHECK(position.account == account_id{1});
    CHECK(position.instrument == instrument_id{4});
    CHECK(position.position == -5);
}

TEST_CASE("auctions, interruptions and busts are commands") {
    CHECK(meant_by<set_phase>({"phase", "1", "closing_auction"}).phase ==
          market_phase::closing_auction);
    CHECK(meant_by<uncross>({"uncross", "4"}).instrument == instrument_id{4});
    const auto what = meant_by<set_interruption>({"interruption", "4", "25", "--duration-ns", "9"});
    CHECK(what.instrument == instrument_id{4});
    CHECK(what.collar == 25);
    CHECK(what.duration_ns == 9);
    CHECK(meant_by<set_interruption>({"interruption", "4", "0"}).duration_ns == 0);
    static_cast<void>(meant_by<advance_phases>({"advance-phases"}));
    const auto opens = meant_by<schedule_phase>({"schedule", "4", "pre_open", "27000"});
    CHECK(opens.instrument == instrument_id{4});
    CHECK(opens.phase == market_phase::pre_open);
    CHECK(opens.second_of_day == 27'000);
    check_misunderstood({"schedule", "4", "pre_open", "86401"});
    check_misunderstood({"schedule", "4", "pre_open"});
    const auto busted = meant_by<bust_trade>({"bust", "4", "1152921504606846977"});
    CHECK(busted.instrument == instrument_id{4});
    CHECK(busted.trade == trade_id{(1ull << 60) + 1});
    check_misunderstood({"phase", "1", "volatility_auction"});
    check_misunderstood({"interruption", "4", "-1"});
    check_misunderstood({"bust", "4"});
}

TEST_CASE("a report is a list that has a word of its own, too") {
    const ctl_request report = parse({"report", "--account", "3"});
    REQUIRE(report.list);
    CHECK(report.list->question ==
          query{0, account_id{3}, instrument_id::none, query_subject::report});
}

TEST_CASE("lists are asked for by their names, whole or of an account or a market") {
    const ctl_request orders = parse({"show", "orders", "--account", "3", "--instrument", "4"});
    REQUIRE(orders.list);
    CHECK(orders.list->question ==
          query{0, account_id{3}, instrument_id{4}, query_subject::orders});
    CHECK(orders.list->how == listing_format::table);
    CHECK_FALSE(orders.order);
    CHECK_FALSE(orders.question);

    for (const auto& each : words_of<query_subject>()) {
        const ctl_request all = parse({"show", std::string{each.text}, "--json"});
        REQUIRE(all.list);
        CHECK(all.list->question == query{0, account_id::none, instrument_id::none, each.value});
        CHECK(all.list->how == listing_format::json);
    }
    CHECK_FALSE(parse({"show", "book", "1"}).list);
    check_misunderstood({"show", "products", "--account", "1"});
    check_misunderstood({"show", "orders", "--account", "0"});
    check_misunderstood({"show", "everything"});
}

TEST_CASE("what an operator cannot mean is misunderstood") {
    check_misunderstood({"define", "instrument", "4"});  // Of which product?
    check_misunderstood({"define", "account", "0", "--firm", "1"});
    check_misunderstood({"define", "product", "1", "--tick", "5"});
    check_misunderstood({"define", "product", "1", "--tick", "0:1", "1:1", "2:1", "3:1", "4:1"});
    check_misunderstood({"define", "product", "1", "--tick", "0:1", "--tick", "1:1", "--tick",
                         "2:1", "--tick", "3:1", "--tick", "4:1"});
    check_misunderstood({"define", "account", "1", "--firm", "1", "--self-trade", "never"});
    check_misunderstood({"phase", "1", "ended"});
    check_misunderstood({"account", "1", "retired"});
    check_misunderstood({"change", "everything", "1"});
    check_misunderstood({"retire", "instrument"});
    check_misunderstood({"retire", "instrument", "0"});
    check_misunderstood({"position", "1", "1"});
    check_misunderstood({"position", "1", "1", "281474976710657"});
    check_misunderstood({"expire", "1"});
}
