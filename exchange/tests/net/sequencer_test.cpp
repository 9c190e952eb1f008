// SPDX-License-Identifier: BSL-1.0
//
// What exchange/net/application/sequencer.hpp promises: one order for all commands, partitions that share
// out the instruments, and one answer to each command.
#include <exchange/net/application/sequencer.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

timestamp_ns stopped_clock() noexcept { return 1'000'000'000; }

struct heard {
    event what;
    event_stamp stamp;
    command_origin origin;
};

// Two partitions; instruments 1 and 3 are in the first, 2 and 4 in the second. Accounts and sessions 1 and 2.
struct two_partitions final : event_receiver {
    explicit two_partitions(std::uint32_t step_work = 2'048, std::uint32_t partitions = 2)
        : all{options_for(step_work, partitions), *this} {
        tell(any_product());
        for (std::uint32_t each = 1; each <= 4; ++each) {
            define_instrument it = any_instrument(instrument_id{each});
            it.lone_orders = lone_order_policy::cancel;
            tell(it);
            tell(set_phase{instrument_id{each}, market_phase::continuous});
        }
        for (std::uint16_t each = 1; each <= 2; ++each) {
            tell(any_account(each));
            tell(session_of(each, each));
        }
    }

    static sequencer_options options_for(std::uint32_t step_work, std::uint32_t partitions) {
        sequencer_options made;
        made.limits = small_limits();
        made.limits.step_work_max = step_work;
        made.partitions = partitions;
        made.clocks = {stopped_clock, stopped_clock};
        return made;
    }

    void take(const event_batch& batch, const command_origin& origin) noexcept override {
        for (std::size_t at = 0; at < batch.events.size(); ++at)
            said.push_back({batch.events[at], batch.stamp(at), origin});
    }

    template <class Command>
    const std::vector<heard>& tell(const Command& what, const command_origin& from = {}) {
        said.clear();
        REQUIRE(all.submit(from, what));
        while (all.busy()) all.resume();
        return said;
    }
    enter_order order(std::uint16_t session, std::uint32_t instrument, order_side side,
                      price_ticks price) {
        return {.session = session_id{session},
                .client_seq = next(session),
                .instrument = instrument_id{instrument},
                .side = side,
                .type = order_type::limit,
                .tif = time_in_force::good_till_cancel,
                .instruction = execution_instruction::none,
                .self_trade = self_trade_action::account_default,
                .price = price,
                .quantity = 5};
    }
    client_sequence next(std::uint16_t session) { return client_sequence{++sequences[session]}; }
    reject_reason refusal() const {
        REQUIRE(said.size() == 1);
        if (said[0].what.kind == event_kind::admin_rejected)
            return said[0].what.admin_rejected.reason;
        REQUIRE(said[0].what.kind == event_kind::order_rejected);
        return said[0].what.order_rejected.reason;
    }

    std::vector<heard> said;
    std::vector<std::uint64_t> sequences = std::vector<std::uint64_t>(3, 0);
    sequencer all;
};

constexpr auto buy = order_side::buy;
constexpr auto sell = order_side::sell;

}  // namespace

TEST_CASE("instruments of two partitions trade side by side, and no id or trade is given twice") {
    two_partitions it;
    std::set<std::uint64_t> orders, trades;
    for (std::uint32_t instrument = 1; instrument <= 4; ++instrument) {
        it.tell(it.order(1, instrument, sell, 100));
        REQUIRE(it.said.size() == 4);
        CHECK(partition_of(it.said[0].stamp.out_seq) == (instrument - 1) % 2);
        CHECK(orders.insert(number(it.said[0].what.order_entered.order)).second);

        it.tell(it.order(2, instrument, buy, 100));

        REQUIRE(it.said.size() == 10);
        CHECK(trades.insert(number(it.said[2].what.trade.id)).second);
    }
}

TEST_CASE("an order is cancelled and amended by id and by sequence, wherever it rests") {
    two_partitions it;
    for (std::uint32_t instrument = 1; instrument <= 2; ++instrument) {
        const enter_order first = it.order(1, instrument, buy, 90);
        const order_id id = it.tell(first)[0].what.order_entered.order;
        const enter_order second = it.order(1, instrument, buy, 91);
        it.tell(second);

        it.tell(amend_order{session_id{1}, it.next(1), {id, client_sequence::none}, 90, 4});
        CHECK(it.said[0].what.kind == event_kind::order_amended);
        it.tell(cancel_order{session_id{1}, it.next(1), {id, client_sequence::none}});
        CHECK(it.said[0].what.kind == event_kind::order_cancelled);
        it.tell(cancel_order{session_id{1}, it.next(1), {order_id::none, second.client_seq}});
        CHECK(it.said[0].what.kind == event_kind::order_cancelled);
        it.tell(cancel_order{session_id{1}, it.next(1), {order_id::none, second.client_seq}});
        CHECK(it.refusal() == reject_reason::unknown_order);
    }
    it.tell(cancel_order{
        session_id{1}, it.next(1), {order_id{~std::uint64_t{0}}, client_sequence::none}});
    CHECK(it.refusal() == reject_reason::unknown_order);
}

TEST_CASE("a session has one row of numbers in all partitions") {
    two_partitions it;
    enter_order order = it.order(1, 1, buy, 90);
    order.client_seq = client_sequence{client_sequence_jump_max};
    it.tell(order);
    CHECK(it.said.size() == 4);

    order.instrument = instrument_id{2};
    it.tell(order);
    CHECK(it.refusal() == reject_reason::duplicate_client_sequence);
    order.client_seq = client_sequence{2 * client_sequence_jump_max};
    it.tell(order);
    CHECK(it.said.size() == 4);
}

TEST_CASE(
    "a mass cancel in all markets cancels in all partitions, and is refused once if in vain") {
    for (const std::uint32_t step_work : {1u, 2'048u}) {
        two_partitions it{step_work};
        for (std::uint32_t instrument = 1; instrument <= 4; ++instrument)
            it.tell(it.order(1, instrument, buy, 90));
        const cancel_orders all{session_id{1}, it.next(1), account_id{1}, instrument_id::none,
                                side_filter::both};

        it.tell(all);
        CHECK(it.said.size() == 16);
        it.tell(all);
        CHECK(it.refusal() == reject_reason::duplicate_client_sequence);
        it.tell(cancel_orders{session_id{1}, it.next(1), account_id{1}, instrument_id::none,
                              side_filter::both});
        CHECK(it.refusal() == reject_reason::nothing_to_cancel);

        // Of one side, which only the first partition, only the second, has.
        for (const std::uint32_t instrument : {1u, 2u}) {
            it.tell(it.order(1, instrument, buy, 90));
            it.tell(it.order(1, 3 - instrument, sell, 110));
            it.tell(cancel_orders{session_id{1}, it.next(1), account_id{1}, instrument_id::none,
                                  side_filter::buy});
            CHECK(it.said.size() == 4);
            it.tell(cancel_orders{session_id{1}, it.next(1), account_id{1}, instrument_id::none,
                                  side_filter::sell});
            CHECK(it.said.size() == 4);
        }
    }
}

TEST_CASE("a mass cancel is let through whole, though one partition's cancels are used up") {
    two_partitions it;
    define_account slow = any_account(1);
    slow.cancels_per_second_max = slow.cancel_burst_max = 1;
    slow.action = definition_action::change;
    it.tell(slow);
    for (std::uint32_t instrument = 1; instrument <= 4; ++instrument)
        it.tell(it.order(1, instrument, buy, 90));
    const auto cancel_one_more = [&] {
        const enter_order more = it.order(1, 2, buy, 80);
        it.tell(more);
        it.tell(cancel_order{session_id{1}, it.next(1), {order_id::none, more.client_seq}});
    };
    cancel_one_more();
    REQUIRE(it.said[0].what.kind == event_kind::order_cancelled);
    cancel_one_more();
    REQUIRE(it.refusal() == reject_reason::message_rate);  // The clock stands.

    it.tell(cancel_orders{session_id{1}, it.next(1), account_id{1}, instrument_id::none,
                          side_filter::both});

    CHECK(it.said.size() == 5 * 4);
}

TEST_CASE("what all partitions hear is answered once, to whom it came from") {
    two_partitions it;
    const command_origin from{session_id::none, 0, 7};

    it.tell(any_account(3), from);
    REQUIRE(it.said.size() == 1);
    CHECK(it.said[0].what.kind == event_kind::admin_accepted);
    CHECK(it.said[0].origin.operator_number == 7);
    it.tell(any_account(3), from);
    CHECK(it.refusal() == reject_reason::already_defined);

    // And is so everywhere: the account's session trades in both.
    it.tell(session_of(3, 3));
    CHECK(it.said.size() == 1);
    it.sequences.push_back(0);
    for (const std::uint32_t instrument : {1u, 2u}) {
        it.tell(it.order(3, instrument, buy, 90));
        CHECK(it.said.size() == 4);
    }
    it.tell(set_account_state{account_id{3}, account_state::blocked});
    CHECK(it.said.size() == 1 + 2 * 4);
    it.tell(retire{definition_kind::session, 3});
    CHECK(it.said.size() == 1);
    it.tell(it.order(3, 2, buy, 90));
    CHECK(it.refusal() == reject_reason::unknown_session);
}

TEST_CASE("an instrument is retired where it is traded, and the others trade on") {
    two_partitions it;
    it.tell(it.order(1, 2, buy, 90));

    it.tell(retire{definition_kind::instrument, 2});

    CHECK(it.said.size() == 2 + 4);
    it.tell(it.order(1, 2, buy, 90));
    CHECK(it.refusal() == reject_reason::market_closed);
    it.tell(it.order(1, 4, buy, 90));
    CHECK(it.said.size() == 4);
}

TEST_CASE("what an older epoch of a session sends is not carried out") {
    two_partitions it;
    const std::uint32_t old = it.all.open_session(session_id{1});
    const std::uint32_t present = it.all.open_session(session_id{1});
    const enter_order order = it.order(1, 1, buy, 90);

    CHECK_FALSE(it.all.submit({session_id{1}, old, 0}, order));
    CHECK(it.all.submit({session_id{1}, present, 0}, order));
    CHECK(it.said.back().origin.session == session_id{1});
}

TEST_CASE("a command of several steps ends before the next begins, and says the same") {
    std::vector<std::string> lines[2];
    for (const std::uint32_t step_work : {1u, 100'000u}) {
        two_partitions it{step_work};
        for (int each = 0; each < 50; ++each) it.tell(it.order(1, 1, sell, 100));
        enter_order sweep = it.order(2, 1, buy, 100);
        sweep.quantity = 300;
        it.said.clear();
        REQUIRE(it.all.submit({}, sweep));
        int steps = 1;
        while (it.all.busy()) {
            it.all.resume();
            ++steps;
        }

        CHECK(it.said.size() == 504);
        CHECK(steps == (step_work == 1 ? 50 : 1));
        for (const heard& each : it.said)
            lines[step_work == 1].push_back(describe(each.what) + std::to_string(each.stamp.index) +
                                            std::to_string(each.stamp.last_in_event));
    }
    CHECK(lines[0] == lines[1]);
}

TEST_CASE("of a command for all partitions each hears in a step of its own") {
    struct nobody final : event_receiver {
        void take(const event_batch&, const command_origin&) noexcept override {}
    } ears;
    sequencer all{{.limits = small_limits(), .partitions = 3}, ears};
    const auto heard = [&](std::size_t which) {
        return all.at(which).state().last_in_seq - numbers_of(which);
    };
    define_account it{};
    it.account = account_id{1};
    it.firm = firm_id{1};
    it.self_trade = self_trade_action::cancel_resting;
    REQUIRE(all.submit({}, it));
    CHECK(all.busy());
    CHECK((heard(0) == 1 && heard(1) == 0 && heard(2) == 0));
    all.resume();
    CHECK(all.busy());
    CHECK((heard(1) == 1 && heard(2) == 0));
    all.resume();
    CHECK_FALSE(all.busy());
    CHECK(heard(2) == 1);
}

TEST_CASE("a stop waits, is amended and is cancelled in the partition of its market") {
    two_partitions it;
    for (std::uint32_t instrument = 1; instrument <= 2; ++instrument) {
        const enter_advanced_order waiting = stop(it.order(1, instrument, buy, 110), 105);
        it.tell(waiting);
        REQUIRE(it.said.size() == 2);
        CHECK(it.said[1].what.kind == event_kind::stop_entered);
        const order_reference target{order_id::none, waiting.client_seq};
        it.tell(amend_stop{session_id{1}, it.next(1), target, 106, 110, 4});
        REQUIRE(it.said.size() == 2);
        CHECK(it.said[1].what.kind == event_kind::trigger_amended);
        it.tell(cancel_order{session_id{1}, it.next(1), target});
        CHECK(it.said[0].what.kind == event_kind::order_cancelled);
    }
}

TEST_CASE("a protection is set once for all partitions, and struck in each by itself") {
    two_partitions it;
    it.tell(set_protection{session_id{1}, it.next(1), product_id{1}, 1'000, 4, 0, 0});
    REQUIRE(it.said.size() == 1);
    CHECK(it.said[0].what.kind == event_kind::protection_set);
    const auto strikes = [&](std::uint32_t instrument) {
        it.tell(enter_quote{session_id{1}, it.next(1), instrument_id{instrument},
                            self_trade_action::account_default, 90, 99, 5, 5});
        it.tell(it.order(2, instrument, sell, 90));
        int struck = 0;
        for (const heard& each : it.said)
            struck += each.what.kind == event_kind::protection_struck ? 1 : 0;
        return struck == 1;
    };
    CHECK(strikes(1));
    CHECK(strikes(2));
    it.tell(enter_quote{session_id{1}, it.next(1), instrument_id{3},
                        self_trade_action::account_default, 90, 99, 5, 5});
    CHECK(it.refusal() == reject_reason::protection_struck);
    it.tell(set_protection{session_id{1}, it.next(1), product_id{2}, 1'000, 4, 0, 0});
    CHECK(it.refusal() == reject_reason::unknown_product);
}
