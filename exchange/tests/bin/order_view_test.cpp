// SPDX-License-Identifier: BSL-1.0
//
// The load generator's judgement: an exchange that does as it says is believed, one that lies is caught.
#include <exchange/bin/feed_view.hpp>
#include <exchange/bin/order_mix.hpp>
#include <exchange/bin/order_view.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace exchange;

namespace {

constexpr session_id ours{1};
constexpr session_id sister{2};                // Of the same account.
constexpr client_sequence one{0x1'0000'0001};  // Of which 32 bits would be another number.
constexpr client_sequence two{2};

enter_order a_bid() {
    enter_order it{};
    it.client_seq = one;
    it.instrument = instrument_id{1};
    it.side = order_side::buy;
    it.price = 100;
    it.quantity = 10;
    return it;
}

order_entered rests(contracts open, contracts executed) {
    return {.order = order_id{77},
            .price = 100,
            .instrument = instrument_id{1},
            .account = account_id{1},
            .client_seq = one,
            .open = open,
            .executed = executed,
            .session = ours,
            .side = order_side::buy,
            .tif = time_in_force::day};
}

order_executed fill(contracts quantity, contracts open, price_ticks price = 100) {
    return {.order = order_id{77},
            .trade = trade_id{5},
            .price = price,
            .instrument = instrument_id{1},
            .account = account_id{1},
            .client_seq = one,
            .quantity = quantity,
            .open = open,
            .session = ours,
            .side = order_side::buy,
            .role = execution_role::maker};
}

order_cancelled gone(contracts cancelled, contracts executed) {
    return {.order = order_id{77},
            .price = 100,
            .instrument = instrument_id{1},
            .account = account_id{1},
            .client_seq = one,
            .request_seq = two,
            .cancelled = cancelled,
            .executed = executed,
            .session = ours,
            .request_session = ours,
            .side = order_side::buy,
            .reason = cancel_reason::requested};
}

order_rejected refusal(client_sequence of, command_kind command, reject_reason why) {
    return {.order = order_id::none,
            .instrument = instrument_id{1},
            .client_seq = of,
            .session = ours,
            .command = command,
            .reason = why};
}

template <class Event>
std::vector<std::byte> encoded(const Event& it, out_sequence number = 1) {
    std::vector<std::byte> bytes(message_bytes_of<Event>);
    encode(it, {number, 1, 1, 0, true}, std::span{bytes}.template first<message_bytes_of<Event>>());
    return bytes;
}

template <class Event>
void tell(order_view& who, const Event& it, steady_ns now = 0) {
    who.hear(encoded(it), now);
}

void check_caught(const order_view& it, const std::string& what) {
    REQUIRE(it.contradictions() == 1);
    CHECK(it.first_contradictions()[0] == what);
}

order_view with_a_resting_bid() {
    order_view it{ours};
    it.asks(a_bid(), 0);
    tell(it, rests(10, 0));
    REQUIRE(it.resting() == 1);
    return it;
}

}  // namespace

