// SPDX-License-Identifier: BSL-1.0
//
// Internet addresses as values: IPv4, IPv6, or either.
//
// Text goes in and out without an allocation, at compile time too, and the questions that access
// lists ask (is it loopback, private, a group?) see through IPv4-mapped addresses, so that none is
// passed by in disguise. endpoint.hpp adds a port, ip_network.hpp ranges.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/result.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace gyre {

/// The text of an address or of a network, in place.
class address_text {
public:
    static constexpr std::size_t size_max = 60;  // 39 of IPv6, '%' and a zone, '/' and a length.

    [[nodiscard]] constexpr std::string_view view() const noexcept { return {data_.data(), size_}; }
    constexpr operator std::string_view() const noexcept { return view(); }

    // For those who write one. @pre  there is room.

    constexpr void add(char one) noexcept { data_[size_++] = one; }
    constexpr void add(std::string_view more) noexcept {
        for (const char each : more) add(each);
    }
    constexpr void add_number(std::uint32_t number, std::uint32_t base) noexcept;

private:
    std::array<char, size_max> data_{};
    std::size_t size_ = 0;
};

/// An IPv4 address; bytes in network order.
struct ipv4 {
    std::array<std::uint8_t, 4> bytes{};

    [[nodiscard]] static constexpr ipv4 any() noexcept { return {}; }
    [[nodiscard]] static constexpr ipv4 loopback() noexcept { return {{127, 0, 0, 1}}; }
    [[nodiscard]] static constexpr ipv4 broadcast() noexcept { return {{255, 255, 255, 255}}; }

    /// Dotted decimal, "192.0.2.1"; four numbers without leading zeros. Errors: `errc::malformed`.
    [[nodiscard]] static constexpr io_result<ipv4> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr address_text to_text() const noexcept;

    [[nodiscard]] constexpr bool is_unspecified() const noexcept { return *this == any(); }
    [[nodiscard]] constexpr bool is_loopback() const noexcept { return bytes[0] == 127; }
    /// RFC 1918: 10/8, 172.16/12, 192.168/16.
    [[nodiscard]] constexpr bool is_private() const noexcept {
        return bytes[0] == 10 || (bytes[0] == 172 && (bytes[1] & 0xf0) == 16) ||
               (bytes[0] == 192 && bytes[1] == 168);
    }
    /// RFC 3927: 169.254/16.
    [[nodiscard]] constexpr bool is_link_local() const noexcept {
        return bytes[0] == 169 && bytes[1] == 254;
    }
    /// RFC 5771: 224/4.
    [[nodiscard]] constexpr bool is_multicast() const noexcept { return bytes[0] >> 4 == 14; }

    friend bool operator==(const ipv4&, const ipv4&) = default;
    friend auto operator<=>(const ipv4&, const ipv4&) = default;
};

/// An IPv6 address; bytes in network order, and the zone of a link-local one (0: none).
struct ipv6 {
    std::array<std::uint8_t, 16> bytes{};
    std::uint32_t zone = 0;

