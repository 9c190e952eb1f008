// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/serializer.hpp>

#include <gyre/http/request_target.hpp>

#include <algorithm>
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

// Text behind what `to` has, in room that was made once for all of it.
class head_writer {
public:
    head_writer(std::string& to, std::size_t bytes_max) : to_{to} {
        const std::size_t before = to.size();
        to.resize(before + bytes_max);
        at_ = to.data() + before;
    }
    head_writer(const head_writer&) = delete;
    head_writer& operator=(const head_writer&) = delete;
    ~head_writer() { to_.resize(static_cast<std::size_t>(at_ - to_.data())); }

    void put(std::string_view text) noexcept { at_ = std::copy(text.begin(), text.end(), at_); }
    void put(std::uint64_t value, int base = 10) noexcept {
        at_ = std::to_chars(at_, at_ + digits_max, value, base).ptr;
    }
    void put(field it) noexcept {
        put(it.name);
        put(": ");
        put(it.value);
        put("\r\n");
    }
    void put(head_framing framing) noexcept;

    static constexpr std::size_t digits_max = 20;
    static constexpr std::size_t around_field = 4;
    static constexpr std::size_t framing_max = 96;  // Of both fields, and the empty line.

private:
    std::string& to_;
    char* at_ = nullptr;
};

void head_writer::put(head_framing framing) noexcept {
    switch (framing.as) {
        case head_framing::body::unsaid: break;
        case head_framing::body::length:
            put("content-length: ");
            put(framing.length);
            put("\r\n");
            break;
        case head_framing::body::chunked: put("transfer-encoding: chunked\r\n"); break;
    }
    switch (framing.after) {
        case head_framing::connection::unsaid: break;
        case head_framing::connection::close: put("connection: close\r\n"); break;
        case head_framing::connection::keep_alive: put("connection: keep-alive\r\n"); break;
        case head_framing::connection::upgrade: put("connection: upgrade\r\n"); break;
    }
    put("\r\n");
}

// What all fields take at most.
std::size_t room_for(const fields& those) noexcept {
    return those.bytes() + those.size() * head_writer::around_field;
}

}  // namespace

bool is_sendable(const response& it) noexcept {
    return number_of(it.status) >= 100 && number_of(it.status) <= 599 && !it.fields.refused() &&
           !it.trailers.refused();
}

bool is_sendable(const request& it) noexcept {
    const bool to_host = it.authority().empty() || is_authority(it.authority());
    const bool by_scheme = it.scheme().empty() || !http_scheme_of(it.scheme()).empty();
    return is_token(it.method_text()) && read_target(it.method(), it.target()) && to_host &&
           by_scheme && !it.fields.refused();
}

bool is_sendable(const request& it, std::optional<std::uint64_t> size) noexcept {
    if (!is_sendable(it)) return false;
    std::size_t hosts = 0;
    for (const field each : it.fields) {
        if (equal_without_case(each.name, "host")) {
            const bool is_host = !each.value.empty() &&
                                 each.value.find_first_of(" \t/?#@\\") == std::string_view::npos;
            const bool agrees =
                it.authority().empty() || equal_without_case(each.value, it.authority());
            if (++hosts > 1 || !is_host || !agrees) return false;
        } else if (equal_without_case(each.name, "content-length")) {
            std::uint64_t said = 0;
            const char* const end = each.value.data() + each.value.size();
            const auto read = std::from_chars(each.value.data(), end, said);
            if (read.ec != std::errc{} || read.ptr != end || size != said) return false;
        } else if (equal_without_case(each.name, "transfer-encoding")) {
            if (size || !equal_without_case(each.value, "chunked")) return false;
        }
    }
    return true;
}

std::string_view host_of(const request& it) noexcept {
    return it.fields.value_or("host", it.authority());
}

void append_head(std::string& to, const response& it, head_framing framing,
                 std::string_view date_line) {
    constexpr std::size_t status_line_max = 64;  // The longest reason has 31 characters.
    head_writer head{
        to, status_line_max + room_for(it.fields) + date_line.size() + head_writer::framing_max};
    if (it.status == status::ok) {
        head.put("HTTP/1.1 200 OK\r\n");
    } else {
        head.put("HTTP/1.1 ");
        head.put(std::uint64_t{number_of(it.status)});
        // RFC 9112, 4: the space stands there without a reason, too.
        head.put(" ");
        head.put(reason_of(it.status));
        head.put("\r\n");
    }
    bool dated = date_line.empty();
    for (const field each : it.fields) {
        if (is_framing(each.name)) continue;
        dated = dated || equal_without_case(each.name, "date");
        head.put(each);
    }
    // RFC 9110, 6.6.1.
    if (!dated) head.put(date_line);
    head.put(framing);
}

void append_head(std::string& to, const request& it, head_framing framing) {
    constexpr std::size_t around_start = 32;  // Blanks, the version and Host.
    const std::string_view host = host_of(it);
    head_writer head{to, it.method_text().size() + it.target().size() + host.size() + around_start +
                             room_for(it.fields) + head_writer::framing_max};
    head.put(it.method_text());
    head.put(" ");
    head.put(it.target());
    head.put(" HTTP/1.1\r\n");
    // RFC 9110, 7.2: Host comes first, also where it is empty.
    head.put(field{"host", host});
    for (const field each : it.fields) {
        if (!is_framing(each.name) && !equal_without_case(each.name, "host")) head.put(each);
    }
    head.put(framing);
}

void append_last_chunk(std::string& to, const fields& trailers) {
    constexpr std::size_t around = 5;
    head_writer last{to, around + room_for(trailers)};
    last.put("0\r\n");
    for (const field each : trailers) {
        if (!is_framing(each.name)) last.put(each);
    }
    last.put("\r\n");
}

void append_chunk_size(std::string& to, std::uint64_t size) {
    head_writer line{to, head_writer::digits_max + 2};
    line.put(size, 16);
    line.put("\r\n");
}

}  // namespace gyre::http
