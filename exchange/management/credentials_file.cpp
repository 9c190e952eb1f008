// SPDX-License-Identifier: BSL-1.0
//
// Who may log in, and what only that and the configuration together can tell: see config.hpp.
#include <exchange/management/config.hpp>
#include <exchange/management/json_section.hpp>
#include <exchange/management/json_syntax.hpp>
#include <exchange/management/password_hash.hpp>
#include <exchange/management/text_file.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace exchange {
namespace {

constexpr std::size_t connections_limit = 65'535;
constexpr std::size_t stream_memory_least = std::size_t{64} << 20;
constexpr std::size_t defined_later = 16;  // Participants, unless it is said how many.
constexpr std::size_t strangers_min = 16;  // Connections beside those that may be logged in.

/// What the file of credentials says, while it is being read.
struct credentials_reading {
    order_entry_host_options& into;
    bool slow_hashes = false;
};

void read_name(json_section& in, const order_entry_host_options& known, soup_username& name) {
    in.read_text("username", name);
    const auto has_name = [&name](const auto& it) { return it.username == name; };
    if (name.empty()) return;
    if (std::ranges::any_of(known.participants, has_name) ||
        std::ranges::any_of(known.operators, has_name))
        in.wrong("username", "another user has this name" + in.said("username"));
}

void read_hash(json_section& in, const credentials_reading& how, std::string& hash) {
    if (!in.needs("hash")) return;
    in.read_string("hash", hash);
    if (hash.empty()) return;
    // What is found is not said: it may be a password.
    switch (find_fault(hash)) {
        case hash_fault::none: return;
        case hash_fault::unknown_method:
            return in.wrong("hash", "expected a hash, as exchange_ctl hash-password prints it");
        case hash_fault::incomplete:
            return in.wrong("hash",
                            "is incomplete: expected salt and hash, as exchange_ctl "
                            "hash-password prints them");
        case hash_fault::costly:
            if (how.slow_hashes) return;
            return in.wrong(
                "hash",
                "takes more than a few milliseconds, and holds everybody for as long at "
                "each login: expected $5$ or $6$ with at most 10000 rounds, or "
                "\"slow_hashes\": 1 in this file");
    }
}

void read_participant(json_section& in, const credentials_reading& how) {
    credentials who;
    read_name(in, how.into, who.username);
    read_hash(in, how, who.secret);
    in.read_id("session", who.session);
    if (who.session != session_id::none &&
        std::ranges::count(how.into.participants, who.session, &credentials::session) > 0)
        in.wrong("session", "another participant has this session" + in.said("session"));
    how.into.participants.push_back(std::move(who));
}

/// Who trades nothing, and is told what others are told.
void read_listener(json_section& in, const credentials_reading& how, told what) {
    credentials who{.what = what};
    read_name(in, how.into, who.username);
    read_hash(in, how, who.secret);
    if (what == told::account) in.read_id("account", who.account);
    how.into.participants.push_back(std::move(who));
}

void read_operator(json_section& in, const credentials_reading& how) {
    operator_user who;
    read_name(in, how.into, who.username);
    read_hash(in, how, who.secret);
    if (in.needs("role"))
        in.read_one_of("role", who.role, find_role, "viewer, market, risk, administrator");
    how.into.operators.push_back(std::move(who));
}

void read_gateway(json_section& in, const credentials_reading& how) {
    known_gateway who;
    in.read_text("name", who.name);
    if (!who.name.empty() &&
        std::ranges::count(how.into.gateways, who.name, &known_gateway::name) > 0)
        in.wrong("name", "another gateway has this name" + in.said("name"));
    read_hash(in, how, who.secret);
    in.for_each("users", [&who](auto& user) {
        soup_username name;
        user.read_text("username", name);
        who.users.push_back(name);
    });
    how.into.gateways.push_back(std::move(who));
}

std::vector<config_error> read_users(const std::string& path, order_entry_host_options& into) {
    std::vector<config_error> errors;
    const std::optional<std::string> text = read_text_file(path);
    if (!text) return {{"", "cannot be read"}};
    const nlohmann::json whole = parse_json(*text, errors);
    if (!errors.empty()) return errors;
    json_section top{whole, "", errors};
    credentials_reading how{into};
    unsigned slow = 0;
    top.read("slow_hashes", slow, {0, 1});
    how.slow_hashes = slow != 0;
    top.for_each("participants", [&](auto& in) { read_participant(in, how); });
    top.for_each("drop_copies", [&](auto& in) { read_listener(in, how, told::account); });
    top.for_each("surveillance", [&](auto& in) { read_listener(in, how, told::all); });
    top.for_each("operators", [&](auto& in) { read_operator(in, how); });
    top.for_each("gateways", [&](auto& in) { read_gateway(in, how); });
    top.finish();
    if (errors.empty() && into.participants.empty() && into.operators.empty())
        errors.push_back({"", "no one could log in"});
    return errors;
}

/// Numbers that the partition cannot have. `section` has its users in order, which may stand beside others'.
template <class Number>
void check_numbers(const config& it, const std::string& section, told what,
                   Number credentials::* field, const std::string& key, std::uint32_t most,
                   std::vector<config_error>& errors) {
    std::size_t place = 0;
    for (const credentials& each : it.host.participants) {
        if (each.what != what) continue;
        if (number(each.*field) > most)
            errors.push_back({section + '[' + std::to_string(place) + "]." + key,
                              "beyond limits." + key + "s_max, which is " + std::to_string(most)});
        ++place;
    }
}

/// A door that opens to nobody.
void check_gateways(const config& it, const std::string& file, std::vector<config_error>& errors) {
    if (it.facility.gateways.wanted() && it.host.gateways.empty())
        errors.push_back(
            {file + ": gateways", "expected one at least, since gateways.at is given"});
}

/// A connection for each who may be logged in, and some more to ask for it.
void make_connections(config& it, std::vector<config_error>& errors) {
    const std::size_t participants = it.host.participants.size();
    it.host.participants_max =
        it.participants_max != 0 ? it.participants_max : participants + defined_later;
    if (it.host.participants_max < participants)
        errors.push_back(
            {"order_entry.participants_max",
             "expected as many as there are already, which is " + std::to_string(participants)});
    if (it.host.operators.size() > it.host.operator_connections_max)
        errors.push_back(
            {"operators.connections_max", "expected a place for each operator, which is " +
                                              std::to_string(it.host.operators.size())});
    const std::size_t logins = it.host.participants_max +
                               (it.host.operators.empty() ? 0 : it.host.operator_connections_max);
    if (!it.connections_max_given)
        it.facility.connections_max = std::min(logins + strangers_min, connections_limit);
    if (it.facility.connections_max > logins) return;
    errors.push_back({"order_entry.connections_max",
                      "expected more than may be logged in, which is " + std::to_string(logins)});
}

/// How much all streams may take together, if it was not said; else whether it is enough for each to say
/// anything.
void settle_stream_memory(config& it, std::vector<config_error>& errors) {
    segment_pool_options& pool = it.host.stream_memory;
    const std::size_t least = 2 * pool.segment_bytes * it.host.participants_max;
    if (pool.bytes_max == 0)
        pool.bytes_max = std::max(stream_memory_for(it.host), stream_memory_least);
    else if (pool.bytes_max < least)
        errors.push_back(
            {"order_entry.stream_memory_max", "expected at least " + std::to_string(least) +
                                                  " for as many participants, but found " +
                                                  std::to_string(pool.bytes_max)});
}

}  // namespace

