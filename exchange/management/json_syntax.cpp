// SPDX-License-Identifier: BSL-1.0
//
// A listener of the parser's: see json_syntax.hpp.
#include <exchange/management/json_syntax.hpp>

#include <set>
#include <string>

namespace exchange {
namespace {

using json = nlohmann::json;

// The parser's handler, in the form that it wants. Returning false ends the parse.
class syntax_check {
public:
    explicit syntax_check(std::vector<config_error>& errors) : errors_{errors} {}

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(json::number_integer_t) { return true; }
    bool number_unsigned(json::number_unsigned_t) { return true; }
    bool number_float(json::number_float_t, const json::string_t&) { return true; }
    bool string(json::string_t&) { return true; }
    bool binary(json::binary_t&) { return true; }
    bool start_array(std::size_t) { return true; }
    bool end_array() { return true; }
    bool start_object(std::size_t) {
        keys_.emplace_back();
        return true;
    }
    bool end_object() {
        keys_.pop_back();
        return true;
    }
    bool key(json::string_t& name) {
        if (!keys_.back().insert(name).second)
            errors_.push_back({"", "the key \"" + name + "\" is there twice in one object"});
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
        // "[json.exception.parse_error.101] parse error at line 3, column 1: ...": as from the first word.
        const std::string_view text = error.what();
        const std::size_t begin = text.find("parse error");
        errors_.push_back(
            {"", std::string{text.substr(begin == std::string_view::npos ? 0 : begin)}});
        return false;
    }

private:
    std::vector<config_error>& errors_;
    std::vector<std::set<std::string>> keys_;  // Of the objects that are open.
};

}  // namespace

nlohmann::json parse_json(std::string_view text, std::vector<config_error>& errors) {
    constexpr bool strict = true;
    constexpr bool with_comments = true;
    constexpr bool throwing = false;
    syntax_check check{errors};
    if (!json::sax_parse(text, &check, json::input_format_t::json, strict, with_comments) ||
        !errors.empty())
        return {};
    return json::parse(text, nullptr, throwing, with_comments);
}

}  // namespace exchange
