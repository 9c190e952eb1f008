// SPDX-License-Identifier: BSL-1.0
//
// Secrets and buckets: see gateway_users.hpp.
#include <exchange/net/application/gateway_users.hpp>

#include <algorithm>
#include <chrono>

namespace exchange {

gateway_users::gateway_users(const gateway_users_options& options)
    : passwords_{options.passwords}, dummy_secret_{options.dummy_secret} {
    for (const gateway_account& each : options.accounts) accounts_.push_back({each});
    users_.reserve(options.users.size());
    for (const gateway_user& each : options.users) {
        const auto account = std::ranges::find_if(accounts_, [&each](const shared_rate& it) {
            return each.account != account_id::none && it.of.account == each.account;
        });
        users_.push_back(
            {.who = each, .account = static_cast<std::size_t>(account - accounts_.begin())});
        secrets_max_ = std::max(secrets_max_, each.secrets.size());
    }
}

gateway_users::known* gateway_users::find(std::string_view name, std::string_view secret) noexcept {
    const auto found = std::ranges::find_if(
        users_, [name](const known& it) { return it.who.username.view() == name; });
    known* const whose = found == users_.end() ? nullptr : &*found;
    bool right = false;
    for (std::size_t each = 0; each < secrets_max_; ++each) {
        const bool there = whose != nullptr && each < whose->who.secrets.size();
        const bool same = passwords_(secret, there ? whose->who.secrets[each] : dummy_secret_);
        right = right || (there && same);
    }
    return right ? whose : nullptr;
}

bool gateway_users::knows(std::string_view name) const noexcept {
    return std::ranges::any_of(users_,
                               [name](const known& it) { return it.who.username.view() == name; });
}

bool gateway_users::let_through(known& whose, message_class what, gyre::time_point now) noexcept {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
    const auto moment = static_cast<timestamp_ns>(since.count());
    const auto bucket = static_cast<std::size_t>(what);
    timestamp_ns own = whose.occupied_until[bucket];
    if (!exchange::let_through(own, whose.who.rates.of(what), moment)) return false;
    if (whose.account < accounts_.size()) {
        shared_rate& all = accounts_[whose.account];
        if (!exchange::let_through(all.occupied_until[bucket], all.of.rates.of(what), moment))
            return false;
    }
    whose.occupied_until[bucket] = own;
    return true;
}

}  // namespace exchange
