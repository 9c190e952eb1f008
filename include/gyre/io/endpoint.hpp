// SPDX-License-Identifier: BSL-1.0
//
// Where a socket is, or is to be: an address and a port, or a path.
//
// A value of the size the kernel wants, so that it is handed over as it is. ip_address.hpp has the
// addresses alone.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/ip_address.hpp>
#include <gyre/runtime/operation.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gyre {

/// An address of any family that a socket can have. Value type; null by default.
class endpoint {
public:
    enum class family : std::uint8_t { none, v4, v6, local };

    endpoint() noexcept = default;
    endpoint(const ipv4& address, std::uint16_t port) noexcept;
    endpoint(const ipv6& address, std::uint16_t port) noexcept;
    endpoint(const ip_address& address, std::uint16_t port) noexcept;

    /// A Unix-domain socket at `path` in the file system; a leading NUL means the abstract name space. The
    /// path stays when the listener is closed; the next listener removes it (`listen_options`).
    /// Errors: `errc::name_too_long` past 108 bytes, `errc::invalid_argument` if empty or if there is a
    /// NUL in a path.
    [[nodiscard]] static io_result<endpoint> local(std::string_view path) noexcept;

    /// "192.0.2.1:80", "[2001:db8::1]:80", "unix:/run/it.sock", "unix:@abstract".
    /// Errors: `errc::malformed`, or those of `local`.
    [[nodiscard]] static io_result<endpoint> parse(std::string_view text) noexcept;

    /// The kernel's own form, as filled in by accept or getsockname.
    explicit endpoint(const socket_address& raw) noexcept;

    [[nodiscard]] family kind() const noexcept;
    [[nodiscard]] std::uint16_t port() const noexcept;  ///< 0 unless IPv4 or IPv6.
    [[nodiscard]] ipv4 v4() const noexcept;             ///< @pre  kind() == family::v4.
    [[nodiscard]] ipv6 v6() const noexcept;             ///< @pre  kind() == family::v6.
    [[nodiscard]] ip_address address() const noexcept;  ///< @pre  IPv4 or IPv6.
    [[nodiscard]] std::string path() const;             ///< Empty unless local and named.

    /// What `parse` reads back, unless it is null or an unnamed local one. Allocates.
    [[nodiscard]] std::string to_string() const;

    [[nodiscard]] const socket_address& raw() const noexcept { return raw_; }
    [[nodiscard]] int address_family() const noexcept;  ///< AF_*, for socket(2).

    [[nodiscard]] std::size_t hash() const noexcept;

    friend bool operator==(const endpoint& left, const endpoint& right) noexcept;

    /// By family, then by address, zone and port, or by path.
    friend std::strong_ordering operator<=>(const endpoint& left, const endpoint& right) noexcept;

private:
    socket_address raw_;  // Invariant: bytes from `size` on are zero.
};

}  // namespace gyre

template <>
struct std::hash<gyre::endpoint> {
    [[nodiscard]] std::size_t operator()(const gyre::endpoint& it) const noexcept {
        return it.hash();
    }
};
