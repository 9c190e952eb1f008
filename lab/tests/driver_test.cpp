// SPDX-License-Identifier: BSL-1.0
//
// The protocol between run.py and the in-process contenders, with a contender that only counts.
#include <lab/kit/driver.hpp>

#include <lab/kit/fail.hpp>
#include <lab/tests/fails.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

std::vector<lab::verification> verified;

// Does what it is told to; of three operations it does one too few.
class counting_session final : public lab::session {
public:
    void play(lab::slice& now) override {
        verified.push_back(now.how);
        for (std::uint64_t i = 0; i < now.operations; ++i) now.latency.record(1'000 + i);
        now.done = now.operations == 3 ? 2 : now.operations;
        played_ += now.done;
    }

    std::vector<lab::counter> counted() override { return {{"played", played_}}; }

private:
    std::uint64_t played_ = 0;
};

lab::preparation prepare_counting(const lab::work& what) {
    if (std::holds_alternative<lab::http_case>(what)) return lab::cannot_run{"no http here"};
    return lab::prepared<counting_session>();
}

std::vector<json> replies_to(const std::vector<json>& requests) {
    std::stringstream in;
    for (const json& each : requests) in << each << '\n';
    std::stringstream out;
    const lab::contender counting{{"counting", "none", "1", "no"}, prepare_counting};
    lab::drive(counting, in, out);
    std::vector<json> replies;
    for (std::string line; std::getline(out, line);) replies.push_back(json::parse(line));
    return replies;
}

json prepare(int warm_up) {
    return {{"do", "prepare"},
            {"suite", "latency"},
            {"case",
             {{"kind", "ping_pong"},
              {"via", "tcp"},
              {"bytes", 1},
              {"pairs", 1},
              {"play", "one_actor"},
              {"warm_up", warm_up}}}};
}

json play(int operations) { return {{"do", "play"}, {"operations", operations}}; }

}  // namespace

TEST_CASE("a contender tells what it is") {
    const auto replies = replies_to({{{"do", "about"}}});

    REQUIRE(replies.size() == 1);
    CHECK(replies[0] ==
          json{{"name", "counting"}, {"library", "none"}, {"version", "1"}, {"backend", "no"}});
}

TEST_CASE("slices are played one by one, and their latencies merged") {
    const auto replies = replies_to({prepare(0), play(1'000), play(500), {{"do", "finish"}}});

    REQUIRE(replies.size() == 4);
    CHECK(replies[0] == json{{"ready", true}});
    for (const char* each : {"wall_ns", "cpu_ns", "context_switches", "allocations"}) {
        CHECK(replies[1].at(each).is_number());
    }
    CHECK(replies[1].at("operations") == 1'000);
    CHECK(replies[1].at("counters").at("played") == 1'000);
    CHECK(replies[2].at("counters").at("played") == 500);
    CHECK(replies[2].at("latency").at("count") == 500);
    CHECK(replies[3].at("memory_mb") > 0);
    const json merged = replies[3].at("latency");
    CHECK(merged.at("count") == 1'500);
    CHECK(merged.at("min") == 1'000);
    CHECK(merged.at("max") == 1'999);
    CHECK(merged.contains("p99"));
    CHECK_FALSE(merged.contains("p99.9"));  // Fewer than five values lie beyond it.
    int in_buckets = 0;
    for (const json& each : merged.at("buckets")) in_buckets += each.at(1).get<int>();
    CHECK(in_buckets == 1'500);
}

TEST_CASE("every byte is verified while warming up, which is in no result") {
    verified.clear();
    const auto replies = replies_to({prepare(10), play(20), {{"do", "finish"}}});

    CHECK(verified == std::vector{lab::verification::every_byte, lab::verification::edges});
    CHECK(replies.at(2).at("latency").at("count") == 20);
}

TEST_CASE("a contender says why it takes no part in a case") {
    const auto replies =
        replies_to({{{"do", "prepare"},
                     {"suite", "http"},
                     {"case", {{"kind", "http"}, {"connections", 1}, {"warm_up", 0}}}}});

    CHECK(replies.at(0) == json{{"cannot_run", "no http here"}});
}

TEST_CASE("a slice of which something was left out ends the program") {
    const std::string said = failure_of([] { replies_to({prepare(0), play(3)}); });

    CHECK(said.find("2 of 3 operations") != std::string::npos);
}

TEST_CASE("requests that make no sense end the program") {
    CHECK(fails([] { replies_to({play(1)}); }));
    CHECK(fails([] { replies_to({prepare(0), play(0)}); }));
    CHECK(fails([] { replies_to({prepare(0), prepare(0)}); }));
    CHECK(fails([] { replies_to({prepare(0), {{"do", "dance"}}}); }));
}
