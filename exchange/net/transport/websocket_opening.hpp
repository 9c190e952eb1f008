// SPDX-License-Identifier: BSL-1.0
//
// How a connection becomes a WebSocket of order entry: one request of HTTP and its answer.
//
// Bytes in, text out, for both ends; websocket_channel.hpp goes on from there. What a client wants is the
// path, and what its messages are is the subprotocol that both know: without one of ours there is no
// session, so it is refused here, in words that a person at a browser or a shell can read.
#pragma once

#include <exchange/codec/soup_packet.hpp>
#include <exchange/net/transport/transport_options.hpp>

#include <gyre/base/buffer.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/websocket/handshake.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace exchange {

/// One end's part of it. Threads: one at a time.
class websocket_opening {
public:
    /// What bytes of the peer have come to.
    struct step {
        enum class kind : std::uint8_t {
            incomplete,
            open,
            refused,     ///< By us or by the server: nothing follows but `answer`.
            unavailable  ///< The server, or one in front of it, cannot serve now: nothing follows.
        };

        kind what = kind::incomplete;
        std::size_t used = 0;  ///< Of the bytes; what follows belongs to the WebSocket.
        std::string answer{};  ///< To be sent.
        session_format format = session_format::sbe;
    };

    /// @param  options    Borrowed; outlives this.
    /// @param  authority  Of a client: whom it asks, as "192.0.2.1:7004".
    websocket_opening(const websocket_options& options, soup_end we, std::string_view authority);

    /// What is to be sent first: a client's request.
    [[nodiscard]] std::string first_words() const;

    /// Looks at what has come so far, from its beginning.
    ///
    /// Errors:  a head that is longer than `head_bytes_max`, or no request of HTTP/1.1 for a WebSocket of
    ///          ours, is `refused`.
    /// Cost:    some microseconds, and memory for the head.
    [[nodiscard]] step read(gyre::const_buffer received);

    /// What is said to a client that has not asked in time.
    [[nodiscard]] static std::string too_late();

private:
    [[nodiscard]] step answer_request(gyre::const_buffer received);
    [[nodiscard]] step read_answer(gyre::const_buffer received);

    const websocket_options& options_;
    std::string authority_;
    gyre::http::head_parser parser_;
    gyre::http::request request_;
    std::optional<gyre::websocket::client_handshake> handshake_;  // Of a client.
};

}  // namespace exchange
