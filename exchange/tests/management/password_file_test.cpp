// SPDX-License-Identifier: BSL-1.0
//
// What a client's file of passwords says, and every way in which it can be wrong.
#include <exchange/management/password_file.hpp>
#include <exchange/management/text_file.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

using namespace exchange;

namespace {

std::string all_messages(const passwords_reading& of) {
    std::string text;
    for (const config_error& each : of.errors) text += each.message() + '\n';
    return text;
}

}  // namespace

TEST_CASE("users have a password of their own or the environment's, and participants a session") {
    const passwords_reading read = read_passwords(
        R"({"users": [{"username": "alice", "password": "secret", "session": 1},
                      {"username": "ops"}]})",
        "operator");
    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
    REQUIRE(read.users.size() == 2);
    CHECK(read.users[0].username == soup_username{"alice"});
    CHECK(read.users[0].password == soup_password{"secret"});
    CHECK(read.users[0].session == session_id{1});
    CHECK(read.users[1].password == soup_password{"operator"});
    CHECK(read.users[1].session == session_id::none);
}

TEST_CASE("everything that is wrong with a file of passwords is told") {
    CHECK(all_messages(read_passwords("{}")) == "users: is missing\n");
    CHECK(all_messages(read_passwords(R"({"users": [{"username": "a"}]})")) ==
          "users[0].password: is missing\n");
    CHECK(all_messages(read_passwords(R"({"users": [{"username": "a"}]})", "12345678901"))
              .starts_with("users[0].password: the environment's EXCHANGE_PASSWORD"));
    CHECK(all_messages(read_passwords(R"({"users": [{"username": "a", "password": "x"},
                                                    {"username": "a", "password": "y"}]})"))
              .starts_with("users[1].username: another user has this name"));
    CHECK(all_messages(
              read_passwords(R"({"users": [{"username": "a", "password": "x", "role": 1}]})"))
              .starts_with("users[0].role: unknown key"));
    const std::string mistyped =
        all_messages(read_passwords(R"({"users": [{"username": "a", "password": 271828}]})"));
    CHECK(mistyped.starts_with("users[0].password: "));
    CHECK(mistyped.find("271828") == std::string::npos);  // It may be all but right.
    CHECK(all_messages(load_passwords("/nowhere")) == "cannot be read\n");
}

TEST_CASE("a file that others can read is told from one that they cannot") {
    namespace files = std::filesystem;
    const files::path path = files::temp_directory_path() /
                             ("exchange_passwords_" + std::to_string(std::random_device{}()));
    {
        std::ofstream{path} << R"({"users": []})";
    }
    files::permissions(path, files::perms::owner_read | files::perms::owner_write);
    CHECK_FALSE(load_passwords(path).open_to_others);
    files::permissions(path, files::perms::others_read, files::perm_options::add);
    CHECK(load_passwords(path).open_to_others);
    CHECK(read_text_file(path) == R"({"users": []})");
    files::remove(path);
    CHECK_FALSE(is_open_to_others(path));
}
