// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/cookies.hpp>

#include <http/text.hpp>

#include <algorithm>

namespace gyre::http {
namespace {

// RFC 6265, 4.1.1: what a cookie's value is made of.
bool is_cookie_value(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return c > 0x20 && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
    });
}

bool is_attribute(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= 0x20 && c < 0x7f && c != ';'; });
}

}  // namespace

std::optional<std::string_view> cookie_value(const fields& of, std::string_view name) noexcept {
    for (const field each : of) {
        if (!equal_without_case(each.name, "cookie")) continue;
        std::string_view rest = each.value;
        while (!rest.empty()) {
            const std::string_view pair = trimmed(rest.substr(0, rest.find(';')));
            rest.remove_prefix(std::min(rest.size(), std::min(rest.find(';'), rest.size()) + 1));
            const std::size_t equals = pair.find('=');
            if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
            std::string_view value = pair.substr(equals + 1);
            if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
                value = value.substr(1, value.size() - 2);
            }
            return value;
        }
    }
    return std::nullopt;
}

void set_cookie(fields& of, const cookie& it) {
    const bool sound = is_token(it.name) && is_cookie_value(it.value) && is_attribute(it.path) &&
                       is_attribute(it.domain);
    if (!sound) {
        of.add("", "");  // No name: refused.
        return;
    }
    std::string line = it.name + "=" + it.value;
    if (!it.path.empty()) line.append("; Path=").append(it.path);
    if (!it.domain.empty()) line.append("; Domain=").append(it.domain);
    if (it.lives) {
        const auto seconds = std::max<std::chrono::seconds::rep>(0, it.lives->count());
        line.append("; Max-Age=").append(std::to_string(seconds));
    }
    // A cookie for other sites is taken by browsers only if it is for secure connections.
    if (it.for_secure_only || it.with == same_site::none) line.append("; Secure");
    if (it.for_http_only) line.append("; HttpOnly");
    switch (it.with) {
        case same_site::unsaid: break;
        case same_site::strict: line.append("; SameSite=Strict"); break;
        case same_site::lax: line.append("; SameSite=Lax"); break;
        case same_site::none: line.append("; SameSite=None"); break;
    }
    of.add("set-cookie", line);
}

}  // namespace gyre::http
