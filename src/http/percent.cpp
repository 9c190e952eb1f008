// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/percent.hpp>

#include <http/text.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gyre::http {
namespace {

bool is_unreserved(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

}  // namespace

io_result<std::string> percent_decoded(std::string_view text, plus_sign plus) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '+' && plus == plus_sign::is_space) {
            decoded.push_back(' ');
        } else if (c == '\0') {
            return errc::malformed;
        } else if (c != '%') {
            decoded.push_back(c);
        } else {
            const int high = text.size() - at > 2 ? hex_digit_of(text[at + 1]) : -1;
            const int low = high >= 0 ? hex_digit_of(text[at + 2]) : -1;
            if (low < 0 || high + low == 0) return errc::malformed;
            decoded.push_back(static_cast<char>(high * 16 + low));
            at += 2;
        }
    }
    return decoded;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    encoded.reserve(text.size());
    for (const char c : text) {
        if (is_unreserved(c)) {
            encoded.push_back(c);
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded.push_back('%');
        encoded.push_back(digits[byte / 16]);
        encoded.push_back(digits[byte % 16]);
    }
    return encoded;
}

std::optional<encoded_pair> encoded_pairs::next() noexcept {
    while (!rest_.empty()) {
        const std::string_view one = rest_.substr(0, rest_.find('&'));
        rest_.remove_prefix(std::min(rest_.size(), one.size() + 1));
        if (one.empty()) continue;
        const std::size_t equals = one.find('=');
        if (equals == std::string_view::npos) return encoded_pair{one, {}};
        return encoded_pair{one.substr(0, equals), one.substr(equals + 1)};
    }
    return std::nullopt;
}

}  // namespace gyre::http
