// SPDX-License-Identifier: BSL-1.0
//
// Socket options as types, so that none is set with the wrong size or on the wrong level.
//
// Each is a value with the kernel's level and name; `stream_socket::set_option(no_delay{true})` and
// `get_option<no_delay>()` do the rest.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/runtime/submit.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>

namespace gyre {

/// A type with the kernel's numbers and a conversion to and from the bytes it wants.
template <class Option>
concept socket_option = requires(Option option, typename Option::representation raw) {
    { Option::level() } -> std::same_as<int>;
    { Option::name() } -> std::same_as<int>;
    { option.to_raw() } -> std::same_as<typename Option::representation>;
    { Option::from_raw(raw) } -> std::same_as<Option>;
};

/// An option that is on or off.
template <class Self>
struct switch_option {
    using representation = int;

    bool on = true;

    [[nodiscard]] int to_raw() const noexcept { return on ? 1 : 0; }
    [[nodiscard]] static Self from_raw(int raw) noexcept { return Self{{raw != 0}}; }
};

/// An option that counts bytes.
template <class Self>
struct bytes_option {
    using representation = int;

    int bytes = 0;

    [[nodiscard]] int to_raw() const noexcept { return bytes; }
    [[nodiscard]] static Self from_raw(int raw) noexcept { return Self{{raw}}; }
};

/// Send small segments at once (RFC 9293 3.7.4, tcp(7)). On by default for every TCP socket.
struct no_delay : switch_option<no_delay> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// Probe an idle peer (RFC 9293 3.8.4).
struct keep_alive : switch_option<keep_alive> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// Bind while old connections linger in TIME-WAIT (socket(7)). On by default for acceptors.
struct reuse_address : switch_option<reuse_address> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// Several listeners on one port, connections shared out by the kernel (socket(7)).
struct reuse_port : switch_option<reuse_port> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// Keep IPv4 off an IPv6 listener (ipv6(7)).
struct v6_only : switch_option<v6_only> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// The kernel's buffer for what has arrived; it doubles what is asked for (socket(7)).
struct receive_buffer : bytes_option<receive_buffer> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// The kernel's buffer for what has not left; it doubles what is asked for (socket(7)).
struct send_buffer : bytes_option<send_buffer> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// What `close` does with what was not sent yet (socket(7)): goes on in the background, as by default, or
/// drops it and resets the connection. The third way of SO_LINGER, to block in close, would hold up the
/// loop, and does not exist here.
struct reset_on_close : switch_option<reset_on_close> {
    struct representation {
        int on;
        int seconds;
    };

    [[nodiscard]] representation to_raw() const noexcept { return {on ? 1 : 0, 0}; }
    [[nodiscard]] static reset_on_close from_raw(representation raw) noexcept {
        return {{raw.on != 0 && raw.seconds == 0}};
    }
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// How long sent data may stay unacknowledged before the connection is given up (RFC 5482).
struct user_timeout {
    using representation = unsigned;

    std::chrono::milliseconds after{0};  // 0: the system's default.

    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
    [[nodiscard]] unsigned to_raw() const noexcept { return static_cast<unsigned>(after.count()); }
    [[nodiscard]] static user_timeout from_raw(unsigned raw) noexcept {
        return {std::chrono::milliseconds{raw}};
    }
};

/// Let the kernel choose the port of a bound source address only when it connects, so that one port may serve
/// connections to several peers (ip(7), IP_BIND_ADDRESS_NO_PORT).
struct late_port : switch_option<late_port> {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

/// Where the name of the one network interface to use is set (socket(7), SO_BINDTODEVICE). It is text, and
/// so no option of the kind above: see connect_options and listen_options.
struct bind_to_device {
    [[nodiscard]] static int level() noexcept;
    [[nodiscard]] static int name() noexcept;
};

static_assert(socket_option<no_delay> && socket_option<receive_buffer> &&
              socket_option<reset_on_close> && socket_option<user_timeout>);

}  // namespace gyre
