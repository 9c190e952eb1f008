// SPDX-License-Identifier: BSL-1.0
//
// A request as its handler sees it, of any version of HTTP.
//
// It owns its text, so it lives longer than the buffer it was parsed from; one object serves all requests of
// a connection in turn, so that after the first few none of them allocates. A client fills one in to send it.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/stop.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/http/method.hpp>
#include <gyre/sync/event.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gyre::http {

/// A part of a request's path that a route has a name for.
struct path_parameter {
    std::string_view name;  ///< Of the route's pattern.
    std::string_view text;  ///< As it was sent: percent-encoded.
};

/// A request. Its views are valid until it changes or is cleared. Belongs to one loop.
class request {
public:
    request() noexcept = default;
    /// A request to be sent. @pre  `what` is not `method::other`.
    request(http::method what, std::string_view target);
    request(request&&) noexcept = default;
    request& operator=(request&&) noexcept = default;

    http::fields fields;
    body_reader body;  ///< What follows, on the server's side; copies read the same bytes.

    /// What is wanted.
    [[nodiscard]] http::method method() const noexcept { return method_; }
    [[nodiscard]] std::string_view method_text() const noexcept GYRE_LIFETIMEBOUND;

    /// What it is wanted of, as it was sent: a path with its query, `*`, or an authority for CONNECT. Of a
    /// target in absolute form, path and query only; `scheme` and `authority` have the rest.
    [[nodiscard]] std::string_view target() const noexcept GYRE_LIFETIMEBOUND { return target_; }

    /// The target up to its query, as it was sent: percent-encoded, and not normalised.
    [[nodiscard]] std::string_view path() const noexcept GYRE_LIFETIMEBOUND;

    /// What stands behind the target's question mark; empty if there is none.
    [[nodiscard]] std::string_view query() const noexcept GYRE_LIFETIMEBOUND;

    /// The path decoded, without a NUL.
    ///
    /// Errors:  `errc::malformed` if it has an incomplete escape, or a NUL.
    [[nodiscard]] io_result<std::string> decoded_path() const;

    /// The value of the first pair of the query of this name, decoded as forms are: a plus is a space.
    /// Nothing if there is none, or if it is malformed.
    [[nodiscard]] std::optional<std::string> query_value(std::string_view name) const;

    [[nodiscard]] http::version version() const noexcept { return version_; }

    /// "http" or "https": by the connection, or by the target if a proxy is asked.
    [[nodiscard]] std::string_view scheme() const noexcept GYRE_LIFETIMEBOUND { return scheme_; }

    /// Host and perhaps port: what the target names, or the field Host. Empty if there is neither, as in
    /// HTTP/1.0.
    [[nodiscard]] std::string_view authority() const noexcept GYRE_LIFETIMEBOUND {
        return authority_;
    }

    /// Who sent it, as text, such as "192.0.2.1:50000"; empty if the transport has no such thing.
    [[nodiscard]] std::string_view peer() const noexcept GYRE_LIFETIMEBOUND { return peer_; }

    /// Who the client has proved to be, as text: with TLS, by its certificate. Empty if it has not.
    [[nodiscard]] std::string_view client() const noexcept GYRE_LIFETIMEBOUND { return client_; }

    /// Whether the server drains: this response is the connection's last, so a handler of long streams ends
    /// them soon.
    [[nodiscard]] bool stopping() const noexcept {
        return chain_ != nullptr && chain_->level() >= stop_level::drain;
    }

    /// True if the client has left, or takes its request back. A handler that waits is stopped then.
    [[nodiscard]] bool peer_left() const noexcept { return left_ != nullptr && left_->is_set(); }

    /// Waits until the client has left: for what goes on when its handler is stopped, or ends otherwise.
    /// Over HTTP/1 that is noticed while a handler or a producer waits, once it has done so for 20 ms, unless
    /// more than one read's worth of further requests has come, or a part of the body waits to be read.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`: the handler is stopped for another reason, such as the server's end.
    /// Threads:       the connection's loop, until the response has been sent.
    /// Cost:          one frame from the frame cache.
    [[nodiscard]] task<io_result<>> until_peer_left() const;

    /// What a route took from the path under `name`, decoded; nothing if it has no such part or that is
    /// malformed.
    [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
    [[nodiscard]] std::span<const path_parameter> parameters() const noexcept GYRE_LIFETIMEBOUND {
        return {parameters_.data(), parameter_count_};
    }

    // For protocols, routers and clients.

    /// Makes it as good as new; the memory stays.
    void clear() noexcept;

    void set_method(http::method what) noexcept { method_ = what; }
    /// @param  name  Copied. A token.
    void set_method(std::string_view name);
    void set_target(std::string_view target);
    void set_version(http::version which) noexcept { version_ = which; }
    void set_scheme(std::string_view scheme);
    void set_authority(std::string_view authority);
    void set_peer(std::string_view peer);
    void set_client(std::string_view client);
    /// @param  chain  Of the coroutine that serves the connection; borrowed. May be null.
    void set_chain(const stop_chain* chain) noexcept { chain_ = chain; }
    /// @param  left  Set when the peer has left; borrowed. May be null.
    void set_peer_left(event* left) noexcept { left_ = left; }

    static constexpr std::size_t parameters_max = 8;
    /// False if there are as many already. @param  it  Borrowed: views of the route and of this target.
    bool add_parameter(path_parameter it) noexcept;
    void clear_parameters() noexcept { parameter_count_ = 0; }

private:
    http::method method_ = http::method::get;
    http::version version_ = http::version::http_1_1;
    std::string other_method_;  // Invariant: the text of `method::other`, else empty.
    std::string target_;
    std::string scheme_;
    std::string authority_;
    std::string peer_;
    std::string client_;
    const stop_chain* chain_ = nullptr;
    event* left_ = nullptr;
    std::array<path_parameter, parameters_max> parameters_;
    std::size_t parameter_count_ = 0;
};

}  // namespace gyre::http
