// SPDX-License-Identifier: BSL-1.0
//
// How a password is compared with what is kept of it.
//
// What is kept is a salted hash, and which one is not this layer's: management/password_hash.hpp has the
// real one, and tests compare plain text, which costs nothing.
#pragma once

#include <string>
#include <string_view>

namespace exchange {

/// Whether a password is the one that `secret` was made of. Takes as long for a wrong one as for a right one.
using password_check = bool (*)(std::string_view password, const std::string& secret) noexcept;

/// Whether two texts are the same; how long it takes tells only how long `given` is.
[[nodiscard]] constexpr bool is_same_text(std::string_view given, std::string_view kept) noexcept {
    unsigned differ = given.size() == kept.size() ? 0U : 1U;
    for (std::size_t each = 0; each < given.size(); ++each) {
        const char other = kept.empty() ? '\0' : kept[each % kept.size()];
        differ |= static_cast<unsigned>(static_cast<unsigned char>(given[each] ^ other));
    }
    return differ == 0;
}

/// Of secrets that are the passwords themselves: for tests and measurements.
[[nodiscard]] inline bool is_plain_password(std::string_view password,
                                            const std::string& secret) noexcept {
    return is_same_text(password, secret);
}

}  // namespace exchange
