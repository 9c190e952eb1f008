// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/management/access_token.hpp>

#include <exchange/management/password_hash.hpp>

#include <random>
#include <string_view>

namespace exchange {

access_token make_access_token() {
    static constexpr std::string_view letters =
        "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static_assert(letters.size() == 64, "each is as likely as any other");
    constexpr std::size_t characters = 10;
    std::random_device chance;
    access_token made;
    for (std::size_t each = 0; each < characters; ++each)
        made.secret += letters[chance() % letters.size()];
    made.hash = hash_password(made.secret);
    return made;
}

}  // namespace exchange
