// SPDX-License-Identifier: BSL-1.0
//
// A response: what a handler returns, and what a client gets the head of.
//
// The body is whatever is cheapest for the one who has it: text that moves, a literal, bytes that many
// responses share, or a producer that writes while it is sent. The protocol frames it, and counts what can be
// counted; a handler sets neither Content-Length nor Transfer-Encoding nor Date.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/http/status.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/shared_bytes.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace gyre::http {

/// Text in static storage, as literals are: a body that is never copied.
struct static_text {
    std::string_view text;
};

/// A response's body.
class response_body {
public:
    response_body() noexcept = default;  ///< Nothing.
    response_body(std::string text) noexcept : what_{std::move(text)} {}
    response_body(static_text text) noexcept : what_{text} {}
    response_body(shared_bytes bytes) noexcept : what_{std::move(bytes)} {}
    response_body(std::unique_ptr<body_producer> producer) noexcept : what_{std::move(producer)} {}

    /// Copies: for a literal `static_text` is cheaper.
    template <std::convertible_to<std::string_view> Text>
        requires(!std::same_as<std::remove_cvref_t<Text>, std::string>)
    response_body(const Text& text) : what_{std::string{std::string_view{text}}} {}

    /// What is there already; empty if there is a producer.
    [[nodiscard]] const_buffer bytes() const noexcept GYRE_LIFETIMEBOUND;

    /// Who writes it; null if it is there already.
    [[nodiscard]] body_producer* producer() const noexcept GYRE_LIFETIMEBOUND {
        const auto* const made = std::get_if<std::unique_ptr<body_producer>>(&what_);
        return made != nullptr ? made->get() : nullptr;
    }

    /// Its size, if it is known.
    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept;

    /// The producer, so that another may be put around it; null if there is none.
    [[nodiscard]] std::unique_ptr<body_producer> take_producer() noexcept;

private:
    std::variant<std::monostate, std::string, static_text, shared_bytes,
                 std::unique_ptr<body_producer>>
        what_;
};

/// A connection that has changed its protocol.
struct upgraded_connection {
    any_stream stream;
    std::string early;  ///< What was read behind the request, and belongs to the new protocol.
};

/// What goes on with the stream after "101 Switching Protocols", or after the answer to CONNECT. The
/// connection is closed when it ends.
using upgrade_function = std::function<task<>(upgraded_connection)>;

/// A response. Moves. Belongs to one loop.
class response {
public:
    response() noexcept = default;  ///< 200 with an empty body.
    response(http::status code) noexcept : status{code} {}
    response(http::status code, response_body content) noexcept
        : status{code}, body{std::move(content)} {}
    response(http::status code, std::string_view content_type, response_body content)
        : status{code}, body{std::move(content)} {
        fields.set("content-type", content_type);
    }

    http::status status = http::status::ok;
    http::fields fields;
    http::fields
        trailers;  ///< Sent behind a body whose size is not declared, where the peer can take them.
    response_body body;
    upgrade_function upgrade;  ///< If set, the stream is given to it once this response is sent.
};

}  // namespace gyre::http
