// SPDX-License-Identifier: BSL-1.0
//
// See the header: each row of the rules is one function.
#include <exchange/core/publisher.hpp>

namespace exchange {
namespace {

instrument_id instrument_of(const market& in) noexcept { return in.terms.instrument.instrument; }

order_cancelled cancelled_message(const market& in, const order& it,
                                  const cancellation& how) noexcept {
    return {.order = it.id,
            .price = it.price,
            .instrument = instrument_of(in),
            .account = how.account,
            .client_seq = it.client_seq,
            .request_seq = how.request.client_seq,
            .cancelled = how.cancelled,
            .executed = it.executed,
            .session = it.session,
            .request_session = how.request.session,
            .side = it.side,
            .reason = how.reason};
}

order_amended amended_message(const market& in, const order& it, contracts open,
                              const amendment& how) noexcept {
    return {.order = it.id,
            .price = it.price,
            .instrument = instrument_of(in),
            .account = how.account,
            .client_seq = it.client_seq,
            .request_seq = how.request.client_seq,
            .open = open,
            .executed = it.executed,
            .session = it.session,
            .request_session = how.request.session,
            .side = it.side,
            .priority = how.priority,
            .reason = how.reason};
}

}  // namespace

void publisher::begin(in_sequence in_seq, timestamp_ns time, event_sink sink) noexcept {
    in_seq_ = in_seq;
    time_ = time;
    sink_ = sink;
    index_ = 0;
}

void publisher::end() noexcept {
    if (count_ == 0) return;
    flush(count_, completeness::complete);
    count_ = 0;
}

void publisher::pause() noexcept {
    if (count_ < 2) return;
    flush(count_ - 1, completeness::partial);
    events_[0] = events_[count_ - 1];
    count_ = 1;
}

void publisher::flush(std::uint32_t count, completeness how) noexcept {
    const event_batch batch{.events = {events_.data(), count},
                            .first_out_seq = flushed_ + 1,
                            .in_seq = in_seq_,
                            .time = time_,
                            .first_index = index_,
                            .complete = how == completeness::complete};
    flushed_ += count;
    index_ += count;
    sink_.take(sink_.context, batch);
}

void publisher::rests(market& in, const order& it, account_id account) noexcept {
    next(event_kind::order_entered).order_entered = {.order = it.id,
                                                     .price = it.price,
                                                     .instrument = instrument_of(in),
                                                     .account = account,
                                                     .client_seq = it.client_seq,
                                                     .open = memory_->open_of(it),
                                                     .executed = it.executed,
                                                     .session = it.session,
                                                     .side = it.side,
                                                     .tif = it.tif};
    regains_place(in, it);
}

void publisher::regains_place(market& in, const order& it) noexcept {
    book_changed(in, it, book_action::add);
    top(in);
}

void publisher::cancelled(market& in, const order& it, const cancellation& how) noexcept {
    next(event_kind::order_cancelled).order_cancelled = cancelled_message(in, it, how);
    book_changed(in, it, book_action::erase);
    top(in);
}

void publisher::cancelled_unseen(const market& in, const order& it,
                                 const cancellation& how) noexcept {
    next(event_kind::order_cancelled).order_cancelled = cancelled_message(in, it, how);
}

void publisher::amended(market& in, const order& it, const amendment& how) noexcept {
    next(event_kind::order_amended).order_amended =
        amended_message(in, it, memory_->open_of(it), how);
    book_changed(in, it, book_action::modify);
    top(in);
}

void publisher::loses_place(market& in, const order& it, const placement& to,
                            const amendment& how) noexcept {
    order_amended message = amended_message(in, it, to.open, how);
    message.price = to.price;
    next(event_kind::order_amended).order_amended = message;
    book_changed(in, it, book_action::erase);
}

void publisher::amended_unseen(const market& in, const order& it, const amendment& how) noexcept {
    next(event_kind::order_amended).order_amended =
        amended_message(in, it, memory_->open_of(it), how);
}

void publisher::has_terms(const market& in, const order& it, const advanced_terms& terms,
                          account_id account) noexcept {
    next(event_kind::order_terms).order_terms = {.order = it.id,
                                                 .trigger_price = terms.trigger,
                                                 .client_seq = it.client_seq,
                                                 .instrument = instrument_of(in),
                                                 .account = account,
                                                 .display_quantity = terms.display,
                                                 .minimum_quantity = terms.minimum,
                                                 .expiry_yyyymmdd = terms.expiry_yyyymmdd,
                                                 .session = it.session,
                                                 .side = it.side,
                                                 .type = terms.type};
}

void publisher::waits(const market& in, const order& it, account_id account) noexcept {
    next(event_kind::stop_entered).stop_entered = {.order = it.id,
                                                   .price = it.price,
                                                   .client_seq = it.client_seq,
                                                   .instrument = instrument_of(in),
                                                   .account = account,
                                                   .open = it.open,
                                                   .session = it.session,
                                                   .side = it.side,
                                                   .tif = it.tif};
}

void publisher::triggered(const market& in, const order& it, account_id account) noexcept {
    next(event_kind::stop_triggered).stop_triggered = {.order = it.id,
                                                       .price = it.price,
                                                       .client_seq = it.client_seq,
                                                       .instrument = instrument_of(in),
                                                       .account = account,
                                                       .open = it.open,
                                                       .session = it.session,
                                                       .side = it.side};
}

void publisher::trigger_changed(const market& in, const order& it, const advanced_terms& terms,
                                account_id account, request_name request) noexcept {
    next(event_kind::trigger_amended).trigger_amended = {.order = it.id,
                                                         .trigger_price = terms.trigger,
                                                         .client_seq = it.client_seq,
                                                         .request_seq = request.client_seq,
                                                         .instrument = instrument_of(in),
                                                         .account = account,
                                                         .session = it.session,
                                                         .request_session = request.session,
                                                         .side = it.side};
}

void publisher::protected_by(const set_protection& it, account_id account) noexcept {
    next(event_kind::protection_set).protection_set = {.client_seq = it.client_seq,
                                                       .window_ns = it.window_ns,
                                                       .product = it.product,
                                                       .account = account,
                                                       .quantity_max = it.quantity_max,
                                                       .delta_max = it.delta_max,
                                                       .trades_max = it.trades_max,
                                                       .session = it.session};
}

void publisher::struck(const protection& it) noexcept {
    next(event_kind::protection_struck).protection_struck = {.client_seq = it.client_seq,
                                                             .quantity = it.quantity,
                                                             .delta = it.delta,
                                                             .product = it.product,
                                                             .account = it.account,
                                                             .trades = it.trades,
                                                             .session = it.session};
}

void publisher::filled(market& in, const fill& it) noexcept {
    const order& maker = *it.maker;
    happened(in, it, execution_role::maker, execution_role::taker);
    book_changed(in, maker, maker.open == 0 ? book_action::erase : book_action::modify);
    next(event_kind::market_statistics).market_statistics = in.day;
    top(in);
}

void publisher::crossed(market& in, const fill& it) noexcept {
    happened(in, it, execution_role::auction, execution_role::auction);
    for (const order* const each : {it.maker, it.taker})
        book_changed(in, *each, each->open == 0 ? book_action::erase : book_action::modify);
    next(event_kind::market_statistics).market_statistics = in.day;
    top(in);
}

void publisher::happened(const market& in, const fill& it, execution_role maker,
                         execution_role taker) noexcept {
    const instrument_id instrument = instrument_of(in);
    executed(instrument, it, *it.maker, *it.maker_account, maker);
    executed(instrument, it, *it.taker, *it.taker_account, taker);
    next(event_kind::trade).trade = {.id = it.trade,
                                     .price = it.price,
                                     .instrument = instrument,
                                     .quantity = it.quantity,
                                     .aggressor = it.taker->side};
    volume(in);
    const bool maker_buys = it.maker->side == order_side::buy;
    captured(instrument, it, maker_buys ? *it.maker : *it.taker, maker_buys ? maker : taker);
    captured(instrument, it, maker_buys ? *it.taker : *it.maker, maker_buys ? taker : maker);
}

void publisher::uncrosses(const market& in, const auction_price& at) noexcept {
    next(event_kind::auction_result).auction_result = {.price = at.price,
                                                       .volume = at.volume,
                                                       .surplus = at.surplus,
                                                       .instrument = instrument_of(in),
                                                       .surplus_side = at.surplus_side};
}

void publisher::indicate(market& in, const auction_price& at) noexcept {
    auction_indication& told = in.cycle.told;
    if (at == auction_price{told.price, told.volume, told.surplus, told.surplus_side}) return;
    told = {.price = at.price,
            .volume = at.volume,
            .surplus = at.surplus,
            .instrument = instrument_of(in),
            .surplus_side = at.surplus_side};
    next(event_kind::auction_indication).auction_indication = told;
}

void publisher::busted(const market& in, const kept_trade& it,
                       const std::array<account_id, 2>& accounts) noexcept {
    for (const order_side side : {order_side::buy, order_side::sell}) {
        const std::size_t at = number(side);
        next(event_kind::execution_busted).execution_busted = {.order = it.orders[at],
                                                               .trade = it.id,
                                                               .price = it.price,
                                                               .instrument = instrument_of(in),
                                                               .account = accounts[at],
                                                               .client_seq = it.client_seqs[at],
                                                               .quantity = it.quantity,
                                                               .session = it.sessions[at],
                                                               .side = side};
    }
    next(event_kind::trade_busted).trade_busted = {
        .id = it.id, .price = it.price, .instrument = instrument_of(in), .quantity = it.quantity};
    summed(in);
}

void publisher::summed(const market& in) noexcept {
    volume(in);
    next(event_kind::market_statistics).market_statistics = in.day;
}

void publisher::volume(const market& in) noexcept {
    next(event_kind::volume_update).volume_update = {
        .volume = in.day.volume, .instrument = instrument_of(in), .trades = in.day.trades};
}

void publisher::executed(instrument_id instrument, const fill& it, const order& whose,
                         const account& account, execution_role role) noexcept {
    next(event_kind::order_executed).order_executed = {.order = whose.id,
                                                       .trade = it.trade,
                                                       .price = it.price,
                                                       .instrument = instrument,
                                                       .account = account.terms.account,
                                                       .client_seq = whose.client_seq,
                                                       .quantity = it.quantity,
                                                       .open = memory_->open_of(whose),
                                                       .session = whose.session,
                                                       .side = whose.side,
                                                       .role = role};
}

void publisher::captured(instrument_id instrument, const fill& it, const order& whose,
                         execution_role role) noexcept {
    const bool by_maker = &whose == it.maker;
    const account& own = by_maker ? *it.maker_account : *it.taker_account;
    const account& other = by_maker ? *it.taker_account : *it.maker_account;
    next(event_kind::trade_capture_report).trade_capture_report = {.order = whose.id,
                                                                   .trade = it.trade,
                                                                   .price = it.price,
                                                                   .instrument = instrument,
                                                                   .account = own.terms.account,
                                                                   .firm = own.terms.firm,
                                                                   .counterparty = other.terms.firm,
                                                                   .quantity = it.quantity,
                                                                   .session = whose.session,
                                                                   .side = whose.side,
                                                                   .role = role};
}

void publisher::book_changed(const market& in, const order& it, book_action action) noexcept {
    next(event_kind::order_book_update).order_book_update = {
        .order = it.id,
        .price = it.price,
        .instrument = instrument_of(in),
        .open = action == book_action::erase ? 0 : it.open,
        .side = it.side,
        .action = action};
    // A level that was closed is all zero, and not used again before the caller comes back.
    const price_level& level = memory_->levels.chunks.level(it.level);
    next(event_kind::price_level_update).price_level_update = {.price = it.price,
                                                               .quantity = level.quantity,
                                                               .instrument = instrument_of(in),
                                                               .orders = level.orders,
                                                               .side = it.side};
}

void publisher::top(market& in) noexcept {
    const level_index bid = in.book.best(order_side::buy);
    const level_index ask = in.book.best(order_side::sell);
    // Level 0 has no orders, and so its sums are those of a side without orders.
    const price_level& bids = memory_->levels.chunks.level(bid);
    const price_level& asks = memory_->levels.chunks.level(ask);
    const price_ticks bid_price = bid == 0 ? 0 : -in.book.of(order_side::buy).best_rank();
    const price_ticks ask_price = ask == 0 ? 0 : in.book.of(order_side::sell).best_rank();
    if (bids.quantity == in.told.bid_quantity && asks.quantity == in.told.ask_quantity &&
        bid_price == in.told.bid_price && ask_price == in.told.ask_price) {
        return;
    }
    in.told = {.bid_price = bid_price,
               .bid_quantity = bids.quantity,
               .ask_price = ask_price,
               .ask_quantity = asks.quantity,
               .instrument = instrument_of(in),
               .bid_orders = bids.orders,
               .ask_orders = asks.orders};
    next(event_kind::top_of_book).top_of_book = in.told;
}

}  // namespace exchange
