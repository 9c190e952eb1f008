// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/form.hpp>

#include <gyre/http/percent.hpp>
#include <http/text.hpp>

#include <utility>

namespace gyre::http {
namespace {

// One parameter from the front of `rest`, which begins behind a semicolon. A semicolon in quotes separates
// nothing.
std::string_view take_parameter(std::string_view& rest) noexcept {
    bool quoted = false;
    std::size_t at = 0;
    for (; at < rest.size(); ++at) {
        if (quoted && rest[at] == '\\') ++at;
        else if (rest[at] == '"') quoted = !quoted;
        else if (rest[at] == ';' && !quoted) break;
    }
    const std::size_t end = at < rest.size() ? at : rest.size();
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(end < rest.size() ? end + 1 : end);
    return trimmed(one);
}

std::string unquoted(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string{text};
    std::string plain;
    for (std::size_t at = 1; at + 1 < text.size(); ++at) {
        if (text[at] == '\\' && at + 2 < text.size()) ++at;
        plain.push_back(text[at]);
    }
    return plain;
}

}  // namespace

io_result<form> form::parse(std::string_view text, std::size_t pairs_max) {
    form parsed;
    encoded_pairs pairs{text};
    while (const auto each = pairs.next()) {
        if (parsed.pairs_.size() == pairs_max) return errc::limit_exceeded;
        io_result<std::string> name = percent_decoded(each->name, plus_sign::is_space);
        io_result<std::string> value = percent_decoded(each->value, plus_sign::is_space);
        if (!name.ok() || !value.ok()) return errc::malformed;
        parsed.pairs_.push_back({name.take(), value.take()});
    }
    return parsed;
}

form& form::add(std::string_view name, std::string_view value) {
    pairs_.push_back({std::string{name}, std::string{value}});
    return *this;
}

std::optional<std::string_view> form::find(std::string_view name) const noexcept {
    for (const pair& each : pairs_) {
        if (each.name == name) return each.value;
    }
    return std::nullopt;
}

std::string form::encoded() const {
    std::string text;
    for (const pair& each : pairs_) {
        if (!text.empty()) text.push_back('&');
        text.append(percent_encoded(each.name)).append("=").append(percent_encoded(each.value));
    }
    return text;
}

task<io_result<form>> read_form(const request& from, std::size_t bytes_max) {
    const bool is_form = has_content_type(from.fields, "application/x-www-form-urlencoded");
    if (!is_form) co_return io_result<form>{errc::not_supported};
    io_result<std::string> text = co_await from.body.read_all(bytes_max);
    if (!text.ok()) co_return io_result<form>{text.error()};
    co_return form::parse(text.value());
}

bool has_content_type(const fields& of, std::string_view type) noexcept {
    const std::string_view value = of.value_or("content-type");
    return equal_without_case(trimmed(value.substr(0, value.find(';'))), type);
}

std::optional<std::string> parameter_of(std::string_view value, std::string_view name) {
    std::string_view rest = value;
    take_parameter(rest);  // What the parameters are of.
    while (!rest.empty()) {
        const std::string_view one = take_parameter(rest);
        const std::size_t equals = one.find('=');
        if (equals == std::string_view::npos) continue;
        if (equal_without_case(one.substr(0, equals), name))
            return unquoted(one.substr(equals + 1));
    }
    return std::nullopt;
}

}  // namespace gyre::http
