// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/admin_report.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <string>

#include <unistd.h>

using namespace exchange;

namespace {

admin_report sample() {
    admin_report made;
    made.process = "order_entry_gateway";
    made.name = "gw\"1\\\n";
    made.backend = "gyre_epoll";
    made.life = "2611240ABC";
    made.state = process_state::ready;
    made.uptime_ms = 12;
    made.figures = {{"logins", 3, "Logins that were right"},
                    {"clients", 2, "Clients that are connected", true}};
    made.add({.user = "alice",
              .session = 1,
              .transport = "soup",
              .address = "127.0.0.1:1",
              .connected = true,
              .sequence = 17,
              .unread_bytes = 5,
              .dropped = 2});
    made.latency.emplace();
    made.latency->record_ns(1000);
    made.latency->record_ns(3);
    return made;
}

bool has_line(const std::string& text, const std::string& line) {
    return ('\n' + text).find('\n' + line + '\n') != std::string::npos;
}

}  // namespace

TEST_CASE("admin_report: as JSON it says who it is, its figures, sessions and quantiles") {
    const auto told = nlohmann::json::parse(status_json(sample()));
    CHECK(told["process"] == "order_entry_gateway");
    CHECK(told["name"] == "gw\"1\\\n");
    CHECK(told["pid"] == ::getpid());
    CHECK(told["state"] == "ready");
    CHECK(told["life"] == "2611240ABC");
    CHECK(told["uptime_ms"] == 12);
    CHECK(told["counts"] == nlohmann::json{{"logins", 3}, {"clients", 2}});
    CHECK(told["gauges"] == nlohmann::json{"clients"});
    REQUIRE(told["sessions"].size() == 1);
    CHECK(told["sessions"][0]["user"] == "alice");
    CHECK(told["sessions"][0]["unread_bytes"] == 5);
    CHECK(told["sessions"][0]["dropped"] == 2);
    CHECK(told["latency_ns"]["count"] == 2);
    CHECK(told["latency_ns"]["min"] == 3);
    CHECK(told["latency_ns"]["max"] == 1000);
    const auto buckets = nlohmann::json::parse(latency_json(sample()));
    CHECK(buckets["unit"] == "ns");
    CHECK(buckets["buckets"] == nlohmann::json::parse("[[3,1],[1023,1]]"));
}

TEST_CASE("admin_report: what is not measured is not told") {
    const auto told = nlohmann::json::parse(status_json({.process = "exchange_web"}));
    CHECK(told["state"] == "starting");
    CHECK_FALSE(told.contains("latency_ns"));
    CHECK(told["sessions"].empty());
    CHECK(nlohmann::json::parse(latency_json({}))["buckets"].empty());
}

TEST_CASE("admin_report: a child that was never started has not been restarted") {
    admin_report made;
    made.children = {
        {.name = "facility",
         .state = "ready",
         .pid = 7,
         .starts = 3,
         .failures = 1,
         .since_ms = 50,
         .admin = "127.0.0.1:7021",
         .beside = "starting",
         .beside_pid = 8},
        {.name = "gateway", .state = "waiting"},
    };
    const auto told = nlohmann::json::parse(status_json(made))["children"];
    REQUIRE(told.size() == 2);
    CHECK(told[0]["name"] == "facility");
    CHECK(told[0]["pid"] == 7);
    CHECK(told[0]["starts"] == 3);
    CHECK(told[0]["restarts"] == 2);
    CHECK(told[0]["failures"] == 1);
    CHECK(told[0]["since_ms"] == 50);
    CHECK(told[0]["admin"] == "127.0.0.1:7021");
    CHECK(told[0]["beside"]["state"] == "starting");
    CHECK(told[0]["beside"]["pid"] == 8);
    CHECK(told[1]["state"] == "waiting");
    CHECK_FALSE(told[1].contains("admin"));
    CHECK_FALSE(told[1].contains("beside"));
    CHECK(told[1]["restarts"] == 0);
}

TEST_CASE("admin_report: as Prometheus reads it, with labels escaped") {
    const std::string text = metrics_text(sample());
    const std::string who = R"({process="order_entry_gateway",name="gw\"1\\\n")";
    CHECK(has_line(text, "exchange_ready" + who + "} 1"));
    CHECK(has_line(text, "# TYPE exchange_logins_total counter"));
    CHECK(has_line(text, "# HELP exchange_logins_total Logins that were right."));
    CHECK(has_line(text, "exchange_logins_total" + who + "} 3"));
    CHECK(has_line(text, "# TYPE exchange_clients gauge"));
    CHECK(has_line(text, "exchange_clients" + who + "} 2"));
    CHECK(has_line(text, "exchange_session_unread_bytes" + who + ",user=\"alice\"} 5"));
    CHECK(has_line(text, "exchange_latency_nanoseconds" + who + ",quantile=\"0.99\"} 1000"));
    CHECK(text.ends_with("\n"));
}

TEST_CASE("admin_report: so many sessions are told, and the number of the others") {
    admin_report made;
    for (std::size_t each = 0; each < admin_report::sessions_max + 3; ++each)
        made.add({.user = std::to_string(each)});
    CHECK(made.sessions.size() == admin_report::sessions_max);
    CHECK(nlohmann::json::parse(status_json(made))["sessions_omitted"] == 3);
}
