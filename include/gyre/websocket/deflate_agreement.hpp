// SPDX-License-Identifier: BSL-1.0
//
// How two ends agree to compress messages: permessage-deflate, as the opening handshake carries it.
//
// Off unless a program asks for it. A peer that compresses may keep its window from one message to the next,
// which compresses small messages better and costs each connection a quarter of a megabyte; by default
// none does.
#pragma once

#include <gyre/websocket/header_lookup.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gyre::websocket {

/// What an end wants of compression.
struct deflate_options {
    deflate_options() noexcept = default;

    bool our_context_kept = false;  ///< What we send may refer to earlier messages.
    bool peer_context_kept =
        false;                 ///< What the peer sends may; it costs us its window, 32 KiB or less.
    int our_window_bits = 15;  ///< 9 to 15.
    int peer_window_bits = 15;  ///< 9 to 15.
    int level = 6;              ///< 1, fast, to 9, small.
    int memory_level =
        8;  ///< 1 to 9: memory of our side, 2^(memory_level + 9) bytes and the window.
    std::size_t bytes_min = 64;  ///< Messages below are sent as they are.
};

/// What was agreed.
// RFC 7692, 7.1.
struct deflate_agreement {
    bool our_context_kept = true;   ///< Our messages may refer to earlier ones of ours.
    bool peer_context_kept = true;  ///< The same of the peer's.
    int our_window_bits = 15;       ///< With 8 we do not compress: zlib cannot.
    int peer_window_bits = 15;

    friend bool operator==(const deflate_agreement&, const deflate_agreement&) = default;
};

/// What a server answers to the offers of a client.
struct deflate_answer {
    deflate_agreement agreed;
    std::string field;  ///< The value of `Sec-WebSocket-Extensions`.
};

/// The first offer that a server can take, with what it wants itself. None if there is none, which is no
/// failure: nothing is compressed then. Unknown extensions and damaged offers are passed over.
///
/// @pre  the numbers of `wanted` are in their ranges.
[[nodiscard]] std::optional<deflate_answer> answer_deflate_offers(const header_lookup& request,
                                                                  const deflate_options& wanted);

/// What a client offers: the value of `Sec-WebSocket-Extensions`. @pre  as above.
[[nodiscard]] std::string deflate_offer(const deflate_options& wanted);

/// What became of an offer.
struct deflate_outcome {
    enum class kind : std::uint8_t {
        declined,  ///< No extension; nothing is compressed.
        agreed,
        refused  ///< The answer is none to the offer: the connection has to fail.
    };
    kind what = kind::declined;
    deflate_agreement agreed;
};

/// Reads a server's answer to `deflate_offer(*wanted)`, or to no offer.
[[nodiscard]] deflate_outcome read_deflate_answer(const header_lookup& answer,
                                                  const std::optional<deflate_options>& wanted);

}  // namespace gyre::websocket
