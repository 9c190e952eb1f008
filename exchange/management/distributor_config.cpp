// SPDX-License-Identifier: BSL-1.0
//
// Each part of both files: see distributor_config.hpp.
#include <exchange/management/distributor_config.hpp>

#include <exchange/management/gateway_config.hpp>
#include <exchange/management/json_section.hpp>
#include <exchange/management/json_syntax.hpp>

#include <algorithm>
#include <utility>

namespace exchange {
namespace {

[[nodiscard]] bool is_inet(const gyre::endpoint& at) {
    return at.kind() == gyre::endpoint::family::v4 || at.kind() == gyre::endpoint::family::v6;
}

/// Somebody else is there, so it has a port.
void check_port_of(json_section& in, const char* key, const gyre::endpoint& at) {
    if (is_inet(at) && at.port() == 0)
        in.wrong(key, "expected an address with a port" + in.said(key));
}

/// What is sent to one place from another one leaves only within a family, and no error says so.
void check_family(json_section& in, const char* key, const gyre::endpoint& from,
                  const gyre::endpoint& to) {
    if (is_inet(from) && is_inet(to) && from.kind() != to.kind())
        in.wrong(key, "expected an address of the family of " + to.to_string() + in.said(key));
}

/// A group that was joined through no interface says nothing.
void check_group(json_section& in, const char* key, const feed_listener_options& of) {
    if (!is_inet(of.group)) return;
    const bool is_group = of.group.address().is_multicast();
    if (is_group) check_port_of(in, key, of.group);
    if (is_group && of.interface.empty())
        in.wrong("interface", "expected one, such as eth0, through which the group is joined");
    if (!is_group && !of.interface.empty())
        in.wrong("interface", "expected none, since \"from\" is no group" + in.said("interface"));
}

void read_source(json_section& in, feed_listener_options& into) {
    if (in.needs("from")) in.read_endpoint("from", into.group);
    in.read_string("interface", into.interface);
    if (in.needs("requests")) in.read_endpoint("requests", into.requests);
    if (in.needs("ask_from")) in.read_endpoint("ask_from", into.ask_from);
    in.read_milliseconds("dead_after_ms", into.receiver.dead_after);
    check_group(in, "from", into);
    check_port_of(in, "requests", into.requests);
    check_family(in, "ask_from", into.ask_from, into.requests);
}

void read_redistribution(json_section& in, feed_relay_options& into) {
    if (in.needs("to")) in.read_endpoint("to", into.out.group);
    in.read_string("interface", into.interface);
    if (in.needs("from")) in.read_endpoint("from", into.send_from);
    if (in.needs("requests")) in.read_endpoint("requests", into.requests);
    in.read("kept_messages_max", into.kept.kept_messages_max, {1, 1 << 24});
    in.read("kept_bytes_max", into.kept.kept_bytes_max, {1 << 16, 1 << 30});
    // Listeners would believe that one life were both.
    if (into.out.group == into.source.group)
        in.wrong("to", "expected another place than that where the feed comes from");
    check_port_of(in, "to", into.out.group);
    check_family(in, "from", into.send_from, into.out.group);
}

void read_asked_exchange(json_section& in, order_entry_client_options& into) {
    if (in.needs("at")) in.read_endpoint("at", into.exchange);
    check_port_of(in, "at", into.exchange);
    in.read_text("username", into.login.username);
}

void read_subscribers(json_section& in, distributor_config& into) {
    client_server_options& doors = into.distributor.clients;
    if (in.needs("at")) in.read_endpoint("at", doors.tcp);
    read_websockets(in, doors.websocket, doors.websockets);
    in.read("connections_max", doors.connections_max, {2, 0xffff});
    in.read("kernel_send_bytes", doors.kernel_send_bytes, {4096, 1 << 26});
    in.read("unsent_bytes_max", into.host.unsent_bytes_max, {8 * 1024, 1 << 26});
    in.read("subscriptions_max", into.host.subscriptions_max, {1, 0xffff});
    int open = 0;
    in.read("open_to_all", open, {0, 1});
    into.host.open = open != 0;
}

void read_book_limits(json_section& in, market_books_options& into) {
    in.read("instruments_max", into.instruments_max, {1, 0xffff});
    in.read("levels_max", into.levels_max, {1, 1 << 24});
    in.read("changes_max", into.changes_max, {16, 1 << 20});
    in.read("trades_max", into.trades_max, {1, 1 << 20});
}

void read_distributor_timing(json_section& in, distributor_config& into) {
    soup_options& sessions = into.host.sessions;
    client_server_options& doors = into.distributor.clients;
    in.read_milliseconds("heartbeat_after_ms", sessions.heartbeat_after);
    in.read_milliseconds("dead_after_ms", sessions.dead_after);
    in.read_milliseconds("login_within_ms", sessions.login_within);
    in.read_milliseconds("tick_ms", doors.timer_tick);
    in.read_milliseconds("linger_ms", doors.linger);
    in.read_milliseconds("stalled_ms", into.host.stalled_max);
    in.read_milliseconds("told_every_ms", into.distributor.told_every);
    in.read_milliseconds("drain_within_ms", into.drain_within);
    // What is due is looked for at each tick, so a heartbeat may be late by one.
    if (doors.timer_tick > sessions.heartbeat_after)
        in.wrong("tick_ms", "expected no more than heartbeat_after_ms");
    else if (sessions.dead_after <= sessions.heartbeat_after + doors.timer_tick)
        in.wrong("dead_after_ms", "expected more than heartbeat_after_ms and tick_ms together");
}

}  // namespace

distributor_config_reading read_distributor_config(std::string_view text,
                                                   const std::string& folder) {
    distributor_config_reading made;
    const nlohmann::json whole = parse_json(text, made.errors);
    if (!made.errors.empty()) return made;
    distributor_config& it = made.value;
    // A feed that is heard from its middle on is no loss: books are asked for.
    it.distributor.feed.source.receiver.first_sequence = 0;
    // What waits in the kernel is told as it was: a slow subscriber is better told less of that.
    it.distributor.clients.kernel_send_bytes = 64 * 1024;
    it.distributor.clients.websockets.path = "/market-data/v1";
    json_section top{whole, "", made.errors};
    top.read_one_of("backend", it.backend, find_backend, all_backends);
    if (top.needs("feed"))
        top.in_object("feed", [&](auto& in) { read_source(in, it.distributor.feed.source); });
    if (top.needs("exchange"))
        top.in_object("exchange",
                      [&](auto& in) { read_asked_exchange(in, it.distributor.exchange); });
    if (top.needs("subscribers"))
        top.in_object("subscribers", [&](auto& in) {
            read_subscribers(in, it);
            read_door_tls(in, it.tls, folder);
        });
    top.in_object("redistribution",
                  [&](auto& in) { read_redistribution(in, it.distributor.feed); });
    top.in_object("limits", [&](auto& in) { read_book_limits(in, it.books); });
    top.in_object("timing", [&](auto& in) { read_distributor_timing(in, it); });
    read_process(top, it.process);
    if (top.needs("credentials_file"))
        top.read_path("credentials_file", it.credentials_file, folder);
    top.finish();
    return made;
}

void read_distributor_credentials(std::string_view text, const std::string& name,
                                  distributor_config_reading& into) {
    std::vector<config_error> wrong;
    distributor_config& it = into.value;
    const nlohmann::json whole = parse_json(text, wrong);
    if (wrong.empty()) {
        json_section top{whole, "", wrong};
        top.read_text("exchange_password", it.distributor.exchange.login.password);
        read_users(top, it.host.users, [](json_section&, gateway_user&) {});
        top.finish();
        if (wrong.empty() && it.host.users.users.empty() && !it.host.open)
            wrong.push_back({"users", "no one could log in"});
    }
    add_errors(into.errors, std::move(wrong), name);
}

distributor_config_reading load_distributor_config(const std::string& path) {
    return load_with_credentials<distributor_config>(path, read_distributor_config,
                                                     read_distributor_credentials);
}

}  // namespace exchange
