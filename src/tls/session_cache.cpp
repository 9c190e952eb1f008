// SPDX-License-Identifier: BSL-1.0
#include "tls/session_cache.hpp"

namespace gyre::tls {

void session_cache::put(std::string_view host, owned_session session) {
    if (hosts_max_ == 0) return;
    const std::lock_guard guard{mutex_};
    if (const auto known = by_host_.find(host); known != by_host_.end()) {
        known->second->second = std::move(session);
        latest_first_.splice(latest_first_.begin(), latest_first_, known->second);
        return;
    }
    if (latest_first_.size() == hosts_max_) {
        by_host_.erase(latest_first_.back().first);
        latest_first_.pop_back();
    }
    latest_first_.emplace_front(std::string{host}, std::move(session));
    by_host_.emplace(latest_first_.front().first, latest_first_.begin());
}

owned_session session_cache::take(std::string_view host) {
    const std::lock_guard guard{mutex_};
    const auto known = by_host_.find(host);
    if (known == by_host_.end()) return nullptr;
    owned_session session = std::move(known->second->second);
    const auto place = known->second;
    by_host_.erase(known);
    latest_first_.erase(place);
    return session;
}

}  // namespace gyre::tls
