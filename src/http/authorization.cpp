// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/authorization.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// What stands behind the scheme; nothing if there is another, or more than one field.
std::optional<std::string_view> credentials_of(const fields& from,
                                               std::string_view scheme) noexcept {
    if (from.count("authorization") != 1) return std::nullopt;
    std::string_view value = from.value_or("authorization");
    if (value.size() <= scheme.size() || value[scheme.size()] != ' ' ||
        !equal_without_case(value.substr(0, scheme.size()), scheme)) {
        return std::nullopt;
    }
    value.remove_prefix(scheme.size());
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    return value;
}

bool is_bearer_token(std::string_view text) noexcept {
    return !text.empty() && text.find_first_of(" \t,") == std::string_view::npos;
}

// Quoted in a field as it is.
std::string challenge_for(std::string_view scheme, std::string_view realm) {
    expects(is_field_value(realm) && realm.find_first_of("\"\\") == std::string_view::npos,
            "a realm has no quotes, backslashes and controls");
    return std::string{scheme}.append(" realm=\"").append(realm).append("\"");
}

task<response> refuse(std::string challenge) {
    response answer{status::unauthorized};
    answer.fields.set("www-authenticate", challenge);
    co_return answer;
}

}  // namespace

std::optional<basic_credentials> basic_credentials_of(const fields& from) {
    const auto encoded = credentials_of(from, "basic");
    if (!encoded) return std::nullopt;
    const std::optional<std::string> decoded = base64_decoded(*encoded);
    if (!decoded) return std::nullopt;
    const std::size_t colon = decoded->find(':');
    if (colon == std::string::npos) return std::nullopt;
    return basic_credentials{decoded->substr(0, colon), decoded->substr(colon + 1)};
}

void set_basic_credentials(fields& of, const basic_credentials& what) {
    if (what.user.find(':') != std::string::npos) {
        of.add("", "");  // No name: refused.
        return;
    }
    of.set("authorization", "Basic " + base64_encoded(what.user + ":" + what.password));
}

std::optional<std::string_view> bearer_token_of(const fields& from) noexcept {
    const auto token = credentials_of(from, "bearer");
    return token && is_bearer_token(*token) ? token : std::nullopt;
}

void set_bearer_token(fields& of, std::string_view token) {
    if (!is_bearer_token(token)) {
        of.add("", "");  // No name: refused.
        return;
    }
    of.set("authorization", std::string{"Bearer "}.append(token));
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept {
    unsigned differs = given.size() == secret.size() ? 0 : 1;
    for (std::size_t at = 0; at < given.size(); ++at) {
        // What is too long is compared with something all the same.
        const char other = at < secret.size() ? secret[at] : '\0';
        differs |= static_cast<unsigned>(static_cast<unsigned char>(given[at] ^ other));
    }
    return differs == 0;
}

// RFC 7617, 2.1: UTF-8 is what we expect, and say so.
middleware require_basic(std::string_view realm,
                         std::function<bool(const basic_credentials&)> admits) {
    const std::string challenge = challenge_for("Basic", realm) + ", charset=\"UTF-8\"";
    return as_middleware(
        [challenge, admits = std::move(admits)](request& what, const handler& next) {
            const auto given = basic_credentials_of(what.fields);
            return given && admits(*given) ? next(what) : refuse(challenge);
        });
}

// RFC 6750, 3.
middleware require_bearer(std::string_view realm,
                          std::function<bool(std::string_view token)> admits) {
    const std::string challenge = challenge_for("Bearer", realm);
    return as_middleware(
        [challenge, admits = std::move(admits)](request& what, const handler& next) {
            const auto given = bearer_token_of(what.fields);
            if (!given) return refuse(challenge);
            return admits(*given) ? next(what) : refuse(challenge + ", error=\"invalid_token\"");
        });
}

std::optional<std::string> base64_decoded(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        std::size_t padding = 0;
        std::uint32_t group = 0;
        for (std::size_t digit = 0; digit < 4; ++digit) {
            const char c = text[at + digit];
            const std::size_t value = base64_digits.find(c);
            const bool may_pad = c == '=' && at + 4 == text.size() && digit >= 2;
            if (may_pad) ++padding;
            else if (value == std::string_view::npos || padding > 0) return std::nullopt;
            group = group << 6 | (may_pad ? 0 : static_cast<std::uint32_t>(value));
        }
        // RFC 4648, 3.5: bits that nothing is made of are 0, so that each text has one form.
        if ((padding == 1 && (group & 0xff) != 0) || (padding == 2 && (group & 0xffff) != 0)) {
            return std::nullopt;
        }
        for (std::size_t byte = 0; byte < 3 - padding; ++byte) {
            bytes.push_back(static_cast<char>(group >> (16 - 8 * byte) & 0xff));
        }
    }
    return bytes;
}

std::string base64_encoded(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t byte = 0; byte < 3; ++byte) {
            const unsigned char value =
                byte < count ? static_cast<unsigned char>(bytes[at + byte]) : 0;
            group = group << 8 | value;
        }
        for (std::size_t digit = 0; digit < 4; ++digit) {
            text.push_back(digit <= count ? base64_digits[group >> (18 - 6 * digit) & 0x3f] : '=');
        }
    }
    return text;
}

}  // namespace gyre::http
