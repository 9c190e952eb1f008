// SPDX-License-Identifier: BSL-1.0
#include <http2/message_fields.hpp>

#include <gyre/http/request_target.hpp>
#include <gyre/http/serializer.hpp>

#include <charconv>
#include <system_error>

namespace gyre::http2 {
namespace {

// RFC 9113, 8.2.2.
bool is_about_connection(http::field it) noexcept {
    const auto is = [&it](std::string_view name) {
        return http::equal_without_case(it.name, name);
    };
    switch (it.name.size()) {
        case 2: return is("te") && !http::equal_without_case(it.value, "trailers");
        case 4: return is("host");
        case 7: return is("upgrade");
        case 10: return is("connection") || is("keep-alive");
        case 14: return is("content-length");
        case 16: return is("proxy-connection");
        case 17: return is("transfer-encoding");
        default: return false;
    }
}

}  // namespace

void add_fields(engine& to, const http::fields& from) noexcept {
    for (const http::field each : from) {
        if (!is_about_connection(each)) to.add(each.name, each.value);
    }
}

// RFC 9113, 8.3.1.
bool is_sendable(const http::request& it, std::optional<std::uint64_t> size) noexcept {
    if (!http::is_sendable(it, size)) return false;
    const std::optional<http::target_parts> target = http::read_target(it.method(), it.target());
    return target && target->as != http::target_parts::form::absolute;
}

std::optional<std::uint64_t> declared_size(const http::fields& of) noexcept {
    const std::optional<std::string_view> text = of.find("content-length");
    if (!text) return std::nullopt;
    std::uint64_t size = 0;
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, size);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return size;
}

}  // namespace gyre::http2
