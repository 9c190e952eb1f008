// SPDX-License-Identifier: BSL-1.0
//
// What a server says to what has arrived: itself again (echo), or as much of HTTP as all servers share.
//
// HTTP is not what is measured, so it is the same code for every contender, and its usual case, a request
// that arrives alone and whole, copies nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace servers {

/// What comes goes back.
class echo_answers {
public:
    [[nodiscard]] static std::string_view answer_to(std::string_view arrived) noexcept {
        return arrived;
    }
    [[nodiscard]] static bool closes() noexcept { return false; }
};

/// The one response, before requests that keep the connection and before its end; of the same length.
inline constexpr std::string_view staying_response =
    "HTTP/1.1 404 Not Found\r\n"
    "Connection: keep-alive\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 24\r\n"
    "\r\n"
    "There is nothing here.\r\n";
inline constexpr std::string_view closing_response =
    "HTTP/1.1 404 Not Found\r\n"
    "Connection:      close\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 24\r\n"
    "\r\n"
    "There is nothing here.\r\n";
static_assert(staying_response.size() == 120 && closing_response.size() == 120);

/// What a connection has asked so far. Whatever is cut or joined on its way makes no difference.
class http_answers {
public:
    static constexpr std::size_t request_bytes_max = 16 * 1024;

    /// Takes what has arrived, and returns what is to be sent now: a response to each request that has
    /// ended, nothing if none has. Valid until the next call. After a request that ends the connection, or
    /// one that is too long, nothing more is answered.
    [[nodiscard]] std::string_view answer_to(std::string_view arrived);

    /// Whether to close once everything has been sent.
    [[nodiscard]] bool closes() const noexcept { return closes_; }

private:
    [[nodiscard]] std::string_view answer_slowly(std::string_view arrived);

    std::string unfinished_;
    std::string responses_;  // If there are several at once.
    bool closes_ = false;
};

/// Whether the client wants to ask more after this request, all of which is there: HTTP/1.1 unless it says
/// `close`, HTTP/1.0 if it says `keep-alive`.
[[nodiscard]] bool stays_after(std::string_view request) noexcept;

}  // namespace servers
