// SPDX-License-Identifier: BSL-1.0
//
// The grammar that the fields of an opening handshake share: lists of tokens, with parameters or without.
//
// It looks at one value after another and keeps nothing. What does not follow the grammar is told apart
// from what ends, so that a damaged offer is not taken for a shorter one.
#pragma once

#include <gyre/http/fields.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace gyre::websocket {

/// One value, from its beginning on. Borrows its text.
class header_scanner {
public:
    explicit header_scanner(std::string_view text) noexcept : rest_{text} { skip_blanks(); }

    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

    /// Takes `wanted` and the blanks behind it, if it comes next.
    bool take(char wanted) noexcept {
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        skip_blanks();
        return true;
    }

    /// Takes a token and the blanks behind it; empty if there is none.
    std::string_view token() noexcept {
        std::size_t size = 0;
        while (size < rest_.size() && http::is_token(rest_.substr(size, 1))) ++size;
        return cut(size);
    }

    /// Takes a token or a quoted string, without its quotes; empty if there is none. One with a backslash
    /// is none: what is quoted here are tokens and numbers, which need no such thing.
    std::string_view value() noexcept {
        if (rest_.empty() || rest_.front() != '"') return token();
        const std::size_t end = rest_.find_first_of("\"\\", 1);
        if (end == std::string_view::npos || rest_[end] != '"') return {};
        const std::string_view quoted = cut(end + 1);
        return quoted.substr(1, quoted.size() - 2);
    }

    /// Goes behind the next comma that is in no quotes, or to the end.
    void skip_element() noexcept {
        bool quoted = false;
        std::size_t at = 0;
        for (; at < rest_.size() && (quoted || rest_[at] != ','); ++at) {
            if (rest_[at] == '"') quoted = !quoted;
        }
        rest_.remove_prefix(std::min(at + 1, rest_.size()));
        skip_blanks();
    }

private:
    std::string_view cut(std::size_t count) noexcept {
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        skip_blanks();
        return taken;
    }
    void skip_blanks() noexcept {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
            rest_.remove_prefix(1);
        }
    }

    std::string_view rest_;
};

/// Calls `visit(element)` for each token of a list, as of the values of `Connection`. What is no token
/// ends an element that is left out.
template <class Visitor>
void for_each_token(std::string_view list, Visitor&& visit) {
    header_scanner scan{list};
    while (!scan.at_end()) {
        const std::string_view element = scan.token();
        const bool whole = scan.at_end() || scan.take(',');
        if (whole && !element.empty()) visit(element);
        if (!whole) scan.skip_element();
    }
}

}  // namespace gyre::websocket
