// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/multipart_reader.hpp>

#include <gyre/http/form.hpp>
#include <gyre/stream/read_all.hpp>
#include <http/text.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t boundary_bytes_max = 70;  // RFC 2046, 5.1.1.
constexpr std::size_t window_bytes_first = 4096;
constexpr std::size_t window_bytes_beside = 2 * (boundary_bytes_max + 8);

bool is_boundary(std::string_view text) noexcept {
    return !text.empty() && text.size() <= boundary_bytes_max && text.back() != ' ' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      std::string_view{"'()+_,-./:=? "}.find(c) != std::string_view::npos;
           });
}

// Where the value of `text` ends, which begins behind its first quote; `npos` if it does not.
std::size_t closing_quote(std::string_view text) noexcept {
    for (std::size_t at = text.find('"'); at != std::string_view::npos;
         at = text.find('"', at + 1)) {
        const std::string_view behind = trimmed(text.substr(at + 1));
        if (behind.empty() || behind.front() == ';') return at;
    }
    return std::string_view::npos;
}

// Browsers escape three characters with a percent sign, and leave backslashes alone. Older clients put one in
// front of a quote.
std::string as_browsers_write(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const std::string_view three = text.substr(0, 3);
        std::size_t taken = 3;
        if (three == "%0A") {
            plain.push_back('\n');
        } else if (three == "%0D") {
            plain.push_back('\r');
        } else if (three == "%22") {
            plain.push_back('"');
        } else {
            taken = text.starts_with("\\\"") ? 2 : 1;
            plain.push_back(text[taken - 1]);
        }
        text.remove_prefix(taken);
    }
    return plain;
}

