// SPDX-License-Identifier: BSL-1.0
//
// Each part of the file, and what only the whole can tell: see config.hpp.
#include <exchange/management/config.hpp>

#include <exchange/core/partition.hpp>
#include <exchange/management/json_section.hpp>
#include <exchange/management/json_syntax.hpp>
#include <exchange/management/text_file.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

namespace exchange {
namespace {

// ---------------------------------------------------------------------------------------------
// Addresses and limits
// ---------------------------------------------------------------------------------------------

constexpr json_range kept_messages{256, std::int64_t{1} << 28};
constexpr json_range stream_bytes{std::int64_t{64} << 10, std::int64_t{1} << 40};
constexpr json_range connections{2, 0xffff};
constexpr json_range websocket_bytes{std::int64_t{16} << 10, std::int64_t{1} << 30};

// Of one that does not read.
constexpr std::size_t unread_bytes = std::size_t{64} << 20;

/// Reads what a stream keeps, and the memory for that and for what its reader has not got.
void read_kept(json_section& in, std::size_t& messages, std::size_t& bytes, const char* unread_key,
               std::size_t& unread) {
    in.read("kept_messages_max", messages, kept_messages);
    in.read("kept_bytes_max", bytes, stream_bytes);
    unread = std::max(unread_bytes, 2 * bytes);
    in.read(unread_key, unread, stream_bytes);
    if (unread < bytes)
        in.wrong(unread_key, "expected at least kept_bytes_max, which is " + std::to_string(bytes) +
                                 in.said(unread_key));
}

void read_cpu(json_section& in, config& into) {
    if (!in.has("pin_to_cpu")) return;
    unsigned cpu = 0;
    in.read("pin_to_cpu", cpu, {0, 1023});
    into.cpu = cpu;
}

void read_order_entry(json_section& in, config& into) {
    if (in.needs("at")) in.read_endpoint("at", into.facility.order_entry);
    read_websockets(in, into.facility.websocket, into.facility.websockets);
    into.connections_max_given = in.has("connections_max");
    in.read("connections_max", into.facility.connections_max, connections);
    in.read("participants_max", into.participants_max, {1, 60'000});
    soup_stream_options& stream = into.host.stream;
    read_kept(in, stream.messages_max, stream.bytes_max, "unread_bytes_max",
              stream.unread_bytes_max);
    in.read("stream_memory_max", into.host.stream_memory.bytes_max, stream_bytes);
    in.read("queries_per_second_max", into.host.queries.per_second_max);
    in.read("query_burst_max", into.host.queries.burst_max);
}

void read_gateways(json_section& in, config& into) {
    gateway_access& it = into.facility.gateways;
    if (in.needs("at")) in.read_endpoint("at", it.at);
    in.read("links_max", it.links_max, {1, 1024});
    in.read("channels_max", it.link.channels_max, {1, 0xffff});
}

void read_operators(json_section& in, config& into, const std::string& folder) {
    in.read("connections_max", into.host.operator_connections_max, {1, 1024});
    in.read_path("audit_file", into.audit_file, folder);
}

/// What the kernel would refuse for each datagram, without an error that a user sees.
void check_feed(json_section& in, const facility_options& it) {
    using family = gyre::endpoint::family;
    if (it.feed.kind() == family::none) return;  // Which was noted.
    if (it.feed.port() == 0)
        in.wrong("to", "expected the port at which listeners are, and not 0" + in.said("to"));
    const auto check_family = [&](const char* key, const gyre::endpoint& read) {
        if (read.kind() == family::none || read.kind() == it.feed.kind()) return;
        in.wrong(key, std::string{"expected an address of "} +
                          (it.feed.kind() == family::v4 ? "IPv4" : "IPv6") + R"(, as "to" is)" +
                          in.said(key));
    };
    check_family("from", it.feed_from);
    check_family("requests", it.feed_requests);  // Listeners ask from a socket of this family, too.
}

void read_feed(json_section& in, config& into) {
    if (in.needs("to")) in.read_endpoint("to", into.facility.feed);
    if (in.needs("from")) in.read_endpoint("from", into.facility.feed_from);
    if (in.needs("requests")) in.read_endpoint("requests", into.facility.feed_requests);
    check_feed(in, into.facility);
    in.read_string("interface", into.facility.feed_interface);
    mold_sender_options& feed = into.host.feed;
    read_kept(in, feed.kept_messages_max, feed.kept_bytes_max, "unsent_bytes_max",
              feed.unsent_bytes_max);
}

std::string milliseconds(gyre::duration it) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(it).count());
}

void read_timing(json_section& in, config& into) {
    soup_options& sessions = into.facility.sessions;
    in.read_milliseconds("heartbeat_after_ms", sessions.heartbeat_after);
    into.host.feed.heartbeat_after = sessions.heartbeat_after;
    in.read_milliseconds("dead_after_ms", sessions.dead_after);
    in.read_milliseconds("login_within_ms", sessions.login_within);
    in.read_milliseconds("tick_ms", into.facility.timer_tick);
    in.read_milliseconds("linger_ms", into.facility.linger);
    in.read_milliseconds("drain_within_ms", into.drain_within);
    const gyre::duration tick = into.facility.timer_tick;
    // What is due is looked for at each tick, so a heartbeat may be late by one.
    if (tick > sessions.heartbeat_after)
        in.wrong("tick_ms", "expected no more than heartbeat_after_ms, but " + milliseconds(tick) +
                                " is more than " + milliseconds(sessions.heartbeat_after));
    else if (sessions.dead_after <= sessions.heartbeat_after + tick)
        in.wrong("dead_after_ms", "expected more than heartbeat_after_ms and tick_ms together");
}

void read_limits(json_section& in, partition_limits& into) {
    in.read("products_max", into.products_max, {1, 1 << 20});
    in.read("instruments_max", into.instruments_max, {1, 0xffff});
    in.read("accounts_max", into.accounts_max, {1, 1 << 24});
    in.read("sessions_max", into.sessions_max, {1, 0xffff});
    in.read("orders_max", into.orders_max, {1, (1 << 24) - 1});
    in.read("holdings_max", into.holdings_max, {1, 1 << 24});
    in.read("level_chunks_max", into.level_chunks_max, {1, (1 << 24) - 1});
    in.read("far_nodes_max", into.far_nodes_max, {1, 1 << 24});
    in.read("protections_max", into.protections_max, {1, 1 << 24});
    in.read("trades_kept_max", into.trades_kept_max, {1, 1 << 24});
}

// ---------------------------------------------------------------------------------------------
// Who, and what
// ---------------------------------------------------------------------------------------------

template <class Command>
void open_with(json_section& in, config& into, const Command& what) {
    into.opening.push_back({what, in.where()});
}

void read_product(json_section& in, config& into) {
    define_product it{};
    it.multiplier = 1;
    it.lot = 1;
    in.read_id("id", it.product);
    in.read("multiplier", it.multiplier);
    in.read("lot", it.lot);
    in.for_each("ticks", [&it](json_section& band) {
        tick_band read{};
        if (band.needs("from")) band.read("from", read.from, any_price);
        if (band.needs("step")) band.read("step", read.step, {1, price_ticks_max});
        if (it.bands < tick_bands_max) it.ticks[it.bands] = read;
        if (++it.bands == tick_bands_max + 1)
            band.wrong("from", "expected at most " + std::to_string(tick_bands_max) + " bands");
    });
    it.bands = std::min(it.bands, tick_bands_max);
    open_with(in, into, it);
}

/// @param  phases  Of markets that are not to stay closed, for the end.
void read_instrument(json_section& in, config& into, std::vector<opening_command>& phases) {
    define_instrument it{};
    it.type = instrument_kind::future;
    market_phase phase = market_phase::closed;
    in.read_id("id", it.instrument);
    in.read_id("product", it.product);
    in.read_word("type", it.type);
    in.read_word("lone_orders", it.lone_orders);
    in.read_word("phase", phase);
    in.read("expiry_yyyymmdd", it.expiry_yyyymmdd);
    in.read("strike", it.strike, any_price);
    in.read("settlement_price", it.settlement_price, any_price);
    in.read("collar", it.collar, {0, price_ticks_max});
    in.read("order_quantity_max", it.order_quantity_max);
    in.read("order_value_max", it.order_value_max, any_value);
    in.read("market_band", it.market_band, {0, price_ticks_max});
    open_with(in, into, it);
    in.in_object("schedule", [&](json_section& times) {
        for (const word<market_phase>& each : words_to_say<market_phase>()) {
            const std::string name{each.text};
            if (!times.has(name.c_str())) continue;
            schedule_phase at{it.instrument, each.value, 0};
            times.read(name.c_str(), at.second_of_day, {0, seconds_of_day - 1});
            open_with(times, into, at);
        }
    });
    in.in_object("interruption", [&](json_section& what) {
        set_interruption interruption{.instrument = it.instrument, .collar = 0, .duration_ns = 0};
        gyre::duration lasts{};
        if (what.needs("collar")) what.read("collar", interruption.collar, {1, price_ticks_max});
        what.read_milliseconds("duration_ms", lasts);
        interruption.duration_ns = static_cast<timestamp_ns>(lasts.count());
        open_with(what, into, interruption);
    });
    if (phase != market_phase::closed)
        phases.push_back({set_phase{it.instrument, phase}, in.where()});
}

void read_account(json_section& in, config& into) {
    define_account it{};
    it.self_trade = self_trade_action::cancel_resting;
    in.read_id("id", it.account);
    in.read_id("firm", it.firm);
    if (in.has("group")) in.read_id("group", it.group);
    in.read_word("self_trade", it.self_trade);
    in.read("order_quantity_max", it.order_quantity_max);
    in.read("open_orders_max", it.open_orders_max);
    in.read("messages_per_second_max", it.messages_per_second_max);
    in.read("message_burst_max", it.message_burst_max);
    in.read("cancels_per_second_max", it.cancels_per_second_max);
    in.read("cancel_burst_max", it.cancel_burst_max);
    in.read("position_max", it.position_max, any_value);
    open_with(in, into, it);
}

void read_session(json_section& in, config& into) {
    define_session it{};
    in.read_id("id", it.session);
    in.read_id("account", it.account);
    in.read_word("on_disconnect", it.on_disconnect);
    open_with(in, into, it);
}

void read_position(json_section& in, config& into) {
    set_position it{};
    in.read_id("account", it.account);
    in.read_id("instrument", it.instrument);
    if (in.needs("position")) in.read("position", it.position, {-position_limit, position_limit});
    open_with(in, into, it);
}

config_reading read_positions(const std::string& path) {
    config_reading made;
    const std::optional<std::string> text = read_text_file(path);
    if (!text) {
        made.errors.push_back({"", "cannot be read"});
        return made;
    }
    const nlohmann::json whole = parse_json(*text, made.errors);
    if (!made.errors.empty()) return made;
    json_section top{whole, "", made.errors};
    static_cast<void>(top.needs("positions"));
    top.for_each("positions", [&](auto& in) { read_position(in, made.value); });
    top.finish();
    return made;
}

/// What another file says of positions, which a program wrote when the day before ended.
void read_start_of_day(json_section& in, const std::string& folder, config_reading& into) {
    if (!in.has("start_of_day")) return;
    const std::size_t wrong_before = into.errors.size();
    std::string name;
    in.read_string("start_of_day", name);
    if (into.errors.size() != wrong_before) return;
    if (name.empty())
        return in.wrong("start_of_day", "expected the name of a file" + in.said("start_of_day"));
    config_reading read = read_positions(std::filesystem::path{folder} / name);
    const auto in_file = [&name](const std::string& where) {
        return where.empty() ? name : name + ": " + where;
    };
    for (config_error& each : read.errors)
        into.errors.push_back({in_file(each.where), std::move(each.what)});
    for (const opening_command& each : read.value.opening)
        into.value.opening.push_back({each.what, in_file(each.where)});
}

// ---------------------------------------------------------------------------------------------
// What only the whole can tell
// ---------------------------------------------------------------------------------------------

/// The core would take the last of two.
void check_positions(const config& it, std::vector<config_error>& errors) {
    std::set<std::pair<account_id, instrument_id>> held;
    for (const opening_command& each : it.opening) {
        const auto* const position = std::get_if<set_position>(&each.what);
        if (position == nullptr) continue;
        if (!held.emplace(position->account, position->instrument).second)
            errors.push_back(
                {each.where, "another position of this account in this market was given before"});
    }
}

/// What to change where the core has no room for a definition or a position; empty for other commands.
std::string advice_on_room(command_kind refused, const partition_limits& limits) {
    const auto numbers_up_to = [](const char* key, std::uint32_t most) {
        return std::string{": their numbers go up to limits."} + key + ", which is " +
               std::to_string(most);
    };
    switch (refused) {
        case command_kind::define_product:
            return numbers_up_to("products_max", limits.products_max);
        case command_kind::define_instrument:
            return numbers_up_to("instruments_max", limits.instruments_max);
        case command_kind::define_account:
            return numbers_up_to("accounts_max", limits.accounts_max);
        case command_kind::define_session:
            return numbers_up_to("sessions_max", limits.sessions_max);
        case command_kind::set_position:
            return ": limits.holdings_max is " + std::to_string(limits.holdings_max);
        default: return {};
    }
}

// The core itself judges definitions and positions, on a trial partition that has no room for orders.
void check_opening(const config& it, std::vector<config_error>& errors) {
    partition_limits limits = it.host.sequencing.limits;
    limits.orders_max = limits.level_chunks_max = limits.far_nodes_max = limits.protections_max = 1;
    limits.holdings_max =
        std::min(limits.holdings_max,
                 static_cast<std::uint32_t>(it.opening.size()) + 1);  // No more is held.
    partition trial{limits};
    for (const opening_command& each : it.opening) {
        const auto note_refusal = [&](const event_batch& batch) {
            for (const event& told : batch.events) {
                if (told.kind != event_kind::admin_rejected) continue;
                const command_kind command = told.admin_rejected.command;
                const reject_reason reason = told.admin_rejected.reason;
                std::string why = word_for(command) + " is refused: " + word_for(reason);
                if (reason == reject_reason::at_capacity)
                    why += advice_on_room(command, it.host.sequencing.limits);
                errors.push_back({each.where, std::move(why)});
            }
        };
        trial.apply(0, each.what, event_sink::to(note_refusal));
    }
}

}  // namespace

void read_websockets(json_section& in, gyre::endpoint& at, websocket_options& into) {
    in.read_endpoint("websocket_at", at);
    std::string origin;
    in.read_string("websocket_origin", origin);
    if (!origin.empty()) into.origins = {origin};
    in.read("websocket_unsent_bytes_max", into.unsent_bytes_max, websocket_bytes);
}

std::string_view describe(process_backend backend) noexcept {
    return backend == process_backend::gyre_uring ? "gyre_uring" : "gyre_epoll";
}

std::optional<process_backend> find_backend(std::string_view name) noexcept {
    for (const process_backend each : {process_backend::gyre_uring, process_backend::gyre_epoll})
        if (describe(each) == name) return each;
    return std::nullopt;
}

config_reading read_config(std::string_view text, const std::string& folder) {
    config_reading made;
    const nlohmann::json whole = parse_json(text, made.errors);
    if (!made.errors.empty()) return made;
    config& it = made.value;
    json_section top{whole, "", made.errors};
    top.read_one_of("backend", it.backend, find_backend, all_backends);
    read_cpu(top, it);
    if (top.needs("order_entry"))
        top.in_object("order_entry", [&](auto& in) { read_order_entry(in, it); });
    top.in_object("gateways", [&](auto& in) { read_gateways(in, it); });
    if (top.needs("feed")) top.in_object("feed", [&](auto& in) { read_feed(in, it); });
    top.in_object("timing", [&](auto& in) { read_timing(in, it); });
    read_process(top, it.process);
    top.read("partitions", it.host.sequencing.partitions, {1, partitions_limit});
    top.in_object("limits", [&](auto& in) { read_limits(in, it.host.sequencing.limits); });
    top.in_object("operators", [&](auto& in) { read_operators(in, it, folder); });
    top.read_path("credentials_file", it.credentials_file, folder);
    top.for_each("products", [&](auto& in) { read_product(in, it); });
    std::vector<opening_command> phases;
    top.for_each("instruments", [&](auto& in) { read_instrument(in, it, phases); });
    top.for_each("accounts", [&](auto& in) { read_account(in, it); });
    top.for_each("sessions", [&](auto& in) { read_session(in, it); });
    read_start_of_day(top, folder, made);
    top.for_each("positions", [&](auto& in) { read_position(in, it); });
    it.opening.insert(it.opening.end(), phases.begin(), phases.end());
    top.finish();
    if (!made.errors.empty()) return made;  // What follows would complain of the same again.
    check_positions(it, made.errors);
    check_opening(it, made.errors);
    return made;
}

config_reading load_config(const std::string& path) {
    if (const std::optional<std::string> text = read_text_file(path))
        return read_config(*text, std::filesystem::path{path}.parent_path());
    config_reading none;
    none.errors.push_back({"", "cannot be read"});
    return none;
}

}  // namespace exchange
