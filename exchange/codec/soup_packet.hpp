// SPDX-License-Identifier: BSL-1.0
//
// What SoupBinTCP 3.00 puts on the wire, and every way in which a session can end.
//
// A packet is a length (two bytes, big-endian, of all that follows), a type, and a payload. Numbers in
// a login are text. soup_framer.hpp finds packets in a stream of bytes; soup_server.hpp and
// soup_client.hpp say which packet may come when.
#pragma once

#include <exchange/codec/big_endian.hpp>
#include <exchange/codec/padded_text.hpp>

#include <gyre/base/time.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace exchange {

/// Which end of a session.
enum class soup_end : std::uint8_t { server, client };

enum class soup_type : char {
    debug = '+',  ///< Text for people, from either side.

    login_accepted = 'A',
    login_rejected = 'J',
    sequenced = 'S',
    server_heartbeat = 'H',
    end_of_session = 'Z',

    login_request = 'L',
    client_heartbeat = 'R',
    logout_request = 'O',

    unsequenced = 'U',  ///< From either side.
};

enum class soup_reject : char {
    none = 0,
    not_authorized = 'A',
    session_not_available =
        'S',  ///< Its life is over. Also: this sequence number is not kept any more, or not yet there.
};

/// Why a session on a connection is over. Only the first three are as they should be.
enum class soup_ending : std::uint8_t {
    none,              ///< It is not.
    logged_out,        ///< The client asked for it.
    session_ended,     ///< The server said that nothing will follow.
    rejected,          ///< The login was; `soup_reject` says why.
    empty_packet,      ///< Length zero: not even a type.
    oversized_packet,  ///< Longer than the receiver takes.
    unknown_packet,    ///< No such type.
    wrong_direction,   ///< A type that only the other side sends.
    wrong_size,        ///< A payload that this type does not have.
    malformed_login,   ///< Digits or text of a login that are none.
    before_login,      ///< Anything else than a login comes first.
    second_login,      ///< A login, or its answer, after there was one.
    wrong_session,     ///< Another session than asked for.
    sequence_gap,      ///< The server begins behind what was asked for.
    login_timed_out,   ///< Not logged in within `login_within`.
    peer_silent,       ///< Nothing heard for `dead_after`.
    fell_behind,       ///< The peer reads so slowly that what it must get is not kept any more.
    replaced,          ///< The client has logged in again, on another connection.
    life_ended,        ///< The session that was to be resumed is over, and there is another one.
    not_kept,          ///< It is there, but what the client wants of it is not kept any more.
    removed,           ///< The user may not log in any more, or has another password.
    broken_transport,  ///< What carries the packets was not kept to: a frame, a message of a wrong kind.
    link_lost,    ///< A gateway lost the exchange while messages of the client were on their way.
    unreachable,  ///< A gateway cannot reach the exchange.
    gateway_goes,  ///< A gateway is ended, or another one has taken its place: whoever comes again is served.
};

/// The newest of them: gateways and the exchange tell each other their numbers.
inline constexpr soup_ending soup_ending_last = soup_ending::gateway_goes;

/// A sentence for people; static storage.
[[nodiscard]] std::string_view describe(soup_ending ending) noexcept;

struct soup_options {
    gyre::duration heartbeat_after = std::chrono::seconds{1};  ///< Of sending nothing.
    gyre::duration dead_after = std::chrono::seconds{15};      ///< Of hearing nothing.
    gyre::duration login_within = std::chrono::seconds{30};    ///< Of connecting.
    std::size_t outbox_bytes_max = 16 * 1024;  ///< Waiting to be sent, sequenced messages aside.
};

inline constexpr std::size_t soup_header_bytes = 3;
inline constexpr std::size_t soup_payload_bytes_max = 0xFFFE;

/// One whole packet. The payload is borrowed from the framer.
struct soup_packet {
    soup_type type = soup_type::debug;
    std::span<const std::byte> payload{};
};

/// Writes length and type; the payload of `payload_size` bytes follows behind.
inline void write_soup_header(std::span<std::byte, soup_header_bytes> out, soup_type type,
                              std::size_t payload_size) noexcept {
    gyre::expects(payload_size <= soup_payload_bytes_max);
    put_big_endian(out.first<2>(), static_cast<std::uint16_t>(payload_size + 1));
    out[2] = std::byte(type);
}

using soup_username = padded_text<6>;
using soup_password = padded_text<10>;
using soup_session = padded_text<10>;

struct soup_login {
    soup_username username;
    soup_password password;
    soup_session session;        ///< Empty: whichever is current.
    std::uint64_t sequence = 1;  ///< The first message wanted; 0: the next one that comes to be.
};

struct soup_acceptance {
    soup_session session;
    std::uint64_t sequence = 1;  ///< Of the first message that will come.
};

inline constexpr std::size_t soup_login_bytes = 46;
inline constexpr std::size_t soup_acceptance_bytes = 30;

/// What reading a payload found: the fields, or why they are none.
template <class Fields>
struct soup_parsed {
    soup_ending ending = soup_ending::none;
    Fields fields;
};

/// Errors: `wrong_size`, `malformed_login`.
[[nodiscard]] soup_parsed<soup_login> parse_soup_login(std::span<const std::byte> payload) noexcept;
[[nodiscard]] soup_parsed<soup_acceptance> parse_soup_acceptance(
    std::span<const std::byte> payload) noexcept;

[[nodiscard]] std::array<std::byte, soup_login_bytes> format_soup_login(
    const soup_login& login) noexcept;
[[nodiscard]] std::array<std::byte, soup_acceptance_bytes> format_soup_acceptance(
    const soup_acceptance& acceptance) noexcept;

}  // namespace exchange