    [[nodiscard]] static constexpr ipv6 any() noexcept { return {}; }
    [[nodiscard]] static constexpr ipv6 loopback() noexcept {
        return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 0};
    }
    /// ::ffff:a.b.c.d, the form in which IPv4 peers appear on an IPv6 socket (RFC 4291 2.5.5.2).
    [[nodiscard]] static constexpr ipv6 mapped(ipv4 it) noexcept {
        return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, it.bytes[0], it.bytes[1], it.bytes[2],
                 it.bytes[3]},
                0};
    }

    /// RFC 4291 text, optionally with a numeric zone: "fe80::1%2". Errors: `errc::malformed`.
    [[nodiscard]] static constexpr io_result<ipv6> parse(std::string_view text) noexcept;

    /// As RFC 5952 recommends: lower case, the first of the longest runs of zeros shortened, an
    /// IPv4-mapped address with dots.
    [[nodiscard]] constexpr address_text to_text() const noexcept;

    /// Whether it is an IPv4 address in the form of `mapped`.
    [[nodiscard]] constexpr bool is_v4_mapped() const noexcept {
        for (std::size_t each = 0; each < 10; ++each) {
            if (bytes[each] != 0) return false;
        }
        return bytes[10] == 0xff && bytes[11] == 0xff;
    }
    /// The IPv4 address in the last four bytes. @pre  is_v4_mapped().
    [[nodiscard]] constexpr ipv4 unmapped() const noexcept {
        expects(is_v4_mapped(), "an IPv4-mapped address");
        return {{bytes[12], bytes[13], bytes[14], bytes[15]}};
    }

    // Of a mapped address, what holds for the IPv4 address in it.

    [[nodiscard]] constexpr bool is_unspecified() const noexcept {
        return is_v4_mapped() ? unmapped().is_unspecified() : bytes == any().bytes;
    }
    [[nodiscard]] constexpr bool is_loopback() const noexcept {
        return is_v4_mapped() ? unmapped().is_loopback() : bytes == loopback().bytes;
    }
    /// Unique local, RFC 4193: fc00::/7.
    [[nodiscard]] constexpr bool is_private() const noexcept {
        return is_v4_mapped() ? unmapped().is_private() : (bytes[0] & 0xfe) == 0xfc;
    }
    /// RFC 4291 2.5.6: fe80::/10.
    [[nodiscard]] constexpr bool is_link_local() const noexcept {
        return is_v4_mapped() ? unmapped().is_link_local()
                              : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
    }
    /// RFC 4291 2.7: ff00::/8.
    [[nodiscard]] constexpr bool is_multicast() const noexcept {
        return is_v4_mapped() ? unmapped().is_multicast() : bytes[0] == 0xff;
    }

    friend bool operator==(const ipv6&, const ipv6&) = default;
    friend auto operator<=>(const ipv6&, const ipv6&) = default;  // The zone counts last.
};

/// An address of either kind. Value type; 0.0.0.0 by default. IPv4 addresses come before all of IPv6.
class ip_address {
public:
    constexpr ip_address() noexcept = default;
    constexpr ip_address(ipv4 it) noexcept {
        for (std::size_t each = 0; each < it.bytes.size(); ++each) it_.bytes[each] = it.bytes[each];
    }
    constexpr ip_address(const ipv6& it) noexcept : v6_{true}, it_{it} {}

    /// What `ipv4::parse` or `ipv6::parse` reads. Errors: `errc::malformed`.
    [[nodiscard]] static constexpr io_result<ip_address> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr address_text to_text() const noexcept {
        return v6_ ? v6().to_text() : v4().to_text();
    }

    [[nodiscard]] constexpr bool is_v4() const noexcept { return !v6_; }
    [[nodiscard]] constexpr bool is_v6() const noexcept { return v6_; }

    /// @pre  is_v4().
    [[nodiscard]] constexpr ipv4 v4() const noexcept {
        expects(is_v4(), "an IPv4 address");
        return {{it_.bytes[0], it_.bytes[1], it_.bytes[2], it_.bytes[3]}};
    }
    /// @pre  is_v6().
    [[nodiscard]] constexpr const ipv6& v6() const noexcept {
        expects(is_v6(), "an IPv6 address");
        return it_;
    }

    [[nodiscard]] constexpr bool is_v4_mapped() const noexcept { return v6_ && it_.is_v4_mapped(); }

    /// The IPv4 address of a mapped one, everything else as it is: for comparing peers of an IPv6
    /// socket with IPv4 addresses.
    [[nodiscard]] constexpr ip_address unmapped() const noexcept {
        return is_v4_mapped() ? ip_address{it_.unmapped()} : *this;
    }

    [[nodiscard]] constexpr bool is_unspecified() const noexcept {
        return v6_ ? it_.is_unspecified() : v4().is_unspecified();
    }
    [[nodiscard]] constexpr bool is_loopback() const noexcept {
        return v6_ ? it_.is_loopback() : v4().is_loopback();
    }
    [[nodiscard]] constexpr bool is_private() const noexcept {
        return v6_ ? it_.is_private() : v4().is_private();
    }
    [[nodiscard]] constexpr bool is_link_local() const noexcept {
        return v6_ ? it_.is_link_local() : v4().is_link_local();
    }
    [[nodiscard]] constexpr bool is_multicast() const noexcept {
        return v6_ ? it_.is_multicast() : v4().is_multicast();
    }

    /// For hash tables. Peers that choose their addresses can make them collide.
    [[nodiscard]] constexpr std::size_t hash() const noexcept;

    friend bool operator==(const ip_address&, const ip_address&) = default;
    friend auto operator<=>(const ip_address&, const ip_address&) = default;

private:
    bool v6_ = false;
    ipv6 it_;  // Invariant: an IPv4 address is in the first four bytes, and the others are zero.
};

// Implementation

