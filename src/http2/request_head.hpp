// SPDX-License-Identifier: BSL-1.0
//
// The fields that begin a request of HTTP/2, on their way into the request that a handler sees.
//
// What they mean is judged by the grammar that HTTP/1 asks, so that a handler need not know the version:
// gyre/http/request_target.hpp. No I/O, so that a fuzzer compares both versions.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/status.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gyre::http2 {

/// One head after another.
class request_head {
public:
    /// Adds one field, pseudo-fields included, in the order in which they came.
    void add(http::request& to, std::string_view name, std::string_view value);

    /// The last field was added.
    ///
    /// @return The status of an answer without the handler: `bad_request` stands for a malformed head, which
    ///         is a stream error by RFC 9113, 8.1.1. Nothing if the head is fine.
    [[nodiscard]] std::optional<http::status> finish(http::request& it);

    /// True if the client waits for "100 Continue" before it sends the body.
    [[nodiscard]] bool expects_continue() const noexcept { return expects_continue_; }

    void clear() noexcept;

private:
    void add_pseudo(http::request& to, std::string_view name, std::string_view value);
    [[nodiscard]] bool judge_host(http::request& it) const;
    [[nodiscard]] bool judge_expectation(const http::request& it) noexcept;

    std::string cookies_;
    bool has_authority_ = false;
    bool malformed_ = false;
    bool expects_continue_ = false;
};

}  // namespace gyre::http2
