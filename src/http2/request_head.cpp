// SPDX-License-Identifier: BSL-1.0
#include <http2/request_head.hpp>

#include <gyre/http/request_target.hpp>

namespace gyre::http2 {

void request_head::clear() noexcept {
    cookies_.clear();
    has_authority_ = malformed_ = expects_continue_ = false;
}

void request_head::add(http::request& to, std::string_view name, std::string_view value) {
    if (name.starts_with(':')) return add_pseudo(to, name, value);
    if (name != "cookie") {
        to.fields.add(name, value);
        return;
    }
    // RFC 9113, 8.2.3: crumbs are one field for handlers that know nothing of them.
    // An empty one would leave a blank at the end, which no value has.
    if (value.empty()) return;
    if (!cookies_.empty()) cookies_.append("; ");
    cookies_.append(value);
}

// RFC 9113, 8.3.1. Which there must be, and that none occurs twice, is nghttp2's business.
void request_head::add_pseudo(http::request& to, std::string_view name, std::string_view value) {
    if (name == ":method") {
        to.set_method(value);
    } else if (name == ":path") {
        to.set_target(value);
    } else if (name == ":authority") {
        to.set_authority(value);
        has_authority_ = true;
    } else if (name == ":scheme") {
        malformed_ = malformed_ || http::http_scheme_of(value).empty();
    }
}

// RFC 9113, 8.3.1: Host says the same as :authority, or stands in for it.
bool request_head::judge_host(http::request& it) const {
    const std::size_t hosts = it.fields.count("host");
    if (hosts > 1) return false;
    if (hosts == 1) {
        const std::string_view host = it.fields.value_or("host");
        if (!has_authority_) it.set_authority(host);
        else if (!http::equal_without_case(host, it.authority())) return false;
    }
    return it.authority().empty() || http::is_authority(it.authority());
}

// RFC 9110, 10.1.1: there is no other expectation.
bool request_head::judge_expectation(const http::request& it) noexcept {
    for (const http::field each : it.fields) {
        if (!http::equal_without_case(each.name, "expect")) continue;
        if (!http::equal_without_case(each.value, "100-continue")) return false;
        expects_continue_ = true;
    }
    return true;
}

std::optional<http::status> request_head::finish(http::request& it) {
    using form = http::target_parts::form;
    if (!cookies_.empty()) it.fields.add("cookie", cookies_);
    it.set_version(http::version::http_2);
    if (!judge_host(it)) malformed_ = true;
    // RFC 9113, 8.5: a tunnel is to its authority.
    const bool tunnels = it.method() == http::method::connect;
    if (tunnels) it.set_target(it.authority());
    const std::optional<http::target_parts> target = http::read_target(it.method(), it.target());
    // RFC 9113, 8.3.1: the absolute form has its parts in pseudo-fields.
    if (!target || target->as == form::absolute) malformed_ = true;
    if (malformed_ || !http::is_token(it.method_text()) || it.fields.refused()) {
        return http::status::bad_request;
    }
    if (!judge_expectation(it)) return http::status::expectation_failed;
    return std::nullopt;
}

}  // namespace gyre::http2
