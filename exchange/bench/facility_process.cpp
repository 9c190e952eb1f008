// SPDX-License-Identifier: BSL-1.0
//
// What its files say: see facility_process.hpp.
#include <exchange/bench/facility_process.hpp>

#include <exchange/management/password_hash.hpp>

#include <algorithm>

namespace exchange::bench {
namespace {

/// A JSON list with an entry for each user.
template <class Entry>
std::string list_of(const std::vector<bench_user>& users, const Entry& entry) {
    std::string made = "[";
    for (std::size_t each = 0; each < users.size(); ++each)
        made += (each == 0 ? "\n" : ",\n") + entry(users[each], std::to_string(each + 1));
    return made + "]";
}

std::string config_of(const facility_setting& how) {
    unsigned accounts = 0;
    for (const bench_user& each : how.users) accounts = std::max(accounts, each.account);
    std::string listed;
    for (unsigned each = 1; each <= accounts; ++each)
        listed += (each == 1 ? "" : ",\n") + ("{\"id\": " + std::to_string(each)) +
                  ", \"firm\": 1" + (each <= how.accounts_in_group ? ", \"group\": 1}" : "}");
    const std::string pinned =
        how.processor < 0 ? "" : ", \"pin_to_cpu\": " + std::to_string(how.processor);
    return "{\"backend\": \"" + how.backend + "\"" + pinned + R"(,
"order_entry": {"at": "127.0.0.1:0"},
"feed": {"to": "127.0.0.1:)" +
           std::to_string(how.feed_port) + R"(", "from": "127.0.0.1:0", "requests": "127.0.0.1:0"},
"limits": {"orders_max": )" +
           std::to_string(how.orders_max) +
           ", \"sessions_max\": " + std::to_string(how.users.size()) +
           ", \"accounts_max\": " + std::to_string(accounts) +
           R"(},
"credentials_file": "credentials.json",
"products": [{"id": 1, "multiplier": 1, "lot": 1}],
"instruments": [{"id": 1, "product": 1, "phase": "continuous"}],
"accounts": [)" +
           listed + "],\n\"sessions\": " +
           list_of(how.users,
                   [](const bench_user& it, const std::string& session) {
                       return "{\"id\": " + session +
                              ", \"account\": " + std::to_string(it.account) + "}";
                   }) +
           "}\n";
}

std::string credentials_of(const facility_setting& how) {
    const std::string hash = hash_password(facility_process::password());
    return "{\"participants\": " +
           list_of(how.users,
                   [&](const bench_user& it, const std::string& session) {
                       return "{\"username\": \"" + it.name + "\", \"session\": " + session +
                              ", \"hash\": \"" + hash + "\"}";
                   }) +
           "}\n";
}

}  // namespace

facility_process::facility_process(const facility_setting& how)
    : it_{how.program,
          {{"exchange.json", config_of(how)}, {"credentials.json", credentials_of(how)}}},
      order_entry_{it_.endpoint_behind("order entry ")},
      requests_{it_.endpoint_behind("requests ")},
      life_{it_.word_behind("life ")} {}

}  // namespace exchange::bench