TEST_CASE(
    "an order that rests, trades and is cancelled leaves nothing open, and was answered in time") {
    order_view it{ours};
    it.asks(a_bid(), 1'000);
    CHECK(it.unanswered() == 1);
    tell(it, rests(10, 0), 3'000);
    CHECK(it.unanswered() == 0);
    CHECK(it.latencies().max() == 2'000);
    tell(it, fill(4, 6));
    CHECK(it.resting(0).open == 6);
    it.asks(cancel_order{session_id::none, two, {order_id::none, one}}, 0);
    CHECK(it.resting(0).asked);
    tell(it, gone(6, 4));

    it.settle();
    CHECK(it.resting() == 0);
    CHECK(it.trades().size() == 1);
    CHECK(it.contradictions() == 0);
}

TEST_CASE("an acknowledged order that the exchange does not know is lost") {
    order_view it = with_a_resting_bid();
    it.asks(cancel_order{session_id::none, two, {order_id::none, one}}, 0);
    tell(it, refusal(two, command_kind::cancel_order, reject_reason::unknown_order));
    check_caught(it, "order 4294967297 was acknowledged and is lost");
}

TEST_CASE("a cancel that comes too late is no contradiction") {
    order_view it = with_a_resting_bid();
    it.asks(cancel_order{session_id::none, two, {order_id::none, one}}, 0);
    tell(it, fill(10, 0));
    tell(it, refusal(two, command_kind::cancel_order, reject_reason::unknown_order));
    CHECK(it.contradictions() == 0);
    CHECK(it.resting() == 0);
}

TEST_CASE("a mass cancel is answered by what it cancels, or by a refusal if there is nothing") {
    const cancel_orders all{session_id::none, two, account_id{1}, {}, {}};
    order_view some = with_a_resting_bid();
    some.asks(all, 0);
    CHECK(some.unanswered() == 1);
    tell(some, gone(10, 0));
    CHECK(some.unanswered() == 0);
    CHECK(some.contradictions() == 0);

    order_view none{ours};
    none.asks(all, 0);
    tell(none, refusal(two, command_kind::cancel_orders, reject_reason::nothing_to_cancel));
    CHECK(none.unanswered() == 0);
    CHECK(none.contradictions() == 0);

    order_view lost = with_a_resting_bid();
    lost.asks(all, 0);
    tell(lost, refusal(two, command_kind::cancel_orders, reject_reason::nothing_to_cancel));
    check_caught(lost, "order 4294967297 was acknowledged and is lost");
}

TEST_CASE("what a sister session asks for answers nothing of ours, and its orders are not ours") {
    order_view it = with_a_resting_bid();
    it.asks(amend_order{session_id::none, two, {order_id::none, one}, 100, 10}, 0);
    order_cancelled by_sister = gone(10, 0);
    by_sister.request_session = sister;  // Whose number it is that is the same as ours.
    tell(it, by_sister);
    CHECK(it.resting() == 0);
    CHECK(it.unanswered() == 1);
    tell(it, refusal(two, command_kind::amend_order, reject_reason::unknown_order));
    CHECK(it.unanswered() == 0);

    order_view mine = with_a_resting_bid();
    mine.asks(cancel_orders{session_id::none, two, account_id{1}, {}, {}}, 0);
    order_cancelled of_sister = gone(7, 3);
    of_sister.session = sister;
    tell(mine, of_sister);
    CHECK(mine.unanswered() == 0);
    CHECK(mine.resting() == 1);
    CHECK(it.contradictions() + mine.contradictions() == 0);
}

TEST_CASE("a stop waits unseen, is triggered, and rests like another order") {
    order_view it{ours};
    enter_advanced_order stop{};
    stop.client_seq = one;
    stop.instrument = instrument_id{1};
    stop.side = order_side::buy;
    stop.type = order_type::stop_limit;
    stop.price = 100;
    stop.trigger_price = 99;
    stop.quantity = 10;
    it.asks(stop, 0);
    tell(it, order_terms{order_id{77}, 99, one, instrument_id{1}, account_id{1}, 0, 0, 0, ours,
                         order_side::buy, order_type::stop_limit});
    CHECK(it.unanswered() == 0);
    tell(it, stop_entered{order_id{77}, 100, one, instrument_id{1}, account_id{1}, 10, ours,
                          order_side::buy, time_in_force::day});
    REQUIRE(it.resting() == 1);
    CHECK(it.resting(0).waits);
    const feed_view feed;
    CHECK_FALSE(feed.difference(it));

    tell(it, stop_triggered{order_id{77}, 100, one, instrument_id{1}, account_id{1}, 10, ours,
                            order_side::buy});
    CHECK(it.resting() == 0);
    tell(it, rests(10, 0));
    REQUIRE(it.resting() == 1);
    CHECK(feed.difference(it) == "order 4294967297 rests and is not in the public book");
    CHECK(it.contradictions() == 0);

    tell(it, stop_triggered{order_id{77}, 100, one, instrument_id{1}, account_id{1}, 10, ours,
                            order_side::buy});
    check_caught(it, "order 4294967297 is triggered, though it does not wait");
}

TEST_CASE("of an iceberg the public knows what it shows") {
    order_view it{ours};
    enter_advanced_order large{};
    large.client_seq = one;
    large.instrument = instrument_id{1};
    large.side = order_side::buy;
    large.type = order_type::limit;
    large.price = 100;
    large.quantity = 10;
    large.display_quantity = 4;
    it.asks(large, 0);
    tell(it, rests(10, 0));
    feed_view feed;
    const auto shows = [&feed](contracts open) {
        feed.hear(encoded(order_book_update{order_id{77}, 100, instrument_id{1}, open,
                                            order_side::buy, book_action::add}));
    };
    shows(4);
    CHECK_FALSE(feed.difference(it));
    shows(10);
    CHECK(feed.difference(it) == "order 4294967297 stands otherwise in the public book");

    feed.hear(encoded(trade{trade_id{5}, 100, instrument_id{1}, 4, order_side::sell}));
    tell(it, fill(4, 6));
    shows(4);
    CHECK_FALSE(feed.difference(it));
    feed.hear(encoded(trade{trade_id{5}, 100, instrument_id{1}, 1, order_side::sell}));
    tell(it, fill(1, 5));
    shows(3);
    CHECK_FALSE(feed.difference(it));
}

TEST_CASE("a trade that is undone is one that was there") {
    order_view it = with_a_resting_bid();
    tell(it, fill(4, 6));
    const order_executed known = fill(4, 6);
    execution_busted undone{.order = order_id{77},
                            .trade = known.trade,
                            .price = 100,
                            .instrument = instrument_id{1},
                            .account = account_id{1},
                            .client_seq = one,
                            .quantity = 4,
                            .session = ours,
                            .side = order_side::buy};
    tell(it, undone);
    CHECK(it.heard().busted == 1);
    CHECK(it.contradictions() == 0);
    CHECK(it.resting() == 1);

    undone.trade = trade_id{9'999};
    tell(it, undone);
    check_caught(it, "order 4294967297 has a trade undone that it never had");
}

TEST_CASE("a fill of more than is open, or beyond the limit, is caught") {
    order_view much = with_a_resting_bid();
    tell(much, fill(11, 0));
    check_caught(much, "order 4294967297 is executed beyond what is open");
    order_view dear = with_a_resting_bid();
    tell(dear, fill(1, 9, 101));
    check_caught(dear, "order 4294967297 is executed beyond its limit");
}

TEST_CASE("a cancel of another quantity, an order twice, and an order never entered are caught") {
    order_view wrong = with_a_resting_bid();
    tell(wrong, gone(9, 0));
    check_caught(wrong, "order 4294967297 is cancelled with another quantity");
    order_view twice = with_a_resting_bid();
    tell(twice, rests(10, 0));
    check_caught(twice, "order 4294967297 rests twice");
    order_view unknown{ours};
    tell(unknown, rests(10, 0));
    check_caught(unknown, "order 4294967297 rests, though we never entered it");
    order_view torn{ours};
    torn.hear({}, 0);
    check_caught(torn, "a message that cannot be read, error 1");
}

TEST_CASE("what is never answered is caught, unless its connection was lost") {
    order_view silent{ours};
    silent.asks(a_bid(), 0);
    silent.settle();
    check_caught(silent, "enter_order 4294967297 was never answered");

    order_view cut{ours};
    cut.asks(a_bid(), 0);
    cut.lost_connection();
    cut.settle();
    CHECK(cut.contradictions() == 0);
    CHECK(cut.lost() == 1);
    CHECK(cut.resting() == 0);
}

TEST_CASE("what the public is told otherwise than the trader is caught") {
    order_view trader = with_a_resting_bid();
    tell(trader, fill(4, 6));
    feed_view feed;
    CHECK(feed.difference(trader) == "trade 5 was told to us and not to the public");
    feed.hear(encoded(trade{trade_id{5}, 100, instrument_id{1}, 3, order_side::sell}));
    CHECK(feed.difference(trader) == "trade 5 was told to the public otherwise than to us");
    feed.hear(encoded(trade{trade_id{5}, 100, instrument_id{1}, 4, order_side::sell}));
    CHECK(feed.difference(trader) == "order 4294967297 rests and is not in the public book");
    order_book_update update{order_id{77},    100, instrument_id{1}, 10, order_side::buy,
                             book_action::add};
    feed.hear(encoded(update));
    CHECK(feed.difference(trader) == "order 4294967297 stands otherwise in the public book");
    update.open = 6;
    update.action = book_action::modify;
    feed.hear(encoded(update));
    CHECK_FALSE(feed.difference(trader));
    update.action = book_action::erase;
    feed.hear(encoded(update));
    CHECK(feed.difference(trader) == "order 4294967297 rests and is not in the public book");
    feed.hear({});
    CHECK(feed.unreadable() == 1);
}

TEST_CASE("a new life leaves nothing of the old one, to traders or to the public") {
    order_view trader = with_a_resting_bid();
    tell(trader, fill(4, 6));
    trader.asks(cancel_order{session_id{1}, two, {order_id::none, one}}, 0);
    feed_view feed;
    feed.hear(encoded(order_book_update{order_id{77}, 100, instrument_id{1}, 10, order_side::buy,
                                        book_action::add}));
    feed.hear(encoded(trade{trade_id{5}, 100, instrument_id{1}, 4, order_side::sell}));

    trader.begin_life();
    feed.begin_life();

    CHECK(trader.resting() == 0);
    CHECK(trader.trades().empty());
    CHECK(trader.unanswered() == 0);
    CHECK(trader.lost() == 1);
    CHECK(feed.resting() == 0);
    CHECK(feed.trades() == 0);
    CHECK(feed.lives() == 2);

    trader.asks(a_bid(), 0);
    tell(trader, rests(10, 0));  // The same numbers, and another order.
    CHECK(trader.resting() == 1);
    CHECK(trader.contradictions() == 0);
    CHECK(feed.difference(trader) ==
          "order " + std::to_string(number(one)) + " rests and is not in the public book");
}

TEST_CASE("messages of the feed whose numbers do not rise are of another life") {
    const trade told{trade_id{5}, 100, instrument_id{1}, 4, order_side::sell};
    feed_view feed;
    feed.hear(encoded(told, 7));
    feed.hear(encoded(told, 8));
    CHECK(feed.misplaced() == 0);
    feed.hear(encoded(told, 3));
    CHECK(feed.misplaced() == 1);
    feed.begin_life();
    feed.hear(encoded(told, 1));
    CHECK(feed.misplaced() == 1);
}

TEST_CASE("the same seed makes the same orders, on prices and in lots that the market takes") {
    order_mix_options options;
    options.markets = {{instrument_id{2}, 1'000, 5, 10}};
    order_mix mix{options, 7};
    order_mix same{options, 7};
    const order_view empty{ours};
    int advanced = 0;
    for (std::uint32_t each = 1; each < 2'000; ++each) {
        const order_mix_command first = mix.next(empty, client_sequence{each});
        const order_mix_command second = same.next(empty, client_sequence{each});
        REQUIRE(first.index() == second.index());
        if (const auto* made = std::get_if<enter_advanced_order>(&first)) {
            CHECK(made->trigger_price == std::get<enter_advanced_order>(second).trigger_price);
            CHECK(made->trigger_price % 5 == 0);
            CHECK(made->display_quantity % 10 == 0);
            CHECK(made->quantity > made->display_quantity);
            ++advanced;
            continue;
        }
        const auto& made = std::get<enter_order>(first);
        const auto& again = std::get<enter_order>(second);
        CHECK(made.price == again.price);
        CHECK(made.quantity == again.quantity);
        CHECK(made.price % 5 == 0);
        CHECK(made.quantity % 10 == 0);
        CHECK(made.quantity > 0);
        CHECK(made.client_seq == client_sequence{each});
    }
    CHECK(advanced > 100);
}

TEST_CASE(
    "a message that a gateway held back has had no effect, and any other that is refused is a "
    "fault") {
    const auto refused = [](decode_error why) {
        std::vector<std::byte> bytes(message_bytes_of<message_rejected>);
        encode(message_rejected{one, 1, 0, why},
               std::span{bytes}.first<message_bytes_of<message_rejected>>());
        return bytes;
    };
    for (const decode_error why :
         {decode_error::too_many_messages, decode_error::exchange_unreachable}) {
        order_view it{ours};
        it.asks(a_bid(), 0);
        it.hear(refused(why), 0);

        CHECK(it.heard().held_back == 1);
        CHECK(it.unanswered() == 0);
        CHECK(it.contradictions() == 0);
        tell(it, rests(10, 0));
        CHECK(it.contradictions() == 1);  // It was held back.
    }
    order_view it{ours};
    it.asks(a_bid(), 0);
    it.hear(refused(decode_error::field_missing), 0);
    CHECK(it.contradictions() == 1);
}
