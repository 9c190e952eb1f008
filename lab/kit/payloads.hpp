// SPDX-License-Identifier: BSL-1.0
//
// What travels, and proof that it arrived.
//
// Filling buffers, checking what came out and reading the clock are not what the lab compares, so every
// contender does them with the same code, and is left with moving the bytes.
#pragma once

#include <lab/kit/fail.hpp>
#include <lab/kit/histogram.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace lab {

/// A buffer's worth of the endless stream that `throughput` sends, and of which `echo` sends parts. It
/// repeats after a prime number of bytes, so that a lost, repeated or moved block shows up whatever the
/// buffer size is.
class stream_content {
public:
    static constexpr std::size_t period = 4'093;

    explicit stream_content(std::size_t buffer_bytes) : bytes_(period + buffer_bytes) {
        std::mt19937 random{2'011};
        for (std::size_t i = 0; i < bytes_.size(); ++i) {
            bytes_[i] = i < period ? static_cast<std::byte>(random() >> 24) : bytes_[i - period];
        }
    }

    /// At most `buffer_bytes` from `position` of the stream on.
    [[nodiscard]] std::span<const std::byte> at(std::uint64_t position,
                                                std::uint64_t size) const noexcept {
        const auto available = std::min<std::uint64_t>(size, bytes_.size() - period);
        return std::span{bytes_}.subspan(position % period, available);
    }

private:
    std::vector<std::byte> bytes_;
};

/// The writer's side of one direction of `throughput`.
class outgoing_stream {
public:
    explicit outgoing_stream(std::size_t buffer_bytes) : content_{buffer_bytes} {}

    /// Starts a phase of `size` bytes, continuing the stream where the last phase ended.
    void begin(std::uint64_t size) noexcept { left_ = size; }

    /// What to write next; empty when this phase is over.
    [[nodiscard]] std::span<const std::byte> next() const noexcept {
        return content_.at(position_, left_);
    }

    void sent(std::size_t size) noexcept {
        position_ += size;
        left_ -= size;
    }

private:
    stream_content content_;
    std::uint64_t position_ = 0;
    std::uint64_t left_ = 0;
};

enum class verification {
    every_byte,
    edges,  ///< First and last eight bytes of each read, for while the clock runs.
};

/// The reader's side of one direction of `throughput`.
class incoming_stream {
public:
    explicit incoming_stream(std::size_t buffer_bytes)
        : content_{buffer_bytes}, space_(buffer_bytes) {}

    void begin(std::uint64_t size, verification how) noexcept {
        wanted_ = size;
        left_ = size;
        how_ = how;
    }

    /// Where to read to next; empty when this phase is over.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return std::span{space_}.first(std::min<std::uint64_t>(space_.size(), left_));
    }

    /// Fails unless the `size` bytes at the beginning of `space()` are what was sent.
    void received(std::size_t size) {
        const std::size_t edge =
            how_ == verification::edges ? std::min<std::size_t>(size, 8) : size;
        check(0, edge);
        check(size - edge, edge);

        position_ += size;
        left_ -= size;
    }

    /// How much arrived since `begin`.
    [[nodiscard]] std::uint64_t amount() const noexcept { return wanted_ - left_; }

private:
    void check(std::size_t begin, std::size_t size) const {
        const auto expected = content_.at(position_ + begin, size);
        require(std::memcmp(space_.data() + begin, expected.data(), size) == 0,
                "throughput: the bytes received are not the bytes sent");
    }

    stream_content content_;
    std::vector<std::byte> space_;
    std::uint64_t position_ = 0;
    std::uint64_t wanted_ = 0;
    std::uint64_t left_ = 0;
    verification how_ = verification::every_byte;
};

/// One client's message in `latency`. Each round's differs from the one before, so that an answer
/// left over in a buffer cannot pass for a new one.
class ping {
public:
    explicit ping(std::size_t size) : message_(size, std::byte{0x5a}), reply_(size) {}

    /// The message of the next round, valid until the next call.
    [[nodiscard]] std::span<const std::byte> next() noexcept {
        ++round_;
        std::memcpy(message_.data(), &round_, std::min(sizeof(round_), message_.size()));
        return message_;
    }

    [[nodiscard]] std::span<std::byte> reply_space() noexcept { return reply_; }

    /// Fails unless the reply space holds the message of this round.
    void check_reply() const {
        require(message_ == reply_, "latency: the answer differs from the message");
    }

private:
    std::vector<std::byte> message_;
    std::vector<std::byte> reply_;
    std::uint64_t round_ = 0;
};

inline constexpr std::string_view http_request =
    "GET /greeting HTTP/1.1\r\n"
    "Host: localhost\r\n"
    "User-Agent: lab\r\n"
    "Accept: text/plain\r\n"
    "\r\n";

