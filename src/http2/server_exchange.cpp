// SPDX-License-Identifier: BSL-1.0
#include <http2/server_exchange.hpp>

#include <http2/message_fields.hpp>

namespace gyre::http2 {

void server_exchange::clear() noexcept {
    static_cast<engine_stream&>(*this) = engine_stream{};
    request.clear();
    in.clear();
    out.clear();
    answer.reset();
    refused.reset();
    changed.reset();
    left.reset();
    chain = nullptr;
    cookies_.clear();
    head_done = running = head_said = closed = has_authority_ = malformed_ = false;
}

void server_exchange::add_field(std::string_view name, std::string_view value) {
    if (head_done) {
        in.came_behind.add(name, value);
        return;
    }
    // RFC 9113, 8.3.1. Which there must be, and that none occurs twice, is nghttp2's business.
    if (!name.starts_with(':')) {
        if (name == "cookie") {
            // RFC 9113, 8.2.3: crumbs are one field for handlers that know nothing of them.
            if (!cookies_.empty()) cookies_.append("; ");
            cookies_.append(value);
        } else {
            request.fields.add(name, value);
        }
    } else if (name == ":method") {
        request.set_method(value);
    } else if (name == ":path") {
        request.set_target(value);
    } else if (name == ":authority") {
        request.set_authority(value);
        has_authority_ = true;
    } else if (name == ":scheme") {
        malformed_ = malformed_ || (value != "http" && value != "https");
    }
}

std::optional<http::status> server_exchange::judge_head(bool last, std::uint64_t body_bytes_max) {
    head_done = true;
    if (!cookies_.empty()) request.fields.add("cookie", cookies_);
    request.set_version(http::version::http_2);
    // RFC 9113, 8.3.1: Host says the same as :authority, or stands in for it.
    for (const http::field each : request.fields) {
        if (!http::equal_without_case(each.name, "host")) continue;
        if (!has_authority_) {
            request.set_authority(each.value);
            has_authority_ = true;
        }
        malformed_ = malformed_ || !http::equal_without_case(each.value, request.authority());
    }
    malformed_ = malformed_ || request.authority().find('@') != std::string_view::npos ||
                 request.fields.refused();
    // RFC 9113, 8.5: a tunnel is to its authority.
    if (request.method() == http::method::connect) request.set_target(request.authority());
    if (request.target().empty()) malformed_ = true;

    const std::optional<std::uint64_t> declared =
        last ? std::optional<std::uint64_t>{0} : declared_size(request.fields);
    const std::optional<std::string_view> expected = request.fields.find("expect");
    const bool continues = expected && http::equal_without_case(*expected, "100-continue");
    in.begin(declared, continues && !last);
    if (last) in.end();
    if (head_too_large) return http::status::header_fields_too_large;
    if (malformed_) return http::status::bad_request;
    if (expected && !continues) return http::status::expectation_failed;
    if (declared.value_or(0) > body_bytes_max) return http::status::content_too_large;
    return std::nullopt;
}

}  // namespace gyre::http2
