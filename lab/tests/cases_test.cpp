// SPDX-License-Identifier: BSL-1.0
//
// Contenders trust case records: one that is read wrongly, or does not divide evenly, would be more work
// for some of them.
#include <lab/kit/cases.hpp>

#include <lab/tests/fails.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

template <class Case>
Case read(std::string_view suite, const char* text) {
    json record = json::parse(text);
    record["warm_up"] = 0;
    return std::get<Case>(lab::read_case(suite, record).what);
}

std::string rejection(std::string_view suite, const json& record) {
    return failure_of([&] { static_cast<void>(lab::read_case(suite, record)); });
}

constexpr const char* ping_pong =
    R"({"kind": "ping_pong", "via": "tcp", "bytes": 64, "pairs": 4, "play": "two_sides",
        "warm_up": 8})";

}  // namespace

TEST_CASE("a case of each suite is read from its record") {
    const auto posts = read<lab::dispatch_case>("dispatch", R"({"kind": "post", "item": "coroutine",
        "order": "interleaved", "batch": 100})");
    CHECK(posts.item == lab::dispatch_item::coroutine);
    CHECK(posts.order == lab::dispatch_order::interleaved);
    CHECK(lab::unit_of(posts) == 100);

    const auto shared = read<lab::shared_dispatch_case>("dispatch", R"({"kind": "shared_post",
        "item": "continuation", "order": "from_outside", "threads": 4, "posters": 2, "batch": 1})");
    CHECK(shared.threads == 4);
    CHECK(lab::unit_of(shared) == 2);

    const auto stream = read<lab::throughput_case>("throughput", R"({"kind": "stream",
        "via": "unix", "directions": 2, "bytes": 4096})");
    CHECK(stream.via == lab::transport::unix_stream);
    CHECK(lab::unit_of(stream) == 2);

    const auto reads = read<lab::files_case>("files", R"({"kind": "random_reads", "cache": "none",
        "bytes": 4096, "at_once": 64, "file_bytes": 1048576})");
    CHECK(reads.play == lab::files_play::random_reads);
    CHECK(reads.past_page_cache);
    CHECK(lab::unit_of(reads) == 64);

    const auto passes = read<lab::files_case>("files", R"({"kind": "writes_in_order",
        "cache": "page", "bytes": 4096, "at_once": 1, "file_bytes": 1048576})");
    CHECK_FALSE(passes.past_page_cache);
    CHECK(lab::unit_of(passes) == 256);

    const auto numbers = read<lab::channel_case>("channels", R"({"kind": "channel",
        "capacity": 64, "senders": 4, "take": 16})");
    CHECK(numbers.taken_max == 16);
    CHECK(lab::unit_of(numbers) == 4);
    CHECK_FALSE(lab::is_played_by_one_thread(numbers));

    const auto pairs = read<lab::throughput_case>("throughput", R"({"kind": "stream_threads",
        "threads": 4, "via": "tcp", "directions": 2, "bytes": 65536})");
    CHECK(pairs.buffer_bytes == 65536);
    CHECK(lab::unit_of(pairs) == 8);

    const auto connections = read<lab::http_case>(
        "http", R"({"kind": "http_threads", "threads": 8, "connections": 32})");
    CHECK(lab::unit_of(connections) == 32);

    const auto crowd = read<lab::timers_case>("timers", R"({"kind": "fire_together", "timers": 10,
        "delay_min_ns": 1000000, "delay_max_ns": 3000000})");
    CHECK(crowd.delay_max == 3ms);
    CHECK(lab::unit_of(crowd) == 10);

    const auto bursts = read<lab::churn_case>("churn", R"({"kind": "churn", "play": "bursts",
        "listeners": 1, "at_once": 100})");
    CHECK(bursts.play == lab::churn_play::bursts);
    CHECK(lab::unit_of(bursts) == 100);

    const auto forks = read<lab::fan_out_case>("fan_out", R"({"kind": "fork_join", "parents": 4,
        "groups": 1, "children": 16})");
    CHECK(lab::unit_of(forks) == 64);
}

TEST_CASE("the warm-up is part of the record, and a multiple of the unit") {
    json record = json::parse(ping_pong);
    CHECK(lab::read_case("latency", record).warm_up == 8);

    record["warm_up"] = 6;
    CHECK(rejection("latency", record).find("no multiple of 4") != std::string::npos);
}

TEST_CASE("a record says which of its fields is wrong") {
    json record = json::parse(ping_pong);
    record["bytes"] = 0;
    CHECK(rejection("latency", record).find("\"bytes\"") != std::string::npos);

    record["bytes"] = "64";
    CHECK(rejection("latency", record).find("\"bytes\"") != std::string::npos);

    record.erase("bytes");
    CHECK(rejection("latency", record).find("\"bytes\" is missing") != std::string::npos);

    record["bytes"] = 64;
    record["byte"] = 64;
    CHECK(rejection("latency", record).find("no field \"byte\"") != std::string::npos);
}

TEST_CASE("what no suite has is rejected") {
    const json record = json::parse(ping_pong);
    CHECK_FALSE(rejection("echo", record).empty());
    CHECK_FALSE(rejection("http", record).empty());
    CHECK_FALSE(rejection("latency", json::array()).empty());

    json other = record;
    other["play"] = "three_sides";
    CHECK(rejection("latency", other).find("three_sides") != std::string::npos);
}

TEST_CASE("shares that are not equal are rejected") {
    const char* const uneven = R"({"kind": "http_threads", "threads": 3, "connections": 32})";
    CHECK(rejection("http", json::parse(uneven)).find("unequal shares") != std::string::npos);

    const char* const two_kinds = R"({"kind": "churn", "play": "bursts", "listeners": 4,
        "at_once": 10})";
    CHECK(rejection("churn", json::parse(two_kinds)).find("1 listener") != std::string::npos);
}

TEST_CASE("allocations are those of one thread where that one does all the work") {
    CHECK(lab::is_played_by_one_thread(lab::http_case{4}));
    CHECK_FALSE(lab::is_played_by_one_thread(lab::http_case{32, 1}));
    CHECK_FALSE(lab::is_played_by_one_thread(lab::dispatch_case{
        lab::dispatch_item::continuation, lab::dispatch_order::from_another_thread, 1}));
}
