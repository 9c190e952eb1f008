// SPDX-License-Identifier: BSL-1.0
//
// The publishing end of a MoldUDP64 session, and its answers to those who missed something.
//
// Messages are written once, where they stay for retransmission; datagrams are headers in front of a
// piece of that memory. It does no I/O and reads no clock: its driver sends each datagram to the
// group, and answers to their requesters.
#pragma once

#include <exchange/codec/big_endian.hpp>
#include <exchange/codec/message_log.hpp>
#include <exchange/codec/mold_packet.hpp>

#include <gyre/base/time.hpp>

#include <chrono>
#include <optional>

namespace exchange {

struct mold_sender_options {
    mold_session session{};                                ///< Not empty.
    std::size_t datagram_bytes_max = 1400;                 ///< Header included.
    std::size_t message_bytes_max = 512;                   ///< Fits into a datagram.
    std::size_t kept_bytes_max = std::size_t{4} << 20;     ///< For retransmission, once sent.
    std::size_t kept_messages_max = std::size_t{1} << 16;  ///< For retransmission, once sent.
    std::size_t unsent_bytes_max = std::size_t{8} << 20;   ///< Memory, what is kept included.
    std::size_t segment_bytes = std::size_t{1} << 20;      ///< Over whose end no datagram reaches.
    gyre::duration heartbeat_after = std::chrono::seconds{1};    ///< Of sending nothing.
    gyre::duration end_repeated_for = std::chrono::seconds{30};  ///< The last chance to ask.
    std::uint64_t first_sequence = 1;
    bool held = false;  ///< A message is sent only once it is released.
};

/// The answer to a request: one datagram, or why there is none.
struct mold_answer {
    mold_fault fault = mold_fault::none;
    mold_datagram datagram{};  ///< If there is no fault.
};

/// Threads:  One at a time.
/// Cost:     Address space at construction, memory as it is needed; no message is copied.
class mold_sender {
public:
    mold_sender(const mold_sender_options& options, gyre::time_point now);

    [[nodiscard]] static message_log_options log_of(const mold_sender_options& options) noexcept;

    /// Room for the next message; an encoder writes straight into what will be sent.
    ///
    /// @param  size  At most `message_bytes_max`. The session must not have ended.
    [[nodiscard]] std::span<std::byte> prepare(std::size_t size) noexcept {
        gyre::expects(!ended_, "nothing follows the end of a session");
        return messages_.prepare(size);
    }

    /// Makes the prepared bytes the next message.
    void commit(std::size_t size) noexcept {
        const std::span<std::byte> framed = messages_.commit(size);
        put_big_endian(framed.first<mold_block_bytes>(), static_cast<std::uint16_t>(size));
    }

    /// Of a feed that is held: `release` lets be sent what stands before the line that `seal` draws.
    void seal() noexcept { messages_.seal(); }
    void release() noexcept { messages_.release(); }

    /// The next datagram of what was not sent yet, as full as it can be where its messages stand side by
    /// side; call until there is none. Calling it rarely makes full datagrams, calling it after each
    /// message makes early ones.
    ///
    /// @return Its messages are borrowed until the next `prepare`.
    [[nodiscard]] std::optional<mold_datagram> next(gyre::time_point now) noexcept;

    /// The message that `next` would begin with, and the first that it could not give yet.
    [[nodiscard]] std::uint64_t next_to_send() const noexcept { return cursor_; }
    [[nodiscard]] std::uint64_t end_of_sendable() const noexcept {
        return messages_.end_of_released();
    }

    /// A heartbeat, or the end of the session once more, if it is time.
    [[nodiscard]] std::optional<mold_datagram> on_timer(gyre::time_point now) noexcept;

    /// When `on_timer` is wanted next; `never` once the end was repeated for long enough.
    [[nodiscard]] gyre::time_point deadline() const noexcept;

    /// Nothing will follow what was committed. Requests are still answered.
    void end(gyre::time_point now) noexcept;

    /// Answers a request with as many of its messages as one datagram holds: a requester that needs
    /// more asks again, and none can make us send more bytes than that for each datagram of theirs.
    ///
    /// Errors: those of `parse_mold_request`; `other_session`, `not_sent_yet`, `not_kept`.
    [[nodiscard]] mold_answer answer(std::span<const std::byte> request) const noexcept;

    [[nodiscard]] const message_log& messages() const noexcept { return messages_; }

    /// Are messages that were not sent yet more than a quarter of what is kept? Then they are to be sent
    /// before more is caused: the public is late, and what is pushed out unsent cannot be asked for
    /// either.
    [[nodiscard]] bool crowded() const noexcept { return messages_.crowded(); }

    /// Messages that newer ones pushed out before they were sent, since they would have taken more than
    /// `unsent_bytes_max`: the driver was too slow.
    [[nodiscard]] std::uint64_t unsent_lost() const noexcept { return unsent_lost_; }

private:
    [[nodiscard]] mold_datagram datagram_from(std::uint64_t sequence,
                                              std::size_t messages_max) const noexcept;

    mold_sender_options options_;
    message_log messages_;  // Its reader is the network.
    std::uint64_t cursor_;  // The number of the next message to send.
    std::uint64_t unsent_lost_ = 0;
    gyre::time_point heartbeat_due_;
    gyre::time_point end_until_ = gyre::never;  // When the end was repeated often enough.
    bool ended_ = false;
};

}  // namespace exchange
