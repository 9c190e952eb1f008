// SPDX-License-Identifier: BSL-1.0
//
// Contenders trust these numbers: one that does not divide evenly would be more work for some of them.
#include <lab/kit/cases.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace {

// Calls `check(name, case)` for every case of one kind, at both scales.
template <class Case, class Check>
void for_each_case(Check check) {
    for (const lab::scale size : {lab::scale::quick, lab::scale::full}) {
        for (const lab::scenario& each : lab::all_scenarios(size)) {
            if (const auto* work = std::get_if<Case>(&each.what)) check(each.name, *work);
        }
    }
}

}  // namespace

TEST_CASE("a case is named once in its suite, and both scales have the same") {
    std::set<std::pair<std::string, std::string>> quick;
    std::set<std::pair<std::string, std::string>> full;
    for (const auto& each : lab::all_scenarios(lab::scale::quick)) {
        CHECK_MESSAGE(quick.insert({each.suite, each.name}).second, each.suite << ' ' << each.name);
    }
    for (const auto& each : lab::all_scenarios(lab::scale::full)) {
        full.insert({each.suite, each.name});
    }
    CHECK(quick == full);
}

TEST_CASE("every timer of a crowd fires equally often") {
    for_each_case<lab::timers_case>([](const std::string& name, const lab::timers_case& work) {
        CAPTURE(name);
        CHECK(work.operations > 0);
        CHECK(work.delay_min <= work.delay_max);
        if (work.use == lab::timer_use::fire_together) {
            CHECK(work.operations % work.timers == 0);
            CHECK(work.delay_min < work.delay_max);
        }
    });
}

TEST_CASE("bursts of connections are full, while warming up too") {
    for_each_case<lab::churn_case>([](const std::string& name, const lab::churn_case& work) {
        CAPTURE(name);
        CHECK(work.connections > 0);
        CHECK(work.connections % work.at_once == 0);
        CHECK(work.warm_up_connections % work.at_once == 0);
        if (work.play != lab::churn_play::one_actor) CHECK(work.listeners == 1);
    });
}

TEST_CASE(
    "connections of an echo server can be spread evenly over its threads, but for a single one") {
    for_each_case<lab::echo_case>([](const std::string& name, const lab::echo_case& work) {
        CAPTURE(name);
        CHECK(work.threads > 0);
        if (work.connections > 1) CHECK(work.connections % work.threads == 0);
        CHECK(work.buffer_bytes > 0);
        CHECK(work.warm_up.count() > 0);
        CHECK(work.measured > work.warm_up);
    });
}

TEST_CASE(
    "messages of 1, 10 and 100 KB have their whole block, on 1 and 100 connections and 1 and 2 "
    "threads") {
    std::set<std::array<std::size_t, 3>> found;
    for (const lab::scenario& each : lab::all_scenarios(lab::scale::full)) {
        if (each.name.find("block_") == each.name.npos) continue;
        const auto& work = std::get<lab::echo_case>(each.what);
        CHECK(work.measured == std::chrono::seconds{18});
        CHECK(each.rounds_max == 0);  // Five, as all others: a minute and a half.
        CHECK(each.threads == work.threads + 1);
        if (work.messages_per_second == 0) {
            found.insert({work.message_bytes, work.connections, work.threads});
        }
    }
    CHECK(found.size() == 3 * 2 * 2);
}

TEST_CASE("paced messages are of every size, and enough for their latencies to be known") {
    std::set<std::pair<std::size_t, std::size_t>> found;
    for (const lab::scenario& each : lab::all_scenarios(lab::scale::full)) {
        if (each.suite != "echo") continue;
        const auto& work = std::get<lab::echo_case>(each.what);
        if (work.messages_per_second == 0) continue;
        CAPTURE(each.name);
        found.insert({work.message_bytes, work.connections});
        const auto messages =
            work.messages_per_second * std::uint64_t(work.measured.count()) / 1'000;
        CHECK(messages >= 50'000);  // Five of them beyond p99.99.
    }
    CHECK(found == decltype(found){{1'000, 1}, {1'000, 100}, {10 << 10, 100}, {100 << 10, 100}});
}

TEST_CASE("what is queued for threads is as much as in the tables, and the same for any number") {
    std::set<std::pair<std::size_t, lab::dispatch_item>> found;
    for (const lab::scenario& each : lab::all_scenarios(lab::scale::full)) {
        const auto* const work = std::get_if<lab::shared_dispatch_case>(&each.what);
        if (work == nullptr || work->order != lab::shared_order::queued) continue;
        CAPTURE(each.name);
        const bool spawns = work->item == lab::dispatch_item::coroutine;
        CHECK(work->items == (spawns ? 2'500'000 : 5'000'000));
        CHECK(work->posters == 0);
        found.insert({work->threads, work->item});
    }
    CHECK(found.size() == 4 * 2);
}

TEST_CASE("http is spread evenly over 1 to 16 threads") {
    std::set<std::size_t> found;
    for_each_case<lab::threads_http_case>(
        [&](const std::string& name, const lab::threads_http_case& work) {
            CAPTURE(name);
            CHECK(work.all.connections % work.threads == 0);
            found.insert(work.threads);
        });
    CHECK(found == std::set<std::size_t>{1, 2, 4, 8, 16});
}

TEST_CASE("forks of every shape start about as many children") {
    for_each_case<lab::fan_out_case>([](const std::string& name, const lab::fan_out_case& work) {
        CAPTURE(name);
        const auto all = work.children();
        CHECK((all == 960'000 || all == 4'800'000));
        CHECK(work.warm_up_forks_per_parent > 0);
    });
}
