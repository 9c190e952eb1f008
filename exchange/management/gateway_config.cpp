// SPDX-License-Identifier: BSL-1.0
//
// Each part of both files: see gateway_config.hpp.
#include <exchange/management/gateway_config.hpp>

#include <exchange/management/json_section.hpp>
#include <exchange/management/json_syntax.hpp>
#include <exchange/management/password_hash.hpp>

#include <algorithm>
#include <utility>

namespace exchange {
namespace {

constexpr std::size_t secrets_limit = 8;  // Of one user: a login tries as many as any has.

void read_rates(json_section& in, gateway_rates& into) {
    in.read("messages_per_second_max", into.entries.per_second_max);
    in.read("message_burst_max", into.entries.burst_max);
    in.read("cancels_per_second_max", into.cancels.per_second_max);
    in.read("cancel_burst_max", into.cancels.burst_max);
}

void read_order_entry(json_section& in, gateway_config& into) {
    if (in.needs("at")) in.read_endpoint("at", into.gateway.clients.tcp);
    read_websockets(in, into.gateway.clients.websocket, into.gateway.clients.websockets);
    in.read("connections_max", into.gateway.clients.connections_max, {2, 0xffff});
    in.read("window_bytes", into.host.link.window_bytes, {link_window_bytes_min, 1 << 24});
}

void read_facility(json_section& in, gateway_config& into) {
    if (in.needs("at")) in.read_endpoint("at", into.gateway.facility);
    in.read_text("name", into.host.name);
}

void read_timing(json_section& in, gateway_config& into) {
    soup_options& sessions = into.host.sessions;
    in.read_milliseconds("heartbeat_after_ms", sessions.heartbeat_after);
    in.read_milliseconds("dead_after_ms", sessions.dead_after);
    in.read_milliseconds("login_within_ms", sessions.login_within);
    in.read_milliseconds("link_heartbeat_after_ms", into.host.link.heartbeat_after);
    in.read_milliseconds("link_dead_after_ms", into.host.link.dead_after);
    in.read_milliseconds("tick_ms", into.gateway.clients.timer_tick);
    in.read_milliseconds("linger_ms", into.gateway.clients.linger);
    in.read_milliseconds("grace_ms", into.host.grace);
    in.read_milliseconds("stalled_ms", into.host.stalled_max);
    in.read_milliseconds("drain_within_ms", into.drain_within);
    const gyre::duration tick = into.gateway.clients.timer_tick;
    // What is due is looked for at each tick, so a heartbeat may be late by one.
    if (tick > std::min(sessions.heartbeat_after, into.host.link.heartbeat_after))
        in.wrong("tick_ms", "expected no more than heartbeat_after_ms and link_heartbeat_after_ms");
    else if (sessions.dead_after <= sessions.heartbeat_after + tick)
        in.wrong("dead_after_ms", "expected more than heartbeat_after_ms and tick_ms together");
    else if (into.host.link.dead_after <= into.host.link.heartbeat_after + tick)
        in.wrong("link_dead_after_ms",
                 "expected more than link_heartbeat_after_ms and tick_ms together");
}

void read_account(json_section& in, gateway_users_options& into) {
    gateway_account it;
    in.read_id("id", it.account);
    read_rates(in, it.rates);
    if (std::ranges::count(into.accounts, it.account, &gateway_account::account) > 0)
        in.wrong("id", "another account has this number" + in.said("id"));
    into.accounts.push_back(it);
}

/// What is found is not said: it may be a password.
void read_hash(json_section& in, std::string& hash) {
    in.read_string("hash", hash);
    if (!in.has("hash")) return;
    if (find_fault(hash) != hash_fault::none)
        in.wrong("hash", "expected a hash, as exchange_ctl hash-password or --new-token prints it");
}

void read_secrets(json_section& in, gateway_user& who, const gateway_users_options& before) {
    in.read_text("username", who.username);
    if (!who.username.empty() &&
        std::ranges::count(before.users, who.username, &gateway_user::username) > 0)
        in.wrong("username", "another user has this name" + in.said("username"));
    std::string hash;
    read_hash(in, hash);
    if (!hash.empty()) who.secrets.push_back(hash);
    in.for_each("tokens", [&who](auto& token) {
        std::string read;
        if (token.needs("hash")) read_hash(token, read);
        who.secrets.push_back(std::move(read));
    });
    if (who.secrets.empty()) in.wrong("hash", "is missing, and there are no tokens");
    if (who.secrets.size() > secrets_limit)
        in.wrong("tokens", "expected at most " + std::to_string(secrets_limit) +
                               " with the password, since a login tries all of them");
}

void read_link_password(json_section& in, link_password& into) {
    in.read_text("link_password", into);
}

}  // namespace

void read_users(json_section& in, gateway_users_options& into,
                const std::function<void(json_section&, gateway_user&)>& more) {
    in.for_each("users", [&](auto& user) {
        gateway_user who;
        read_secrets(user, who, into);
        more(user, who);
        into.users.push_back(std::move(who));
    });
    into.passwords = is_hashed_password;
    into.dummy_secret = dummy_hash();
}

gateway_config_reading read_gateway_config(std::string_view text, const std::string& folder) {
    gateway_config_reading made;
    const nlohmann::json whole = parse_json(text, made.errors);
    if (!made.errors.empty()) return made;
    gateway_config& it = made.value;
    json_section top{whole, "", made.errors};
    top.read_one_of("backend", it.backend, find_backend, all_backends);
    if (top.needs("order_entry"))
        top.in_object("order_entry", [&](auto& in) {
            read_order_entry(in, it);
            read_door_tls(in, it.tls, folder);
        });
    if (top.needs("facility")) top.in_object("facility", [&](auto& in) { read_facility(in, it); });
    top.in_object("timing", [&](auto& in) { read_timing(in, it); });
    read_process(top, it.process);
    top.for_each("accounts", [&](auto& in) { read_account(in, it.host.users); });
    if (top.needs("credentials_file"))
        top.read_path("credentials_file", it.credentials_file, folder);
    top.finish();
    const bool websockets = it.gateway.clients.websocket.kind() != gyre::endpoint::family::none;
    it.host.link.channels_max =
        static_cast<std::uint32_t>(it.gateway.clients.connections_max * (websockets ? 2 : 1));
    return made;
}

void read_gateway_credentials(std::string_view text, const std::string& name,
                              gateway_config_reading& into) {
    std::vector<config_error> wrong;
    gateway_host_options& host = into.value.host;
    const nlohmann::json whole = parse_json(text, wrong);
    if (wrong.empty()) {
        json_section top{whole, "", wrong};
        read_link_password(top, host.password);
        read_users(top, host.users, [](json_section& in, gateway_user& who) {
            if (in.has("account")) in.read_id("account", who.account);
            read_rates(in, who.rates);
        });
        top.finish();
        if (wrong.empty() && host.users.users.empty())
            wrong.push_back({"users", "no one could log in"});
    }
    add_errors(into.errors, std::move(wrong), name);
}

gateway_config_reading load_gateway_config(const std::string& path) {
    return load_with_credentials<gateway_config>(path, read_gateway_config,
                                                 read_gateway_credentials);
}

}  // namespace exchange
