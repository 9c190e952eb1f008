// SPDX-License-Identifier: BSL-1.0
//
// Text to addresses and back: see include/gyre/io/endpoint.hpp.
#include <gyre/io/endpoint.hpp>

#include <gyre/base/check.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace gyre {
namespace {

static_assert(sizeof(sockaddr_un) <= socket_address::size_max &&
              sizeof(sockaddr_in6) <= socket_address::size_max);

constexpr error malformed{errc::malformed, activity::endpoint};
constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);

template <class Address>
Address view(const socket_address& raw) noexcept {
    Address it{};
    std::memcpy(&it, raw.data, sizeof it);
    return it;
}

template <class Address>
socket_address pack(const Address& it, std::size_t size = sizeof(Address)) noexcept {
    socket_address raw;
    std::memcpy(raw.data, &it, size);
    raw.size = static_cast<std::uint32_t>(size);
    return raw;
}

template <class Number>
bool parse_number(std::string_view text, Number& into) noexcept {
    const char* end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data(), end, into);
    return failure == std::errc{} && rest == end && !text.empty();
}

io_result<endpoint> parse_v6(std::string_view text) noexcept {
    const std::size_t bracket = text.rfind("]:");
    if (bracket == std::string_view::npos) return malformed;
    std::uint16_t port = 0;
    if (!parse_number(text.substr(bracket + 2), port)) return malformed;
    const io_result<ipv6> address = ipv6::parse(text.substr(1, bracket - 1));
    if (!address.ok()) return address.error();
    return endpoint{address.value(), port};
}

io_result<endpoint> parse_v4(std::string_view text) noexcept {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return malformed;
    std::uint16_t port = 0;
    if (!parse_number(text.substr(colon + 1), port)) return malformed;
    const io_result<ipv4> address = ipv4::parse(text.substr(0, colon));
    if (!address.ok()) return address.error();
    return endpoint{address.value(), port};
}

}  // namespace

endpoint::endpoint(const ipv4& address, std::uint16_t port) noexcept {
    sockaddr_in it{};
    it.sin_family = AF_INET;
    it.sin_port = htons(port);
    std::memcpy(&it.sin_addr, address.bytes.data(), address.bytes.size());
    raw_ = pack(it);
}

endpoint::endpoint(const ipv6& address, std::uint16_t port) noexcept {
    sockaddr_in6 it{};
    it.sin6_family = AF_INET6;
    it.sin6_port = htons(port);
    it.sin6_scope_id = address.zone;
    std::memcpy(&it.sin6_addr, address.bytes.data(), address.bytes.size());
    raw_ = pack(it);
}

endpoint::endpoint(const ip_address& address, std::uint16_t port) noexcept
    : endpoint{address.is_v4() ? endpoint{address.v4(), port} : endpoint{address.v6(), port}} {}

// Of a path of 108 bytes the kernel tells 111, with a NUL behind it, which it would not take back.
endpoint::endpoint(const socket_address& raw) noexcept : raw_{raw} {
    raw_.size = std::min<std::uint32_t>(raw_.size, sizeof(sockaddr_un));
}

io_result<endpoint> endpoint::local(std::string_view path) noexcept {
    sockaddr_un it{};
    it.sun_family = AF_UNIX;
    if (path.empty()) return error{errc::invalid_argument, activity::endpoint};
    if (path.size() > sizeof it.sun_path) return error{errc::name_too_long, activity::endpoint};
    const bool abstract = path.front() == '\0';
    if (!abstract && path.find('\0') != std::string_view::npos) {
        return error{errc::invalid_argument, activity::endpoint};  // The kernel would cut it there.
    }
    path.copy(it.sun_path, path.size());
    // A path ends with its NUL if there is room, an abstract name (unix(7)) with its length.
    const std::size_t terminator = abstract || path.size() == sizeof it.sun_path ? 0 : 1;
    endpoint made;
    made.raw_ = pack(it, path_offset + path.size() + terminator);
    return made;
}

