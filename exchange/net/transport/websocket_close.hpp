// SPDX-License-Identifier: BSL-1.0
//
// The end of a session in the words of a WebSocket: a number and a sentence.
//
// A client over TCP reads why in a debug packet; a browser's program gets the close frame before anything
// else, and shows its words to a person.
#pragma once

#include <exchange/codec/soup_packet.hpp>

#include <gyre/websocket/close_code.hpp>

#include <string_view>

namespace exchange {

struct websocket_close_reason {
    gyre::websocket::close_code code = gyre::websocket::close_code::normal;
    std::string_view words{};  ///< In static storage.
};

/// What a close frame says of an ending. @pre  it fits into one, as all sentences do.
[[nodiscard]] inline websocket_close_reason close_reason_of(soup_ending why) noexcept {
    using enum gyre::websocket::close_code;
    switch (why) {
        case soup_ending::none:
        case soup_ending::logged_out:
        case soup_ending::session_ended: return {normal, describe(why)};
        case soup_ending::oversized_packet: return {message_too_big, describe(why)};
        case soup_ending::rejected:
        case soup_ending::login_timed_out:
        case soup_ending::peer_silent:
        case soup_ending::fell_behind:
        case soup_ending::removed:
        case soup_ending::replaced: return {policy_violation, describe(why)};
        case soup_ending::life_ended:
        case soup_ending::not_kept:
        case soup_ending::gateway_goes: return {going_away, describe(why)};
        case soup_ending::empty_packet:
        case soup_ending::unknown_packet:
        case soup_ending::wrong_direction:
        case soup_ending::wrong_size:
        case soup_ending::malformed_login:
        case soup_ending::before_login:
        case soup_ending::second_login:
        case soup_ending::wrong_session:
        case soup_ending::sequence_gap:
        case soup_ending::broken_transport: return {protocol_error, describe(why)};
        case soup_ending::link_lost:
        case soup_ending::unreachable: return {try_again_later, describe(why)};
    }
    return {internal_error, "unknown"};
}

}  // namespace exchange
