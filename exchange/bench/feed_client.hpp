// SPDX-License-Identifier: BSL-1.0
//
// The load's listener on the feed: MoldUDP64 datagrams, and requests for those that were lost.
#pragma once

#include <exchange/bench/loopback.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/mold_receiver.hpp>

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace exchange::bench {

enum class feed_transport { multicast, unicast };

/// Threads:  One at a time.
/// Cost:     No allocation after `follow`, unless something is wrong.
class feed_client {
public:
    explicit feed_client(feed_transport by);

    /// Where the facility must send to.
    [[nodiscard]] const sockaddr_in& address() const noexcept { return address_; }

    /// @param  first_sequence  Of the first message of interest.
    /// @param  requests        Where lost messages are asked for.
    void follow(std::uint64_t first_sequence, const sockaddr_in& requests, gyre::time_point now);

    /// Reads what is there, some datagrams at most, and gives each message in its turn to
    /// `visitor(stamp, event, now)`, where `now` is when the reading was over.
    ///
    /// @return Whether there was anything.
    template <class Visitor>
    bool receive(Visitor&& visitor) {
        return receive_from(group_, visitor);
    }

    /// Asks for what is missing, if it is time, and takes the answers.
    template <class Visitor>
    void on_timer(gyre::time_point now, Visitor&& visitor) {
        ask_for_missing(now);
        receive_from(answers_, visitor);
    }

    /// What is wrong, as a sentence; empty as long as nothing is.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    [[nodiscard]] std::uint64_t datagrams() const noexcept { return datagrams_; }

    /// How often messages were asked for again.
    [[nodiscard]] std::uint64_t requests() const noexcept { return receiver_->counts().requests; }

private:
    static constexpr std::size_t batch_max = 32;
    static constexpr std::size_t datagram_bytes_max = 1500;

    template <class Visitor>
    bool receive_from(const descriptor& socket, Visitor& visitor) {
        const std::size_t count = read_batch(socket);
        if (count == 0) return false;
        const gyre::time_point now = std::chrono::steady_clock::now();
        for (std::size_t at = 0; at < count; ++at) {
            take_datagram(at, now);
            while (const auto message = receiver_->next()) take(message->payload, now, visitor);
        }
        return true;
    }

    template <class Visitor>
    void take(std::span<const std::byte> payload, gyre::time_point now, Visitor& visitor) {
        const decode_fault fault = decode_public_event(
            payload, [&](const event_stamp& stamp, const auto& it) { visitor(stamp, it, now); });
        if (fault.error != decode_error::none) [[unlikely]]
            complain("the feed carries what is no public message");
    }

    [[nodiscard]] std::size_t read_batch(const descriptor& socket);
    void take_datagram(std::size_t at, gyre::time_point now);
    void ask_for_missing(gyre::time_point now);
    void complain(std::string what);

    descriptor group_;
    descriptor answers_;
    sockaddr_in address_;
    sockaddr_in requests_{};
    std::optional<mold_receiver> receiver_;  // Set by `follow`.
    std::vector<std::array<std::byte, datagram_bytes_max>> space_;
    std::array<iovec, batch_max> pieces_{};
    std::array<mmsghdr, batch_max> batch_{};
    std::uint64_t datagrams_ = 0;
    std::string fault_;
};

}  // namespace exchange::bench
