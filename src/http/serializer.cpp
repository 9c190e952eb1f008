// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/serializer.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace gyre::http {
namespace {

// Whether the framing says it.
bool is_framing(std::string_view name) noexcept {
    switch (name.size()) {
        case 10:
            return equal_without_case(name, "connection") || equal_without_case(name, "keep-alive");
        case 14: return equal_without_case(name, "content-length");
        case 17: return equal_without_case(name, "transfer-encoding");
        default: return false;
    }
}

void append_number(std::string& to, std::uint64_t value, int base = 10) {
    std::array<char, 20> digits;
    const auto* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    to.append(std::string_view{digits.data(), end});
}

void append_field(std::string& to, field it) {
    to.append(it.name).append(": ").append(it.value).append("\r\n");
}

void append_framing(std::string& to, head_framing framing) {
    switch (framing.as) {
        case head_framing::body::unsaid: break;
        case head_framing::body::length:
            to.append("content-length: ");
            append_number(to, framing.length);
            to.append("\r\n");
            break;
        case head_framing::body::chunked: to.append("transfer-encoding: chunked\r\n"); break;
    }
    switch (framing.after) {
        case head_framing::connection::unsaid: break;
        case head_framing::connection::close: to.append("connection: close\r\n"); break;
        case head_framing::connection::keep_alive: to.append("connection: keep-alive\r\n"); break;
        case head_framing::connection::upgrade: to.append("connection: upgrade\r\n"); break;
    }
    to.append("\r\n");
}

}  // namespace

bool is_sendable(const response& it) noexcept {
    return number_of(it.status) >= 100 && number_of(it.status) <= 599 && !it.fields.refused() &&
           !it.trailers.refused();
}

bool is_sendable(const request& it) noexcept {
    const auto visible = [](std::string_view text) {
        return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    };
    return is_token(it.method_text()) && !it.target().empty() && visible(it.target()) &&
           visible(it.authority()) && !it.fields.refused();
}

void append_head(std::string& to, const response& it, head_framing framing,
                 std::string_view date_line) {
    if (it.status == status::ok) {
        to.append("HTTP/1.1 200 OK\r\n");
    } else {
        to.append("HTTP/1.1 ");
        append_number(to, number_of(it.status));
        // RFC 9112, 4: the space stands there without a reason, too.
        to.append(" ").append(reason_of(it.status)).append("\r\n");
    }
    bool dated = date_line.empty();
    for (const field each : it.fields) {
        if (is_framing(each.name)) continue;
        dated = dated || equal_without_case(each.name, "date");
        append_field(to, each);
    }
    // RFC 9110, 6.6.1.
    if (!dated) to.append(date_line);
    append_framing(to, framing);
}

void append_head(std::string& to, const request& it, head_framing framing) {
    to.append(it.method_text()).append(" ").append(it.target()).append(" HTTP/1.1\r\n");
    // RFC 9110, 7.2: Host comes first, also where it is empty.
    append_field(to, {"host", it.authority()});
    for (const field each : it.fields) {
        if (!is_framing(each.name) && !equal_without_case(each.name, "host")) {
            append_field(to, each);
        }
    }
    append_framing(to, framing);
}

void append_last_chunk(std::string& to, const fields& trailers) {
    to.append("0\r\n");
    for (const field each : trailers) {
        if (!is_framing(each.name)) append_field(to, each);
    }
    to.append("\r\n");
}

void append_chunk_size(std::string& to, std::uint64_t size) {
    append_number(to, size, 16);
    to.append("\r\n");
}

}  // namespace gyre::http
