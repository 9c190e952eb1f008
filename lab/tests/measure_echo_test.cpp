// SPDX-License-Identifier: BSL-1.0
//
// A server that is measured has done what was asked: tried with fake_server.py, which keeps to the rules of
// servers/seam.hpp or breaks one of them.
#include <lab/load/measure_echo.hpp>

#include <lab/load/server_process.hpp>

#include <lab/tests/fails.hpp>

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;

const lab::echo_case small_case{1'000, 3, 1, 4'096, 0, 20ms, 100ms};

using outcome = std::variant<lab::echo_result, lab::not_started>;

std::vector<std::string> fake_server(const std::string& fault) {
    return {"/usr/bin/python3", "-B", FAKE_SERVER, "--fault", fault};
}

outcome measure(const std::string& fault, const lab::echo_case& work = small_case) {
    return lab::measure_echo(work, {fake_server(fault), ""});
}

// Ends the test if it has started.
std::string refusal_of(const outcome& found) { return std::get<lab::not_started>(found).reason; }

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a program that keeps to the seam is measured from outside") {
    const auto result = std::get<lab::echo_result>(measure("none"));

    CHECK(result.latency.count() > 0);
    CHECK(result.spent.wall >= 100ms);
    CHECK(result.spent.processor > 0ns);
    CHECK(result.load_processor > 0ns);
    CHECK(result.load_processor <= result.spent.wall);
    CHECK(result.spent.context_switches.value_or(0) > 0);
    CHECK(result.spent.memory_megabytes > 0.5);
    CHECK(result.no_delay_seen);
}

TEST_CASE("context switches are not known where threads come and go") {
    lab::echo_case longer = small_case;
    longer.measured = 500ms;
    const auto result = std::get<lab::echo_result>(measure("threads_take_turns", longer));

    CHECK_FALSE(result.spent.context_switches.has_value());
}

TEST_CASE("what children have used that end meanwhile is counted") {
    lab::echo_case longer = small_case;
    longer.measured = 300ms;
    const auto result = std::get<lab::echo_result>(measure("children_take_turns", longer));

    CHECK(result.spent.processor >
          result.latency.count() * 5us);  // More than the parent needs to fork.
}

TEST_CASE("what a program's children use is counted as its own") {
    const auto result = std::get<lab::echo_result>(measure("in_a_child"));

    // A message takes a microsecond at the very least; the parent sleeps all the time.
    CHECK(result.spent.processor > result.latency.count() * 1us);
    CHECK(result.no_delay_seen);
    const double alone = std::get<lab::echo_result>(measure("none")).spent.memory_megabytes;
    CHECK(result.spent.memory_megabytes > 1.2 * alone);
}

TEST_CASE("a program that cannot do a case says so itself") {
    lab::echo_case two = small_case;
    two.threads = 2;

    CHECK(refusal_of(measure("one_thread", two)) == "fake_server: has one thread only");
}

TEST_CASE("a program that is not there, or never ready, is a row that says so") {
    const std::string absent = refusal_of(lab::measure_echo(small_case, {{"/nowhere/at_all"}, ""}));
    CHECK(contains(absent, "/nowhere/at_all: No such file"));
    CHECK(refusal_of(measure("never_ready")) == "fake_server: never ready");
}

TEST_CASE("a port that another program has taken meanwhile is followed by another, once") {
    const auto sign =
        std::filesystem::temp_directory_path() / ("lab_echo_test_" + std::to_string(::getpid()));
    const outcome second = measure("taken " + sign.string());
    CHECK(std::filesystem::remove(sign));
    CHECK(std::holds_alternative<lab::echo_result>(second));
    CHECK(refusal_of(measure("taken")) == "fake_server: the port is taken");
}

TEST_CASE("a program gets a port that no client can have, and the cores that are meant for it") {
    cpu_set_t here;
    REQUIRE(::sched_getaffinity(0, sizeof(here), &here) == 0);
    const auto started = lab::start_server({fake_server("none"), "echo", 1, here});
    REQUIRE(std::holds_alternative<lab::started_server>(started));
    const auto port = ntohs(std::get<lab::started_server>(started).address.sin_port);
    CHECK(port >= 20'000);
    CHECK(port < 32'000);

    cpu_set_t nowhere;
    CPU_ZERO(&nowhere);
    const auto refused = lab::start_server({fake_server("none"), "echo", 1, nowhere});
    REQUIRE(std::holds_alternative<lab::not_started>(refused));
    CHECK(contains(std::get<lab::not_started>(refused).reason, "sched_setaffinity"));
}

TEST_CASE("a server that breaks a rule has no row") {
    struct broken_rule {
        const char* fault;
        std::size_t message_bytes;
        const char* complaint;
    };
    for (const auto& [fault, message_bytes, complaint] : std::initializer_list<broken_rule>{
             {"flips_a_bit", 1'000, "the answer differs from the message"},
             {"swaps_connections", 1'000, "the answer differs from the message"},
             {"swaps_blocks", 100 << 10, "the answer differs from the message"},
             {"repeats_a_block", 100 << 10, "the answer differs from the message"},
             {"hangs_up", 1'000, "the server hung up"},
             {"delays", 1'000, "the server does not set TCP_NODELAY"},
             {"ignores_sigterm", 1'000, "does not end when told to"}}) {
        CAPTURE(fault);
        lab::echo_case work = small_case;
        work.message_bytes = message_bytes;
        // Long enough for some messages on a busy machine; what is broken on the way ends it at once.
        const bool breaks_at_once =
            contains(complaint, "the answer") || contains(complaint, "hung up");
        if (breaks_at_once) work.measured = 10s;
        CHECK(contains(failure_of([&] { static_cast<void>(measure(fault, work)); }), complaint));
    }
}
