// SPDX-License-Identifier: BSL-1.0
//
// Reads the head of a message of HTTP/1, and refuses whatever two readers could read differently.
//
// llhttp reads start line and fields. Before it sees them, the whole head is there and its lines have been
// checked here: servers in a row that disagree about where a line or a message ends can be made to take one
// request for two, so nothing is read leniently, and framing is decided in one place.
// chunk_decoder.hpp reads the bodies that come in chunks.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/http/refusal.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gyre::http {

/// How large a head may be.
struct head_limits {
    std::size_t bytes_max = 16 * 1024;  ///< Of start line and fields, with their line endings.
    std::size_t target_bytes_max = 8 * 1024;  ///< Of a request's target.
    std::size_t fields_max = 100;

    friend bool operator==(const head_limits&, const head_limits&) = default;
};

/// How the end of a body is found.
struct body_framing {
    enum class kind : std::uint8_t { none, length, chunked, until_close };

    kind by = kind::none;
    std::uint64_t length = 0;  ///< Of `kind::length`; not 0.
};

/// What a parser has come to.
enum class head_progress : std::uint8_t {
    incomplete,  ///< More bytes are needed.
    complete,
    refused  ///< See `why`; nothing that follows on the connection can be read.
};

/// Parses one head after another. Moves. No I/O, no clock.
class head_parser {
public:
    explicit head_parser(head_limits limits = {});
    head_parser(head_parser&&) noexcept;
    head_parser& operator=(head_parser&&) noexcept;
    ~head_parser();

    /// Looks for the head of a request at the beginning of `window`.
    ///
    /// @param  window  What was read and not consumed. While the head is incomplete, the next call is given
    ///                 the same bytes and more; they may have moved.
    /// @param  into    Filled in when the head is complete: fields, target, method, version, and scheme and
    ///                 authority where the message names them. Cleared first.
    ///
    /// Cost: each byte is looked at once for its line, and once by the parser when all are there. No
    ///       allocation but what `into` may need.
    [[nodiscard]] head_progress parse_request(const_buffer window, request& into);

    /// The same for a response.
    ///
    /// @param  asked  The method of the request that it answers.
    [[nodiscard]] head_progress parse_response(const_buffer window, method asked, response& into);

    /// Forgets a head that was refused, or is incomplete: another stream begins.
    void reset() noexcept;

    /// Why the head was refused.
    [[nodiscard]] refusal why() const noexcept;

    // Of the head that was complete last.

    /// Its bytes, with empty lines before it: what is to be consumed.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] body_framing framing() const noexcept;
    [[nodiscard]] http::version version() const noexcept;

    /// Whether the sender lets another message follow.
    [[nodiscard]] bool keeps_alive() const noexcept;

    /// Whether the client waits for "100 Continue" before it sends the body.
    [[nodiscard]] bool expects_continue() const noexcept;

    /// Whether another protocol is asked for, or begins after this message.
    [[nodiscard]] bool upgrades() const noexcept;

private:
    struct state;

    std::unique_ptr<state> state_;  // Holds the parser of llhttp, which no header of ours includes.
};

}  // namespace gyre::http
