// SPDX-License-Identifier: BSL-1.0
//
// The columns of each list: see listing.hpp.
#include <exchange/bin/listing.hpp>

#include <exchange/management/words.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

namespace exchange {
namespace {

using json = nlohmann::ordered_json;

/// What can be beyond 2^53, which many readers of JSON would round.
template <class Number>
std::string digits(Number it) {
    if constexpr (std::is_enum_v<Number>) return std::to_string(number(it));
    else return std::to_string(it);
}

json fields_of(const order_row& it) {
    return {{"order", digits(it.order)},
            {"account", number(it.account)},
            {"instrument", number(it.instrument)},
            {"side", word_for(it.side)},
            {"price", it.price},
            {"open", it.open},
            {"executed", it.executed},
            {"tif", word_for(it.tif)},
            {"type", word_for(it.type)},
            {"trigger_price", it.trigger_price},
            {"expiry_yyyymmdd", it.expiry_yyyymmdd},
            {"quote", it.quote},
            {"session", number(it.session)},
            {"client_seq", digits(it.client_seq)}};
}

json fields_of(const position_row& it) {
    return {{"account", number(it.account)}, {"instrument", number(it.instrument)},
            {"position", it.position},       {"open_buy", it.open_buy},
            {"open_sell", it.open_sell},     {"quote", it.quote}};
}

json fields_of(const account_row& it) {
    return {{"account", number(it.account)},
            {"firm", number(it.firm)},
            {"state", word_for(it.state)},
            {"open_orders", it.open_orders},
            {"group", number(it.group)},
            {"self_trade", word_for(it.self_trade)},
            {"position_max", digits(it.position_max)},
            {"open_orders_max", it.open_orders_max},
            {"order_quantity_max", it.order_quantity_max},
            {"messages_per_second_max", it.messages_per_second_max},
            {"message_burst_max", it.message_burst_max},
            {"cancels_per_second_max", it.cancels_per_second_max},
            {"cancel_burst_max", it.cancel_burst_max}};
}

json fields_of(const session_row& it) {
    return {{"session", number(it.session)},
            {"account", number(it.account)},
            {"logged_in", it.logged_in},
            {"last_client_seq", digits(it.last_client_seq)},
            {"on_disconnect", word_for(it.on_disconnect)},
            {"retired", it.retired}};
}

json fields_of(const instrument_row& it) {
    return {{"instrument", number(it.instrument)},
            {"product", number(it.product)},
            {"type", word_for(it.type)},
            {"phase", word_for(it.phase)},
            {"strike", it.strike},
            {"expiry_yyyymmdd", it.expiry_yyyymmdd},
            {"settlement_price", it.settlement_price},
            {"collar", it.collar},
            {"market_band", it.market_band},
            {"order_quantity_max", it.order_quantity_max},
            {"order_value_max", digits(it.order_value_max)},
            {"lone_orders", word_for(it.lone_orders)},
            {"trades", it.trades},
            {"volume", digits(it.volume)},
            {"open", it.open},
            {"high", it.high},
            {"low", it.low},
            {"last", it.last}};
}

json fields_of(const product_row& it) {
    json ticks = json::array();
    const tick_band bands[tick_bands_max] = {it.tick_1, it.tick_2, it.tick_3, it.tick_4};
    for (std::uint32_t each = 0; each < std::min(it.bands, tick_bands_max); ++each)
        ticks.push_back({{"from", bands[each].from}, {"step", bands[each].step}});
    return {{"product", number(it.product)},
            {"multiplier", it.multiplier},
            {"lot", it.lot},
            {"retired", it.retired},
            {"ticks", ticks}};
}

json fields_of(const report_row& it) {
    return {{"account", number(it.account)},
            {"instrument", number(it.instrument)},
            {"position_begin", digits(it.position_begin)},
            {"bought", digits(it.bought)},
            {"bought_value", digits(it.bought_value)},
            {"sold", digits(it.sold)},
            {"sold_value", digits(it.sold_value)},
            {"trades", it.trades},
            {"position_end", digits(it.position_end)}};
}

std::string cell(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (!value.is_array()) return value.dump();
    std::string bands;
    for (const json& each : value)
        bands += (bands.empty() ? "" : " ") + each["from"].dump() + ':' + each["step"].dump();
    return bands.empty() ? "-" : bands;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string made;
    for (std::size_t each = 0; each < cells.size(); ++each) {
        if (each > 0) made += "  ";
        made += cells[each];
        if (each + 1 < cells.size()) made.append(widths[each] - cells[each].size(), ' ');
    }
    return made + '\n';
}

template <class Row>
std::string table_of(const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> lines(1);
    const json columns = fields_of(Row{});
    for (const auto& [name, value] : columns.items()) lines[0].push_back(name);
    for (const Row& row : rows) {
        lines.emplace_back();
        const json fields = fields_of(row);
        for (const json& each : fields) lines.back().push_back(cell(each));
    }
    std::vector<std::size_t> widths(lines[0].size());
    for (const std::vector<std::string>& line : lines)
        for (std::size_t each = 0; each < line.size(); ++each)
            widths[each] = std::max(widths[each], line[each].size());
    std::string made;
    for (const std::vector<std::string>& line : lines) made += line_of(line, widths);
    return made;
}

/// A row to a line, so that what changed shows where texts are compared.
std::string json_of(const char* name, const std::vector<json>& rows) {
    std::string made = std::string{"{\""} + name + "\": [";
    for (std::size_t each = 0; each < rows.size(); ++each)
        made += (each == 0 ? "\n  " : ",\n  ") + rows[each].dump();
    return made + (rows.empty() ? "]}\n" : "\n]}\n");
}

template <class Row>
std::string listing(const char* name, const std::vector<Row>& rows, listing_format how) {
    if (how == listing_format::table) return table_of(rows);
    std::vector<json> all;
    all.reserve(rows.size());
    for (const Row& each : rows) all.push_back(fields_of(each));
    return json_of(name, all);
}

}  // namespace

std::string listing_of(const std::vector<order_row>& rows, listing_format how) {
    return listing("orders", rows, how);
}

std::string listing_of(const std::vector<position_row>& rows, listing_format how) {
    if (how == listing_format::table) return table_of(rows);
    std::map<std::pair<account_id, instrument_id>, std::int64_t> held;
    for (const position_row& each : rows)
        if (each.position != 0) held[{each.account, each.instrument}] = each.position;
    std::vector<json> all;
    all.reserve(held.size());
    for (const auto& [of, position] : held)
        all.push_back({{"account", number(of.first)},
                       {"instrument", number(of.second)},
                       {"position", position}});
    return json_of("positions", all);
}

std::string listing_of(const std::vector<account_row>& rows, listing_format how) {
    return listing("accounts", rows, how);
}

std::string listing_of(const std::vector<session_row>& rows, listing_format how) {
    return listing("sessions", rows, how);
}

std::string listing_of(const std::vector<instrument_row>& rows, listing_format how) {
    return listing("instruments", rows, how);
}

std::string listing_of(const std::vector<product_row>& rows, listing_format how) {
    return listing("products", rows, how);
}

std::string listing_of(std::vector<report_row> rows, listing_format how) {
    std::ranges::sort(rows, {},
                      [](const report_row& it) { return std::pair{it.account, it.instrument}; });
    return listing("report", rows, how);
}

}  // namespace exchange
