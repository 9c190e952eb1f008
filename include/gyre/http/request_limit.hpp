// SPDX-License-Identifier: BSL-1.0
//
// How many requests one client may send in a time: a rate for each key, as a middleware that answers 429.
//
// io/peer_limits.hpp bounds connections, of which each may bring many requests; this counts requests, by
// whatever tells clients apart: an address, an account, a token.
#pragma once

#include <gyre/http/handler.hpp>
#include <gyre/sync/token_bucket.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace gyre::http {

/// How many, and whose.
struct request_limit_options {
    request_limit_options() noexcept = default;

    rate_limit requests{10, std::chrono::seconds{1}, 20};  ///< Of one key, a token each.

    /// Whose request it is; one whose key is empty is not limited. Called on the connection's loop; must not
    /// throw. Empty: by the peer's address without its port. Behind a proxy that is the proxy's, and who has
    /// a network of IPv6 has many: such a program has its own key.
    std::function<std::string(const request&)> key;

    /// Keys that are remembered, at their text and some 100 bytes each; at least 1. Beyond that the one that
    /// has asked last the longest time ago is forgotten, and begins anew with a full burst.
    std::size_t keys_max = 20'000;

    /// Of their texts together, which clients may choose; beyond that others are forgotten as well. One alone
    /// is remembered whatever its size.
    std::size_t key_bytes_max = std::size_t{16} << 20;
};

/// Answers 429 with `retry-after` (RFC 6585, 4) to requests beyond the rate, without the next handler.
///
/// @pre  the rate is one of `token_rate`, `keys_max` is not 0.
/// Threads: its handlers may be called on several loops at the same time, and share what is remembered.
/// Cost:    a key, a search under a lock, and a frame for each request.
[[nodiscard]] middleware limit_requests(request_limit_options options);

}  // namespace gyre::http
