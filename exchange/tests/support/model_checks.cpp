// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: why a command cannot be carried out.
#include <exchange/tests/support/model.hpp>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace exchange::testing {
namespace {

// 64 bits of mantissa: enough to notice that a product needs more than 63.
using wide = long double;

// Prices come in chunks of 64, counted from the best price that there could be.
std::int64_t chunk_at(order_side side, price_ticks price) {
    const std::int64_t rank = side == order_side::sell ? price : -price;
    return rank >= 0 ? rank / 64 : (rank - 63) / 64;
}

}  // namespace

bool model::has_holding(account_id whose, instrument_id in) const {
    return holdings_.contains({whose, in}) || holdings_.size() < limits_.holdings_max;
}

std::size_t model::chunks_in_use() const {
    // No more than orders, and counting them all takes long.
    if (orders_.size() + 2 <= limits_.level_chunks_max) return orders_.size();
    enum class part : std::uint8_t { bids, asks, stops_to_buy, stops_to_sell };
    std::set<std::tuple<instrument_id, part, std::int64_t>> found;
    for (const auto& [id, in] : markets_) {
        for (const auto& [price, unused] : in.buys) {
            found.insert({id, part::bids, chunk_at(order_side::buy, price)});
        }
        for (const auto& [price, unused] : in.sells) {
            found.insert({id, part::asks, chunk_at(order_side::sell, price)});
        }
        for (const order_id stop : in.stops) {
            const model_order& it = orders_.at(stop);
            const bool buys = it.terms.side == order_side::buy;
            // Those to buy begin with the lowest, as asks do.
            found.insert({id, buys ? part::stops_to_buy : part::stops_to_sell,
                          chunk_at(opposite(it.terms.side), it.trigger)});
        }
    }
    return found.size();
}

bool model::has_room(instrument_id in, order_side side, price_ticks price) const {
    if (chunks_in_use() < limits_.level_chunks_max && far_nodes_left_ >= 7) return true;
    const model_market& market = markets_.at(in);
    for (const auto& [taken, unused] : side == order_side::buy ? market.buys : market.sells) {
        if (chunk_at(side, taken) == chunk_at(side, price)) return true;
    }
    return false;
}

bool model::has_stop_room(instrument_id in, order_side side, price_ticks trigger) const {
    if (chunks_in_use() < limits_.level_chunks_max && far_nodes_left_ >= 7) return true;
    const auto chunk = [](const model_order& it) {
        return chunk_at(opposite(it.terms.side), it.trigger);
    };
    const std::list<order_id>& stops = markets_.at(in).stops;
    return std::any_of(stops.begin(), stops.end(), [&](order_id id) {
        const model_order& it = orders_.at(id);
        return it.terms.side == side && chunk(it) == chunk_at(opposite(side), trigger);
    });
}

reject_reason model::why_no_message(session_id from, client_sequence seq, model_message what) {
    if (!knows(from)) return reject_reason::unknown_session;
    model_session& by = sessions_.at(from);
    if (seq <= by.last) return reject_reason::duplicate_client_sequence;
    if (number(seq) - number(by.last) > 16'777'216) return reject_reason::client_sequence_too_far;
    by.last = seq;
    model_account& whose = accounts_.at(by.terms.account);
    if (!has_allowance(whose, what)) return reject_reason::message_rate;
    const bool may_enter = whose.state == account_state::active;
    if (what == model_message::entry && !may_enter) return reject_reason::account_blocked;
    return reject_reason::none;
}

