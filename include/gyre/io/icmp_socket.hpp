// SPDX-License-Identifier: BSL-1.0
//
// Whether a host answers, and how fast: echo requests (ping) of ICMP and ICMPv6 (RFC 792, RFC 4443).
//
// Linux lets programs whose group is in net.ipv4.ping_group_range have a socket of datagrams for them, which
// hears the answers to its own requests only; others need CAP_NET_RAW. No further message of ICMP is offered.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/basic_datagram_socket.hpp>
#include <gyre/io/ip_address.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace gyre {

/// An answer.
struct echo_reply {
    duration round_trip{};    ///< Between the calls, the loop's own turn included.
    ip_address from;          ///< Not who was asked, if that was a group or a broadcast address.
    std::optional<int> hops;  ///< What is left of its hop limit.
    bool intact = false;      ///< It brought back the bytes that were sent.
};

/// A socket for echo requests, or none. Moves; closes at the latest when destroyed. One `ping` at a time,
/// during which it may be moved, closed or destroyed.
class icmp_socket : private basic_datagram_socket {
public:
    using basic_datagram_socket::bind_to_device;
    using basic_datagram_socket::close;
    using basic_datagram_socket::get_option;
    using basic_datagram_socket::is_open;
    using basic_datagram_socket::set_hops;
    using basic_datagram_socket::set_option;

    /// Bytes of a request's payload.
    static constexpr std::size_t payload_size = 56;

    icmp_socket() noexcept = default;

    /// Opens one for `family`: of datagrams if that is permitted, else a raw one.
    ///
    /// @param  on  The loop whose host it is opened on. Inside a coroutine leave it out and await.
    /// Errors:     `errc::operation_not_permitted` if neither is permitted,
    ///             `errc::address_family_not_supported` for others than v4 and v6.
    [[nodiscard]] static io_result<icmp_socket> open(io_context& on,
                                                     endpoint::family family) noexcept;

    /// The same, awaited: the environment provides the loop.
    ///
    /// Errors:        as above.
    /// Cancellation:  none; it completes at once.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          a few system calls, no allocation.
    [[nodiscard]] static auto open(endpoint::family family) noexcept {
        return immediate{[family](io_context& on) noexcept { return open(on, family); }};
    }

    /// Sends an echo request and waits for its answer. What else arrives is dropped.
    ///
    /// @param  to     Of the socket's family, else `errc::address_family_not_supported`.
    /// @param  limit  How long to wait.
    ///
    /// Errors:        `errc::timed_out`; `errc::network_unreachable`, ... where the request cannot leave;
    ///                `errc::permission_denied` for a broadcast address without `broadcast_allowed`;
    ///                `errc::busy` while another ping is under way; `errc::closed`; `errc::canceled` if it
    ///                is closed while it waits.
    /// Cancellation:  `errc::canceled`; an answer that comes later is not mistaken for one to a later
    /// request.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          two frames; a system call for the request and for each message that arrives.
    [[nodiscard]] task<io_result<echo_reply>> ping(ip_address to, duration limit) {
        return ping({opened(), family(), raw_, identifier_, ++sequence_}, to, limit);
    }

    /// Whether it is a raw one.
    [[nodiscard]] bool is_raw() const noexcept { return raw_; }

private:
    static constexpr std::size_t header_size = 8;

    using request = std::array<std::byte, header_size + payload_size>;

    /// What a ping has of its socket, which it may outlive.
    struct question {
        opening of;
        endpoint::family family;
        bool raw;
        std::uint16_t identifier;
        std::uint16_t sequence;
    };

    icmp_socket(handle open, endpoint::family family, bool raw) noexcept;

    [[nodiscard]] static task<io_result<echo_reply>> ping(question it, ip_address to,
                                                          duration limit);
    [[nodiscard]] static task<io_result<echo_reply>> ask(question it, endpoint to);
    [[nodiscard]] static request request_of(const question& it, host& on) noexcept;
    [[nodiscard]] static bool is_answer(const_buffer message, const question& to) noexcept;

    bool raw_ = false;
    std::uint16_t identifier_ = 0;
    std::uint16_t sequence_ = 0;
};

}  // namespace gyre
