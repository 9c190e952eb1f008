// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/process_options.hpp>

#include <exchange/management/json_section.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace exchange;

namespace {

struct reading {
    process_options value;
    std::vector<config_error> errors;
};

reading read(const char* text, admin_commands known = admin_commands::none) {
    reading made;
    const nlohmann::json whole = nlohmann::json::parse(text);
    json_section top{whole, "", made.errors};
    read_process(top, made.value, known);
    top.finish();
    return made;
}

void refused(const char* text, const std::string& message) {
    INFO(text);
    const reading it = read(text);
    REQUIRE(it.errors.size() == 1);
    CHECK(it.errors[0].message() == message);
}

}  // namespace

TEST_CASE(
    "process_options: without a word there is no admin port, and the log tells of what is wrong") {
    const reading it = read("{}");
    CHECK(it.errors.empty());
    CHECK_FALSE(it.value.admin.wanted());
    CHECK(it.value.log == log_level::warning);
}

TEST_CASE("process_options: an admin port and a log") {
    const reading it = read(R"({"admin": {"at": "127.0.0.1:7021", "connections_max": 3,
        "answer_within_ms": 20}, "log": {"level": "debug"}})");
    CHECK(it.errors.empty());
    CHECK(it.value.admin.at.to_string() == "127.0.0.1:7021");
    CHECK(it.value.admin.connections_max == 3);
    CHECK(it.value.admin.answer_within == std::chrono::milliseconds{20});
    CHECK(it.value.log == log_level::debug);
}

TEST_CASE("process_options: other machines reach it only where the file says so") {
    refused(
        R"({"admin": {"at": "0.0.0.0:7021"}})",
        "admin.at: expected an address of this machine alone, or \"to_others\": 1, since anybody "
        "who reaches it may ask, but found \"0.0.0.0:7021\"");
    CHECK(read(R"({"admin": {"at": "0.0.0.0:7021", "to_others": 1}})").errors.empty());
    CHECK(read(R"({"admin": {"at": "[::1]:7021"}})").errors.empty());
}

TEST_CASE("process_options: what is wrong is said with its place") {
    refused(R"({"admin": {}})", "admin.at: is missing");
    refused(R"({"log": {"level": "loud"}})",
            "log.level: expected one of debug, info, warning, error, but found \"loud\"");
    refused(R"({"log": {"levels": "info"}})", "log.levels: unknown key; there are level");
}

TEST_CASE("process_options: commands are taken where there are any, from this machine alone") {
    const char* const wanted = R"({"admin": {"at": "127.0.0.1:7021", "commands": 1}})";
    CHECK(read(wanted, admin_commands::some).value.admin.commands);
    CHECK(read(wanted, admin_commands::some).errors.empty());
    CHECK_FALSE(
        read(R"({"admin": {"at": "127.0.0.1:7021"}})", admin_commands::some).value.admin.commands);
    CHECK(read(wanted).errors.size() == 1);  // An unknown key.
    const reading open = read(R"({"admin": {"at": "0.0.0.0:7021", "to_others": 1, "commands": 1}})",
                              admin_commands::some);
    REQUIRE(open.errors.size() == 1);
    CHECK(open.errors[0].message() ==
          "admin.at: expected an address of this machine alone, since the port takes commands, but "
          "found \"0.0.0.0:7021\"");
}