// Each message occupies its share of a second. A burst may run ahead of the clock by all of its messages
// but one; what is refused occupies nothing.
bool model::has_allowance(model_account& whose, model_message what) const {
    const bool enters = what == model_message::entry;
    const std::uint32_t rate =
        enters ? whose.terms.messages_per_second_max : whose.terms.cancels_per_second_max;
    if (rate == 0) return true;
    const std::uint32_t wanted =
        enters ? whose.terms.message_burst_max : whose.terms.cancel_burst_max;
    const std::uint64_t burst = wanted == 0 ? rate : wanted;
    const std::uint64_t share = std::max<std::uint64_t>(1, 1'000'000'000 / rate);
    timestamp_ns& until = enters ? whose.entries_occupied_until : whose.cancels_occupied_until;
    const timestamp_ns begin = std::max(until, now_);
    if (begin - now_ > (burst - 1) * share) return false;
    until = begin + share;
    return true;
}

reject_reason model::why_no_market(instrument_id in) const {
    const auto at = markets_.find(in);
    if (at == markets_.end()) return reject_reason::unknown_instrument;
    const model_market& market = at->second;
    if (market.phase == market_phase::ended || is_over(market)) return reject_reason::market_closed;
    if (market.phase == market_phase::closed) return reject_reason::market_closed;
    if (market.phase == market_phase::halted) return reject_reason::market_halted;
    return reject_reason::none;
}

// Where an order at the market would stand that comes now; nowhere, if nothing bounds it.
std::optional<price_ticks> model::bound_at_market(const model_market& in, order_side side) const {
    if (!is_in_auction(in)) return market_limit(in, side);
    if (in.terms.collar == 0) return std::nullopt;
    return side == order_side::buy ? price_ticks_max : -price_ticks_max;
}

// How far a market order goes: not beyond the collar, and not beyond the band around the best price.
std::optional<price_ticks> model::market_limit(const model_market& in, order_side side) const {
    return market_limit(in, side, best_of(in, opposite(side)).value_or(in.terms.settlement_price));
}

std::optional<price_ticks> model::market_limit(const model_market& in, order_side side,
                                               price_ticks from) const {
    const define_instrument& terms = in.terms;
    const bool buys = side == order_side::buy;
    std::vector<price_ticks> limits;
    if (terms.collar > 0) {
        limits.push_back(terms.settlement_price + (buys ? terms.collar : -terms.collar));
    }
    if (terms.market_band > 0) {
        limits.push_back(from + (buys ? terms.market_band : -terms.market_band));
    }
    if (limits.empty()) return std::nullopt;
    return buys ? *std::min_element(limits.begin(), limits.end())
                : *std::max_element(limits.begin(), limits.end());
}

reject_reason model::why_no_price(const model_market& in, price_ticks price) const {
    if (!is_price(price)) return reject_reason::invalid_price;
    const define_product& product = product_of(in);
    if (product.bands > 0) {
        price_ticks step = product.ticks[0].step;
        for (std::uint32_t each = 1; each < product.bands; ++each) {
            if (price >= product.ticks[each].from) step = product.ticks[each].step;
        }
        if (price % step != 0) return reject_reason::price_off_tick;
    }
    if (in.terms.collar > 0 && std::abs(price - in.terms.settlement_price) > in.terms.collar) {
        return reject_reason::price_outside_collar;
    }
    return reject_reason::none;
}

reject_reason model::why_no_quantity(const model_market& in, contracts quantity) const {
    if (quantity == 0 || quantity % product_of(in).lot != 0) return reject_reason::invalid_quantity;
    if (in.terms.order_quantity_max > 0 && quantity > in.terms.order_quantity_max) {
        return reject_reason::quantity_over_max;
    }
    return reject_reason::none;
}

reject_reason model::why_no_value(const model_market& in, order_side side, price_ticks price,
                                  contracts quantity) const {
    // A buyer may get it for less, a seller for more, and less than nothing is a price as well.
    price_ticks dearest = std::abs(price);
    if (in.terms.collar > 0) {
        const price_ticks better = side == order_side::buy ? -in.terms.collar : in.terms.collar;
        const price_ticks end = in.terms.settlement_price + better;
        for (const price_ticks each : {end, -end}) dearest = std::max(dearest, each);
    }
    const wide value = static_cast<wide>(dearest) * quantity * product_of(in).multiplier;
    const bool fits = value <= static_cast<wide>(INT64_MAX);
    if (!fits) return reject_reason::value_over_max;
    if (in.terms.order_value_max > 0 && value > static_cast<wide>(in.terms.order_value_max)) {
        return reject_reason::value_over_max;
    }
    return reject_reason::none;
}

reject_reason model::why_no_limits(const model_account& whose, instrument_id in, order_side side,
                                   contracts quantity, std::int64_t more,
                                   std::int64_t more_orders) const {
    const define_account& terms = whose.terms;
    if (terms.order_quantity_max > 0 && quantity > terms.order_quantity_max) {
        return reject_reason::quantity_over_max;
    }
    if (terms.open_orders_max == 0 && terms.position_max == 0) return reject_reason::none;
    const auto own = by_account_.find(terms.account);
    const std::int64_t resting =
        own == by_account_.end() ? 0 : static_cast<std::int64_t>(own->second.size());
    const auto open = static_cast<std::int64_t>(open_of(terms.account, in, side));
    if (terms.open_orders_max > 0 && more_orders > 0 &&
        resting + more_orders > terms.open_orders_max) {
        return reject_reason::open_orders_over_max;
    }
    const std::int64_t position = position_of(terms.account, in);
    const std::int64_t away = side == order_side::buy ? position : -position;
    if (terms.position_max > 0 && more > 0 && away + open + more > terms.position_max) {
        return reject_reason::position_over_max;
    }
    return reject_reason::none;
}

}  // namespace exchange::testing
