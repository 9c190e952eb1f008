// SPDX-License-Identifier: BSL-1.0
//
// Cores are dealt out before anything is measured; what is seen of a server's process is tested in
// measure_echo_test.cpp.
#include <lab/load/server_process.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <initializer_list>

namespace {

cpu_set_t cores(std::initializer_list<int> numbers) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int each : numbers) CPU_SET(each, &set);
    return set;
}

int all_alone(int processor) { return processor; }

bool same(const cpu_set_t& left, const cpu_set_t& right) { return CPU_EQUAL(&left, &right) != 0; }

}  // namespace

TEST_CASE("server and load get cores of their own where there are enough") {
    const lab::core_split one = lab::split_cores(cores({2, 3, 5}), 1, all_alone);
    CHECK(same(one.server, cores({2})));
    CHECK(same(one.load, cores({3})));

    const lab::core_split two = lab::split_cores(cores({2, 3, 5}), 2, all_alone);
    CHECK(same(two.server, cores({2, 3})));
    CHECK(same(two.load, cores({5})));
}

TEST_CASE("processors that share a core are used last") {
    const auto neighbours = [](int processor) { return processor / 2; };
    const lab::core_split one = lab::split_cores(cores({0, 1, 2, 3}), 1, neighbours);
    CHECK(same(one.server, cores({0})));
    CHECK(same(one.load, cores({2})));

    const lab::core_split two = lab::split_cores(cores({0, 1, 2, 3, 4, 5}), 2, neighbours);
    CHECK(same(two.server, cores({0, 2})));
    CHECK(same(two.load, cores({4})));

    const lab::core_split single = lab::split_cores(cores({2, 3}), 1, neighbours);
    CHECK(same(single.server, cores({2})));
    CHECK(same(single.load, cores({3})));
}

TEST_CASE("a processor that the kernel does not know is a core of its own") {
    CHECK(lab::physical_core_of(100'000) == 100'000);
    CHECK(lab::physical_core_of(0) == 0);
}

TEST_CASE("a server with as many threads as there are cores shares the last one with the load") {
    const lab::core_split all = lab::split_cores(cores({0, 1}), 2, all_alone);
    CHECK(same(all.server, cores({0, 1})));
    CHECK(same(all.load, cores({1})));

    const lab::core_split single = lab::split_cores(cores({4}), 1, all_alone);
    CHECK(same(single.server, cores({4})));
    CHECK(same(single.load, cores({4})));
}

TEST_CASE("the time of processes that have ended is counted from where it was seen last") {
    using namespace std::chrono_literals;
    const lab::processor_times before{{{1, 500ms}, {2, 30ms}}, 100ms};

    // The second has used 50 ms in all before it ended; a third has come.
    const lab::processor_times after{{{1, 510ms}, {3, 4ms}}, 150ms};
    CHECK(lab::used_between(before, after) == 10ms + 20ms + 4ms);
}

TEST_CASE(
    "the time of a process that was not waited for is missing, and that of others is not less") {
    using namespace std::chrono_literals;
    const lab::processor_times before{{{1, 500ms}, {2, 30ms}}, 100ms};

    CHECK(lab::used_between(before, {{{1, 510ms}}, 100ms}) == 10ms);
}
