// SPDX-License-Identifier: BSL-1.0
//
// What may stand between a transport's bytes and its socket's: encryption, as a function of bytes.
//
// A transport (frame_transport.hpp) that was given some reads the peer's bytes into a `secure_channel` and
// takes its own out of it, and writes what the channel makes of what it has to say. It is no transport and no
// template, so a door is one type, secured or not. tls_security.hpp has the one implementation, apart from
// here, so that a program without TLS does not link it.
#pragma once

#include <exchange/codec/soup_connection.hpp>

#include <gyre/io/endpoint.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace exchange {

/// Which end of a connection.
struct secure_channel_end {
    bool client = false;
    gyre::endpoint peer;
};

/// Protects one connection.
///
/// Threads:  One at a time, its transport's.
/// Cost:     Memory when the first bytes come, and while something is to be written.
class secure_channel {
public:
    secure_channel() noexcept = default;
    secure_channel(const secure_channel&) = delete;
    secure_channel& operator=(const secure_channel&) = delete;
    virtual ~secure_channel() = default;

    // Bytes in.

    /// Where the next bytes of the peer belong. Never empty once `read` has nothing more to give.
    [[nodiscard]] virtual std::span<std::byte> space() noexcept = 0;
    /// So many of them have come. Goes on with the handshake.
    virtual void received(std::size_t size) noexcept = 0;
    /// Moves what the peer has said into `into`.
    ///
    /// @return  How much; 0: nothing more for now, or for good.
    [[nodiscard]] virtual std::size_t read(std::span<std::byte> into) noexcept = 0;

    /// Is the handshake over, with an agreement, and nothing has failed since?
    [[nodiscard]] virtual bool open() const noexcept = 0;
    /// Has the peer broken the rules, or did both not agree? What is in `output` is still worth writing.
    [[nodiscard]] virtual bool failed() const noexcept = 0;
    /// Did both not agree, so that trying again is of no use? (A certificate that is not trusted, no common
    /// version.)
    [[nodiscard]] virtual bool refused() const noexcept = 0;
    /// Has the peer said that nothing follows?
    [[nodiscard]] virtual bool ended() const noexcept = 0;

    // Bytes out.

    /// Takes some of `parts`: none while there is output, before it is `open`, or behind `finish`.
    ///
    /// @return  How many bytes; they need not be kept.
    [[nodiscard]] virtual std::size_t write(
        std::span<const std::span<const std::byte>> parts) noexcept = 0;
    /// What is to be written to the socket. Stays where it is until `sent`.
    [[nodiscard]] virtual std::span<const std::byte> output() const noexcept = 0;
    virtual void sent(std::size_t size) noexcept = 0;
    /// Nothing follows, and the peer is told so.
    ///
    /// @param  why  For the log, if there was no agreement yet.
    virtual void finish(soup_ending why) noexcept = 0;
};

/// Protects all connections of a door or a client.
///
/// Threads:  One at a time.
class channel_security {
public:
    /// @param  peer    Of the connection that failed.
    /// @param  reason  For people. Borrowed during the call.
    using failure_report = std::function<void(const gyre::endpoint& peer, std::string_view reason)>;

    channel_security() noexcept = default;
    channel_security(const channel_security&) = delete;
    channel_security& operator=(const channel_security&) = delete;
    virtual ~channel_security() = default;

    [[nodiscard]] virtual std::unique_ptr<secure_channel> open(const secure_channel_end& end) = 0;

    /// Who is told of connections that could not be secured, or not any longer. Must not throw.
    virtual void report_failures(failure_report to) = 0;
};

}  // namespace exchange