// A parameter of Content-Disposition in a form. RFC 7578, 4.2, and the HTML standard, "multipart form data":
// what stands in quotes is no quoted string of RFC 9110.
std::optional<std::string> form_parameter_of(std::string_view value, std::string_view name) {
    std::string_view rest = value.substr(std::min(value.find(';'), value.size()));
    bool may_close =
        true;  // Where one quote is not closed no later one is, and is not looked at again.
    while (!rest.empty()) {
        rest = trimmed(rest.substr(1));  // Behind a semicolon.
        const std::size_t end = std::min(rest.find_first_of("=;"), rest.size());
        const bool is_wanted = equal_without_case(trimmed(rest.substr(0, end)), name);
        rest.remove_prefix(end);
        if (!rest.starts_with('=')) continue;
        rest = trimmed(rest.substr(1));
        const bool quoted = may_close && rest.starts_with('"');
        const std::size_t quote = quoted ? closing_quote(rest.substr(1)) : std::string_view::npos;
        if (quoted) may_close = quote != std::string_view::npos;
        if (quote != std::string_view::npos) {
            if (is_wanted) return as_browsers_write(rest.substr(1, quote));
            rest = trimmed(rest.substr(quote + 2));
            continue;
        }
        const std::size_t next = std::min(rest.find(';'), rest.size());
        if (is_wanted) return std::string{trimmed(rest.substr(0, next))};
        rest.remove_prefix(next);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> multipart_boundary(const fields& of) {
    const std::string_view type = of.value_or("content-type");
    if (type.size() < 10 || !equal_without_case(type.substr(0, 10), "multipart/")) {
        return std::nullopt;
    }
    std::optional<std::string> boundary = parameter_of(type, "boundary");
    if (boundary && !is_boundary(*boundary)) return std::nullopt;
    return boundary;
}

multipart_reader::multipart_reader(body_reader from, std::string_view boundary,
                                   multipart_limits limits)
    : from_{from},
      delimiter_{std::string{"\r\n--"}.append(boundary)},
      limits_{limits},
      window_{buffer_bounds{
          window_bytes_first,
          std::clamp(limits.head_bytes_max, window_bytes_first, SIZE_MAX - window_bytes_beside) +
              window_bytes_beside}} {
    // The first boundary has no line in front that it ends.
    window_.append(bytes_of(std::string_view{"\r\n"}));
}

task<io_result<>> multipart_reader::fill() {
    const mutable_buffer room = window_.prepare(1);
    if (room.empty()) co_return error{errc::limit_exceeded, activity::read};
    const io_result<std::size_t> got = co_await from_.read_some(room);
    window_.commit(got.value());
    // Not `errc::eof`, which is a part's orderly end.
    if (got.error() == errc::eof) co_return error{errc::malformed, activity::read};
    co_return got.error();
}

// How much of the window certainly is the part's, and whether its boundary stands behind that.
std::size_t multipart_reader::data_at_hand(bool& boundary_follows) const noexcept {
    const std::string_view text = gyre::text_of(window_.data());
    const std::size_t at = text.find(delimiter_);
    boundary_follows = at != std::string_view::npos;
    if (boundary_follows) return at;
    // What may be the beginning of a boundary is not given away.
    const std::size_t tail = std::min(text.size(), delimiter_.size() - 1);
    for (std::size_t from = text.size() - tail; from < text.size(); ++from) {
        if (std::string_view{delimiter_}.starts_with(text.substr(from))) return from;
    }
    return text.size();
}

// The window begins with a boundary. False if it is the last one.
task<io_result<bool>> multipart_reader::pass_boundary() {
    for (;;) {
        const std::string_view behind = gyre::text_of(window_.data()).substr(delimiter_.size());
        if (behind.starts_with("--")) {
            window_.consume(delimiter_.size() + 2);
            co_return io_result<bool>{false};
        }
        // RFC 2046, 5.1.1: blanks may stand behind a boundary.
        const std::size_t after = std::min(behind.find_first_not_of(" \t"), behind.size());
        const std::string_view end = behind.substr(after);
        if (end.starts_with("\r\n")) {
            window_.consume(delimiter_.size() + after + 2);
            co_return io_result<bool>{true};
        }
        const bool may_go_on = end.empty() || end == "\r" || behind == "-";
        if (!may_go_on || after > boundary_bytes_max) co_return io_result<bool>{errc::malformed};
        const io_result<> more = co_await fill();
        if (!more.ok()) co_return io_result<bool>{more.error()};
    }
}

task<io_result<part_head>> multipart_reader::read_head() {
    part_head head;
    std::size_t bytes = 0;
    for (;;) {
        const std::string_view text = gyre::text_of(window_.data());
        const std::size_t end = text.find("\r\n");
        if (end == std::string_view::npos) {
            if (text.size() > limits_.head_bytes_max) {
                co_return io_result<part_head>{errc::limit_exceeded};
            }
            const io_result<> more = co_await fill();
            if (!more.ok()) co_return io_result<part_head>{more.error()};
            continue;
        }
        bytes += end + 2;
        if (bytes > limits_.head_bytes_max) co_return io_result<part_head>{errc::limit_exceeded};
        const std::string_view line = text.substr(0, end);
        if (line.empty()) break;
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) co_return io_result<part_head>{errc::malformed};
        if (head.fields.size() == limits_.fields_max) {
            co_return io_result<part_head>{errc::limit_exceeded};
        }
        head.fields.add(line.substr(0, colon), trimmed(line.substr(colon + 1)));
        if (head.fields.refused()) co_return io_result<part_head>{errc::malformed};
        window_.consume(end + 2);
    }
    // The line end in front of the content stays: a boundary that follows at once begins with it.
    const std::string_view disposition = head.fields.value_or("content-disposition");
    head.name = form_parameter_of(disposition, "name").value_or(std::string{});
    head.file_name = form_parameter_of(disposition, "filename");
    co_return io_result<part_head>{std::move(head)};
}

task<io_result<std::optional<part_head>>> multipart_reader::next() {
    using result = io_result<std::optional<part_head>>;
    if (at_ == place::over) co_return result{};
    // To the next boundary.
    for (;;) {
        bool follows = false;
        window_.consume(data_at_hand(follows));
        if (follows) break;
        const io_result<> more = co_await fill();
        if (!more.ok()) co_return result{more.error()};
    }
    const io_result<bool> another = co_await pass_boundary();
    if (!another.ok()) co_return result{another.error()};
    if (!another.value()) {
        at_ = place::over;
        co_return result{};
    }
    if (++parts_ > limits_.parts_max) co_return result{errc::limit_exceeded};
    io_result<part_head> head = co_await read_head();
    if (!head.ok()) co_return result{head.error()};
    at_ = place::part;
    fresh_ = true;
    co_return result{std::optional<part_head>{head.take()}};
}

task<io_result<std::size_t>> multipart_reader::read_some(mutable_buffer into) {
    for (;;) {
        if (at_ != place::part) co_return io_result<std::size_t>{errc::eof};
        bool follows = false;
        std::size_t size = data_at_hand(follows);
        if (fresh_ && (size >= 2 || follows)) {
            // The empty line's own end, unless it belongs to the boundary of an empty part.
            fresh_ = false;
            if (size >= 2) {
                window_.consume(2);
                size -= 2;
            }
        }
        if (!fresh_ && size > 0) {
            size = std::min(size, into.size());
            std::memcpy(into.data(), window_.data().data(), size);
            window_.consume(size);
            co_return io_result<std::size_t>{size};
        }
        if (follows) co_return io_result<std::size_t>{errc::eof};
        const io_result<> more = co_await fill();
        if (!more.ok()) co_return io_result<std::size_t>{more.error()};
    }
}

task<io_result<std::string>> multipart_reader::read_all(std::size_t bytes_max) {
    return gyre::read_all(*this, bytes_max);
}

}  // namespace gyre::http
