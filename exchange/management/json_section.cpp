// SPDX-License-Identifier: BSL-1.0
//
// Values and complaints: see json_section.hpp.
#include <exchange/management/json_section.hpp>

#include <algorithm>
#include <filesystem>

namespace exchange {

json_section::json_section(const json& of, std::string where, std::vector<config_error>& errors)
    : of_{of}, where_{std::move(where)}, errors_{errors} {
    if (!of_.is_object()) errors_.push_back({where_, "expected an object in { }"});
}

bool json_section::has(const char* key) {
    known_.insert(key);
    return of_.is_object() && of_.contains(key);
}

bool json_section::needs(const char* key) {
    if (has(key)) return true;
    if (of_.is_object()) wrong(key, "is missing");
    return false;
}

void json_section::read_milliseconds(const char* key, gyre::duration& into) {
    if (!has(key)) return;
    constexpr json_range range{1, 24 * 3600 * 1000};
    using std::chrono::milliseconds;
    const auto before = std::chrono::duration_cast<milliseconds>(into).count();
    into = milliseconds{number_at(key, range, before)};
}

std::vector<std::string> json_section::texts(const char* key) {
    std::vector<std::string> made;
    if (!has(key)) return made;
    const json& all = of_.at(key);
    const auto is_text = [](const json& it) { return it.is_string(); };
    if (!all.is_array() || !std::ranges::all_of(all, is_text)) {
        wrong(key, "expected an array of texts" + said(key));
        return made;
    }
    for (const json& each : all) made.push_back(each.get<std::string>());
    return made;
}

void json_section::read_string(const char* key, std::string& into) {
    if (auto text = text_at(key)) into = std::move(*text);
}

void json_section::read_path(const char* key, std::string& into, const std::string& folder) {
    const std::optional<std::string> name = text_at(key);
    if (!name) return;
    if (name->empty()) return wrong(key, "expected the name of a file" + said(key));
    into = (std::filesystem::path{folder} / *name).string();
}

void json_section::read_endpoint(const char* key, gyre::endpoint& into) {
    const std::optional<std::string> text = text_at(key);
    if (!text) return;
    const auto parsed = gyre::endpoint::parse(*text);
    const auto kind = parsed.ok() ? parsed.value().kind() : gyre::endpoint::family::none;
    const bool has_port = kind == gyre::endpoint::family::v4 || kind == gyre::endpoint::family::v6;
    if (has_port) into = parsed.value();
    else wrong(key, R"(expected an address and a port, such as "127.0.0.1:7001")" + said(key));
}

void json_section::finish() {
    if (!of_.is_object()) return;
    for (const auto& item : of_.items()) {
        if (known_.contains(item.key())) continue;
        std::string keys;
        for (const std::string& each : known_) keys += (keys.empty() ? "" : ", ") + each;
        wrong(item.key().c_str(), "unknown key; there are " + keys);
    }
}

void json_section::wrong(const char* key, std::string what) {
    errors_.push_back({place(key), std::move(what)});
}

std::string json_section::said(const char* key) const {
    // What is wrong with it may be little.
    if (std::string_view{key}.ends_with("password")) return "";
    return ", but found " + of_.at(key).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string json_section::place(const char* key) const {
    return where_.empty() ? key : where_ + "." + key;
}

std::int64_t json_section::number_at(const char* key, json_range range, std::int64_t otherwise) {
    const json& value = of_.at(key);
    const bool huge = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(any_value.most);
    if (value.is_number_integer() && !huge) {
        const auto found = value.get<std::int64_t>();
        if (found >= range.least && found <= range.most) return found;
    }
    wrong(key, "expected a whole number from " + std::to_string(range.least) + " to " +
                   std::to_string(range.most) + said(key));
    return otherwise;
}

std::optional<std::string> json_section::text_at(const char* key) {
    if (!has(key)) return std::nullopt;
    const json& value = of_.at(key);
    if (value.is_string()) return value.get<std::string>();
    wrong(key, R"(expected text in " ")" + said(key));
    return std::nullopt;
}

std::string json_section::padded_at(const char* key, std::size_t most) {
    if (!needs(key)) return {};
    const std::optional<std::string> found = text_at(key);
    if (!found) return {};
    const std::string& text = *found;
    const bool printable =
        std::ranges::all_of(text, [](char it) { return it >= ' ' && it <= '~'; });
    const bool trimmed = !text.empty() && text.front() != ' ' && text.back() != ' ';
    if (printable && trimmed && text.size() <= most) return text;
    wrong(key, "expected 1 to " + std::to_string(most) +
                   " printable characters, without a blank at either end" + said(key));
    return {};
}

}  // namespace exchange
