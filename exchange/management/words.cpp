// SPDX-License-Identifier: BSL-1.0
//
// The tables: see words.hpp.
#include <exchange/management/words.hpp>

#include <array>

namespace exchange {

template <>
std::span<const word<order_side>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<order_side>>({
        {"buy", order_side::buy},
        {"sell", order_side::sell},
    });
    return all;
}

template <>
std::span<const word<order_type>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<order_type>>({
        {"limit", order_type::limit},
        {"market", order_type::market},
        {"stop", order_type::stop},
        {"stop_limit", order_type::stop_limit},
    });
    return all;
}

template <>
std::span<const word<time_in_force>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<time_in_force>>({
        {"day", time_in_force::day},
        {"good_till_cancel", time_in_force::good_till_cancel},
        {"immediate_or_cancel", time_in_force::immediate_or_cancel},
        {"fill_or_kill", time_in_force::fill_or_kill},
        {"good_till_date", time_in_force::good_till_date},
    });
    return all;
}

template <>
std::span<const word<self_trade_action>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<self_trade_action>>({
        {"account_default", self_trade_action::account_default},
        {"cancel_resting", self_trade_action::cancel_resting},
        {"cancel_aggressor", self_trade_action::cancel_aggressor},
        {"cancel_both", self_trade_action::cancel_both},
        {"decrement", self_trade_action::decrement},
        {"allow", self_trade_action::allow},
    });
    return all;
}

template <>
std::span<const word<instrument_kind>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<instrument_kind>>({
        {"future", instrument_kind::future},
        {"call", instrument_kind::call},
        {"put", instrument_kind::put},
    });
    return all;
}

template <>
std::span<const word<lone_order_policy>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<lone_order_policy>>({
        {"cancel", lone_order_policy::cancel},
        {"reject", lone_order_policy::reject},
    });
    return all;
}

template <>
std::span<const word<disconnect_policy>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<disconnect_policy>>({
        {"keep_orders", disconnect_policy::keep_orders},
        {"cancel_orders", disconnect_policy::cancel_orders},
    });
    return all;
}

template <>
std::span<const word<market_phase>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<market_phase>>({
        {"closed", market_phase::closed},
        {"continuous", market_phase::continuous},
        {"halted", market_phase::halted},
        {"pre_open", market_phase::pre_open},
        {"opening_auction", market_phase::opening_auction},
        {"closing_auction", market_phase::closing_auction},
        {"volatility_auction", market_phase::volatility_auction},
        {"ended", market_phase::ended},
    });
    return all;
}

template <>
std::span<const word<account_state>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<account_state>>({
        {"active", account_state::active},
        {"blocked", account_state::blocked},
        {"retired", account_state::retired},
    });
    return all;
}

template <>
std::span<const word<definition_kind>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<definition_kind>>({
        {"product", definition_kind::product},
        {"instrument", definition_kind::instrument},
        {"account", definition_kind::account},
        {"session", definition_kind::session},
    });
    return all;
}

template <>
std::span<const word<cancel_reason>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<cancel_reason>>({
        {"requested", cancel_reason::requested},
        {"mass_cancel", cancel_reason::mass_cancel},
        {"immediate_or_cancel", cancel_reason::immediate_or_cancel},
        {"fill_or_kill", cancel_reason::fill_or_kill},
        {"self_trade", cancel_reason::self_trade},
        {"quote_replaced", cancel_reason::quote_replaced},
        {"amended_below_executed", cancel_reason::amended_below_executed},
        {"kill_switch", cancel_reason::kill_switch},
        {"session_ended", cancel_reason::session_ended},
        {"day_ended", cancel_reason::day_ended},
        {"expired", cancel_reason::expired},
        {"retired", cancel_reason::retired},
        {"minimum_quantity", cancel_reason::minimum_quantity},
        {"no_price_protection", cancel_reason::no_price_protection},
        {"at_capacity", cancel_reason::at_capacity},
        {"protection", cancel_reason::protection},
    });
    return all;
}