/// Reads one address from its beginning.
class address_reader {
public:
    constexpr explicit address_reader(std::string_view text) noexcept : text_{text} {}

    [[nodiscard]] constexpr bool at_end() const noexcept { return at_ >= text_.size(); }
    [[nodiscard]] constexpr bool next_is(char wanted) const noexcept {
        return !at_end() && text_[at_] == wanted;
    }
    [[nodiscard]] constexpr bool skip(char wanted) noexcept {
        if (!next_is(wanted)) return false;
        ++at_;
        return true;
    }

    /// Digits of a number up to `max`, at most `digits_max` of them; false if there is none, or too much.
    [[nodiscard]] constexpr bool number(std::uint32_t base, std::size_t digits_max,
                                        std::uint32_t max, std::uint32_t& into) noexcept {
        std::uint64_t value = 0;
        std::size_t digits = 0;
        for (; !at_end() && digit(text_[at_]) < base; ++at_) {
            value = value * base + digit(text_[at_]);
            if (++digits > digits_max || value > max) return false;
        }
        into = static_cast<std::uint32_t>(value);
        return digits > 0;
    }

    [[nodiscard]] constexpr bool dotted(std::array<std::uint8_t, 4>& into) noexcept {
        for (std::size_t each = 0; each < into.size(); ++each) {
            if (each > 0 && !skip('.')) return false;
            const bool zero = next_is('0');
            const std::size_t begun = at_;
            std::uint32_t value = 0;
            if (!number(10, 3, 255, value) || (zero && at_ - begun > 1)) return false;
            into[each] = static_cast<std::uint8_t>(value);
        }
        return true;
    }

    /// The groups of an IPv6 address (RFC 4291 2.2), the last two of them perhaps with dots.
    [[nodiscard]] constexpr bool groups(std::array<std::uint8_t, 16>& into) noexcept {
        std::size_t gap = none;
        std::size_t count = 0;
        if (skip(':')) {
            if (!skip(':')) return false;
            gap = 0;
        }
        while (!at_zone_or_end()) {
            const std::size_t begun = at_;
            std::uint32_t group = 0;
            if (count == groups_size || !number(16, 4, 0xffff, group)) return false;
            if (next_is('.')) {
                at_ = begun;
                if (!dotted_tail(into, count)) return false;
                break;
            }
            put(into, count++, group);
            if (at_zone_or_end()) break;
            if (!colons(count, gap)) return false;
        }
        return gap == none ? count == groups_size : open_gap(into, gap, count);
    }

private:
    static constexpr std::size_t none = SIZE_MAX;
    static constexpr std::size_t groups_size = 8;

    [[nodiscard]] constexpr bool at_zone_or_end() const noexcept {
        return at_end() || next_is('%');
    }

    // Between two groups: one, or the two of the gap, which is then behind `count` groups.
    [[nodiscard]] constexpr bool colons(std::size_t count, std::size_t& gap) noexcept {
        if (!skip(':')) return false;
        if (!skip(':')) return !at_zone_or_end();  // A single colon ends nothing.
        if (gap != none) return false;
        gap = count;
        return true;
    }

    [[nodiscard]] static constexpr std::uint32_t digit(char from) noexcept {
        if (from >= '0' && from <= '9') return static_cast<std::uint32_t>(from - '0');
        if (from >= 'a' && from <= 'f') return static_cast<std::uint32_t>(from - 'a' + 10);
        if (from >= 'A' && from <= 'F') return static_cast<std::uint32_t>(from - 'A' + 10);
        return std::numeric_limits<std::uint32_t>::max();
    }

    static constexpr void put(std::array<std::uint8_t, 16>& into, std::size_t at,
                              std::uint32_t group) noexcept {
        into[at * 2] = static_cast<std::uint8_t>(group >> 8);
        into[at * 2 + 1] = static_cast<std::uint8_t>(group);
    }

    [[nodiscard]] constexpr bool dotted_tail(std::array<std::uint8_t, 16>& into,
                                             std::size_t& count) noexcept {
        std::array<std::uint8_t, 4> tail{};
        if (count > groups_size - 2 || !dotted(tail)) return false;
        for (std::size_t each = 0; each < tail.size(); ++each) into[count * 2 + each] = tail[each];
        count += 2;
        return true;
    }