inline constexpr std::string_view http_response =
    "HTTP/1.1 200 OK\r\n"
    "Server: lab\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 13\r\n"
    "\r\n"
    "Hello, World!";

inline constexpr std::string_view http_1_0_request =
    "GET /greeting HTTP/1.0\r\n"
    "Host: localhost\r\n"
    "User-Agent: lab\r\n"
    "Accept: text/plain\r\n"
    "\r\n";

inline constexpr std::string_view http_1_0_response =
    "HTTP/1.0 200 OK\r\n"
    "Server: lab\r\n"
    "Connection: close\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 13\r\n"
    "\r\n"
    "Hello, World!";

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span{text});
}

/// Collects one HTTP message after another from a connection without pipelining.
class http_inbox {
public:
    /// @param expected  Borrowed; what every message must be, byte for byte.
    explicit http_inbox(std::string_view expected)
        : expected_{expected}, body_bytes_{expected.size() - expected.find(blank_line) - 4} {}

    /// Where to read to next. Never empty.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return std::as_writable_bytes(std::span{buffer_}).subspan(size_);
    }

    /// Takes note of `size` bytes at the beginning of `space()`.
    ///
    /// @return Whether they completed a message. It is then verified and removed.
    bool received(std::size_t size) {
        const std::string_view all{buffer_.data(), size_ + size};
        const std::size_t unsearched = size_ < 3 ? 0 : size_ - 3;  // It may straddle two reads.
        if (head_bytes_ == 0) {
            const std::size_t found = all.find(blank_line, unsearched);
            if (found != all.npos) head_bytes_ = found + blank_line.size();
        }

        size_ = all.size();
        if (head_bytes_ == 0 || size_ < head_bytes_ + body_bytes_) {
            require(size_ < buffer_.size(), "http: a message without an end");
            return false;
        }

        require(all == expected_, "http: the message received is not the message sent");
        size_ = 0;
        head_bytes_ = 0;
        return true;
    }

private:
    static constexpr std::string_view blank_line = "\r\n\r\n";

    std::string_view expected_;
    std::size_t body_bytes_;
    std::size_t size_ = 0;
    std::size_t head_bytes_ = 0;  // 0 while the blank line has not been seen.
    std::array<char, 1024> buffer_;
};

/// The single bytes that the clients of `churn` bring. Connections may overtake each other, so what is
/// compared is how many there were and what they sum up to.
class byte_tally {
public:
    /// What the next client sends.
    [[nodiscard]] std::array<std::byte, 1> next() noexcept {
        const auto value = static_cast<unsigned char>(++sent_ * 31);
        sum_sent_ += value;
        return {std::byte{value}};
    }

    void received(std::array<std::byte, 1> byte) noexcept {
        ++received_;
        sum_received_ += static_cast<unsigned char>(byte[0]);
    }

    /// Fails unless everything that was sent has arrived.
    void check() const {
        require(sent_ == received_ && sum_sent_ == sum_received_,
                "churn: the bytes received are not the bytes sent");
    }

private:
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t sum_sent_ = 0;
    std::uint64_t sum_received_ = 0;
};

/// The numbers that one receiver of `channels` gets: of each sender all, in order.
class number_tally {
public:
    explicit number_tally(std::size_t senders) : next_(senders) {}

    [[nodiscard]] static std::uint64_t number(std::size_t sender, std::uint64_t count) noexcept {
        return std::uint64_t{sender} << sender_shift | count;
    }

    /// Fails unless it is the next one of its sender.
    void received(std::uint64_t number) {
        const std::size_t sender = number >> sender_shift;
        require(sender < next_.size() && number == this->number(sender, next_[sender]),
                "channels: a number was lost, doubled or overtaken");
        ++next_[sender];
    }

    /// What sender `which` sends next, if all that it has sent was received.
    [[nodiscard]] std::uint64_t next_of(std::size_t which) const noexcept { return next_[which]; }

private:
    static constexpr unsigned sender_shift = 48;

    std::vector<std::uint64_t> next_;
};

/// Times a closed loop with one reading of the clock per turn: the end of a round trip is the
/// beginning of the next. Or a burst, all connections of which begin together.
class lap_timer {
public:
    /// @param laps  Borrowed.
    explicit lap_timer(histogram& laps) noexcept : laps_{&laps} {}

    void begin() noexcept { began_ = std::chrono::steady_clock::now(); }

    void lap() noexcept { began_ = record(); }

    /// One of those that have begun together is over.
    void over() noexcept { record(); }

private:
    std::chrono::steady_clock::time_point record() noexcept {
        const auto now = std::chrono::steady_clock::now();
        laps_->record(static_cast<std::uint64_t>(std::chrono::nanoseconds{now - began_}.count()));
        return now;
    }

    histogram* laps_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace lab
