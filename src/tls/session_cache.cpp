// SPDX-License-Identifier: BSL-1.0
#include "tls/session_cache.hpp"

#include <iterator>
#include <utility>

namespace gyre::tls {

// What is replaced or forgotten ends when the lock is free: its end is OpenSSL's, and that of whatever a
// program has OpenSSL keep with a session.
void session_cache::put(std::string_view host, owned_session session) {
    if (hosts_max_ == 0) return;
    std::list<entry> forgotten;
    const std::lock_guard guard{mutex_};
    if (const auto known = by_host_.find(host); known != by_host_.end()) {
        std::swap(known->second->second, session);
        latest_first_.splice(latest_first_.begin(), latest_first_, known->second);
        return;
    }
    if (latest_first_.size() == hosts_max_) {
        by_host_.erase(latest_first_.back().first);
        forgotten.splice(forgotten.begin(), latest_first_, std::prev(latest_first_.end()));
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
