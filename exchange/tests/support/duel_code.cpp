// SPDX-License-Identifier: BSL-1.0
//
// The duel, continued: its steps as code, for a test that plays them again.
#include <exchange/tests/support/duel.hpp>

namespace exchange::testing {
namespace {

std::string text(std::int64_t it) { return std::to_string(it); }

template <class Enum>
    requires std::is_enum_v<Enum>
std::string text(Enum it, const char* type) {
    return std::string{type} + '{' + std::to_string(+number(it)) + '}';
}

template <class... Fields>
std::string braces(const char* type, const Fields&... fields) {
    std::string made = std::string{type} + '{';
    [[maybe_unused]] const char* separator = "";
    ((made += separator, made += fields, separator = ", "), ...);
    return made + '}';
}

std::string session(session_id it) { return text(it, "session_id"); }
std::string sequence(client_sequence it) { return text(it, "client_sequence"); }
std::string instrument(instrument_id it) { return text(it, "instrument_id"); }
std::string account(account_id it) { return text(it, "account_id"); }
std::string action(definition_action it) { return text(it, "definition_action"); }

std::string target(const order_reference& it) {
    return braces("", text(it.id, "order_id"), sequence(it.client_seq));
}

std::string code(const enter_order& it) {
    return braces("enter_order", session(it.session), sequence(it.client_seq),
                  instrument(it.instrument), text(it.side, "order_side"),
                  text(it.type, "order_type"), text(it.tif, "time_in_force"),
                  text(it.instruction, "execution_instruction"),
                  text(it.self_trade, "self_trade_action"), text(it.price), text(it.quantity));
}
std::string code(const amend_order& it) {
    return braces("amend_order", session(it.session), sequence(it.client_seq), target(it.target),
                  text(it.price), text(it.quantity));
}
std::string code(const cancel_order& it) {
    return braces("cancel_order", session(it.session), sequence(it.client_seq), target(it.target));
}
std::string code(const cancel_orders& it) {
    return braces("cancel_orders", session(it.session), sequence(it.client_seq),
                  account(it.account), instrument(it.instrument), text(it.sides, "side_filter"));
}
std::string code(const enter_quote& it) {
    return braces("enter_quote", session(it.session), sequence(it.client_seq),
                  instrument(it.instrument), text(it.self_trade, "self_trade_action"),
                  text(it.bid_price), text(it.ask_price), text(it.bid_quantity),
                  text(it.ask_quantity));
}
std::string code(const enter_advanced_order& it) {
    return braces("enter_advanced_order", session(it.session), sequence(it.client_seq),
                  instrument(it.instrument), text(it.side, "order_side"),
                  text(it.type, "order_type"), text(it.tif, "time_in_force"),
                  text(it.instruction, "execution_instruction"),
                  text(it.self_trade, "self_trade_action"), text(it.price), text(it.trigger_price),
                  text(it.quantity), text(it.display_quantity), text(it.minimum_quantity),
                  text(it.expiry_yyyymmdd));
}
std::string code(const amend_stop& it) {
    return braces("amend_stop", session(it.session), sequence(it.client_seq), target(it.target),
                  text(it.trigger_price), text(it.price), text(it.quantity));
}
std::string code(const set_protection& it) {
    return braces("set_protection", session(it.session), sequence(it.client_seq),
                  text(it.product, "product_id"), text(static_cast<std::int64_t>(it.window_ns)),
                  text(it.quantity_max), text(it.delta_max), text(it.trades_max));
}
std::string code(const define_product& it) {
    std::string bands = "{";
    for (std::uint32_t each = 0; each < it.bands; ++each) {
        bands += braces("", text(it.ticks[each].from), text(it.ticks[each].step)) + ", ";
    }
    return braces("define_product", text(it.product, "product_id"), text(it.multiplier),
                  text(it.lot), text(it.bands), bands + '}', action(it.action));
}
std::string code(const define_instrument& it) {
    return braces("define_instrument", instrument(it.instrument), text(it.product, "product_id"),
                  text(it.type, "instrument_kind"), text(it.lone_orders, "lone_order_policy"),
                  text(it.expiry_yyyymmdd), text(it.strike), text(it.settlement_price),
                  text(it.collar), text(it.order_quantity_max), text(it.order_value_max),
                  text(it.market_band), action(it.action));
}
std::string code(const define_account& it) {
    return braces("define_account", account(it.account), text(it.firm, "firm_id"),
                  text(it.group, "self_trade_group"), text(it.self_trade, "self_trade_action"),
                  text(it.order_quantity_max), text(it.open_orders_max),
                  text(it.messages_per_second_max), text(it.position_max),
                  text(it.message_burst_max), text(it.cancels_per_second_max),
                  text(it.cancel_burst_max), action(it.action));
}
std::string code(const define_session& it) {
    return braces("define_session", session(it.session), account(it.account),
                  text(it.on_disconnect, "disconnect_policy"), action(it.action));
}
std::string code(const set_phase& it) {
    return braces("set_phase", instrument(it.instrument), text(it.phase, "market_phase"));
}
std::string code(const set_account_state& it) {
    return braces("set_account_state", account(it.account), text(it.state, "account_state"));
}
std::string code(const set_settlement_price& it) {
    return braces("set_settlement_price", instrument(it.instrument), text(it.settlement_price));
}
std::string code(const end_session& it) { return braces("end_session", session(it.session)); }
std::string code(const end_day& it) { return braces("end_day", instrument(it.instrument)); }
std::string code(const retire& it) {
    return braces("retire", text(it.what, "definition_kind"), text(it.number));
}
std::string code(const expire_instruments&) { return braces("expire_instruments"); }
std::string code(const set_position& it) {
    return braces("set_position", account(it.account), instrument(it.instrument),
                  text(it.position));
}

std::string code(const uncross& it) { return braces("uncross", instrument(it.instrument)); }
std::string code(const set_interruption& it) {
    return braces("set_interruption", instrument(it.instrument), text(it.collar),
                  text(static_cast<std::int64_t>(it.duration_ns)));
}
std::string code(const schedule_phase& it) {
    return braces("schedule_phase", instrument(it.instrument), text(it.phase, "market_phase"),
                  text(it.second_of_day));
}
std::string code(const advance_phases&) { return braces("advance_phases"); }
std::string code(const bust_trade& it) {
    return braces("bust_trade", instrument(it.instrument), text(it.trade, "trade_id"));
}

}  // namespace

std::string as_code(const step& it) {
    const std::string what = std::visit([](const auto& each) { return code(each); }, it.what);
    return braces("step", text(static_cast<std::int64_t>(it.now)), what,
                  braces("", session(it.by_id.session), sequence(it.by_id.client_seq),
                         text(it.by_id.side, "order_side"))) +
           ',';
}

}  // namespace exchange::testing
