// SPDX-License-Identifier: BSL-1.0
//
// That no command tells a session more than exchange/codec/event_room.hpp makes room for, and that
// the worst one tells as much.
#include <exchange/codec/event_room.hpp>
#include <exchange/core/partition.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

using namespace exchange;

namespace {

/// Counts what is written into it, framed.
struct counting_sink {
    std::size_t framing;
    ring_room told{};
    std::array<std::byte, 512> space{};

    [[nodiscard]] std::span<std::byte> prepare(std::size_t size) {
        return std::span{space}.first(size);
    }
    void commit(std::size_t size) { told = told + ring_room{1, framing + size}; }
};

constexpr session_id alice{1};
constexpr session_id bob{2};
constexpr session_id sister{3};        // Of Alice's account, too.
constexpr std::uint32_t orders = 400;  // Many more than there is room for beside them.

/// A market whose every order fits, and who hears of it. Its accounts trade with themselves, which causes
/// most, unless another action is given, which both of them are then one group for.
struct small_market {
    explicit small_market(self_trade_action action = self_trade_action::allow) {
        define_product product{};
        product.product = product_id{1};
        product.multiplier = product.lot = 1;
        apply(product);
        define_instrument instrument{};
        instrument.instrument = instrument_id{1};
        instrument.product = product_id{1};
        instrument.type = instrument_kind::future;
        apply(instrument);
        for (const session_id each : {alice, bob}) {
            define_account account{};
            account.account = account_id{number(each)};
            account.firm = firm_id{1};
            account.self_trade = action;
            if (action != self_trade_action::allow) account.group = self_trade_group{1};
            apply(account);
            apply(define_session{each, account.account, disconnect_policy::cancel_orders});
        }
        apply(define_session{sister, account_id{number(alice)}, disconnect_policy::keep_orders});
        apply(set_phase{instrument_id{1}, market_phase::continuous});
    }

    template <class Command>
    void apply(const Command& what) {
        alices.told = bobs.told = sisters.told = public_feed.told = {};
        const auto write = [this](const event_batch& batch) { encode_batch(batch, routes{*this}); };
        core.apply(0, what, event_sink::to(write));
    }
    /// Carries it out, and finds room for what the feed and the sessions are told.
    template <class Command>
    void check(const Command& what, std::size_t own_orders) {
        apply(what);
        const ring_room session = session_room(orders, own_orders);
        for (const counting_sink* each : {&alices, &bobs, &sisters}) {
            CHECK(each->told.messages <= session.messages);
            CHECK(each->told.bytes <= session.bytes);
        }
        CHECK(public_feed.told.messages <= feed_room(orders, 2).messages);
        CHECK(public_feed.told.bytes <= feed_room(orders, 2).bytes);
    }

    [[nodiscard]] enter_order order(session_id from, order_side side, price_ticks price,
                                    contracts quantity, time_in_force tif = time_in_force::day) {
        enter_order it{};
        it.session = from;
        it.client_seq = next();
        it.instrument = instrument_id{1};
        it.side = side;
        it.type = order_type::limit;
        it.tif = tif;
        it.price = price;
        it.quantity = quantity;
        return it;
    }
    [[nodiscard]] client_sequence next() { return client_sequence{++sequence}; }

    /// Enters bids of one contract, the first `alices_own` of them Alice's. There is room for one more.
    void fill(std::uint32_t alices_own, std::uint32_t all = orders - 1) {
        for (std::uint32_t each = 0; each < all; ++each)
            apply(order(each < alices_own ? alice : bob, order_side::buy, 100 + each, 1));
    }

    struct routes {
        small_market& of;
        counting_sink* session(session_id it) const {
            if (it == sister) return &of.sisters;
            return it == alice ? &of.alices : &of.bobs;
        }
        counting_sink* feed() const { return &of.public_feed; }
        counting_sink* administrator() const { return nullptr; }
    };

    partition core{{.products_max = 2,
                    .instruments_max = 2,
                    .accounts_max = 2,
                    .sessions_max = 3,
                    .orders_max = orders,
                    .holdings_max = 8,
                    .level_chunks_max = 64,
                    .far_nodes_max = 64}};
    counting_sink alices{soup_header_bytes};
    counting_sink bobs{soup_header_bytes};
    counting_sink sisters{soup_header_bytes};
    counting_sink public_feed{mold_block_bytes};
    std::uint32_t sequence = 0;
};

}  // namespace