template <>
std::span<const word<reject_reason>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<reject_reason>>({
        {"unknown_session", reject_reason::unknown_session},
        {"account_blocked", reject_reason::account_blocked},
        {"duplicate_client_sequence", reject_reason::duplicate_client_sequence},
        {"message_rate", reject_reason::message_rate},
        {"unknown_instrument", reject_reason::unknown_instrument},
        {"market_closed", reject_reason::market_closed},
        {"market_halted", reject_reason::market_halted},
        {"invalid_field", reject_reason::invalid_field},
        {"invalid_combination", reject_reason::invalid_combination},
        {"invalid_price", reject_reason::invalid_price},
        {"price_off_tick", reject_reason::price_off_tick},
        {"price_outside_collar", reject_reason::price_outside_collar},
        {"invalid_quantity", reject_reason::invalid_quantity},
        {"quantity_over_max", reject_reason::quantity_over_max},
        {"value_over_max", reject_reason::value_over_max},
        {"open_orders_over_max", reject_reason::open_orders_over_max},
        {"position_over_max", reject_reason::position_over_max},
        {"would_trade", reject_reason::would_trade},
        {"no_counterparty", reject_reason::no_counterparty},
        {"unknown_order", reject_reason::unknown_order},
        {"not_permitted", reject_reason::not_permitted},
        {"at_capacity", reject_reason::at_capacity},
        {"unknown_product", reject_reason::unknown_product},
        {"unknown_account", reject_reason::unknown_account},
        {"invalid_definition", reject_reason::invalid_definition},
        {"already_defined", reject_reason::already_defined},
        {"client_sequence_too_far", reject_reason::client_sequence_too_far},
        {"part_of_quote", reject_reason::part_of_quote},
        {"no_price_protection", reject_reason::no_price_protection},
        {"nothing_to_cancel", reject_reason::nothing_to_cancel},
        {"out_of_use", reject_reason::out_of_use},
        {"not_changeable", reject_reason::not_changeable},
        {"invalid_expiry", reject_reason::invalid_expiry},
        {"trigger_passed", reject_reason::trigger_passed},
        {"not_waiting", reject_reason::not_waiting},
        {"protection_struck", reject_reason::protection_struck},
        {"not_in_auction", reject_reason::not_in_auction},
        {"no_auction", reject_reason::no_auction},
        {"unknown_trade", reject_reason::unknown_trade},
        {"already_busted", reject_reason::already_busted},
    });
    return all;
}

template <>
std::span<const word<command_kind>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<command_kind>>({
        {"enter_order", command_kind::enter_order},
        {"amend_order", command_kind::amend_order},
        {"cancel_order", command_kind::cancel_order},
        {"cancel_orders", command_kind::cancel_orders},
        {"enter_quote", command_kind::enter_quote},
        {"enter_advanced_order", command_kind::enter_advanced_order},
        {"amend_stop", command_kind::amend_stop},
        {"set_protection", command_kind::set_protection},
        {"define_product", command_kind::define_product},
        {"define_instrument", command_kind::define_instrument},
        {"define_account", command_kind::define_account},
        {"define_session", command_kind::define_session},
        {"set_phase", command_kind::set_phase},
        {"set_account_state", command_kind::set_account_state},
        {"set_settlement_price", command_kind::set_settlement_price},
        {"end_session", command_kind::end_session},
        {"end_day", command_kind::end_day},
        {"retire", command_kind::retire},
        {"expire_instruments", command_kind::expire_instruments},
        {"set_position", command_kind::set_position},
        {"uncross", command_kind::uncross},
        {"set_interruption", command_kind::set_interruption},
        {"advance_phases", command_kind::advance_phases},
        {"bust_trade", command_kind::bust_trade},
        {"schedule_phase", command_kind::schedule_phase},
    });
    return all;
}

template <>
std::span<const word<query_subject>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<query_subject>>({
        {"orders", query_subject::orders},
        {"positions", query_subject::positions},
        {"accounts", query_subject::accounts},
        {"sessions", query_subject::sessions},
        {"instruments", query_subject::instruments},
        {"products", query_subject::products},
        {"report", query_subject::report},
    });
    return all;
}

template <>
std::span<const word<participant_outcome>> words_of() noexcept {
    static constexpr auto all = std::to_array<word<participant_outcome>>({
        {"done", participant_outcome::done},
        {"not_permitted", participant_outcome::not_permitted},
        {"invalid_name", participant_outcome::invalid_name},
        {"invalid_hash", participant_outcome::invalid_hash},
        {"invalid_action", participant_outcome::invalid_action},
        {"unknown_session", participant_outcome::unknown_session},
        {"name_taken", participant_outcome::name_taken},
        {"session_taken", participant_outcome::session_taken},
        {"at_capacity", participant_outcome::at_capacity},
        {"unknown_participant", participant_outcome::unknown_participant},
    });
    return all;
}

// ---------------------------------------------------------------------------------------------
// Those that a command may say. What it may not stands last.
// ---------------------------------------------------------------------------------------------

template <>
std::span<const word<market_phase>> words_to_say() noexcept {
    const auto all = words_of<market_phase>();
    return all.first(all.size() - 2);
}

template <>
std::span<const word<account_state>> words_to_say() noexcept {
    const auto all = words_of<account_state>();
    return all.first(all.size() - 1);
}

}  // namespace exchange
