// SPDX-License-Identifier: BSL-1.0
//
// The rules for clients that partition and model read out of one text, so that both could misread them:
// each once more by hand, message for message. rules_of_trading_test.cpp has those about what meets in the
// book, rules_of_operation_test.cpp those for the operator.
#include <exchange/tests/support/judged_fixture.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

// ---------------------------------------------------------------------------------------------
// Amends
// ---------------------------------------------------------------------------------------------

TEST_CASE("an amend for more at an unchanged price is asked the collar, one for less is not") {
    judged_fixture it;
    it.tell(it.order(1, buy, 10, 100));
    define_instrument narrow = changed_future();
    narrow.settlement_price = 200;
    narrow.collar = 5;
    it.tell(narrow);

    it.both_refuse(it.amend(1, entered_as(1), 11, 100), reject_reason::price_outside_collar);
    it.both_say(it.amend(1, entered_as(1), 10, 100),
                {"amended 1.0 i1 a1 s1/1 buy 10@100 done 0 by 3 priority 1 why 1"});
    it.both_say(it.amend(1, entered_as(1), 9, 100),
                {"amended 1.0 i1 a1 s1/1 buy 9@100 done 0 by 4 priority 1 why 1"});
}

TEST_CASE("an amend for more at an unchanged price is asked the tick") {
    judged_fixture it;
    it.tell(it.order(1, buy, 10, 100));
    define_product coarse = any_product();
    coarse.bands = 1;
    coarse.ticks[0] = {0, 7};
    coarse.action = definition_action::change;
    it.tell(coarse);

    it.both_refuse(it.amend(1, entered_as(1), 11, 100), reject_reason::price_off_tick);
    it.both_say(it.amend(1, entered_as(1), 5, 100),
                {"amended 1.0 i1 a1 s1/1 buy 5@100 done 0 by 3 priority 1 why 1"});
}

TEST_CASE("of a filled part and the rest, an amend that asks for both keeps its place") {
    judged_fixture it;
    it.tell(it.order(1, buy, 10, 100));
    it.tell(it.order(3, sell, 4, 100));
    define_instrument narrow = changed_future();
    narrow.settlement_price = 200;
    narrow.collar = 5;
    it.tell(narrow);

    it.both_say(it.amend(1, entered_as(1), 10, 100),
                {"amended 1.0 i1 a1 s1/1 buy 6@100 done 4 by 2 priority 1 why 1"});
    it.both_say(it.amend(1, entered_as(1), 4, 100),
                {"cancelled 1.0 i1 a1 s1/1 buy 6@100 done 4 by 3 why 7"});
}

TEST_CASE("a side of a quote is not amended, whatever the phase and the price") {
    judged_fixture it;
    it.tell(it.quote(1, 5, 99, 5, 101));
    it.tell(set_phase{future, market_phase::halted});

    it.both_refuse(it.amend(1, entered_as(1), 4, price_ticks_max + 1),
                   reject_reason::part_of_quote);
    it.both_refuse(it.amend(2, known_as(2), 4, 101), reject_reason::part_of_quote);
    it.both_refuse(it.amend(3, known_as(2), 4, 101), reject_reason::unknown_order);
}

// ---------------------------------------------------------------------------------------------
// Sister sessions
// ---------------------------------------------------------------------------------------------

TEST_CASE("a sister session that cancels or amends is named beside the owner") {
    judged_fixture it;
    it.tell(it.order(1, buy, 10, 100));

    it.both_say(it.amend(2, known_as(1), 8, 100),
                {"amended 1.0 i1 a1 s1/1 buy 8@100 done 0 by s2/1 priority 1 why 1"});
    it.both_say(it.amend(2, known_as(1), 8, 101),
                {"amended 1.0 i1 a1 s1/1 buy 8@101 done 0 by s2/2 priority 2 why 1"});
    it.both_say(it.cancel(2, known_as(1)),
                {"cancelled 1.0 i1 a1 s1/1 buy 8@101 done 0 by s2/3 why 1"});
}

TEST_CASE("a sister session that cancels everything is named beside the owner") {
    judged_fixture it;
    it.tell(it.order(1, buy, 10, 100));

    it.both_say(it.cancel_all(2), {"cancelled 1.0 i1 a1 s1/1 buy 10@100 done 0 by s2/1 why 2"});
}

