// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/support/tally.hpp>

#include <exchange/tests/support/names.hpp>

#include <algorithm>
#include <variant>
#include <vector>

namespace exchange::testing {
namespace {

using enum reject_reason;

struct refusable {
    command_kind command;
    std::vector<reject_reason> reasons;
};

// What may stand behind each command. `reject_reason::none` is not in it: no message carries it.
const std::vector<refusable>& rules() {
    static const std::vector<refusable> all{
        {command_kind::enter_order,
         {unknown_session,         account_blocked,  duplicate_client_sequence,
          client_sequence_too_far, message_rate,     unknown_instrument,
          market_closed,           market_halted,    invalid_field,
          invalid_combination,     invalid_price,    price_off_tick,
          price_outside_collar,    invalid_quantity, quantity_over_max,
          value_over_max,          no_counterparty,  open_orders_over_max,
          position_over_max,       would_trade,      at_capacity,
          no_price_protection,     not_in_auction}},
        {command_kind::amend_order,
         // Not `open_orders_over_max`: an order that changes is one order before and after. What is said of
         // a minimum, or of protection, is said of stops that wait.
         {unknown_session,
          account_blocked,
          duplicate_client_sequence,
          client_sequence_too_far,
          message_rate,
          unknown_order,
          market_closed,
          market_halted,
          invalid_price,
          price_off_tick,
          price_outside_collar,
          invalid_quantity,
          quantity_over_max,
          value_over_max,
          position_over_max,
          would_trade,
          at_capacity,
          part_of_quote,
          invalid_combination,
          no_price_protection}},
        // To cancel is allowed to the blocked, and in halted and ended markets.
        {command_kind::cancel_order,
         {unknown_session, duplicate_client_sequence, client_sequence_too_far, message_rate,
          unknown_order}},
        {command_kind::cancel_orders,
         {unknown_session, duplicate_client_sequence, client_sequence_too_far, message_rate,
          invalid_field, not_permitted, unknown_instrument, nothing_to_cancel}},
        {command_kind::enter_quote,
         {unknown_session,
          account_blocked,
          duplicate_client_sequence,
          client_sequence_too_far,
          message_rate,
          unknown_instrument,
          market_closed,
          market_halted,
          invalid_field,
          invalid_combination,
          invalid_price,
          price_off_tick,
          price_outside_collar,
          invalid_quantity,
          quantity_over_max,
          value_over_max,
          open_orders_over_max,
          position_over_max,
          at_capacity,
          protection_struck,
          nothing_to_cancel}},
        {command_kind::enter_advanced_order,
         {unknown_session,         account_blocked,      duplicate_client_sequence,
          client_sequence_too_far, message_rate,         unknown_instrument,
          market_closed,           market_halted,        invalid_field,
          invalid_combination,     invalid_expiry,       invalid_price,
          price_off_tick,          price_outside_collar, invalid_quantity,
          quantity_over_max,       value_over_max,       no_counterparty,
          open_orders_over_max,    position_over_max,    would_trade,
          trigger_passed,          at_capacity,          no_price_protection,
          not_in_auction}},
        {command_kind::amend_stop,
         {unknown_session,
          account_blocked,
          duplicate_client_sequence,
          client_sequence_too_far,
          message_rate,
          unknown_order,
          not_waiting,
          market_closed,
          market_halted,
          invalid_price,
          price_off_tick,
          price_outside_collar,
          invalid_quantity,
          invalid_combination,
          quantity_over_max,
          value_over_max,
          position_over_max,
          trigger_passed,
          at_capacity,
          no_price_protection}},
        {command_kind::set_protection,
         {unknown_session, account_blocked, duplicate_client_sequence, client_sequence_too_far,
          message_rate, unknown_product, invalid_combination, at_capacity}},
        {command_kind::define_product,
         {invalid_definition, already_defined, at_capacity, unknown_product, out_of_use,
          not_changeable}},
        {command_kind::define_instrument,
         {invalid_definition, already_defined, at_capacity, unknown_product, unknown_instrument,
          out_of_use, not_changeable}},
        {command_kind::define_account,
         {invalid_definition, already_defined, at_capacity, unknown_account, out_of_use,
          not_changeable}},
        {command_kind::define_session,
         {invalid_definition, already_defined, at_capacity, unknown_account, unknown_session,
          out_of_use, not_changeable}},
        {command_kind::set_phase, {unknown_instrument, invalid_field, out_of_use}},
        {command_kind::set_account_state, {unknown_account, invalid_field, out_of_use}},
        {command_kind::set_settlement_price, {unknown_instrument, invalid_price, out_of_use}},
        {command_kind::end_session, {unknown_session}},
        {command_kind::end_day, {unknown_instrument, out_of_use}},
        {command_kind::retire,
         {invalid_field, unknown_product, unknown_instrument, unknown_account, unknown_session,
          out_of_use}},
        // Nothing can be wrong about it.
        {command_kind::expire_instruments, {}},
        {command_kind::set_position,
         {unknown_account, unknown_instrument, out_of_use, invalid_quantity, not_permitted,
          at_capacity}},
        {command_kind::uncross, {unknown_instrument, out_of_use, no_auction}},
        {command_kind::set_interruption, {unknown_instrument, out_of_use, invalid_definition}},
        {command_kind::schedule_phase,
         {unknown_instrument, out_of_use, invalid_field, invalid_definition}},
        {command_kind::advance_phases, {}},
        {command_kind::bust_trade, {unknown_instrument, out_of_use, unknown_trade, already_busted}},
    };
    return all;
}

template <class Enum, class Counts>
std::string never(const char* what, const Counts& counts) {
    std::string names;
    for (std::size_t each = 0; each < counts.size(); ++each) {
        const auto name = name_of(static_cast<Enum>(each));
        if (!name.empty() && counts[each] == 0)
            names += "never " + (what + std::string{name}) + '\n';
    }
    return names;
}

template <class Enum, class Counts>
std::string counted(const Counts& counts) {
    std::string line;
    for (std::size_t each = 0; each < counts.size(); ++each) {
        if (counts[each] == 0) continue;
        line += ' ' + std::string{name_of(static_cast<Enum>(each))} + ' ' +
                std::to_string(counts[each]);
    }
    return line;
}

template <class Counts>
void add(Counts& to, const Counts& more) {
    for (std::size_t each = 0; each < to.size(); ++each) to[each] += more[each];
}

}  // namespace

void tally::count(const command& it) {
    std::visit([this](const auto& each) { ++commands_[number(each.kind)]; }, it);
}

void tally::count(const event& it) {
    ++events_[number(it.kind)];
    switch (it.kind) {
        case event_kind::order_cancelled: ++cancels_[number(it.order_cancelled.reason)]; break;
        case event_kind::order_terms:
            if (it.order_terms.expiry_yyyymmdd != 0) ++dated_;
            if (it.order_terms.display_quantity > 0)
                icebergs_[it.order_terms.order].shown = it.order_terms.display_quantity;
            break;
        case event_kind::order_executed: return count_fill(it.order_executed);
        case event_kind::order_amended: ++amends_[number(it.order_amended.reason)]; break;
        case event_kind::order_rejected:
            return count_refusal(it.order_rejected.command, it.order_rejected.reason);
        case event_kind::admin_rejected:
            return count_refusal(it.admin_rejected.command, it.admin_rejected.reason);
        default: break;
    }
}

void tally::count_fill(const order_executed& it) {
    const auto found = icebergs_.find(it.order);
    if (found == icebergs_.end()) return;
    found->second.filled += it.quantity;
    if (found->second.filled > found->second.shown) ++hidden_fills_;
}

void tally::count_refusal(command_kind command, reject_reason why) {
    ++refusals_[number(command)][number(why)];
}

tally& tally::operator+=(const tally& other) {
    resumptions_ += other.resumptions_;
    hidden_fills_ += other.hidden_fills_;
    dated_ += other.dated_;
    add(commands_, other.commands_);
    add(events_, other.events_);
    add(cancels_, other.cancels_);
    add(amends_, other.amends_);
    for (std::size_t each = 0; each < refusals_.size(); ++each) {
        add(refusals_[each], other.refusals_[each]);
    }
    return *this;
}

std::string tally::complaint() const {
    std::string made = never<command_kind>("", commands_) + never<event_kind>("", events_) +
                       never<cancel_reason>("cancelled: ", cancels_) +
                       never<amend_reason>("amended: ", amends_);
    if (resumptions_ == 0) made += "never a command in more than one step\n";
    for (const auto& [command, reasons] : rules()) {
        for (std::size_t each = 0; each < 256; ++each) {
            const auto why = static_cast<reject_reason>(each);
            const bool allowed = std::find(reasons.begin(), reasons.end(), why) != reasons.end();
            const bool seen = refusals_[number(command)][each] != 0;
            if (allowed == seen) continue;
            made += (allowed ? "never " : "against the rules: ") + std::string{name_of(command)} +
                    " refused: " + std::string{name_of(why)} + '\n';
        }
    }
    return made;
}

std::string tally::text() const {
    std::string made = "  commands:" + counted<command_kind>(commands_) +
                       "\n  messages:" + counted<event_kind>(events_) +
                       "\n  cancelled:" + counted<cancel_reason>(cancels_) +
                       "\n  amended:" + counted<amend_reason>(amends_) +
                       "\n  further steps: " + std::to_string(resumptions_) +
                       "\n  hidden fills: " + std::to_string(hidden_fills_) +
                       ", with a last day: " + std::to_string(dated_);
    for (const auto& [command, unused] : rules()) {
        made += "\n  " + std::string{name_of(command)} +
                " refused:" + counted<reject_reason>(refusals_[number(command)]);
    }
    return made;
}

}  // namespace exchange::testing
