// SPDX-License-Identifier: BSL-1.0
//
// Sessions that clients may resume, by host.
//
// OpenSSL's own cache finds sessions by their numbers, which a client does not know before it asks.
#pragma once

#include "tls/owned.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::tls {

/// The latest session of each host, of those that were used last. Any thread.
class session_cache {
public:
    explicit session_cache(std::size_t hosts_max) noexcept : hosts_max_{hosts_max} {}

    void put(std::string_view host, owned_session session);

    /// RFC 8446, C.4: a ticket is used once, or who listens could tell that two connections are one client's.
    [[nodiscard]] owned_session take(std::string_view host);

private:
    using entry = std::pair<std::string, owned_session>;

    const std::size_t hosts_max_;
    std::mutex mutex_;
    std::list<entry> latest_first_;
    std::map<std::string_view, std::list<entry>::iterator>
        by_host_;  // Into the entries' own names.
};

}  // namespace gyre::tls
