// SPDX-License-Identifier: BSL-1.0
//
// What the suites of protocols ask, and what is right: the same for every server, of whatever language.
//
// Over HTTP, as the profiles of HttpArena for HTTP/1.1, scaled down:
//
//     GET /text                  200, text/plain        Hello, World!
//     GET /json                  200, application/json  `json_text`, which is made once: how fast libraries
//                                                       write JSON is not what is measured
//     GET /sum?a=13&b=42         200, text/plain        55
//     POST /sum?a=13&b=42, 20    200, text/plain        75
//
// Over TLS there is the least of HTTP, by hand: `GET /bytes/N` is answered with so many bytes of
// `content_of`, by one write of head and body; after `Connection: close` the server says close_notify and
// closes. Over WebSocket what comes on /echo goes back, and what comes on /hub goes to all who are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace servers {

inline constexpr std::string_view hello = "Hello, World!";

/// Twelve records of a catalogue, about 1 KB.
[[nodiscard]] const std::string& json_text();

/// The same for all sizes, as far as they go: content that repeats after a prime number of bytes.
[[nodiscard]] std::string content_of(std::size_t size);

/// The two numbers of a query, as "a=13&b=42", in any order; 0 for one that is missing.
struct query_numbers {
    std::int64_t a = 0;
    std::int64_t b = 0;
};
[[nodiscard]] query_numbers numbers_of(std::string_view query) noexcept;

/// The number that a text begins with, or 0.
[[nodiscard]] std::int64_t number_of(std::string_view text) noexcept;

/// The requests of `tls`: as many as have ended at the beginning of `arrived`.
struct bytes_request {
    std::size_t length = 0;  ///< Of the request.
    std::size_t bytes = 0;   ///< That are asked for.
    bool closes = false;
};
/// Nothing if it has not ended.
[[nodiscard]] std::optional<bytes_request> next_bytes_request(std::string_view arrived) noexcept;

/// The whole answer. Made once for each size, and kept; of the calling thread.
[[nodiscard]] const std::string& bytes_answer(const bytes_request& asked);

/// Whether the text of a file could be read, and it.
[[nodiscard]] std::optional<std::string> text_of_file(std::string_view path);

}  // namespace servers
