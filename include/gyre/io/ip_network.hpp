// SPDX-License-Identifier: BSL-1.0
//
// Ranges of addresses, as access lists and routes name them: 10.0.0.0/8, 2001:db8::/32.
#pragma once

#include <gyre/io/ip_address.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre {

/// All addresses whose first bits are the same (RFC 4632 3.1, RFC 4291 2.3). Value type; 0.0.0.0/0, which is
/// all of IPv4, by default.
class ip_network {
public:
    constexpr ip_network() noexcept = default;

    /// The network that `inside` is in; the rest of its bits and its zone are dropped.
    ///
    /// @param  length  How many of the first bits count: at most 32, of IPv6 128, else
    ///                 `errc::invalid_argument`.
    [[nodiscard]] static constexpr io_result<ip_network> around(const ip_address& inside,
                                                                unsigned length) noexcept;

    /// "192.0.2.0/24", "2001:db8::/32"; bits behind the length are dropped. A single address is a network
    /// of itself. Errors: `errc::malformed`.
    [[nodiscard]] static constexpr io_result<ip_network> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr address_text to_text() const noexcept;

    [[nodiscard]] constexpr const ip_address& first() const noexcept { return first_; }
    [[nodiscard]] constexpr unsigned length() const noexcept { return length_; }

    /// Whether `it` is in it. A mapped IPv4 address is in the IPv4 networks that the address in it is in,
    /// since that is who the peer is, and in those of IPv6 around it. Zones do not count.
    [[nodiscard]] constexpr bool contains(const ip_address& it) const noexcept;

    /// Whether all of `other` is in it.
    [[nodiscard]] constexpr bool contains(const ip_network& other) const noexcept {
        return other.first_.is_v6() == first_.is_v6() && other.length_ >= length_ &&
               contains(other.first_);
    }

    [[nodiscard]] constexpr bool overlaps(const ip_network& other) const noexcept {
        return contains(other) || other.contains(*this);
    }

    [[nodiscard]] constexpr std::size_t hash() const noexcept {
        address_hash mixed;
        mixed.add(first_.hash());
        mixed.add(length_);
        return mixed.value();
    }

    friend bool operator==(const ip_network&, const ip_network&) = default;
    friend auto operator<=>(const ip_network&, const ip_network&) = default;

private:
    constexpr ip_network(const ip_address& first, unsigned length) noexcept
        : first_{first}, length_{static_cast<std::uint8_t>(length)} {}

    [[nodiscard]] static constexpr unsigned length_max(const ip_address& of) noexcept {
        return of.is_v6() ? 128 : 32;
    }

    ip_address first_;  // Invariant: bits from `length_` on are zero, and so is the zone.
    std::uint8_t length_ = 0;
};

// Implementation

/// `bytes` with nothing but their first `length` bits.
template <std::size_t Size>
[[nodiscard]] constexpr std::array<std::uint8_t, Size> first_bits(
    std::array<std::uint8_t, Size> bytes, unsigned length) noexcept {
    for (unsigned each = 0; each < Size; ++each) {
        const unsigned kept = length > each * 8 ? length - each * 8 : 0;
        if (kept < 8) bytes[each] &= static_cast<std::uint8_t>(0xff00U >> kept);
    }
    return bytes;
}

constexpr io_result<ip_network> ip_network::around(const ip_address& inside,
                                                   unsigned length) noexcept {
    if (length > length_max(inside)) return error{errc::invalid_argument, activity::endpoint};
    if (inside.is_v4()) return ip_network{ipv4{first_bits(inside.v4().bytes, length)}, length};
    return ip_network{ipv6{first_bits(inside.v6().bytes, length), 0}, length};
}

constexpr io_result<ip_network> ip_network::parse(std::string_view text) noexcept {
    constexpr error malformed{errc::malformed, activity::endpoint};
    const std::size_t slash = text.find('/');
    const io_result<ip_address> address = ip_address::parse(text.substr(0, slash));
    if (!address.ok()) return malformed;
    const ip_address& inside = address.value();
    if (inside.is_v6() && inside.v6().zone != 0) return malformed;
    std::uint32_t length = length_max(inside);
    if (slash != std::string_view::npos) {
        address_reader behind{text.substr(slash + 1)};
        if (!behind.number(10, 3, length, length) || !behind.at_end()) return malformed;
    }
    return around(inside, length);
}

constexpr address_text ip_network::to_text() const noexcept {
    address_text made = first_.to_text();
    made.add('/');
    made.add_number(length_, 10);
    return made;
}

constexpr bool ip_network::contains(const ip_address& it) const noexcept {
    const ip_address compared = first_.is_v4() ? it.unmapped() : it;
    return compared.is_v6() == first_.is_v6() && around(compared, length_).value().first_ == first_;
}

}  // namespace gyre

template <>
struct std::hash<gyre::ip_network> {
    [[nodiscard]] std::size_t operator()(const gyre::ip_network& it) const noexcept {
        return it.hash();
    }
};
