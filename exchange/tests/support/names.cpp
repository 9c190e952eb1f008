// SPDX-License-Identifier: BSL-1.0
//
// See the header. A switch without a default: the compiler asks for the name of a new enumerator.
#include <exchange/tests/support/names.hpp>

namespace exchange::testing {

std::string_view name_of(command_kind it) {
    using enum command_kind;
    switch (it) {
        case enter_order: return "enter_order";
        case amend_order: return "amend_order";
        case cancel_order: return "cancel_order";
        case cancel_orders: return "cancel_orders";
        case enter_quote: return "enter_quote";
        case enter_advanced_order: return "enter_advanced_order";
        case amend_stop: return "amend_stop";
        case set_protection: return "set_protection";
        case define_product: return "define_product";
        case define_instrument: return "define_instrument";
        case define_account: return "define_account";
        case define_session: return "define_session";
        case set_phase: return "set_phase";
        case set_account_state: return "set_account_state";
        case set_settlement_price: return "set_settlement_price";
        case end_session: return "end_session";
        case end_day: return "end_day";
        case retire: return "retire";
        case expire_instruments: return "expire_instruments";
        case set_position: return "set_position";
        case uncross: return "uncross";
        case set_interruption: return "set_interruption";
        case advance_phases: return "advance_phases";
        case bust_trade: return "bust_trade";
        case schedule_phase: return "schedule_phase";
    }
    return "";
}

std::string_view name_of(event_kind it) {
    using enum event_kind;
    switch (it) {
        case order_entered: return "order_entered";
        case order_amended: return "order_amended";
        case order_cancelled: return "order_cancelled";
        case order_rejected: return "order_rejected";
        case order_executed: return "order_executed";
        case trade_capture_report: return "trade_capture_report";
        case order_terms: return "order_terms";
        case stop_entered: return "stop_entered";
        case stop_triggered: return "stop_triggered";
        case trigger_amended: return "trigger_amended";
        case protection_set: return "protection_set";
        case protection_struck: return "protection_struck";
        case execution_busted: return "execution_busted";
        case order_book_update: return "order_book_update";
        case price_level_update: return "price_level_update";
        case top_of_book: return "top_of_book";
        case trade: return "trade";
        case volume_update: return "volume_update";
        case market_statistics: return "market_statistics";
        case phase_changed: return "phase_changed";
        case trade_busted: return "trade_busted";
        case auction_indication: return "auction_indication";
        case auction_result: return "auction_result";
        case admin_accepted: return "admin_accepted";
        case admin_rejected: return "admin_rejected";
    }
    return "";
}

std::string_view name_of(reject_reason it) {
    using enum reject_reason;
    switch (it) {
        case none: return "none";
        case unknown_session: return "unknown_session";
        case account_blocked: return "account_blocked";
        case duplicate_client_sequence: return "duplicate_client_sequence";
        case message_rate: return "message_rate";
        case unknown_instrument: return "unknown_instrument";
        case market_closed: return "market_closed";
        case market_halted: return "market_halted";
        case invalid_field: return "invalid_field";
        case invalid_combination: return "invalid_combination";
        case invalid_price: return "invalid_price";
        case price_off_tick: return "price_off_tick";
        case price_outside_collar: return "price_outside_collar";
        case invalid_quantity: return "invalid_quantity";
        case quantity_over_max: return "quantity_over_max";
        case value_over_max: return "value_over_max";
        case open_orders_over_max: return "open_orders_over_max";
        case position_over_max: return "position_over_max";
        case would_trade: return "would_trade";
        case no_counterparty: return "no_counterparty";
        case unknown_order: return "unknown_order";
        case not_permitted: return "not_permitted";
        case at_capacity: return "at_capacity";
        case unknown_product: return "unknown_product";
        case unknown_account: return "unknown_account";
        case invalid_definition: return "invalid_definition";
        case already_defined: return "already_defined";
        case client_sequence_too_far: return "client_sequence_too_far";
        case part_of_quote: return "part_of_quote";
        case no_price_protection: return "no_price_protection";
        case nothing_to_cancel: return "nothing_to_cancel";
        case out_of_use: return "out_of_use";
        case not_changeable: return "not_changeable";
        case invalid_expiry: return "invalid_expiry";
        case trigger_passed: return "trigger_passed";
        case not_waiting: return "not_waiting";
        case protection_struck: return "protection_struck";
        case not_in_auction: return "not_in_auction";
        case no_auction: return "no_auction";
        case unknown_trade: return "unknown_trade";
        case already_busted: return "already_busted";
    }
    return "";
}

std::string_view name_of(cancel_reason it) {
    using enum cancel_reason;
    switch (it) {
        case requested: return "requested";
        case mass_cancel: return "mass_cancel";
        case immediate_or_cancel: return "immediate_or_cancel";
        case fill_or_kill: return "fill_or_kill";
        case self_trade: return "self_trade";
        case quote_replaced: return "quote_replaced";
        case amended_below_executed: return "amended_below_executed";
        case kill_switch: return "kill_switch";
        case session_ended: return "session_ended";
        case day_ended: return "day_ended";
        case expired: return "expired";
        case retired: return "retired";
        case minimum_quantity: return "minimum_quantity";
        case no_price_protection: return "no_price_protection";
        case at_capacity: return "at_capacity";
        case protection: return "protection";
    }
    return "";
}

std::string_view name_of(amend_reason it) {
    using enum amend_reason;
    switch (it) {
        case requested: return "requested";
        case self_trade: return "self_trade";
    }
    return "";
}

}  // namespace exchange::testing
