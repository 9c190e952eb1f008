// SPDX-License-Identifier: BSL-1.0
//
// One object of a configuration while it is being read: the keys that are known, and those that are
// not.
//
// Each value is read by its key into the member that it sets, which keeps its default if the key is not
// there. What is wrong is noted with its place, and reading goes on, so that one run finds everything.
#pragma once

#include <exchange/codec/padded_text.hpp>
#include <exchange/management/config.hpp>
#include <exchange/management/words.hpp>

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace exchange {

/// Numbers that are allowed, both ends included.
struct json_range {
    std::int64_t least = 0;
    std::int64_t most = std::numeric_limits<std::uint32_t>::max();
};

inline constexpr json_range any_price{-price_ticks_max, price_ticks_max};
inline constexpr json_range any_value{0, std::numeric_limits<std::int64_t>::max()};

class json_section {
public:
    using json = nlohmann::json;

    /// @param  of      Borrowed; outlives this. What is no object is an error.
    /// @param  errors  Borrowed, as above.
    json_section(const json& of, std::string where, std::vector<config_error>& errors);

    /// Is the key there? If `needed` and it is not, that is an error.
    [[nodiscard]] bool has(const char* key);
    [[nodiscard]] bool needs(const char* key);

    /// A whole number within `range`.
    template <std::integral Number>
    void read(const char* key, Number& into, json_range range = {}) {
        if (has(key)) into = static_cast<Number>(number_at(key, range, into));
    }
    /// A number that identifies something, and is not 0.
    template <class Id>
        requires std::is_enum_v<Id>
    void read_id(const char* key, Id& into) {
        if (!needs(key)) return;
        constexpr std::int64_t most = std::numeric_limits<std::underlying_type_t<Id>>::max();
        into = static_cast<Id>(number_at(key, {1, most}, number(into)));
    }
    /// One of the words of an enumeration.
    template <class Enum>
        requires std::is_enum_v<Enum>
    void read_word(const char* key, Enum& into) {
        read_one_of(key, into, meaning_of<Enum>, all_words<Enum>());
    }
    /// A word that `find` knows, of which `all` are there.
    template <class Value, class Find>
    void read_one_of(const char* key, Value& into, const Find& find, const std::string& all) {
        const std::optional<std::string> text = text_at(key);
        if (!text) return;
        if (const auto meant = find(*text)) into = *meant;
        else wrong(key, "expected one of " + all + said(key));
    }
    /// A number of milliseconds, at least one.
    void read_milliseconds(const char* key, gyre::duration& into);
    /// Printable text of 1 to `Size` characters, without a blank at either end.
    template <std::size_t Size>
    void read_text(const char* key, padded_text<Size>& into) {
        if (const std::string text = padded_at(key, Size); !text.empty())
            into = std::string_view{text};
    }
    void read_string(const char* key, std::string& into);
    /// An array of texts; none if the key is not there.
    [[nodiscard]] std::vector<std::string> texts(const char* key);
    /// The name of a file, which is looked for in `folder` unless it is an absolute path.
    void read_path(const char* key, std::string& into, const std::string& folder);
    void read_endpoint(const char* key, gyre::endpoint& into);

    /// Calls `body(section)` for an object.
    template <class Body>
    void in_object(const char* key, const Body& body) {
        if (!has(key)) return;
        json_section inner{of_.at(key), place(key), errors_};
        body(inner);
        inner.finish();
    }
    /// Calls `body(section)` for each object of an array.
    template <class Body>
    void for_each(const char* key, const Body& body) {
        if (!has(key)) return;
        const json& all = of_.at(key);
        if (!all.is_array()) return wrong(key, "expected an array" + said(key));
        for (std::size_t each = 0; each < all.size(); ++each) {
            json_section inner{all[each], place(key) + "[" + std::to_string(each) + "]", errors_};
            body(inner);
            inner.finish();
        }
    }

    /// Reports the keys that no read has asked for.
    void finish();

    /// Notes what is wrong with the value of `key`.
    void wrong(const char* key, std::string what);
    [[nodiscard]] const std::string& where() const noexcept { return where_; }

    /// " but found 7": what stands there instead.
    [[nodiscard]] std::string said(const char* key) const;

private:
    [[nodiscard]] std::string place(const char* key) const;
    [[nodiscard]] std::int64_t number_at(const char* key, json_range range, std::int64_t otherwise);
    /// Nothing if the key is not there, or its value is no text, which is noted.
    [[nodiscard]] std::optional<std::string> text_at(const char* key);
    [[nodiscard]] std::string padded_at(const char* key, std::size_t most);

    const json& of_;
    std::string where_;
    std::vector<config_error>& errors_;
    std::set<std::string, std::less<>> known_;  // Keys that were asked for.
};

}  // namespace exchange
