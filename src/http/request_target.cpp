// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/request_target.hpp>

#include <gyre/http/fields.hpp>
#include <http/text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace gyre::http {
namespace {

constexpr std::size_t host_bytes_max = 253;  // RFC 1035, 2.3.4, as text.
constexpr std::size_t ipv6_groups = 8;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr std::array<bool, 256> table_of(std::string_view others) {
    std::array<bool, 256> those{};
    for (int c = 0; c < 256; ++c) {
        const auto as_letter = c | 0x20;
        those[static_cast<std::size_t>(c)] =
            (c >= '0' && c <= '9') || (c < 0x80 && as_letter >= 'a' && as_letter <= 'z');
    }
    for (const char c : others) those[static_cast<unsigned char>(c)] = true;
    return those;
}

constexpr std::array<bool, 256> host_characters = table_of("-._");
constexpr std::array<bool, 256> path_characters = table_of("-._~!$&'()*+,;=:@/[]|^`{}");

bool has_only(std::string_view text, const std::array<bool, 256>& those) noexcept {
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return those[static_cast<unsigned char>(c)]; });
}

// RFC 3986, 3.2.2: IPv4address.
bool is_ipv4_address(std::string_view text) noexcept {
    for (int octet = 0; octet < 4; ++octet) {
        std::size_t digits = 0;
        unsigned value = 0;
        while (digits < text.size() && digits < 4 && is_digit(text[digits])) {
            value = value * 10 + static_cast<unsigned>(text[digits] - '0');
            ++digits;
        }
        if (digits == 0 || value > 255 || (digits > 1 && text.front() == '0')) return false;
        text.remove_prefix(digits);
        if (octet == 3) break;
        if (!text.starts_with('.')) return false;
        text.remove_prefix(1);
    }
    return text.empty();
}

// RFC 3986, 3.2.2: IPv6address, without a zone.
bool is_ipv6_address(std::string_view text) noexcept {
    std::size_t groups = 0;
    bool shortened = text.starts_with("::");
    if (shortened) text.remove_prefix(2);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(':'), text.size());
        const std::string_view group = text.substr(0, end);
        text.remove_prefix(end);
        if (text.empty() && is_ipv4_address(group)) {
            groups += 2;
            break;
        }
        const bool is_hex =
            std::all_of(group.begin(), group.end(), [](char c) { return hex_digit_of(c) >= 0; });
        if (group.empty() || group.size() > 4 || !is_hex) return false;
        ++groups;
        if (text.empty()) break;
        text.remove_prefix(1);
        if (text.empty()) return false;
        if (!text.starts_with(':')) continue;
        if (shortened) return false;
        shortened = true;
        text.remove_prefix(1);
    }
    return shortened ? groups < ipv6_groups : groups == ipv6_groups;
}

bool is_port(std::string_view digits) noexcept {
    std::uint16_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failed] = std::from_chars(digits.data(), end, number);
    return failed == std::errc{} && stop == end && number != 0;
}

bool is_path(std::string_view text) noexcept {
    for (;;) {
        const std::size_t escape = text.find('%');
        if (!has_only(text.substr(0, escape), path_characters)) return false;
        if (escape == std::string_view::npos) return true;
        text.remove_prefix(escape + 1);
        if (text.size() < 2 || hex_digit_of(text[0]) < 0 || hex_digit_of(text[1]) < 0) return false;
        text.remove_prefix(2);
    }
}

// What stands behind the question mark. A percent sign may stand for itself: no reader divides a query by
// it, and browsers leave it so.
bool is_query(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
}

}  // namespace

std::optional<authority_parts> read_authority(std::string_view text) noexcept {
    authority_parts it;
    if (text.starts_with('[')) {
        const std::size_t bracket = text.find(']');
        if (bracket == std::string_view::npos) return std::nullopt;
        it.host = text.substr(1, bracket - 1);
        it.is_bracketed = true;
        if (!is_ipv6_address(it.host)) return std::nullopt;
        text.remove_prefix(bracket + 1);
    } else {
        it.host = text.substr(0, text.find(':'));
        if (it.host.empty() || it.host.size() > host_bytes_max) return std::nullopt;
        if (!has_only(it.host, host_characters)) return std::nullopt;
        text.remove_prefix(it.host.size());
    }
    if (text.empty()) return it;
    if (text.front() != ':') return std::nullopt;
    it.port = text.substr(1);
    if (!it.port.empty() && !is_port(it.port)) return std::nullopt;
    return it;
}

bool is_authority(std::string_view text) noexcept { return read_authority(text).has_value(); }

bool is_path_and_query(std::string_view text) noexcept {
    if (!text.starts_with('/')) return false;
    const std::size_t mark = std::min(text.find('?'), text.size());
    return is_path(text.substr(0, mark)) && is_query(text.substr(mark));
}

std::string_view http_scheme_of(std::string_view text) noexcept {
    if (equal_without_case(text, "http")) return "http";
    return equal_without_case(text, "https") ? "https" : std::string_view{};
}

std::optional<target_parts> read_target(method asked, std::string_view text) noexcept {
    using form = target_parts::form;
    if (asked == method::connect) {
        const std::optional<authority_parts> to = read_authority(text);
        // RFC 9110, 9.3.6: no port is understood.
        if (!to || to->port.empty()) return std::nullopt;
        return target_parts{form::authority, {}, text, {}};
    }
    if (text == "*" && asked == method::options) return target_parts{form::asterisk, {}, {}, text};
    if (text.starts_with('/')) {
        if (!is_path_and_query(text)) return std::nullopt;
        return target_parts{form::origin, {}, {}, text};
    }
    const std::size_t colon = text.find("://");
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view scheme = http_scheme_of(text.substr(0, colon));
    const std::string_view rest = text.substr(colon + 3);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view behind = rest.substr(end);
    const std::string_view query = behind.starts_with('?') ? behind : std::string_view{};
    const bool sound =
        behind.empty() || (query.empty() ? is_path_and_query(behind) : is_query(query));
    if (scheme.empty() || !is_authority(rest.substr(0, end)) || !sound) return std::nullopt;
    return target_parts{form::absolute, scheme, rest.substr(0, end), behind};
}

}  // namespace gyre::http
