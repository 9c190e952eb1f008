// SPDX-License-Identifier: BSL-1.0
//
// What both ends of a SoupBinTCP connection are made of: answers, timers, and packets to be written.
//
// soup_server.hpp and soup_client.hpp are the ends.
#pragma once

#include <exchange/codec/double_buffer.hpp>
#include <exchange/codec/soup_packet.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace exchange {

/// What a packet or a timer has brought about: the answer of either end, in the same words, so that one
/// driver can serve both.
struct soup_step {
    enum class kind : std::uint8_t {
        nothing,
        login,    ///< Server: a client wants in; answer with `accept` or `reject`.
        started,  ///< Client: logged in.
        message,  ///< `payload` is a message of the peer.
        debug,    ///< `payload` is text for people.
        ended,    ///< The session is over: write what is still to be written, then close.
    };

    kind what = kind::nothing;
    soup_ending ending = soup_ending::none;  ///< Why, if it ended.
    std::uint64_t sequence = 0;              ///< Of a sequenced message; 0 for any other.
    std::span<const std::byte> payload{};    ///< Borrowed from the packet.
};

/// What an end wants written: up to eight pieces of memory, one after the other, for one gathered write;
/// some hundred KiB, which is more than a kernel takes at once.
///
/// Sequenced messages are written from where they stand in their stream, other packets from an outbox,
/// and a stream has a piece in each of its segments.
struct soup_output {
    std::array<std::span<const std::byte>, 8> parts;
    std::size_t count = 0;
    std::size_t bytes = 0;

    void clear() noexcept { count = bytes = 0; }
    void add(std::span<const std::byte> part) noexcept {
        if (part.empty()) return;
        parts[count++] = part;
        bytes += part.size();
    }
    [[nodiscard]] bool full() const noexcept { return count == parts.size(); }
    [[nodiscard]] std::span<const std::span<const std::byte>> buffers() const noexcept {
        return std::span{parts}.first(count);
    }
    [[nodiscard]] std::size_t size() const noexcept { return bytes; }
};

/// Who has been silent for how long: the two timers that both ends keep.
///
/// An end that has sent nothing for a second sends a heartbeat, and one that has heard nothing for
/// fifteen gives the connection up. The caller tells the time.
///
/// Threads:  One at a time.  Cost:  None.
class soup_liveness {
public:
    soup_liveness(const soup_options& options, gyre::time_point now) noexcept
        : heartbeat_after_{options.heartbeat_after}, dead_after_{options.dead_after} {
        sent(now);
        heard(now);
    }

    void sent(gyre::time_point now) noexcept {
        heartbeat_due_ = gyre::deadline_after(now, heartbeat_after_);
    }
    void heard(gyre::time_point now) noexcept { dead_at_ = gyre::deadline_after(now, dead_after_); }

    [[nodiscard]] bool heartbeat_due(gyre::time_point now) const noexcept {
        return now >= heartbeat_due_;
    }
    [[nodiscard]] bool peer_is_dead(gyre::time_point now) const noexcept { return now >= dead_at_; }

    /// When one of the two will be due.
    [[nodiscard]] gyre::time_point deadline() const noexcept {
        return std::min(heartbeat_due_, dead_at_);
    }

private:
    gyre::duration heartbeat_after_;
    gyre::duration dead_after_;
    gyre::time_point heartbeat_due_;
    gyre::time_point dead_at_;
};

/// Whole packets that wait to be written, while others are being written.
///
/// Threads:  One at a time.
/// Cost:     All memory is taken at construction.
class soup_outbox {
public:
    explicit soup_outbox(std::size_t bytes_max) : waiting_{bytes_max} {}

    /// Appends a packet.
    ///
    /// @return False if it does not fit, and then nothing happened.
    bool push(soup_type type, std::span<const std::byte> payload = {}) noexcept;
    /// The same for packets that are whole already.
    bool append(std::span<const std::byte> packets) noexcept;

    /// What is to be written next. Stays valid, though more is pushed, until it was `sent` entirely.
    [[nodiscard]] std::span<const std::byte> offer() noexcept { return waiting_.offer(); }

    /// @param  size  How much of the offer, from its beginning, was written.
    void sent(std::size_t size) noexcept { waiting_.sent(size); }

    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

    void clear() noexcept { waiting_.clear(); }

private:
    double_buffer waiting_;
};

}  // namespace exchange
