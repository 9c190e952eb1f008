// SPDX-License-Identifier: BSL-1.0
//
// See the header: who sets a protection, and what becomes of the quotes when it is struck.
//
// That waits until the command that traded is carried out, and comes before the stops that it has reached: so
// each of them finds a book without the quotes.
#include <exchange/core/partition.hpp>

namespace exchange {

void partition::handle(const set_protection& it) noexcept {
    const reject_reason why = protect(it);
    if (why == reject_reason::none) return;
    out_.refused(order_rejected{.order = order_id::none,
                                .instrument = instrument_id::none,
                                .client_seq = it.client_seq,
                                .session = it.session,
                                .command = it.kind,
                                .reason = why});
}

reject_reason partition::protect(const set_protection& it) noexcept {
    const reject_reason why = admit_entry(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    if (!is_defined(it.product)) return reject_reason::unknown_product;
    const bool bounds = it.quantity_max != 0 || it.trades_max != 0 || it.delta_max != 0;
    if (bounds != (it.window_ns != 0)) return reject_reason::invalid_combination;
    account& whose = account_of(it.session);
    protection_table& all = venue_.protections;
    protection_index at = all.find(whose.first_protection, it.product);
    if (at == 0 && !all.has(1)) return reject_reason::at_capacity;
    if (at == 0) at = all.make(whose.first_protection, whose.terms.account, it.product);
    set(all[at], it);
    out_.protected_by(it, whose.terms.account);
    return reject_reason::none;
}

bool partition::is_struck(const account& whose, product_id product) const noexcept {
    return venue_.protections[venue_.protections.find(whose.first_protection, product)].struck;
}

// Market by market, so that nothing but numbers decides the sequence.
bool partition::withdraw_some() noexcept {
    protection_table& all = venue_.protections;
    while (const protection_index at = all.first_struck()) {
        if (work_.spent()) return false;
        const protection& it = all[at];
        if (withdrawn_ == 0) out_.struck(it);
        for (; withdrawn_ < venue_.last_instrument; ++withdrawn_) {
            if (work_.spent()) return false;
            work_.spend(work_of_look);
            withdraw_quote(venue_.markets[withdrawn_ + 1], it);
        }
        withdrawn_ = 0;
        all.forget_first_struck();
    }
    return true;
}

void partition::withdraw_quote(const market& in, const protection& it) noexcept {
    const define_instrument& terms = in.terms.instrument;
    if (terms.instrument == instrument_id::none || terms.product != it.product) return;
    const holding_index held = find_holding(venue_.accounts[number(it.account)], terms.instrument);
    for (const order_side side : {order_side::buy, order_side::sell}) {
        const order_index quoted = venue_.holdings[held].quote[number(side)];
        if (quoted == 0) continue;
        work_.spend(work_of_cancel);
        matcher_.cancel(quoted, cancel_reason::protection, request_name{});
    }
}

}  // namespace exchange