io_result<endpoint> endpoint::parse(std::string_view text) noexcept {
    constexpr std::string_view local_prefix = "unix:";
    if (text.starts_with(local_prefix)) {
        std::string name{text.substr(local_prefix.size())};
        if (name.starts_with('@')) name.front() = '\0';
        return local(name);
    }
    return text.starts_with('[') ? parse_v6(text) : parse_v4(text);
}

endpoint::family endpoint::kind() const noexcept {
    switch (address_family()) {
        case AF_INET: return family::v4;
        case AF_INET6: return family::v6;
        case AF_UNIX: return family::local;
        default: return family::none;
    }
}

int endpoint::address_family() const noexcept {
    if (raw_.size < sizeof(sa_family_t)) return AF_UNSPEC;
    return view<sockaddr>(raw_).sa_family;
}

std::uint16_t endpoint::port() const noexcept {
    switch (kind()) {
        case family::v4: return ntohs(view<sockaddr_in>(raw_).sin_port);
        case family::v6: return ntohs(view<sockaddr_in6>(raw_).sin6_port);
        case family::local:
        case family::none: return 0;
    }
    return 0;
}

ipv4 endpoint::v4() const noexcept {
    expects(kind() == family::v4, "an IPv4 endpoint");
    ipv4 it;
    const auto raw = view<sockaddr_in>(raw_);
    std::memcpy(it.bytes.data(), &raw.sin_addr, it.bytes.size());
    return it;
}

ipv6 endpoint::v6() const noexcept {
    expects(kind() == family::v6, "an IPv6 endpoint");
    ipv6 it;
    const auto raw = view<sockaddr_in6>(raw_);
    std::memcpy(it.bytes.data(), &raw.sin6_addr, it.bytes.size());
    it.zone = raw.sin6_scope_id;
    return it;
}

std::string endpoint::path() const {
    if (kind() != family::local || raw_.size <= path_offset) return {};
    const auto it = view<sockaddr_un>(raw_);
    std::size_t size = raw_.size - path_offset;
    if (it.sun_path[0] != '\0') size = ::strnlen(it.sun_path, size);
    return {it.sun_path, size};
}

ip_address endpoint::address() const noexcept {
    return kind() == family::v4 ? ip_address{v4()} : ip_address{v6()};
}

std::string endpoint::to_string() const {
    switch (kind()) {
        case family::v4: return std::string{v4().to_text().view()} + ':' + std::to_string(port());
        case family::v6:
            return '[' + std::string{v6().to_text().view()} + "]:" + std::to_string(port());
        case family::local: {
            std::string name = path();
            if (name.starts_with('@')) name.insert(0, "./");  // A file, and to be read back as one.
            if (name.starts_with('\0')) name.front() = '@';
            return "unix:" + name;
        }
        case family::none: return {};
    }
    return {};
}

std::size_t endpoint::hash() const noexcept {
    address_hash mixed;
    for (std::size_t each = 0; each < raw_.size; ++each) {
        mixed.add(static_cast<std::uint64_t>(raw_.data[each]));
    }
    return mixed.value();
}

bool operator==(const endpoint& left, const endpoint& right) noexcept {
    return left.raw_.size == right.raw_.size &&
           std::memcmp(left.raw_.data, right.raw_.data, left.raw_.size) == 0;
}

std::strong_ordering operator<=>(const endpoint& left, const endpoint& right) noexcept {
    const endpoint::family kind = left.kind();
    if (kind != right.kind()) return kind <=> right.kind();
    if (kind == endpoint::family::v4 || kind == endpoint::family::v6) {
        if (left.address() != right.address()) return left.address() <=> right.address();
        if (left.port() != right.port()) return left.port() <=> right.port();
    }
    const std::size_t shorter = std::min(left.raw_.size, right.raw_.size);
    const int order = std::memcmp(left.raw_.data, right.raw_.data, shorter);
    return order != 0 ? order <=> 0 : left.raw_.size <=> right.raw_.size;
}

}  // namespace gyre
