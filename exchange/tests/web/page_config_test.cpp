// SPDX-License-Identifier: BSL-1.0
#include <exchange/web/page_config.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;

TEST_CASE("page_config: the sample is in order") {
    const page_config_reading it = load_page_config(EXCHANGE_FOLDER "/bin/web.json");
    CHECK(it.errors.empty());
    CHECK(it.value.at.to_string() == "127.0.0.1:7030");
    CHECK(it.value.operators.to_string() == "127.0.0.1:7001");
    REQUIRE(it.value.show.size() == 2);
    CHECK(it.value.show[1].name == "gateway");
    CHECK(it.value.show[1].admin.to_string() == "127.0.0.1:7022");
}

TEST_CASE("page_config: all that is wrong is found in one reading") {
    const page_config_reading it = read_page_config(R"({
        "at": "10.0.0.1:80", "other": 1, "pages_max": 0,
        "processes": [{"name": "a", "admin": "127.0.0.1:1"}, {"name": "a"}, {"name": "../x"}]})");
    std::string all;
    for (const config_error& each : it.errors) all += each.message() + '\n';
    for (const char* part :
         {"at: expected a loopback", "other", "pages_max", "page: ", "processes[1].name: another",
          "processes[1].admin", "processes[2].name: expected 1 to 32"}) {
        CAPTURE(all);
        CHECK_MESSAGE(all.find(part) != std::string::npos, part);
    }
}

TEST_CASE("page_config: a file that is not there is an error") {
    CHECK(load_page_config("/nowhere/at/all.json").errors.size() == 1);
}
