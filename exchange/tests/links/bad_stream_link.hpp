// SPDX-License-Identifier: BSL-1.0
//
// A relay of TCP connections that does to them whatever a network may do.
//
// Bytes that it lets through are never changed, lost in the middle or out of order, since TCP promises that
// much; all else is fair: pieces of a byte, silence, resets in the midst of a packet. bad_datagram_link.hpp
// does the same to UDP.
#pragma once

#include <exchange/tests/codec/dice.hpp>
#include <exchange/tests/links/link_faults.hpp>

#include <gyre/coro/task.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>

#include <array>
#include <list>

namespace exchange::testing {

/// Threads:  That of its loop, once that runs.
class bad_stream_link {
public:
    static constexpr std::size_t connections_max = 256;
    static constexpr std::uint64_t first_within = 200;  ///< Portions, for each fault.

    bad_stream_link(gyre::io_context& on, std::uint64_t seed, const stream_faults& faults)
        : on_{on}, dice_{seed}, faults_{faults} {}
    bad_stream_link(const bad_stream_link&) = delete;
    bad_stream_link& operator=(const bad_stream_link&) = delete;

    /// Where clients will find it; `begin` follows.
    [[nodiscard]] gyre::io_result<gyre::endpoint> listen(const gyre::endpoint& at);

    /// Carries each connection to `server`.
    void begin(const gyre::endpoint& server);

    /// No faults from here on: what is stalled goes on, what is frozen is reset.
    void calm() noexcept { calm_ = true; }

    /// Ends everything. The loop runs out of work, and then this may be destroyed.
    void stop() noexcept;

    [[nodiscard]] const stream_fault_counts& counts() const noexcept { return counts_; }

private:
    enum class fault : std::uint8_t { none, slice, stall, freeze, reset, close, orphan };
    enum class ending : std::uint8_t { orderly, reset };

    /// Both halves of a connection: from the client to us, and from us to the server.
    struct crossing {
        explicit crossing(gyre::stream_socket from) : client{std::move(from)} {}

        gyre::stream_socket client;
        gyre::stream_socket server;
        std::array<std::array<std::byte, 4096>, 2> portions;
        int carriers = 0;
        bool over = false;
        bool frozen = false;
        bool orphaned = false;  // The client's half is gone already.
    };
    using place = std::list<crossing>::iterator;

    gyre::task<> accept_clients();
    gyre::task<> cross(place it);
    gyre::task<> carry(place it, gyre::stream_socket& from, gyre::stream_socket& to,
                       std::span<std::byte> portion);
    gyre::task<> pass_on(place it, gyre::stream_socket& to, std::span<const std::byte> bytes);
    gyre::task<> orphan(place it, std::span<const std::byte> bytes);
    gyre::task<> write_in_pieces(place it, gyre::stream_socket& to,
                                 std::span<const std::byte> bytes, std::size_t piece_bytes);
    gyre::task<> rest(place it, gyre::duration at_most);
    gyre::task<> strike_at_random();
    [[nodiscard]] fault draw();
    [[nodiscard]] bool strikes(std::size_t one_in, std::uint64_t so_far);
    void end(crossing& it, ending how) noexcept;
    void leave(place it) noexcept;

    gyre::io_context& on_;
    dice dice_;
    stream_faults faults_;
    gyre::endpoint server_;
    gyre::stream_acceptor acceptor_;
    std::list<crossing> crossings_;
    stream_fault_counts counts_;
    bool calm_ = false;
    bool stopped_ = false;
};

}  // namespace exchange::testing
