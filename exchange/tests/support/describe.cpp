// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/support/describe.hpp>

namespace exchange::testing {
namespace {

template <class Number>
std::string text(Number it) {
    if constexpr (std::is_enum_v<Number>) return std::to_string(+number(it));
    else return std::to_string(+it);
}

std::string text(order_side it) { return it == order_side::buy ? "buy" : "sell"; }

// Place and generation: `7.2` is the second order that stood in place 7.
std::string text(order_id it) {
    return std::to_string(number(it) & ((1u << 24) - 1)) + '.' + std::to_string(number(it) >> 24);
}

std::string text(execution_role it) {
    if (it == execution_role::auction) return "auction";
    return it == execution_role::maker ? "maker" : "taker";
}

std::string text(book_action it) {
    if (it == book_action::add) return "add";
    return it == book_action::modify ? "modify" : "erase";
}

template <class... Parts>
std::string line(const char* name, const Parts&... parts) {
    std::string made = name;
    ((made += ' ', made += parts), ...);
    return made;
}

template <class Contracts>
std::string at(Contracts quantity, price_ticks price) {
    return text(quantity) + '@' + text(price);
}

template <class Message>
std::string whose(const Message& it) {
    return "i" + text(it.instrument) + " a" + text(it.account) + " s" + text(it.session) + '/' +
           text(it.client_seq);
}

// Its own session is not repeated: `by 7`, `by s4/7` if a sister session asked, `by 0` if nobody did.
template <class Message>
std::string by(const Message& it) {
    const bool nobody = it.request_session == session_id::none;
    const bool numbered = it.request_seq != client_sequence::none;
    const bool plain = nobody ? !numbered : numbered && it.request_session == it.session;
    if (plain) return "by " + text(it.request_seq);
    return "by s" + text(it.request_session) + '/' + text(it.request_seq);
}

std::string from(const order_entered& it) {
    return line("entered", text(it.order), whose(it), text(it.side), at(it.open, it.price), "done",
                text(it.executed), "tif", text(it.tif));
}
std::string from(const order_amended& it) {
    return line("amended", text(it.order), whose(it), text(it.side), at(it.open, it.price), "done",
                text(it.executed), by(it), "priority", text(it.priority), "why", text(it.reason));
}
std::string from(const order_cancelled& it) {
    return line("cancelled", text(it.order), whose(it), text(it.side), at(it.cancelled, it.price),
                "done", text(it.executed), by(it), "why", text(it.reason));
}
std::string from(const order_rejected& it) {
    return line("rejected", text(it.order), "i" + text(it.instrument),
                "s" + text(it.session) + '/' + text(it.client_seq), "command", text(it.command),
                "why", text(it.reason));
}
std::string from(const order_executed& it) {
    return line("executed", text(it.order), whose(it), text(it.side), at(it.quantity, it.price),
                "open", text(it.open), text(it.role), "trade", text(it.trade));
}
std::string from(const trade_capture_report& it) {
    return line("captured", text(it.order), "i" + text(it.instrument), "a" + text(it.account),
                "f" + text(it.firm), "with", "f" + text(it.counterparty), "s" + text(it.session),
                text(it.side), at(it.quantity, it.price), text(it.role), "trade", text(it.trade));
}
std::string from(const order_terms& it) {
    return line("terms", text(it.order), whose(it), text(it.side), "type", text(it.type), "trigger",
                text(it.trigger_price), "shows", text(it.display_quantity), "least",
                text(it.minimum_quantity), "until", text(it.expiry_yyyymmdd));
}
std::string from(const stop_entered& it) {
    return line("waits", text(it.order), whose(it), text(it.side), at(it.open, it.price), "tif",
                text(it.tif));
}
std::string from(const stop_triggered& it) {
    return line("triggered", text(it.order), whose(it), text(it.side), at(it.open, it.price));
}
std::string from(const trigger_amended& it) {
    return line("trigger", text(it.order), whose(it), text(it.side), "at", text(it.trigger_price),
                by(it));
}
std::string from(const protection_set& it) {
    return line("protected", "a" + text(it.account), "p" + text(it.product),
                "s" + text(it.session) + '/' + text(it.client_seq), "within", text(it.window_ns),
                "quantity", text(it.quantity_max), "delta", text(it.delta_max), "trades",
                text(it.trades_max));
}
std::string from(const protection_struck& it) {
    return line("struck", "a" + text(it.account), "p" + text(it.product),
                "s" + text(it.session) + '/' + text(it.client_seq), "quantity", text(it.quantity),
                "delta", text(it.delta), "trades", text(it.trades));
}
std::string from(const execution_busted& it) {
    return line("busted", text(it.order), whose(it), text(it.side), at(it.quantity, it.price),
                "trade", text(it.trade));
}
std::string from(const order_book_update& it) {
    return line("book", text(it.action), text(it.order), "i" + text(it.instrument), text(it.side),
                at(it.open, it.price));
}
std::string from(const price_level_update& it) {
    return line("level", "i" + text(it.instrument), text(it.side), at(it.quantity, it.price), "of",
                text(it.orders));
}
std::string from(const top_of_book& it) {
    return line("top", "i" + text(it.instrument), at(it.bid_quantity, it.bid_price), "of",
                text(it.bid_orders), "|", at(it.ask_quantity, it.ask_price), "of",
                text(it.ask_orders));
}
std::string from(const trade& it) {
    return line("trade", text(it.id), "i" + text(it.instrument), at(it.quantity, it.price),
                "aggressor", text(it.aggressor));
}
std::string from(const volume_update& it) {
    return line("volume", "i" + text(it.instrument), text(it.volume), "in", text(it.trades));
}
std::string from(const market_statistics& it) {
    return line("statistics", "i" + text(it.instrument), "open", text(it.open), "high",
                text(it.high), "low", text(it.low), "last", text(it.last), "volume",
                text(it.volume), "in", text(it.trades));
}
std::string from(const phase_changed& it) {
    return line("phase", "i" + text(it.instrument), text(it.phase));
}
std::string from(const trade_busted& it) {
    return line("trade busted", text(it.id), "i" + text(it.instrument), at(it.quantity, it.price));
}
template <class Outcome>
std::string outcome(const char* name, const Outcome& it) {
    return line(name, "i" + text(it.instrument), at(it.volume, it.price), "surplus",
                text(it.surplus), text(it.surplus_side));
}
std::string from(const auction_indication& it) { return outcome("indication", it); }
std::string from(const auction_result& it) { return outcome("result", it); }
std::string from(const admin_accepted& it) {
    return line("accepted", text(it.command), text(it.subject));
}
std::string from(const admin_rejected& it) {
    return line("refused", text(it.command), text(it.subject), "why", text(it.reason));
}

}  // namespace

std::string describe(const event& it) {
    return visit(it, [](const auto& message) { return from(message); });
}

}  // namespace exchange::testing
