// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/url.hpp>

#include <gyre/http/request_target.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace gyre::web {
namespace {

constexpr error malformed{errc::malformed, activity::parse_url};

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
    std::string made{text};
    std::transform(made.begin(), made.end(), made.begin(), lower);
    return made;
}

bool is_alphanumeric(char c) noexcept {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

std::optional<std::uint16_t> default_port(std::string_view scheme) noexcept {
    if (scheme == "http" || scheme == "ws") return 80;
    if (scheme == "https" || scheme == "wss") return 443;
    return std::nullopt;
}

// The scheme in front, which ends with a colon; empty if there is none.
std::string_view scheme_in_front(std::string_view text) noexcept {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0) return {};
    const std::string_view scheme = text.substr(0, colon);
    if (!is_alphanumeric(scheme.front()) || (scheme.front() >= '0' && scheme.front() <= '9')) {
        return {};
    }
    const bool fits = std::all_of(scheme.begin(), scheme.end(), [](char c) {
        return is_alphanumeric(c) || c == '+' || c == '-' || c == '.';
    });
    return fits ? scheme : std::string_view{};
}

// RFC 3986, 5.2.4.
std::string without_dot_segments(std::string_view path) {
    std::vector<std::string_view> kept;
    bool ends_with_slash = false;
    std::size_t at = 1;  // Behind the slash that it begins with.
    while (at <= path.size()) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string_view segment = path.substr(at, end - at);
        const bool last = end == path.size();
        if (segment == "..") {
            if (!kept.empty()) kept.pop_back();
            ends_with_slash = last;
        } else if (segment == ".") {
            ends_with_slash = last;
        } else {
            kept.push_back(segment);
            ends_with_slash = false;
        }
        at = end + 1;
    }
    std::string made;
    for (const std::string_view each : kept) made.append("/").append(each);
    if (ends_with_slash || made.empty()) made.append("/");
    return made;
}

}  // namespace

io_result<url> url::parse(std::string_view text) {
    const std::string_view scheme = scheme_in_front(text);
    if (scheme.empty()) return malformed;
    url it;
    it.scheme_ = lowered(scheme);
    const std::optional<std::uint16_t> usual = default_port(it.scheme_);
    if (!usual) return error{errc::not_supported, activity::parse_url};
    text.remove_prefix(scheme.size() + 1);
    if (!text.starts_with("//")) return malformed;
    text.remove_prefix(2);
    text = text.substr(0, text.find('#'));

    const std::size_t path_at = std::min(text.find_first_of("/?"), text.size());
    it.target_ = text.substr(path_at);
    if (!it.target_.starts_with('/')) it.target_.insert(0, "/");
    // A name before the host is refused with everything else that no host has: people read it as the host.
    const std::optional<http::authority_parts> authority =
        http::read_authority(text.substr(0, path_at));
    if (!authority || !http::is_path_and_query(it.target_)) return malformed;
    it.host_ = lowered(authority->host);
    it.port_ = *usual;
    const std::string_view digits = authority->port;
    if (!digits.empty()) std::from_chars(digits.data(), digits.data() + digits.size(), it.port_);
    return it;
}

io_result<url> url::resolved(std::string_view reference) const {
    reference = reference.substr(0, reference.find('#'));
    if (!scheme_in_front(reference).empty()) {
        io_result<url> absolute = parse(reference);
        return absolute;
    }
    if (reference.starts_with("//")) return parse(scheme_ + ":" + std::string{reference});

    url it = *this;
    if (reference.empty()) return it;
    const std::size_t query_at = std::min(reference.find('?'), reference.size());
    std::string path{reference.substr(0, query_at)};
    const std::string_view query = reference.substr(query_at);
    if (path.empty()) {
        path = this->path();
    } else if (!path.starts_with('/')) {
        const std::string_view base = this->path();
        path.insert(0, base.substr(0, base.rfind('/') + 1));
    }
    it.target_ = without_dot_segments(path);
    it.target_.append(query);
    if (!http::is_path_and_query(it.target_)) return malformed;
    return it;
}

std::string_view url::path() const noexcept {
    const std::string_view all{target_};
    return all.substr(0, all.find('?'));
}

std::string url::authority() const {
    if (port_ == default_port(scheme_)) {
        const bool v6 = host_.find(':') != std::string::npos;
        return v6 ? "[" + host_ + "]" : host_;
    }
    return authority_with_port();
}

std::string url::authority_with_port() const {
    const bool v6 = host_.find(':') != std::string::npos;
    return (v6 ? "[" + host_ + "]" : host_) + ":" + std::to_string(port_);
}

std::string url::to_string() const {
    return scheme_.empty() ? std::string{} : scheme_ + "://" + authority() + target_;
}

}  // namespace gyre::web
