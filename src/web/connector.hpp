// SPDX-License-Identifier: BSL-1.0
//
// How a client gets a stream to where a URL leads: through names, a proxy and TLS.
//
// The pool says when, and keeps what it gets; here is what the way consists of, and which version of HTTP
// both ends have agreed on.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/web/client.hpp>

#include <cstdint>

namespace gyre::web {

/// Makes connections for one client. Borrows its options.
class connector {
public:
    explicit connector(client_options& options) noexcept : options_{options} {}

    /// What is going to be said on a stream.
    enum class purpose : std::uint8_t { requests, other_protocol };

    struct connected {
        connected() noexcept = default;

        any_stream stream;
        bool multiplexes = false;  ///< It is for HTTP/2.
    };

    /// Whether requests for `where` are forwarded by the proxy.
    [[nodiscard]] bool forwards(const url& where) const {
        return goes_through_proxy(where) && !where.is_secure();
    }
    [[nodiscard]] bool goes_through_proxy(const url& where) const;

    /// Whether requests for `where` may turn out to share a connection.
    [[nodiscard]] bool may_multiplex(const url& where) const;

    /// Within `connect_time_max`.
    ///
    /// Errors:        those of connecting; `errc::timed_out`.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       the loop's.
    /// Cost:          a few frames.
    [[nodiscard]] task<io_result<connected>> connect(const url& where, purpose of);

private:
    [[nodiscard]] bool knows(const url& where) const;
    [[nodiscard]] task<io_result<connected>> connect_now(const url& where, purpose of);
    [[nodiscard]] task<io_result<any_stream>> tunnel(any_stream through, const url& where);
    [[nodiscard]] task<io_result<connected>> secure(any_stream below, const url& where, purpose of);

    client_options& options_;
};

}  // namespace gyre::web
