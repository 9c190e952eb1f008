// SPDX-License-Identifier: BSL-1.0
//
// Listeners, and proof that what each short connection of `churn` brought has arrived.
//
// Who closes first is in TIME-WAIT for a minute (RFC 9293 3.6): tens of thousands of them would run
// out of ports, and burden whoever is measured next. Everywhere here the server closes first, and the
// client, who has read everything by then, with a reset (SO_LINGER of no time): that ends the server's
// TIME-WAIT before it begins, and nothing remains of a connection. It costs everybody one call.
#pragma once

#include <lab/fail.hpp>
#include <lab/histogram.hpp>
#include <lab/load.hpp>
#include <lab/scenario.hpp>

#include <netinet/in.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lab {

/// Where a server waits for connections.
struct listener {
    descriptor socket;
    sockaddr_in address;

    [[nodiscard]] std::uint16_t port() const noexcept { return ntohs(address.sin_port); }
};

/// A TCP listener on the loopback interface with a long queue. What it accepts has TCP_NODELAY set,
/// which sockets inherit from their listener on Linux.
[[nodiscard]] listener listen_on_loopback();
[[nodiscard]] std::vector<listener> listen_on_loopback(std::size_t count);

/// Makes the client's close leave nothing behind; see above.
void set_reset_on_close(int socket);

/// The single bytes that clients bring. Connections may overtake each other, so what is compared is
/// how many there were and what they sum up to.
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

/// The clock of a burst: all of its connections begin when it begins.
class burst_timer {
public:
    /// @param latency  Borrowed.
    explicit burst_timer(histogram& latency) noexcept : latency_{&latency} {}

    void begin() noexcept { began_ = std::chrono::steady_clock::now(); }

    /// A connection of this burst is over.
    void over() noexcept {
        const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - began_;
        latency_->record(static_cast<std::uint64_t>(taken.count()));
    }

private:
    histogram* latency_;
    std::chrono::steady_clock::time_point began_{};
};

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

}  // namespace lab