    // "::" stands for one group of zeros or more: what is behind it moves to the end.
    [[nodiscard]] static constexpr bool open_gap(std::array<std::uint8_t, 16>& into,
                                                 std::size_t gap, std::size_t count) noexcept {
        if (count == groups_size) return false;
        const std::size_t behind = (count - gap) * 2;
        for (std::size_t each = 1; each <= behind; ++each) {
            std::uint8_t& from = into[count * 2 - each];
            into[into.size() - each] = from;
            from = 0;
        }
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

constexpr void address_text::add_number(std::uint32_t number, std::uint32_t base) noexcept {
    std::array<char, 10> digits{};
    std::size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    while (count > 0) add(digits[--count]);
}

constexpr io_result<ipv4> ipv4::parse(std::string_view text) noexcept {
    address_reader from{text};
    ipv4 it;
    if (!from.dotted(it.bytes) || !from.at_end()) return error{errc::malformed, activity::endpoint};
    return it;
}

constexpr address_text ipv4::to_text() const noexcept {
    address_text made;
    for (std::size_t each = 0; each < bytes.size(); ++each) {
        if (each > 0) made.add('.');
        made.add_number(bytes[each], 10);
    }
    return made;
}

constexpr io_result<ipv6> ipv6::parse(std::string_view text) noexcept {
    constexpr std::uint32_t zone_max = std::numeric_limits<std::uint32_t>::max();
    address_reader from{text};
    ipv6 it;
    bool well_formed = from.groups(it.bytes);
    if (well_formed && from.skip('%')) well_formed = from.number(10, 10, zone_max, it.zone);
    if (!well_formed || !from.at_end()) return error{errc::malformed, activity::endpoint};
    return it;
}

constexpr address_text ipv6::to_text() const noexcept {
    address_text made;
    const auto group = [this](std::size_t at) {
        return static_cast<std::uint32_t>(bytes[at * 2] << 8 | bytes[at * 2 + 1]);
    };
    const std::size_t groups = is_v4_mapped() ? 6 : 8;
    std::size_t gap = 0;
    std::size_t gap_size = 1;  // A single group of zeros is not shortened (RFC 5952 4.2.2).
    for (std::size_t begin = 0; begin < groups; ++begin) {
        std::size_t end = begin;
        while (end < groups && group(end) == 0) ++end;
        if (end - begin <= gap_size) continue;
        gap = begin;
        gap_size = end - begin;
    }
    const bool shortened = gap_size > 1;
    for (std::size_t at = 0; at < groups;) {
        if (shortened && at == gap) {
            made.add("::");
            at += gap_size;
            continue;
        }
        if (at > 0 && (!shortened || at != gap + gap_size)) made.add(':');
        made.add_number(group(at++), 16);
    }
    if (is_v4_mapped()) {
        made.add(':');
        made.add(unmapped().to_text());
    }
    if (zone != 0) {
        made.add('%');
        made.add_number(zone, 10);
    }
    return made;
}

constexpr io_result<ip_address> ip_address::parse(std::string_view text) noexcept {
    if (text.find(':') == std::string_view::npos) {
        const io_result<ipv4> parsed = ipv4::parse(text);
        if (!parsed.ok()) return parsed.error();
        return ip_address{parsed.value()};
    }
    const io_result<ipv6> parsed = ipv6::parse(text);
    if (!parsed.ok()) return parsed.error();
    return ip_address{parsed.value()};
}

/// FNV-1a, whose low bits are stirred once more for tables that use no others.
class address_hash {
public:
    constexpr void add(std::uint64_t piece) noexcept { mixed_ = (mixed_ ^ piece) * 0x100000001b3U; }
    [[nodiscard]] constexpr std::size_t value() const noexcept {
        return static_cast<std::size_t>(mixed_ ^ mixed_ >> 32);
    }

private:
    std::uint64_t mixed_ = 0xcbf29ce484222325U;
};

constexpr std::size_t ip_address::hash() const noexcept {
    address_hash mixed;
    for (const std::uint8_t each : it_.bytes) mixed.add(each);
    mixed.add(it_.zone);
    mixed.add(v6_ ? 6 : 4);
    return mixed.value();
}

}  // namespace gyre

template <>
struct std::hash<gyre::ip_address> {
    [[nodiscard]] std::size_t operator()(const gyre::ip_address& it) const noexcept {
        return it.hash();
    }
};

template <>
struct std::hash<gyre::ipv4> : std::hash<gyre::ip_address> {};

template <>
struct std::hash<gyre::ipv6> : std::hash<gyre::ip_address> {};