void add_credentials(config_reading& to) {
    config& it = to.value;
    if (it.credentials_file.empty()) {
        // Which may be wrong, and then that was said.
        if (to.errors.empty()) to.errors.push_back({"credentials_file", "is missing"});
        return;
    }
    const std::string name = std::filesystem::path{it.credentials_file}.filename().string();
    it.host.passwords = is_hashed_password;
    it.host.dummy_secret = dummy_hash();
    it.host.is_secret = [](const std::string& hash) {
        return find_fault(hash) == hash_fault::none;
    };
    const bool in_order = to.errors.empty();
    std::vector<config_error> wrong = read_users(it.credentials_file, it.host);
    for (config_error& each : wrong)
        to.errors.push_back(
            {each.where.empty() ? name : name + ": " + each.where, std::move(each.what)});
    if (!in_order || !wrong.empty()) return;  // What follows would complain of the same again.
    check_gateways(it, name, to.errors);
    const partition_limits& limits = it.host.sequencing.limits;
    check_numbers(it, name + ": participants", told::own, &credentials::session, "session",
                  limits.sessions_max, to.errors);
    check_numbers(it, name + ": drop_copies", told::account, &credentials::account, "account",
                  limits.accounts_max, to.errors);
    make_connections(it, to.errors);
    settle_stream_memory(it, to.errors);
}

config_reading load_facility_config(const std::string& path) {
    config_reading made = load_config(path);
    add_credentials(made);
    return made;
}

}  // namespace exchange
