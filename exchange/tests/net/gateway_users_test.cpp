// SPDX-License-Identifier: BSL-1.0
//
// Secrets, and how much is looked at before one is believed; rates, and who shares them.
#include <exchange/net/application/gateway_users.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

constexpr gyre::time_point begin{1h};

int compared = 0;

bool counted(std::string_view given, const std::string& kept) noexcept {
    ++compared;
    return given == kept;
}

gateway_users_options three_users() {
    gateway_users_options options;
    options.users = {
        {.username = "alice", .secrets = {"password", "token1", "token2"}},
        {.username = "bob", .secrets = {"password"}, .account = account_id{1}},
        {.username = "carol", .secrets = {"token3"}, .account = account_id{1}},
    };
    options.passwords = counted;
    options.dummy_secret = "dummy";
    return options;
}

}  // namespace

TEST_CASE("any secret of a user lets it in, and no other one") {
    gateway_users users{three_users()};

    for (const char* const each : {"password", "token1", "token2"})
        CHECK(users.find("alice", each) != nullptr);
    CHECK(users.find("alice", "token3") == nullptr);
    CHECK(users.find("carol", "token3") != nullptr);
    CHECK(users.find("bob", "") == nullptr);
    CHECK(users.find("nobody", "password") == nullptr);
}

TEST_CASE("what stands in for a missing secret lets nobody in") {
    gateway_users users{three_users()};

    CHECK(users.find("bob", "dummy") == nullptr);
    CHECK(users.find("nobody", "dummy") == nullptr);
}

TEST_CASE("every login compares as many secrets, whoever it is and whichever is right") {
    gateway_users users{three_users()};
    for (const auto& [name, secret] : {std::pair{"alice", "password"}, std::pair{"alice", "token2"},
                                       std::pair{"bob", "password"}, std::pair{"bob", "wrong"},
                                       std::pair{"nobody", "password"}}) {
        compared = 0;
        static_cast<void>(users.find(name, secret));
        CHECK(compared == 3);
    }
}

TEST_CASE("a session has its own rate, and refills as time goes by") {
    gateway_users_options options = three_users();
    options.users[0].rates.entries = {.per_second_max = 10, .burst_max = 2};
    gateway_users users{options};
    auto* const alice = users.find("alice", "password");
    REQUIRE(alice != nullptr);

    CHECK(users.let_through(*alice, message_class::entry, begin));
    CHECK(users.let_through(*alice, message_class::entry, begin));
    CHECK_FALSE(users.let_through(*alice, message_class::entry, begin));
    CHECK_FALSE(users.let_through(*alice, message_class::entry, begin + 99ms));
    CHECK(users.let_through(*alice, message_class::entry, begin + 100ms));
}

TEST_CASE("who has no rate sends as much as it likes") {
    gateway_users users{three_users()};
    auto* const bob = users.find("bob", "password");
    REQUIRE(bob != nullptr);
    for (int each = 0; each < 10'000; ++each)
        CHECK(users.let_through(*bob, message_class::entry, begin));
}

TEST_CASE(
    "sessions of an account share its rate, and what that refuses costs the session nothing") {
    gateway_users_options options = three_users();
    options.accounts = {{account_id{1}, {.entries = {.per_second_max = 10, .burst_max = 3}}}};
    options.users[2].rates.entries = {.per_second_max = 10, .burst_max = 2};
    gateway_users users{options};
    auto* const bob = users.find("bob", "password");
    auto* const carol = users.find("carol", "token3");
    REQUIRE(bob != nullptr);
    REQUIRE(carol != nullptr);

    for (int each = 0; each < 3; ++each)
        CHECK(users.let_through(*bob, message_class::entry, begin));
    CHECK_FALSE(users.let_through(*bob, message_class::entry, begin));
    for (int each = 0; each < 5; ++each)
        CHECK_FALSE(users.let_through(*carol, message_class::entry, begin));
    CHECK(users.let_through(*carol, message_class::entry, begin + 300ms));
    CHECK(
        users.let_through(*carol, message_class::entry, begin + 300ms));  // Its own burst is whole.
}

TEST_CASE("cancels have a rate of their own") {
    gateway_users_options options = three_users();
    options.users[0].rates = {.entries = {.per_second_max = 1, .burst_max = 1},
                              .cancels = {.per_second_max = 1, .burst_max = 2}};
    gateway_users users{options};
    auto* const alice = users.find("alice", "password");
    REQUIRE(alice != nullptr);

    CHECK(users.let_through(*alice, message_class::entry, begin));
    CHECK_FALSE(users.let_through(*alice, message_class::entry, begin));
    CHECK(users.let_through(*alice, message_class::cancel, begin));
    CHECK(users.let_through(*alice, message_class::cancel, begin));
    CHECK_FALSE(users.let_through(*alice, message_class::cancel, begin));
}
