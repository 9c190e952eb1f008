// SPDX-License-Identifier: BSL-1.0
//
// What MoldUDP64 1.00 puts into datagrams, and what can be wrong with one.
//
// A downstream packet has a header (session, number of its first message, count) and that many messages,
// each behind its length. A count of zero is a heartbeat, the largest one the end of the session; both
// tell the number that would come next. A request is a header alone: which messages, and how many.
// mold_sender.hpp and mold_receiver.hpp are the two ends.
#pragma once

#include <exchange/codec/padded_text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace exchange {

using mold_session = padded_text<10>;

inline constexpr std::size_t mold_header_bytes = 20;
inline constexpr std::size_t mold_block_bytes = 2;  ///< The length in front of each message.

inline constexpr std::uint16_t mold_heartbeat = 0;
inline constexpr std::uint16_t mold_end_of_session = 0xFFFF;
inline constexpr std::uint16_t mold_messages_max = 0xFFFE;  ///< Of a packet or a request.

enum class mold_fault : std::uint8_t {
    none,
    header_truncated,    ///< Shorter than a header.
    malformed_session,   ///< Not printable.
    malformed_sequence,  ///< Zero, or beyond the largest number before the packet ends.
    message_truncated,   ///< Shorter than its messages.
    trailing_bytes,      ///< Longer than its messages.
    other_session,       ///< Well formed, but not ours.
    malformed_count,     ///< A request for nothing, or for more than there can be.
    not_sent_yet,        ///< A request for messages that do not exist.
    not_kept,            ///< A request for messages that are not kept any more.
};

/// A sentence for people; static storage.
[[nodiscard]] std::string_view describe(mold_fault fault) noexcept;

struct mold_header {
    mold_session session;
    std::uint64_t sequence = 1;
    std::uint16_t count = 0;
};

[[nodiscard]] std::array<std::byte, mold_header_bytes> format_mold_header(
    const mold_header& header) noexcept;

/// Messages that stand one behind the other, each behind its length; all of them are whole.
class mold_messages {
public:
    mold_messages() noexcept = default;
    mold_messages(std::span<const std::byte> blocks, std::uint64_t sequence,
                  std::size_t count) noexcept
        : blocks_{blocks}, sequence_{sequence}, count_{count} {}

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    /// The number of the first; beyond the last if there is none.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }

    /// Takes the first message, which must be there.
    std::span<const std::byte> pop() noexcept;

private:
    std::span<const std::byte> blocks_;
    std::uint64_t sequence_ = 0;
    std::size_t count_ = 0;
};

/// A datagram, looked at. Messages are borrowed from it.
struct mold_packet {
    mold_fault fault = mold_fault::none;
    mold_header header{};
    mold_messages messages{};  ///< None in a heartbeat and at the end of the session.
};

/// Checks a whole downstream packet before anything in it is used.
[[nodiscard]] mold_packet parse_mold_packet(std::span<const std::byte> datagram) noexcept;

/// Checks a request. `messages` stays empty.
[[nodiscard]] mold_packet parse_mold_request(std::span<const std::byte> datagram) noexcept;

/// A datagram to be written: header and messages. The latter are borrowed from the sender.
struct mold_datagram {
    std::array<std::byte, mold_header_bytes> header;
    std::span<const std::byte> messages;

    [[nodiscard]] std::size_t size() const noexcept { return header.size() + messages.size(); }
};

}  // namespace exchange
