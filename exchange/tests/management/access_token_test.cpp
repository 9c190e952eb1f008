// SPDX-License-Identifier: BSL-1.0
//
// Tokens: as random as can be sent, and known by their hash alone.
#include <exchange/management/access_token.hpp>

#include <exchange/management/password_file.hpp>
#include <exchange/management/password_hash.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace exchange;

TEST_CASE("a token can be sent as a password, and is the one that its hash is of") {
    const access_token made = make_access_token();

    CHECK(made.secret.size() == 10);
    CHECK(to_soup_password(made.secret).has_value());
    CHECK(find_fault(made.hash) == hash_fault::none);
    CHECK(is_hashed_password(made.secret, made.hash));
    CHECK(made.hash.find(made.secret) == std::string::npos);
}

TEST_CASE("no two tokens are the same, and their characters are of all kinds") {
    std::set<std::string> all;
    std::set<char> characters;
    for (int each = 0; each < 100; ++each) {
        const access_token made = make_access_token();
        all.insert(made.secret);
        characters.insert(made.secret.begin(), made.secret.end());
    }

    CHECK(all.size() == 100);
    CHECK(characters.size() > 50);  // Of 64, in a thousand draws.
}