TEST_CASE("a sister session that quotes or withdraws is named beside the owner of the old quote") {
    judged_fixture it;
    it.tell(it.quote(1, 5, 99, 5, 101));

    it.both_say(it.quote(2, 6, 98, 0, 0),
                {"cancelled 1.0 i1 a1 s1/1 buy 5@99 done 0 by s2/1 why 6",
                 "cancelled 2.0 i1 a1 s1/1 sell 5@101 done 0 by s2/1 why 1",
                 "entered 3.0 i1 a1 s2/1 buy 6@98 done 0 tif 1"});
    it.both_say(it.quote(1, 0, 0, 0, 0),
                {"cancelled 3.0 i1 a1 s2/1 buy 6@98 done 0 by s1/2 why 1"});
}

TEST_CASE("what no client asked for names no request") {
    judged_fixture it;
    it.tell(it.order(1, buy, 10, 100));
    it.tell(it.order(1, sell, 4, 102));

    it.both_say(it.order(2, sell, 3, 100), {"cancelled 1.0 i1 a1 s1/1 buy 10@100 done 0 by 0 why 5",
                                            "entered 3.0 i1 a1 s2/1 sell 3@100 done 0 tif 2"});
    it.both_say(it.order(2, buy, 5, 99, time_in_force::immediate_or_cancel),
                {"cancelled 4.0 i1 a1 s2/2 buy 5@99 done 0 by 0 why 3"});
    it.both_accept(set_account_state{account_id{1}, account_state::blocked},
                   {"cancelled 2.0 i1 a1 s1/2 sell 4@102 done 0 by 0 why 8",
                    "cancelled 3.0 i1 a1 s2/1 sell 3@100 done 0 by 0 why 8"});
}

// ---------------------------------------------------------------------------------------------
// Sequences
// ---------------------------------------------------------------------------------------------

