// SPDX-License-Identifier: BSL-1.0
//
// What is told to questions is what there is: complete, bounded, and only to whom it concerns.
#include <exchange/net/application/query_responder.hpp>

#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

constexpr session_id operators = session_id::none;

// Four instruments, in one partition or two; alice and bob as account, session and participant 1 and 2.
struct asked_venue {
    explicit asked_venue(std::uint32_t partitions, std::uint32_t step_work = 2'048,
                         std::uint32_t orders = 4'096)
        : host{options(partitions, step_work, orders), day_start} {
        open_market(host);
        for (std::uint32_t each = 2; each <= 4; ++each) {
            define_instrument it{};
            it.instrument = instrument_id{each};
            it.product = product_id{1};
            it.type = instrument_kind::future;
            host.apply(it);
            host.apply(set_phase{it.instrument, market_phase::continuous});
        }
    }

    static order_entry_host_options options(std::uint32_t partitions, std::uint32_t step_work,
                                            std::uint32_t orders) {
        order_entry_host_options made = two_traders();
        made.sequencing.partitions = partitions;
        made.sequencing.limits.step_work_max = step_work;
        made.sequencing.limits.orders_max = orders;
        made.sequencing.limits.level_chunks_max = 4'096;
        made.sequencing.limits.far_nodes_max = 4'096;
        return made;
    }

    /// Enters an order, and returns its sequence.
    client_sequence enter(session_id by, std::uint32_t instrument, order_side side,
                          price_ticks price, contracts quantity = 1) {
        enter_order it = limit(next(by), side, price, quantity);
        it.session = by;
        it.instrument = instrument_id{instrument};
        host.apply(it);
        return it.client_seq;
    }
    void cancel(session_id by, client_sequence target) {
        cancel_order it = cancel_of(next(by), target);
        it.session = by;
        host.apply(it);
    }
    void quote(session_id by, std::uint32_t instrument, price_ticks bid, price_ticks ask) {
        host.apply(enter_quote{by, next(by), instrument_id{instrument},
                               self_trade_action::account_default, bid, ask, 3, 4});
    }
    client_sequence next(session_id by) { return client_sequence{++sequences[number(by)]}; }

    /// The answer to a question, a page or a refusal.
    template <class Answer>
    Answer answer(const query& question, session_id asker = operators) {
        std::array<std::byte, message_bytes_of<query>> bytes;
        encode(question, bytes);
        std::optional<Answer> found;
        const auto keep = [&]<class Told>(const Told& it) {
            if constexpr (std::is_same_v<Told, Answer>) found = it;
        };
        CHECK(decode_query_answer(answer_of(host, bytes, asker), keep) == decode_fault{});
        REQUIRE(found);
        return *found;
    }

    /// All rows, page by page; `meanwhile` happens before each page but the first.
    template <class Row, class Meanwhile>
    std::vector<Row> all(query question, session_id asker, const Meanwhile& meanwhile) {
        std::vector<Row> rows;
        for (pages = 0;; ++pages) {
            const auto page = answer<query_page<Row>>(question, asker);
            CHECK(page.from == question.from);
            CHECK(page.last == (page.next == 0));
            rows.insert(rows.end(), page.rows.begin(), page.rows.begin() + page.count);
            if (page.last) return rows;
            REQUIRE(page.next > question.from);
            question.from = page.next;
            meanwhile();
        }
    }
    template <class Row>
    std::vector<Row> all(const query& question, session_id asker = operators) {
        return all<Row>(question, asker, [] {});
    }

    /// Of an account or of all, in a market or in all: by a walk over all books.
    std::map<order_id, order_row> real_orders(account_id whose, instrument_id in) const {
        std::map<order_id, order_row> made;
        for (std::uint32_t each = 1; each <= 4; ++each) {
            if (in != instrument_id::none && in != instrument_id{each}) continue;
            const sequencer& all = host.sequencing();
            const venue& state = all.at(all.home_of(instrument_id{each})).state();
            for (const order_side side : {order_side::buy, order_side::sell})
                add_side(made, state, each, side, whose);
        }
        return made;
    }
    static void add_side(std::map<order_id, order_row>& to, const venue& state,
                         std::uint32_t instrument, order_side side, account_id whose) {
        const level_memory& memory = state.memory.levels;
        const ladder& levels = state.markets[instrument].book.of(side);
        for (level_index at = levels.best(); at != 0; at = levels.after(memory, at)) {
            for (order_index in = memory.chunks.level(at).first; in != 0;
                 in = state.memory.orders[in].next) {
                const order& it = state.memory.orders[in];
                const holding& held = state.holdings[it.holding];
                if (whose != account_id::none && held.account != whose) continue;
                to[it.id] = {it.id,
                             it.client_seq,
                             price_of(side, ladder::rank_of(memory, at)),
                             instrument_id{instrument},
                             held.account,
                             it.open,
                             it.executed,
                             it.session,
                             side,
                             it.tif,
                             it.instruction,
                             it.self_trade,
                             held.quote[number(side)] == in,
                             order_type::limit,
                             0,
                             0};
            }
        }
    }

    order_entry_host host;
    std::map<std::uint16_t, std::uint64_t> sequences;
    std::size_t pages = 0;
};

query about(query_subject subject, std::uint32_t account = 0, std::uint32_t instrument = 0) {
    return {0, account_id{account}, instrument_id{instrument}, subject};
}

std::map<order_id, order_row> by_id(const std::vector<order_row>& rows) {
    std::map<order_id, order_row> made;
    for (const order_row& each : rows) {
        CHECK_FALSE(made.contains(each.order));
        made[each.order] = each;
    }
    return made;
}

void check_orders(asked_venue& it, std::uint32_t account, std::uint32_t instrument) {
    CAPTURE(account);
    CAPTURE(instrument);
    const auto told = by_id(it.all<order_row>(about(query_subject::orders, account, instrument)));
    CHECK(told == it.real_orders(account_id{account}, instrument_id{instrument}));
}

}  // namespace

