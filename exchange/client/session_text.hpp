// SPDX-License-Identifier: BSL-1.0
//
// What a login can say, for every client that is opened with a name and a password.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace exchange {

/// Is `text` printable, without blanks, and short enough?
[[nodiscard]] inline bool fits_in_session(std::string_view text, std::size_t characters_max) {
    return text.size() <= characters_max &&
           std::ranges::all_of(text, [](char each) { return each > ' ' && each <= '~'; });
}

}  // namespace exchange