TEST_CASE("sequences go beyond 32 bits, and are not mistaken for those below") {
    constexpr std::uint64_t leap = 16'777'216;
    judged_fixture it;
    it.tell(it.order(1, buy, 1, 100));  // As 1; 256 leaps on is 2^32 + 1.
    for (std::uint64_t each = 1; each < 256; ++each) {
        it.both_refuse(cancel_order{session_id{1}, client_sequence{1 + each * leap}, {}},
                       reject_reason::unknown_order);
    }
    enter_order high = it.order(1, buy, 2, 100);
    high.client_seq = client_sequence{4'294'967'298};
    it.both_refuse(high, reject_reason::client_sequence_too_far);
    high.client_seq = client_sequence{4'294'967'297};

    it.both_say(high, {"entered 2.0 i1 a1 s1/4294967297 buy 2@100 done 0 tif 2"});
    it.both_say(
        cancel_order{session_id{1}, client_sequence{4'294'967'298}, entered_as(4'294'967'297)},
        {"cancelled 2.0 i1 a1 s1/4294967297 buy 2@100 done 0 by 4294967298 why 1"});
    it.both_refuse(
        cancel_order{session_id{1}, client_sequence{4'294'967'299}, entered_as(4'294'967'297)},
        reject_reason::unknown_order);
    it.both_refuse(cancel_order{session_id{1}, client_sequence{2}, entered_as(1)},
                   reject_reason::duplicate_client_sequence);
}

// ---------------------------------------------------------------------------------------------
// Quotes and mass cancels
// ---------------------------------------------------------------------------------------------

TEST_CASE("a quote that is cancelled by one of its sides loses both, the bid first") {
    judged_fixture it;
    it.tell(it.quote(1, 5, 99, 6, 101));
    const judged_fixture::lines gone = {"cancelled 1.0 i1 a1 s1/1 buy 5@99 done 0 by 2 why 1",
                                        "cancelled 2.0 i1 a1 s1/1 sell 6@101 done 0 by 2 why 1"};

    SUBCASE("by the id of the ask") { it.both_say(it.cancel(1, known_as(2)), gone); }
    SUBCASE("by the id of the bid") { it.both_say(it.cancel(1, known_as(1)), gone); }
    SUBCASE("by sequence") { it.both_say(it.cancel(1, entered_as(1)), gone); }
}

TEST_CASE("a mass cancel of one side takes that side of a quote, and a cancel what is left") {
    judged_fixture it;
    it.tell(it.quote(1, 5, 99, 6, 101));

    it.both_say(it.cancel_all(1, side_filter::buy),
                {"cancelled 1.0 i1 a1 s1/1 buy 5@99 done 0 by 2 why 2"});
    it.both_refuse(it.cancel(1, known_as(1)), reject_reason::unknown_order);
    it.both_say(it.cancel(1, entered_as(1)),
                {"cancelled 2.0 i1 a1 s1/1 sell 6@101 done 0 by 4 why 1"});
}

TEST_CASE("with nothing to cancel, a withdrawal and a mass cancel are refused") {
    judged_fixture it;
    it.tell(it.order(1, buy, 5, 99));

    it.both_refuse(it.quote(1, 0, 0, 0, 0), reject_reason::nothing_to_cancel);
    it.both_refuse(it.cancel_all(1, side_filter::sell), reject_reason::nothing_to_cancel);
    it.both_refuse(it.cancel_all(3), reject_reason::nothing_to_cancel);
}

// ---------------------------------------------------------------------------------------------
// Rates
// ---------------------------------------------------------------------------------------------

TEST_CASE("a burst passes at once, and then a message for each share of a second") {
    judged_fixture it;
    define_account limited = any_account(1);
    limited.messages_per_second_max = 4;  // One every 250 ms.
    limited.message_burst_max = 2;
    limited.action = definition_action::change;
    it.tell(limited);
    const auto both_enter = [&](reject_reason why) {
        const enter_order one = it.order(1, buy, 1, 100, time_in_force::immediate_or_cancel);
        if (why != reject_reason::none) return it.both_refuse(one, why);
        CHECK(it.tell(one).front().starts_with("cancelled"));
    };

    both_enter(reject_reason::none);
    both_enter(reject_reason::none);
    both_enter(reject_reason::message_rate);
    it.wait(249'999'999);
    both_enter(reject_reason::message_rate);
    it.wait(1);
    both_enter(reject_reason::none);
    both_enter(reject_reason::message_rate);
    it.both_accept(limited);  // Who is changed is not rested.
    both_enter(reject_reason::message_rate);
    it.wait(10'000'000'000);
    both_enter(reject_reason::none);
    both_enter(reject_reason::none);
    both_enter(reject_reason::message_rate);
}

TEST_CASE("without a burst of its own, those of a second pass at once") {
    judged_fixture it;
    define_account limited = any_account(1);
    limited.messages_per_second_max = 3;
    limited.action = definition_action::change;
    it.tell(limited);

    for (int each = 0; each < 3; ++each) it.tell(it.order(1, buy, 1, 90));
    it.both_refuse(it.order(1, buy, 1, 90), reject_reason::message_rate);
    it.both_refuse(it.order(2, buy, 1, 90), reject_reason::message_rate);
    it.both_refuse(it.quote(1, 1, 90, 1, 110), reject_reason::message_rate);
    it.both_refuse(it.amend(1, entered_as(1), 2, 90), reject_reason::message_rate);
}

TEST_CASE("cancels have a rate of their own, and a withdrawal is one of them") {
    judged_fixture it;
    define_account limited = any_account(1);
    limited.messages_per_second_max = 1;
    limited.cancels_per_second_max = 1;
    limited.cancel_burst_max = 3;
    limited.action = definition_action::change;
    it.tell(limited);
    it.tell(it.order(1, buy, 1, 90));

    it.both_refuse(it.quote(1, 0, 0, 0, 0), reject_reason::nothing_to_cancel);
    it.both_refuse(it.cancel_all(2, side_filter::sell), reject_reason::nothing_to_cancel);
    it.both_say(it.cancel(1, entered_as(1)),
                {"cancelled 1.0 i1 a1 s1/1 buy 1@90 done 0 by 3 why 1"});
    it.both_refuse(it.cancel(1, entered_as(1)), reject_reason::message_rate);
    it.both_refuse(it.cancel_all(2), reject_reason::message_rate);
    it.both_refuse(it.quote(1, 0, 0, 0, 0), reject_reason::message_rate);
}

TEST_CASE("the rate is asked before the account's state, and of entries alone the state is asked") {
    judged_fixture it;
    define_account limited = any_account(1);
    limited.messages_per_second_max = 1;
    limited.action = definition_action::change;
    it.tell(limited);
    it.tell(set_account_state{account_id{1}, account_state::blocked});

    it.both_refuse(it.order(1, buy, 1, 90), reject_reason::account_blocked);
    it.both_refuse(it.order(1, buy, 1, 90), reject_reason::message_rate);
    it.both_refuse(it.cancel_all(1), reject_reason::nothing_to_cancel);
}