TEST_CASE("the orders of an account are told as they rest, in each market and partition") {
    for (const std::uint32_t partitions : {1u, 2u, 3u}) {
        asked_venue it{partitions};
        for (std::uint32_t each = 0; each < 200; ++each)
            it.enter(each % 3 == 0 ? bob : alice, 1 + each % 4, order_side::buy, 10 + each, 5);
        it.enter(bob, 2, order_side::sell, 10, 7);  // Trades.
        it.quote(alice, 3, 1, 1'000);

        for (const std::uint32_t account : {0u, 1u, 2u})
            for (const std::uint32_t instrument : {0u, 1u, 2u, 3u, 4u})
                check_orders(it, account, instrument);
        CHECK(it.all<order_row>(about(query_subject::orders, 1)).size() > 130);
        CHECK(it.pages >= 4);

        const auto rows = it.all<order_row>(about(query_subject::orders, 1, 3));
        CHECK(std::ranges::count(rows, true, &order_row::quote) == 2);
    }
}

TEST_CASE("thousands of orders take pages that cost no more than others, and may be short") {
    asked_venue it{2, 2'048, 20'000};
    // Long lists that lie scattered among many other orders.
    for (std::uint32_t each = 0; each < 12'000; ++each)
        it.enter(each % 4 == 0 ? alice : bob, 1 + each / 4 % 4, order_side::buy, 1 + each % 900);
    check_orders(it, 1, 0);
    check_orders(it, 2, 0);
    check_orders(it, 0, 4);

    // In the first partition bob has nothing left.
    for (const std::uint32_t instrument : {1u, 3u}) {
        cancel_orders all{};
        all.session = bob;
        all.client_seq = it.next(bob);
        all.account = account_id{2};
        all.instrument = instrument_id{instrument};
        it.host.apply(all);
    }
    check_orders(it, 2, 0);
    check_orders(it, 2, 1);
    check_orders(it, 2, 2);
}

TEST_CASE("a page costs no more than its looks, whoever has nothing in the list") {
    asked_venue it{1, 2'048, 20'000};
    for (std::uint32_t each = 0; each < 10'000; ++each)
        it.enter(alice, 1, order_side::buy, 1 + each % 900);
    it.enter(alice, 2, order_side::buy, 7);

    query question = about(query_subject::orders, 1, 2);
    const auto first = it.answer<orders_page>(question);
    CHECK(first.count == 0);
    CHECK_FALSE(first.last);
    CHECK(first.next == 1 + query_work_max);

    CHECK(it.all<order_row>(question).size() == 1);
    CHECK(it.pages == 10'000 / query_work_max);
    CHECK(it.all<order_row>(about(query_subject::orders, 2)).empty());  // Bob's list is empty.
    CHECK(it.pages == 0);
}

TEST_CASE("what rests while an account is read is told exactly once, whatever others do") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed ", seed);
    std::mt19937_64 dice{seed};
    // Found by the account's list, by the places of all, and by each in turns, as the list gets shorter.
    for (const std::uint32_t orders : {100u, 4'140u, 6'000u}) {
        asked_venue it{2, 2'048, 20'000};
        std::vector<client_sequence> living;
        const auto enter = [&] {
            const auto price = static_cast<price_ticks>(1 + dice() % 400);
            living.push_back(it.enter(alice, static_cast<std::uint32_t>(1 + dice() % 4),
                                      order_side::buy, price));
        };
        const auto cancel = [&] {
            const std::size_t at = dice() % living.size();
            it.cancel(alice, living[at]);
            living.erase(living.begin() + static_cast<std::ptrdiff_t>(at));
        };
        for (std::uint32_t each = 0; each < orders; ++each) enter();
        std::size_t pages = 0;
        for (int round = 0; round < 5; ++round) {
            const auto before = it.real_orders(account_id{1}, instrument_id::none);
            const auto trade = [&] {
                for (int each = 0; each < 30 && !living.empty(); ++each) {
                    if (dice() % 11 < 6) cancel();
                    else enter();
                }
                it.enter(bob, static_cast<std::uint32_t>(1 + dice() % 4), order_side::sell, 350, 3);
            };
            const auto told = by_id(  // Never twice.
                it.all<order_row>(about(query_subject::orders, 1), operators, trade));
            pages += it.pages;
            for (const auto& [id, row] : it.real_orders(account_id{1}, instrument_id::none))
                if (before.contains(id)) CHECK(told.contains(id));
        }
        CHECK(pages > 5);
    }
}

TEST_CASE("an order that is under way is not told as one that rests") {
    asked_venue it{1, 1};
    for (int each = 0; each < 20; ++each) it.enter(alice, 1, order_side::sell, 100);
    const client_sequence amended = it.enter(bob, 1, order_side::buy, 50, 15);
    struct stopped final : command_runner {
        void host_is_busy() noexcept override {}
    } runner;
    it.host.run_with(&runner);
    socketless_client bobs{it.host, login_of("bob")};
    bobs.connect();

    // One that arrives, and takes a step for each trade.
    bobs.tell(limit(it.next(bob), order_side::buy, 100, 5));
    std::size_t steps = 0;
    for (; it.host.busy(); it.host.resume(), ++steps) {
        const auto own = it.all<order_row>(about(query_subject::orders, 2));
        REQUIRE(own.size() == 1);
        CHECK(own[0].client_seq == amended);
        CHECK(it.all<order_row>(about(query_subject::orders)).size() ==
              1 + it.host.market().state().accounts[1].open_orders);
    }
    CHECK(steps > 3);

    // One that moves keeps its place, and is told as what is left of it at its new price.
    bobs.tell(amend_order{bob, it.next(bob), {order_id::none, amended}, 100, 15});
    REQUIRE(it.host.busy());
    for (contracts left = 15; it.host.busy(); it.host.resume()) {
        const auto own = it.all<order_row>(about(query_subject::orders, 2));
        REQUIRE(own.size() == 1);
        CHECK(own[0].price == 100);
        CHECK(own[0].open <= left);
        CHECK(own[0].open + own[0].executed == 15);
        left = own[0].open;
    }
    CHECK(it.all<order_row>(about(query_subject::orders)).empty());
}

TEST_CASE(
    "positions are those of an account, of a market, or all, and only where there is anything") {
    for (const std::uint32_t partitions : {1u, 2u}) {
        asked_venue it{partitions};
        it.enter(alice, 1, order_side::sell, 100, 5);
        it.enter(bob, 1, order_side::buy, 100, 3);
        it.quote(bob, 2, 10, 20);
        const client_sequence gone = it.enter(alice, 4, order_side::buy, 1);
        it.cancel(alice, gone);  // Nothing is left in this market.

        const position_row alices{-3, 0, 2, account_id{1}, instrument_id{1}, false};
        const position_row bobs{3, 0, 0, account_id{2}, instrument_id{1}, false};
        const position_row quoted{0, 3, 4, account_id{2}, instrument_id{2}, true};
        const auto told = [&](std::uint32_t account, std::uint32_t instrument) {
            return it.all<position_row>(about(query_subject::positions, account, instrument));
        };
        CHECK(told(1, 0) == std::vector{alices});
        CHECK(told(0, 1) == std::vector{alices, bobs});
        CHECK(told(2, 2) == std::vector{quoted});
        CHECK(told(1, 2).empty());
        CHECK(told(0, 0).size() == 3);
        const auto all_of_bob = told(2, 0);
        CHECK(all_of_bob.size() == 2);
        CHECK(std::ranges::count(all_of_bob, quoted) == 1);
        CHECK(it.answer<positions_page>(about(query_subject::positions, 0, 3)).last);
    }
}

TEST_CASE("a report tells what an account did in a day, and what it held before and after") {
    for (const std::uint32_t partitions : {1u, 2u}) {
        asked_venue it{partitions};
        it.host.apply(set_phase{instrument_id{1}, market_phase::closed});
        it.host.apply(set_position{account_id{1}, instrument_id{1}, 10});
        it.host.apply(set_phase{instrument_id{1}, market_phase::continuous});
        it.enter(alice, 1, order_side::sell, 100, 5);
        it.enter(bob, 1, order_side::buy, 100, 3);
        it.enter(bob, 1, order_side::sell, 90, 2);
        it.enter(alice, 1, order_side::buy, 90, 2);
        it.enter(alice, 2, order_side::buy, 7, 1);  // Rests, and is no part of it.
        const auto told = [&](std::uint32_t account, std::uint32_t instrument) {
            return it.all<report_row>(about(query_subject::report, account, instrument));
        };
        const report_row alices{10, 2, 3, 180, 300, 9, account_id{1}, instrument_id{1}, 2};
        const report_row bobs{0, 3, 2, 300, 180, 1, account_id{2}, instrument_id{1}, 2};
        CHECK(told(0, 0) == std::vector{alices, bobs});
        CHECK(told(2, 1) == std::vector{bobs});
        CHECK(told(0, 2).empty());

        it.host.apply(set_phase{instrument_id{1}, market_phase::closed});
        it.host.apply(end_day{instrument_id{1}});
        CHECK(told(0, 0) == std::vector{alices, bobs});
        it.host.apply(set_phase{instrument_id{1}, market_phase::pre_open});
        CHECK(told(1, 0) ==
              std::vector{report_row{9, 0, 0, 0, 0, 9, account_id{1}, instrument_id{1}, 0}});
        // To a session, its own.
        CHECK(it.all<report_row>(about(query_subject::report), bob).size() == 1);
        CHECK(it.answer<query_refused>(about(query_subject::report, 1), bob).reason ==
              reject_reason::not_permitted);
    }
}

TEST_CASE("thousands of positions are told page by page, each once") {
    order_entry_host_options options = asked_venue::options(2, 2'048, 100);
    options.sequencing.limits.accounts_max = 5'000;
    options.sequencing.limits.holdings_max = 20'000;
    order_entry_host host{options, day_start};
    open_market(host);
    host.apply(set_phase{the_market, market_phase::closed});
    define_instrument second{};
    second.instrument = instrument_id{2};
    second.product = product_id{1};
    second.type = instrument_kind::future;
    host.apply(second);
    for (std::uint32_t each = 3; each <= 5'000; ++each) {
        define_account it{};
        it.account = account_id{each};
        it.firm = firm_id{1};
        it.self_trade = self_trade_action::cancel_resting;
        host.apply(it);
        host.apply(set_position{it.account, instrument_id{1 + each % 2}, each});
    }
    const auto held = [&](std::uint32_t instrument) {
        std::set<account_id> accounts;
        query question = about(query_subject::positions, 0, instrument);
        for (bool last = false; !last;) {
            std::array<std::byte, message_bytes_of<query>> bytes;
            encode(question, bytes);
            const auto keep = [&]<class Told>(const Told& page) {
                if constexpr (std::is_same_v<Told, positions_page>) {
                    for (std::uint16_t each = 0; each < page.count; ++each)
                        CHECK(accounts.insert(page.rows[each].account).second);
                    question.from = page.next;
                    last = page.last;
                }
            };
            REQUIRE_FALSE(decode_query_answer(answer_of(host, bytes, operators), keep));
        }
        return accounts.size();
    };
    CHECK(held(0) == 4'998);
    CHECK(held(1) == 2'499);
    CHECK(held(2) == 2'499);
}

TEST_CASE("accounts are told with their limits, their state and the orders of all partitions") {
    asked_venue it{2};
    it.enter(alice, 1, order_side::buy, 10);
    it.enter(alice, 2, order_side::buy, 10);
    define_account other{};
    other.account = account_id{7};
    other.firm = firm_id{9};
    other.group = self_trade_group{4};
    other.self_trade = self_trade_action::decrement;
    other.order_quantity_max = 1;
    other.open_orders_max = 2;
    other.messages_per_second_max = 3;
    other.position_max = 5;
    other.message_burst_max = 6;
    other.cancels_per_second_max = 7;
    other.cancel_burst_max = 8;
    it.host.apply(other);
    it.host.apply(set_account_state{account_id{7}, account_state::blocked});

    const auto rows = it.all<account_row>(about(query_subject::accounts));
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].account == account_id{1});
    CHECK(rows[0].open_orders == 2);
    CHECK(rows[0].state == account_state::active);
    CHECK(rows[2] == account_row{.position_max = 5,
                                 .account = account_id{7},
                                 .firm = firm_id{9},
                                 .group = self_trade_group{4},
                                 .order_quantity_max = 1,
                                 .open_orders_max = 2,
                                 .messages_per_second_max = 3,
                                 .message_burst_max = 6,
                                 .cancels_per_second_max = 7,
                                 .cancel_burst_max = 8,
                                 .open_orders = 0,
                                 .self_trade = self_trade_action::decrement,
                                 .state = account_state::blocked});
    CHECK(it.all<account_row>(about(query_subject::accounts, 7)) == std::vector{rows[2]});
}

TEST_CASE("sessions are told with how far they count and whether they are here") {
    asked_venue it{2};
    it.host.apply(define_session{session_id{5}, account_id{1}, disconnect_policy::cancel_orders,
                                 definition_action::create});
    it.host.apply(retire{definition_kind::session, 5});
    it.enter(bob, 2, order_side::buy, 10);
    socketless_client alices{it.host, login_of("alice")};
    alices.connect();

    const auto rows = it.all<session_row>(about(query_subject::sessions));
    REQUIRE(rows.size() == 3);
    CHECK(rows[0] == session_row{client_sequence::none, account_id{1}, alice,
                                 disconnect_policy::keep_orders, false, true});
    CHECK(rows[1] == session_row{client_sequence{1}, account_id{2}, bob,
                                 disconnect_policy::keep_orders, false, false});
    CHECK(rows[2] == session_row{client_sequence::none, account_id{1}, session_id{5},
                                 disconnect_policy::cancel_orders, true, false});
    CHECK(it.all<session_row>(about(query_subject::sessions, 1)) == std::vector{rows[0], rows[2]});
    alices.disconnect();
    CHECK_FALSE(it.all<session_row>(about(query_subject::sessions, 1))[0].logged_in);
}

TEST_CASE("instruments and products are told with their terms and the sums of the day") {
    asked_venue it{2};
    it.enter(alice, 2, order_side::sell, 100, 5);
    it.enter(bob, 2, order_side::buy, 100, 3);
    it.enter(alice, 2, order_side::sell, 90, 5);
    it.enter(bob, 2, order_side::buy, 90, 1);
    it.host.apply(set_settlement_price{instrument_id{2}, 70});
    it.host.apply(set_phase{instrument_id{2}, market_phase::halted});

    const auto rows = it.all<instrument_row>(about(query_subject::instruments));
    REQUIRE(rows.size() == 4);
    CHECK(rows[1].instrument == instrument_id{2});
    CHECK(rows[1].product == product_id{1});
    CHECK(rows[1].type == instrument_kind::future);
    CHECK(rows[1].settlement_price == 70);
    CHECK(rows[1].phase == market_phase::halted);
    CHECK(rows[1].open == 100);
    CHECK(rows[1].low == 90);
    CHECK(rows[1].last == 90);
    CHECK(rows[1].high == 100);
    CHECK(rows[1].volume == 4);
    CHECK(rows[1].trades == 2);
    CHECK(it.all<instrument_row>(about(query_subject::instruments, 0, 2)) == std::vector{rows[1]});

    define_product second{};
    second.product = product_id{2};
    second.multiplier = 5;
    second.lot = 6;
    second.bands = 1;
    second.ticks[0] = {-10, 5};
    it.host.apply(second);
    it.host.apply(retire{definition_kind::product, 2});
    const auto products = it.all<product_row>(about(query_subject::products));
    REQUIRE(products.size() == 2);
    CHECK(products[1].product == product_id{2});
    CHECK(products[1].multiplier == 5);
    CHECK(products[1].lot == 6);
    CHECK(products[1].bands == 1);
    CHECK(products[1].tick_1.from == -10);
    CHECK(products[1].tick_1.step == 5);
    CHECK(products[1].retired);
    CHECK_FALSE(products[0].retired);
}

TEST_CASE("a session is told what its own account has, and of others that it may not ask") {
    asked_venue it{2};
    it.enter(alice, 1, order_side::buy, 10);
    it.enter(bob, 1, order_side::buy, 11);
    using enum query_subject;
    constexpr session_id bobs = bob;

    for (const query_subject subject : {orders, positions, accounts, sessions}) {
        const auto refusal = it.answer<query_refused>(about(subject, 1), bobs);
        CHECK(refusal == query_refused{0, account_id{1}, instrument_id::none, subject,
                                       reject_reason::not_permitted});
    }
    for (const std::uint32_t account : {0u, 2u}) {
        const auto own = it.all<order_row>(about(orders, account), bobs);
        REQUIRE(own.size() == 1);
        CHECK(own[0].account == account_id{2});
        CHECK(it.all<position_row>(about(positions, account), bobs).size() == 1);
        CHECK(it.all<account_row>(about(accounts, account), bobs).size() == 1);
        CHECK(it.all<session_row>(about(sessions, account), bobs).size() == 1);
        CHECK(it.answer<orders_page>(about(orders, account), bobs).account == account_id{2});
    }
    CHECK(it.all<instrument_row>(about(instruments), bobs).size() == 4);
    CHECK(it.all<product_row>(about(products), bobs).size() == 1);

    // Places that were given to another account, or to none, give nothing away.
    for (std::uint64_t from : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 60,
                               ~std::uint64_t{1}, std::uint64_t{77}}) {
        query question = about(positions);
        question.from = from;
        const auto page = it.answer<positions_page>(question, bobs);
        for (std::uint16_t each = 0; each < page.count; ++each)
            CHECK(page.rows[each].account == account_id{2});
        question.subject = orders;
        const auto more = it.answer<orders_page>(question, bobs);
        for (std::uint16_t each = 0; each < more.count; ++each)
            CHECK(more.rows[each].account == account_id{2});
    }
}

TEST_CASE("what is not there cannot be asked about") {
    asked_venue it{2};
    using enum query_subject;
    const auto why = [&](const query& question, session_id asker) {
        return it.answer<query_refused>(question, asker).reason;
    };
    CHECK(why(about(orders, 3), operators) == reject_reason::unknown_account);
    CHECK(why(about(positions, 4'000'000'000), operators) == reject_reason::unknown_account);
    CHECK(why(about(orders, 1, 5), operators) == reject_reason::unknown_instrument);
    CHECK(why(about(instruments, 0, 4'000'000'000), operators) ==
          reject_reason::unknown_instrument);

    it.host.apply(retire{definition_kind::session, 2});
    CHECK(why(about(orders), bob) == reject_reason::unknown_session);
    CHECK(it.answer<instruments_page>(about(instruments), bob).count == 4);
    for (const query_subject each :
         {orders, positions, accounts, sessions, instruments, products}) {
        query beyond = about(each);
        beyond.from = ~std::uint64_t{1};
        std::array<std::byte, message_bytes_of<query>> bytes;
        encode(beyond, bytes);
        CHECK_FALSE(answer_of(it.host, bytes, operators).empty());
    }
}

TEST_CASE("a page says which messages of the asker's own stream are in it") {
    asked_venue it{1};
    CHECK(it.answer<orders_page>(about(query_subject::orders), alice).next_in_stream == 1);
    it.enter(alice, 1, order_side::buy, 10);
    CHECK(it.answer<orders_page>(about(query_subject::orders), alice).next_in_stream == 2);
    CHECK(it.answer<orders_page>(about(query_subject::orders), bob).next_in_stream == 1);
}

TEST_CASE(
    "questions of a connection are as many as its pace lets through, and the rest is refused") {
    order_entry_host_options options = two_traders();
    options.queries = {.per_second_max = 10, .burst_max = 2};
    order_entry_host host{options, day_start};
    open_market(host);
    const std::uint64_t commands = host.counts().commands;
    std::array<std::byte, message_bytes_of<query>> question;
    encode(about(query_subject::instruments), question);
    std::array<std::byte, message_bytes_of<book_request>> book;
    encode(book_request{the_market, 0, order_side::buy}, book);
    timestamp_ns until = 0;
    std::vector<query_refused> refused;
    std::vector<book_refused> books_refused;
    const auto ask = [&](std::span<const std::byte> message, gyre::time_point now) {
        const auto answer = host.answer(host.participants()[0], message, now, until);
        REQUIRE_FALSE(answer.empty());
        const auto keep = [&]<class Told>(const Told& it) {
            if constexpr (std::is_same_v<Told, query_refused>) refused.push_back(it);
            if constexpr (std::is_same_v<Told, book_refused>) books_refused.push_back(it);
        };
        static_cast<void>(decode_query_answer(answer, keep));
        static_cast<void>(decode_book_answer(answer, keep));
        return refused.size() + books_refused.size();
    };
    using namespace std::chrono_literals;

    CHECK(ask(question, day_start) == 0);
    CHECK(ask(book, day_start) == 0);
    CHECK(ask(question, day_start) == 1);
    CHECK(ask(book, day_start) == 2);
    CHECK(ask(book, day_start + 100ms) == 2);
    CHECK(ask(question, day_start + 100ms) == 3);
    REQUIRE(refused.size() == 2);
    CHECK(refused[0].subject == query_subject::instruments);
    CHECK(refused[0].reason == reject_reason::message_rate);
    CHECK(books_refused[0] == book_refused{the_market, reject_reason::message_rate});
    CHECK(host.counts().commands == commands);
}
