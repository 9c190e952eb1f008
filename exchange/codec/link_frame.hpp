// SPDX-License-Identifier: BSL-1.0
//
// What stands on the wire between an order entry gateway and the matching facility.
//
// One connection carries all clients of a gateway, each on a channel. A frame is the size of its payload
// (four bytes), a channel (four bytes, 0 for the link itself), a kind, and the payload; numbers are
// big-endian as in SoupBinTCP, whose packets and login travel inside. link_connection.hpp says which frame
// may come when, and how much of them.
#pragma once

#include <exchange/codec/big_endian.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/codec/soup_packet.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace exchange {

/// The numbers are wire format.
enum class link_kind : std::uint8_t {
    hello = 1,    ///< Gateway, first: who it is.
    welcome = 2,  ///< Facility, first: which life of the exchange this is.
    open = 3,     ///< Gateway: lets a client in on a channel.
    packets = 4,  ///< Whole SoupBinTCP packets of a channel.
    credit = 5,   ///< So many bytes of packets were taken, and as many more may come.
    close = 6,    ///< The channel is over from this side, and why.
    heartbeat = 7,
    goodbye = 8,  ///< The link is over, and why.
};

/// Why a link is over. The numbers are wire format.
enum class link_ending : std::uint8_t {
    none = 0,              ///< It is not.
    closed = 1,            ///< The peer, or the network, has closed the connection.
    refused = 2,           ///< No gateway has this name and password.
    other_version = 3,     ///< The ends speak different versions.
    small_window = 4,      ///< A channel's window is too small for the largest packet.
    replaced = 5,          ///< A gateway of this name has connected again.
    stopped = 6,           ///< This end stops.
    peer_silent = 7,       ///< Nothing heard for `dead_after`.
    no_hello = 8,          ///< Neither hello nor welcome within `hello_within`.
    oversized_frame = 9,   ///< Longer than a frame may be.
    malformed_frame = 10,  ///< A payload that its kind does not have.
    unknown_kind = 11,     ///< No such kind.
    out_of_order = 12,     ///< A kind that does not come here, or not from this side.
    unknown_channel = 13,  ///< A channel that is not open, or cannot be.
    channel_in_use = 14,   ///< An open of a channel that is open.
    beyond_window = 15,    ///< More bytes than the window has.
};

/// A sentence for people; static storage.
[[nodiscard]] std::string_view describe(link_ending ending) noexcept;

inline constexpr std::uint16_t link_version = 1;
inline constexpr std::size_t link_header_bytes = 9;
/// The longest payload: the longest packet of SoupBinTCP.
inline constexpr std::size_t link_payload_bytes_max = 2 + 0xFFFF;

struct link_header {
    std::uint32_t payload_bytes = 0;
    std::uint32_t channel = 0;
    link_kind kind = link_kind::heartbeat;
};

void write_link_header(std::span<std::byte, link_header_bytes> out,
                       const link_header& header) noexcept;

/// One whole frame. The payload is borrowed from the framer.
struct link_frame {
    link_kind kind = link_kind::heartbeat;
    std::uint32_t channel = 0;
    std::span<const std::byte> payload{};
};

using link_password = padded_text<64>;

struct link_hello {
    std::uint16_t version = link_version;
    std::uint32_t window_bytes = 0;  ///< Of each channel: what the facility may send unasked.
    soup_username name;
    link_password password;
};

struct link_welcome {
    std::uint32_t window_bytes = 0;  ///< Of each channel: what the gateway may send unasked.
    std::uint32_t channels_max = 0;  ///< Their numbers are 1 to this.
    soup_session life;
};

struct link_open {
    soup_login login;  ///< Whom the gateway has let in; without a password.
    bool resumed =
        false;  ///< The client had a channel before: it does not take the place of another login.
};

inline constexpr std::size_t link_hello_bytes = 2 + 4 + 6 + 64;
inline constexpr std::size_t link_welcome_bytes = 4 + 4 + 10;
inline constexpr std::size_t link_open_bytes = soup_login_bytes + 1;
inline constexpr std::size_t link_credit_bytes = 4;
inline constexpr std::size_t link_reason_bytes = 1;  ///< Of close and goodbye.

[[nodiscard]] std::array<std::byte, link_hello_bytes> format_link_hello(
    const link_hello& hello) noexcept;
[[nodiscard]] std::array<std::byte, link_welcome_bytes> format_link_welcome(
    const link_welcome& welcome) noexcept;
[[nodiscard]] std::array<std::byte, link_open_bytes> format_link_open(
    const link_open& open) noexcept;

/// Nothing if the payload is none of its kind. Of a hello of another version only that is read.
[[nodiscard]] std::optional<link_hello> parse_link_hello(
    std::span<const std::byte> payload) noexcept;
[[nodiscard]] std::optional<link_welcome> parse_link_welcome(
    std::span<const std::byte> payload) noexcept;
[[nodiscard]] std::optional<link_open> parse_link_open(std::span<const std::byte> payload) noexcept;
[[nodiscard]] std::optional<std::uint32_t> parse_link_credit(
    std::span<const std::byte> payload) noexcept;
[[nodiscard]] std::optional<soup_ending> parse_link_close(
    std::span<const std::byte> payload) noexcept;

/// Takes the first packet from a run of whole ones.
///
/// @return Not complete, with an ending, if what is there is no whole packet.
[[nodiscard]] soup_framed take_packet(std::span<const std::byte>& run) noexcept;

/// Either a frame, or an error, or neither: more bytes are needed.
struct link_framed {
    bool complete = false;
    link_frame frame{};  ///< If complete. Borrowed until the next call of `space`.
    link_ending ending = link_ending::none;
};

/// Frames out of a stream of bytes that is cut anywhere.
///
/// Threads:  One at a time.
/// Cost:     Memory is taken at construction. Bytes are moved only when a frame straddles the end.
class link_framer {
public:
    explicit link_framer(std::size_t buffer_bytes = std::size_t{256} << 10);

    /// Where the next bytes from the peer belong. Never empty once `next` has nothing more to give.
    [[nodiscard]] std::span<std::byte> space() noexcept;
    /// @param  size  How much of `space()` was filled.
    void received(std::size_t size) noexcept;

    /// The next whole frame.
    ///
    /// Errors: `oversized_frame`, for good: behind it nothing can be told apart.
    [[nodiscard]] link_framed next() noexcept;

    /// For a new connection: forgets what is pending.
    void reset() noexcept { begin_ = end_ = 0; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;  // Invariant: begin_ <= end_ <= size_.
};

}  // namespace exchange
