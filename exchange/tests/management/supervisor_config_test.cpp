// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/supervisor_config.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

void refused(const std::string& children, const std::string& message) {
    const supervisor_config_reading it =
        read_supervisor_config("{\"children\": [" + children + "]}");
    CAPTURE(children);
    REQUIRE(it.errors.size() >= 1);
    CHECK(it.errors[0].message() == message);
}

}  // namespace

TEST_CASE("supervisor_config: children, in which order and how patiently") {
    const supervisor_config_reading it = read_supervisor_config(R"({
        "children": [
            {"name": "facility", "program": "matching_facility", "arguments": ["exchange.json"],
             "ready_within_ms": 1, "drain_within_ms": 2, "restart_after_ms": 3,
             "restart_after_max_ms": 4, "healthy_after_ms": 5, "failures_max": 6},
            {"name": "gw", "program": "./order_entry_gateway", "after": ["facility"],
             "listen": ["127.0.0.1:7011", "[::1]:7011"], "replaceable": 1}],
        "admin": {"at": "127.0.0.1:7024", "commands": 1}, "log": {"level": "info"}})",
                                                                "/somewhere");
    REQUIRE(it.errors.empty());
    REQUIRE(it.value.children.size() == 2);
    const supervised_child& facility = it.value.children[0];
    CHECK(facility.program == "matching_facility");
    CHECK(facility.arguments == std::vector<std::string>{"exchange.json"});
    CHECK(facility.ready_within == 1ms);
    CHECK(facility.drain_within == 2ms);
    CHECK(facility.restart_after == 3ms);
    CHECK(facility.restart_after_max == 4ms);
    CHECK(facility.healthy_after == 5ms);
    CHECK(facility.failures_max == 6);
    CHECK(it.value.children[1].after == std::vector<std::size_t>{0});
    CHECK(facility.listen.empty());
    CHECK_FALSE(facility.replaceable);
    REQUIRE(it.value.children[1].listen.size() == 2);
    CHECK(it.value.children[1].listen[0].to_string() == "127.0.0.1:7011");
    CHECK(it.value.children[1].replaceable);
    CHECK(it.value.process.admin.commands);
    CHECK(it.value.folder == "/somewhere");
    CHECK(it.value.process.log == log_level::info);
}

TEST_CASE("supervisor_config: what is wrong is said with its place") {
    refused("", "children: there is nothing to supervise");
    refused(R"({"program": "a"})", "children[0].name: is missing");
    refused(R"({"name": "a"})", "children[0].program: is missing");
    refused(R"({"name": "A b", "program": "a"})",
            "children[0].name: expected up to 32 of a to z, 0 to 9 and _, but found \"A b\"");
    refused(R"({"name": "a", "program": "a"}, {"name": "a", "program": "a"})",
            "children[1].name: another child has this name, but found \"a\"");
    refused(R"({"name": "a", "program": "a", "after": ["b"]}, {"name": "b", "program": "b"})",
            "children[0].after: expected children that stand before this one, but found [\"b\"]");
    refused(R"({"name": "a", "program": "a", "arguments": [1]})",
            "children[0].arguments: expected an array of texts, but found [1]");
    refused(R"({"name": "a", "program": "a", "restart_after_ms": 9, "restart_after_max_ms": 8})",
            "children[0].restart_after_max_ms: expected at least restart_after_ms");
    refused(R"({"name": "a", "program": "a", "listen": ["127.0.0.1:0"]})",
            "children[0].listen: expected addresses with ports, since the child's configuration "
            "names the same, but found [\"127.0.0.1:0\"]");
    refused(R"({"name": "a", "program": "a", "listen": ["here"]})",
            "children[0].listen: expected addresses with ports, since the child's configuration "
            "names the same, but found [\"here\"]");
    refused(R"({"name": "a", "program": "a", "listen": ["127.0.0.1:1"]},
               {"name": "b", "program": "b", "listen": ["127.0.0.1:1"]})",
            "children[1].listen: expected each address once, but found [\"127.0.0.1:1\"]");
    CHECK(load_supervisor_config("/nowhere/x.json").errors[0].message() == "cannot be read");
}