TEST_CASE("an order that meets all of its owner's own is the worst, and fits") {
    small_market it;
    it.fill(orders);
    it.check(it.order(alice, order_side::sell, 0, 1'000), orders);
    CHECK(it.alices.told.messages == 4 * (orders - 1) + 1);  // And that the rest rests.
    CHECK(it.public_feed.told.messages >= 6 * (orders - 1));
}

TEST_CASE(
    "the aggressor and the owners of the orders it sweeps are each told one side of each fill") {
    small_market it;
    it.fill(orders / 2);
    it.check(it.order(bob, order_side::sell, 0, 1'000, time_in_force::immediate_or_cancel),
             orders / 2);
    CHECK(it.alices.told.messages == orders);
    CHECK(it.bobs.told.messages > orders);
}

TEST_CASE("orders that may not meet each other cause less") {
    for (const self_trade_action each :
         {self_trade_action::cancel_resting, self_trade_action::cancel_aggressor,
          self_trade_action::cancel_both, self_trade_action::decrement}) {
        CAPTURE(number(each));
        small_market it{each};
        it.fill(orders);
        it.check(it.order(alice, order_side::sell, 0, 1'000), orders);
        CHECK(it.alices.told.messages >= 1);
    }
}

TEST_CASE("a quote that replaces another, and sweeps, fits") {
    small_market it;
    it.apply(enter_quote{alice, it.next(), instrument_id{1}, {}, 1, 5'000, 1, 1});
    it.fill(orders / 2, orders - 4);
    it.check(enter_quote{alice, it.next(), instrument_id{1}, {}, 1, 50, 1, 1'000}, orders);
    CHECK(it.alices.told.messages > orders);
}

TEST_CASE("an amended order that sweeps fits") {
    small_market it;
    const enter_order entered = it.order(bob, order_side::sell, 1'000, 1'000);
    it.apply(entered);
    it.fill(orders / 2, orders - 2);
    it.check(amend_order{bob, it.next(), {order_id::none, entered.client_seq}, 1, 1'000}, orders);
    CHECK(it.bobs.told.messages > orders);
}

TEST_CASE("mass cancels, the kill switch, retirements, the end of a session and of a day fit") {
    const auto check_of_all = [](const auto& what) {
        small_market it;
        it.fill(orders);
        it.check(what, orders);
        CHECK(it.alices.told.messages == orders - 1);
        CHECK(it.public_feed.told.messages >= 2 * (orders - 1));
    };
    check_of_all(cancel_orders{alice, client_sequence{1'000}, account_id{1}, {}, {}});
    check_of_all(set_account_state{account_id{1}, account_state::blocked});
    check_of_all(retire{definition_kind::instrument, 1});
    check_of_all(retire{definition_kind::account, 1});
    check_of_all(retire{definition_kind::session, 1});
    check_of_all(end_session{alice});
    check_of_all(end_day{instrument_id{1}});
}

TEST_CASE("a mass cancel is told to the session that asked and to the one whose orders they are") {
    small_market it;
    it.fill(orders);
    it.check(cancel_orders{sister, client_sequence{1}, account_id{1}, {}, {}}, orders);
    CHECK(it.alices.told.messages == orders - 1);
    CHECK(it.sisters.told == it.alices.told);
}

TEST_CASE("an expiry of all markets fits, though there is room for one order only") {
    constexpr std::uint32_t markets = 1'000;
    constexpr timestamp_ns later = 1ull << 60;  // In the year 2006.
    partition core{{.products_max = 1,
                    .instruments_max = markets,
                    .accounts_max = 1,
                    .sessions_max = 1,
                    .orders_max = 1,
                    .holdings_max = 1,
                    .level_chunks_max = 1,
                    .far_nodes_max = 1}};
    counting_sink feed{mold_block_bytes};
    struct feed_only {
        counting_sink& to;
        counting_sink* session(session_id) const { return nullptr; }
        counting_sink* feed() const { return &to; }
        counting_sink* administrator() const { return nullptr; }
    };
    const auto apply = [&](timestamp_ns now, const command& what) {
        const auto write = [&](const event_batch& batch) { encode_batch(batch, feed_only{feed}); };
        core.apply(now, what, event_sink::to(write));
    };
    define_product product{};
    product.product = product_id{1};
    product.multiplier = product.lot = 1;
    apply(0, product);
    define_instrument instrument{};
    instrument.product = product_id{1};
    instrument.type = instrument_kind::future;
    instrument.expiry_yyyymmdd = 2000'01'01;
    for (std::uint32_t each = 1; each <= markets; ++each) {
        instrument.instrument = instrument_id{each};
        apply(0, instrument);
    }

    feed.told = {};
    apply(later, expire_instruments{});

    CHECK(feed.told.messages == markets);
    CHECK(feed.told.messages <= feed_room(1, markets).messages);
    CHECK(feed.told.bytes <= feed_room(1, markets).bytes);
}

TEST_CASE("a command without a counterparty fits, though there is room for one order only") {
    CHECK(session_room(1, 1).messages > 4 + 4);
    CHECK(feed_room(1, 1).messages > 6 + 12);
    CHECK(session_room(1, 5) == session_room(1, 1));  // No account has more than there are.
}
