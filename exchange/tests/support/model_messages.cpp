// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: the messages, each from the state as it is.
#include <exchange/tests/support/model.hpp>

namespace exchange::testing {
void model::say_cancelled(const model_order& it, contracts gone, cancel_reason reason,
                          model_request by) {
    say(order_cancelled{it.id, it.terms.price, it.terms.instrument, it.account, it.terms.client_seq,
                        by.client_seq, gone, it.executed, it.terms.session, by.session,
                        it.terms.side, reason});
}

void model::say_amended(const model_order& it, amend_priority priority, amend_reason reason,
                        model_request by) {
    say(order_amended{it.id, it.terms.price, it.terms.instrument, it.account, it.terms.client_seq,
                      by.client_seq, it.open, it.executed, it.terms.session, by.session,
                      it.terms.side, priority, reason});
}

void model::say_executed(const model_order& it, price_ticks price, contracts quantity,
                         execution_role role) {
    say(order_executed{it.id, trade_id{last_trade_}, price, it.terms.instrument, it.account,
                       it.terms.client_seq, quantity, it.open, it.terms.session, it.terms.side,
                       role});
}

void model::say_captured(const model_order& it, const model_order& other, price_ticks price,
                         contracts quantity, execution_role role) {
    say(trade_capture_report{it.id, trade_id{last_trade_}, price, it.terms.instrument, it.account,
                             accounts_.at(it.account).terms.firm,
                             accounts_.at(other.account).terms.firm, quantity, it.terms.session,
                             it.terms.side, role});
}

void model::say_book(const model_order& it, book_action action) {
    touch(it.terms.instrument);
    say(order_book_update{it.id, it.terms.price, it.terms.instrument,
                          action == book_action::erase ? 0 : shown_of(it), it.terms.side, action});
}

void model::say_level(const model_order& it) {
    price_level_update made{it.terms.price, 0, it.terms.instrument, 0, it.terms.side};
    const model_side& side = side_of(it);
    if (const auto at = side.find(it.terms.price); at != side.end()) {
        for (const order_id id : at->second) {
            made.quantity += shown_of(orders_.at(id));
            ++made.orders;
        }
    }
    say(made);
}

void model::say_top(instrument_id in) {
    model_market& market = markets_.at(in);
    top_of_book made{0, 0, 0, 0, in, 0, 0};
    if (!market.buys.empty()) {
        const auto& [price, ids] = *market.buys.rbegin();
        made.bid_price = price;
        for (const order_id id : ids) made.bid_quantity += shown_of(orders_.at(id));
        made.bid_orders = static_cast<std::uint32_t>(ids.size());
    }
    if (!market.sells.empty()) {
        const auto& [price, ids] = *market.sells.begin();
        made.ask_price = price;
        for (const order_id id : ids) made.ask_quantity += shown_of(orders_.at(id));
        made.ask_orders = static_cast<std::uint32_t>(ids.size());
    }
    const top_of_book& told = market.told;
    if (told.bid_price == made.bid_price && told.bid_quantity == made.bid_quantity &&
        told.ask_price == made.ask_price && told.ask_quantity == made.ask_quantity) {
        return;
    }
    market.told = made;
    say(made);
}

}  // namespace exchange::testing
