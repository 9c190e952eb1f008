// SPDX-License-Identifier: BSL-1.0
//
// The grammar of RFC 8259, as far as messages need it: see json_text.hpp.
#include <exchange/codec/json_text.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace exchange {

namespace {

constexpr bool printable(char c) noexcept { return c >= ' ' && c <= '~'; }
constexpr bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

template <class Number>
std::optional<Number> parsed(std::string_view text) noexcept {
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

template <class Number>
std::string_view printed(Number value, std::array<char, 20>& into) noexcept {
    const auto written = std::to_chars(into.data(), into.data() + into.size(), value);
    return {into.data(), written.ptr};
}

}  // namespace

std::optional<std::uint64_t> parse_natural(std::string_view text) noexcept {
    return parsed<std::uint64_t>(text);
}
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
    return parsed<std::int64_t>(text);
}

std::string_view describe(json_fault fault) noexcept {
    switch (fault) {
        case json_fault::none: return "nothing is wrong";
        case json_fault::not_json: return "this is not JSON";
        case json_fault::too_long: return "the string is too long";
        case json_fault::not_printable: return "only printable ASCII is understood";
        case json_fault::message_not_first:
            return "an object that begins with \"message\" is expected";
        case json_fault::unknown_message: return "there is no such message";
        case json_fault::unknown_field: return "the message has no such field";
        case json_fault::duplicate_field: return "the field is there twice";
        case json_fault::missing_field: return "the field is missing";
        case json_fault::wrong_type: return "the value is of another type";
        case json_fault::out_of_range: return "the value is out of range";
        case json_fault::unknown_name: return "the field has no such value";
        case json_fault::too_many_entries: return "the list is too long";
        case json_fault::wrong_sequence: return "another message is due";
    }
    return "unknown";
}

// -------- Writing --------

void json_writer::put(std::string_view text) noexcept {
    if (full_ || text.size() > into_.size() - size_) {
        full_ = true;
        return;
    }
    std::memcpy(into_.data() + size_, text.data(), text.size());
    size_ += text.size();
}

void json_writer::open(char bracket) noexcept {
    put({&bracket, 1});
    first_ = true;
}

void json_writer::close(char bracket) noexcept {
    put({&bracket, 1});
    first_ = false;
}

void json_writer::item() noexcept {
    if (!first_) put(",");
    first_ = false;
}

void json_writer::key(std::string_view name) noexcept {
    item();
    put("\"");
    put(name);
    put("\":");
}

void json_writer::text(std::string_view value) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    put("\"");
    while (!value.empty()) {
        const auto special = [](char c) { return !printable(c) || c == '"' || c == '\\'; };
        const auto plain =
            static_cast<std::size_t>(std::ranges::find_if(value, special) - value.begin());
        put(value.substr(0, plain));
        value = value.substr(plain);
        if (value.empty()) break;
        const auto code = static_cast<unsigned char>(value.front());
        const std::array<char, 6> escape{'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]};
        put({escape.data(), escape.size()});
        value = value.substr(1);
    }
    put("\"");
}

void json_writer::natural(std::uint64_t value) noexcept {
    std::array<char, 20> digits;
    put(printed(value, digits));
}

void json_writer::integer(std::int64_t value) noexcept {
    std::array<char, 20> digits;
    put(printed(value, digits));
}

void json_writer::quoted_natural(std::uint64_t value) noexcept {
    put("\"");
    natural(value);
    put("\"");
}

void json_writer::quoted_integer(std::int64_t value) noexcept {
    put("\"");
    integer(value);
    put("\"");
}

// -------- Reading --------

// RFC 8259, 2.
char json_cursor::peek() noexcept {
    const std::size_t next = text_.find_first_not_of(" \t\n\r", at_);
    at_ = std::min(next, text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
}

bool json_cursor::take(char wanted) noexcept {
    if (peek() != wanted || at_ == text_.size()) return false;
    ++at_;
    return true;
}

bool json_cursor::need(char wanted) noexcept {
    if (take(wanted)) return true;
    fail(json_fault::not_json);
    return false;
}

bool json_cursor::take_literal(std::string_view wanted) noexcept {
    static_cast<void>(peek());
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
}

// RFC 8259, 7.
std::optional<char> json_cursor::escaped() noexcept {
    const char kind = at_ < text_.size() ? text_[at_++] : '\0';
    if (kind == '"' || kind == '\\' || kind == '/') return kind;
    const bool control = std::string_view{"bfnrt"}.find(kind) != std::string_view::npos;
    if (kind != 'u' && !control) {
        fail(json_fault::not_json);
        return std::nullopt;
    }
    unsigned code = 0;  // Of a control, which is not printable.
    if (kind == 'u') {
        const std::string_view digits = text_.substr(at_, 4);
        const auto [stopped, failure] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (failure != std::errc{} || digits.size() < 4 || stopped != digits.data() + 4) {
            fail(json_fault::not_json);
            return std::nullopt;
        }
        at_ += 4;
    }
    if (code >= ' ' && code <= '~') return static_cast<char>(code);
    fail(json_fault::not_printable);
    return std::nullopt;
}

std::optional<std::string_view> json_cursor::key() noexcept {
    if (peek() != '"') fail(json_fault::not_json);
    const std::optional<std::string_view> name = fault_ == json_fault::none ? text() : std::nullopt;
    if (!name || !need(':')) return std::nullopt;
    return name;
}

std::optional<std::string_view> json_cursor::text() noexcept {
    if (!take('"')) {
        fail(peek() == 0 ? json_fault::not_json : json_fault::wrong_type);
        return std::nullopt;
    }
    std::size_t size = 0;
    for (;;) {
        if (at_ == text_.size()) {
            fail(json_fault::not_json);
            return std::nullopt;
        }
        char c = text_[at_++];
        if (c == '"') return std::string_view{string_.data(), size};
        if (c == '\\') {
            const std::optional<char> meant = escaped();
            if (!meant) return std::nullopt;
            c = *meant;
        } else if (!printable(c)) {
            fail(static_cast<unsigned char>(c) < ' ' ? json_fault::not_json
                                                     : json_fault::not_printable);
            return std::nullopt;
        }
        if (size == string_.size()) {
            fail(json_fault::too_long);
            return std::nullopt;
        }
        string_[size++] = c;
    }
}

// RFC 8259, 6; empty if there is none.
std::string_view json_cursor::number() noexcept {
    const char first = peek();
    if (first != '-' && !digit(first)) {
        fail(first == 0 ? json_fault::not_json : json_fault::wrong_type);
        return {};
    }
    const std::size_t begin = at_++;
    while (at_ < text_.size() && digit(text_[at_])) ++at_;
    if (at_ < text_.size() && std::string_view{".eE"}.find(text_[at_]) != std::string_view::npos) {
        fail(json_fault::wrong_type);
        return {};
    }
    const std::string_view found = text_.substr(begin, at_ - begin);
    const std::string_view digits = found.substr(first == '-' ? 1 : 0);
    if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) {
        fail(json_fault::not_json);
        return {};
    }
    return found;
}

std::optional<std::uint64_t> json_cursor::natural() noexcept {
    const std::string_view found = number();
    if (found.empty()) return std::nullopt;
    const std::optional<std::uint64_t> value = parse_natural(found);
    if (!value) fail(json_fault::out_of_range);
    return value;
}

std::optional<std::int64_t> json_cursor::integer() noexcept {
    const std::string_view found = number();
    if (found.empty()) return std::nullopt;
    const std::optional<std::int64_t> value = parse_integer(found);
    if (!value) fail(json_fault::out_of_range);
    return value;
}

}  // namespace exchange
