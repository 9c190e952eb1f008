// SPDX-License-Identifier: BSL-1.0
//
// What is a hash, which password it is of, and what it costs to say so.
#include <exchange/management/password_hash.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;

TEST_CASE("a password is known by its hash, and no other is") {
    const std::string hash = hash_password("secret");
    CHECK(hash.starts_with("$5$rounds=1000$"));
    CHECK(hash.size() == 75);
    CHECK(hash != hash_password("secret"));  // Another salt.
    CHECK(is_hashed_password("secret", hash));
    CHECK_FALSE(is_hashed_password("secreu", hash));
    CHECK_FALSE(is_hashed_password("", hash));
}

TEST_CASE("what is no hash is the hash of nothing") {
    for (const char* const text : {"", "secret", "$5$rounds=1000$salt", "*", "$9$x$y"}) {
        CAPTURE(text);
        CHECK_FALSE(is_hashed_password("secret", text));
        CHECK_FALSE(is_hashed_password(text, text));
    }
    CHECK_FALSE(is_hashed_password("", dummy_hash()));
    CHECK_FALSE(is_hashed_password("secret", dummy_hash()));
}

TEST_CASE("what is wrong with a hash is told") {
    CHECK(find_fault(hash_password("x")) == hash_fault::none);
    CHECK(find_fault("secret") == hash_fault::unknown_method);
    CHECK(find_fault("") == hash_fault::unknown_method);
    CHECK(find_fault("$9$salt$hash") == hash_fault::unknown_method);
    CHECK(find_fault("$5$rounds=1000$salt") == hash_fault::incomplete);
    CHECK(find_fault("$5$rounds=1000$salt$") == hash_fault::incomplete);
    CHECK(find_fault("$5$rounds=1000000$salt$x") == hash_fault::costly);
    CHECK(find_fault("$y$j9T$F5Jx5fExrKuPp53xLKQ..1$HiE6YXrOXRe5CWuennpleK1wuwUvXfyn71SgHHm8R7C") ==
          hash_fault::costly);
    CHECK(find_fault("$2b$05$abcdefghijklmnopqrstuu540KChSyy1IU7.GqewuIWa/cqMURiLC") ==
          hash_fault::costly);
}
