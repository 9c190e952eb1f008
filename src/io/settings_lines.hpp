// SPDX-License-Identifier: BSL-1.0
//
// The form that files such as hosts(5) and services(5) have: words in lines, and comments behind a '#'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {

/// Calls `take(words)` for each line that has words. They point into `text` and last as long as the call.
template <class Take>
void for_each_line(std::string_view text, Take take) {
    constexpr std::string_view blanks = " \t\r\v\f";
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        line = line.substr(0, line.find('#'));
        words.clear();
        for (;;) {
            const std::size_t begin = line.find_first_not_of(blanks);
            if (begin == std::string_view::npos) break;
            line.remove_prefix(begin);
            const std::string_view word = line.substr(0, line.find_first_of(blanks));
            words.push_back(word);
            line.remove_prefix(word.size());
        }
        if (!words.empty()) take(words);
    }
}

/// Names of hosts compare as if all of their letters were small (RFC 4343).
[[nodiscard]] inline std::string in_small_letters(std::string_view name) {
    std::string made{name};
    for (char& each : made) {
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    }
    return made;
}

}  // namespace gyre
