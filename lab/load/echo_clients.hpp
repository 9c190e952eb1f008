// SPDX-License-Identifier: BSL-1.0
//
// The clients of the suite in which a server is measured alone.
//
// They come in two kinds. In a closed loop every connection sends its next message when all of the last
// one has come back: the latency is that of an unhurried client, and a server that stalls is asked less. In
// an open loop messages are due at moments that do not depend on the server, and latencies count from
// these, so that a stall shows up once for every message that it kept waiting.
#pragma once

#include <lab/kit/histogram.hpp>
#include <lab/kit/payloads.hpp>
#include <lab/kit/sockets.hpp>

#include <netinet/in.h>
#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lab {

struct echo_case {
    std::size_t message_bytes = 0;
    std::size_t connections = 1;
    std::size_t threads = 1;                ///< Of the server.
    std::size_t buffer_bytes = 0;           ///< What the server reads at most at once.
    std::uint64_t messages_per_second = 0;  ///< Over all connections, in turns; 0: a closed loop.
    std::chrono::milliseconds warm_up{};
    std::chrono::milliseconds measured{};
};

/// Where in the stream of payloads.hpp a message begins: elsewhere for every connection, and for as many of
/// its messages as the stream has bytes.
///
/// A thousand connections that are no more than three messages apart send nothing twice: so neither an old
/// answer nor one that belongs to another connection can pass for the right one.
[[nodiscard]] constexpr std::uint64_t message_position(std::size_t connection,
                                                       std::uint64_t round) noexcept {
    constexpr std::uint64_t stride = 1'009;  // Prime, and more than there are connections.
    return (connection + round * stride) % stream_content::period;
}

/// One connection: a message that is under way, and how far it has got in both directions. Every byte that
/// returns is compared.
class echo_client {
public:
    using clock = std::chrono::steady_clock;

    /// @param index  Of the connection, among all of its load.
    echo_client(descriptor socket, std::size_t index, std::size_t message_bytes)
        : socket_{std::move(socket)}, index_{index}, size_{message_bytes} {}

    [[nodiscard]] int number() const noexcept { return socket_.get(); }
    [[nodiscard]] bool waiting_to_send() const noexcept { return sent_ < size_ && round_ > 0; }
    [[nodiscard]] bool idle() const noexcept { return idle_; }
    [[nodiscard]] clock::time_point began() const noexcept { return began_; }

    /// Sends as much of the next message as the socket takes. Its latency counts from `began`.
    void begin_round(const stream_content& from, clock::time_point began);

    /// Goes on with that.
    void send(const stream_content& from);

    /// Whether all of the message has come back. Fails if something else has.
    [[nodiscard]] bool receive(const stream_content& from, std::span<std::byte> space);

private:
    [[nodiscard]] std::span<const std::byte> message(const stream_content& from) const noexcept;

    descriptor socket_;
    std::size_t index_;
    std::size_t size_;
    std::size_t sent_ = 0;
    std::size_t received_ = 0;
    std::uint64_t round_ = 0;
    bool idle_ = true;
    clock::time_point began_{};
};

/// All connections of a case, driven by level-triggered epoll on the calling thread, which is simple and
/// the same for every contender. Fails if the server hangs up, is silent for ten seconds or answers
/// with other bytes than it was sent.
class echo_clients {
public:
    using clock = echo_client::clock;

    /// Connects `work.connections` times to `server`, with TCP_NODELAY.
    echo_clients(const echo_case& work, const sockaddr_in& server);

    /// Plays for `length`, and then until nothing is under way. What was due by then is sent, however
    /// late; so this may take longer, but leaves nothing out.
    ///
    /// @param latency  Gets a value in nanoseconds for each message that has come back.
    void play(clock::duration length, histogram& latency);

    /// The local port of each connection, by which a server's ends can be recognised.
    [[nodiscard]] std::vector<std::uint16_t> ports() const;

private:
    void connect(const sockaddr_in& server);
    void watch(std::size_t index, int how, std::uint32_t events);
    void begin_round(std::size_t index, clock::time_point began);
    void begin_what_is_due();
    void step();
    void finish_round(std::size_t index);
    [[nodiscard]] bool open() const noexcept { return interval_.count() > 0; }
    [[nodiscard]] clock::time_point due(std::uint64_t message) const noexcept;
    [[nodiscard]] clock::duration patience() const;

    std::size_t message_bytes_;
    stream_content content_;
    std::vector<std::byte> space_;
    descriptor poller_;
    std::vector<echo_client> clients_;
    std::array<epoll_event, 256> events_{};
    std::size_t under_way_ = 0;

    clock::time_point began_{};
    clock::time_point end_{};
    histogram* latency_ = nullptr;  // Borrowed by `play`.

    // Of an open loop. Message number n is due n intervals after the beginning, on connection n modulo
    // their number: each connection knows by itself which of its messages is next.
    std::chrono::nanoseconds interval_;
    std::uint64_t next_ = 0;              // The first message that has not been looked at.
    std::vector<std::uint64_t> next_of_;  // The first message of each connection that was not sent.
};

}  // namespace lab
