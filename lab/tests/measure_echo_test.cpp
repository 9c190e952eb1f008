// SPDX-License-Identifier: BSL-1.0
//
// A server that is measured has done what was asked: tried with fake_server.py, which keeps to the rules of
// servers/seam.hpp or breaks one of them.
#include <lab/load/measure_echo.hpp>

#include <lab/load/server_process.hpp>

#include <lab/kit/fail.hpp>

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

// Runs in a child, since what is wrong ends the process. Returns what it says on standard error.
std::string complaint_about(const std::string& fault, const lab::echo_case& work = small_case) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        (void)measure(fault, work);
        std::_Exit(0);
    }
    ::close(ends[1]);
    std::string said;
    for (char next = 0; ::read(ends[0], &next, 1) == 1;) said += next;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == lab::failed);
    return said;
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a program that keeps to the seam is measured from outside") {
    const outcome found = measure("none");

    REQUIRE(std::holds_alternative<lab::echo_result>(found));
    const auto& result = std::get<lab::echo_result>(found);
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
    const outcome found = measure("threads_take_turns");

    REQUIRE(std::holds_alternative<lab::echo_result>(found));
    CHECK_FALSE(std::get<lab::echo_result>(found).spent.context_switches.has_value());
}

TEST_CASE("what children have used that end meanwhile is counted") {
    lab::echo_case longer = small_case;
    longer.measured = 300ms;
    const outcome found = measure("children_take_turns", longer);

    REQUIRE(std::holds_alternative<lab::echo_result>(found));
    const auto& result = std::get<lab::echo_result>(found);
    CHECK(result.spent.processor >
          result.latency.count() * 5us);  // More than the parent needs to fork.
}

TEST_CASE("what a program's children use is counted as its own") {
    const outcome found = measure("in_a_child");

    REQUIRE(std::holds_alternative<lab::echo_result>(found));
    const auto& result = std::get<lab::echo_result>(found);
    // A message takes a microsecond at the very least; the parent sleeps all the time.
    CHECK(result.spent.processor > result.latency.count() * 1us);
    CHECK(result.no_delay_seen);
    const double alone = std::get<lab::echo_result>(measure("none")).spent.memory_megabytes;
    CHECK(result.spent.memory_megabytes > 1.2 * alone);
}

TEST_CASE("a program that cannot do a case says so itself") {
    lab::echo_case two = small_case;
    two.threads = 2;
    const outcome found = measure("one_thread", two);

    REQUIRE(std::holds_alternative<lab::not_started>(found));
    CHECK(std::get<lab::not_started>(found).reason == "fake_server: has one thread only");
}

TEST_CASE("a program that is not there, or never ready, is a row that says so") {
    const outcome absent = lab::measure_echo(small_case, {{"/nowhere/at_all"}, ""});
    REQUIRE(std::holds_alternative<lab::not_started>(absent));
    CHECK(contains(std::get<lab::not_started>(absent).reason, "/nowhere/at_all: No such file"));

    const outcome late = measure("never_ready");
    REQUIRE(std::holds_alternative<lab::not_started>(late));
    CHECK(std::get<lab::not_started>(late).reason == "fake_server: never ready");
}

TEST_CASE("a port that another program has taken meanwhile is followed by another, once") {
    const auto sign =
        std::filesystem::temp_directory_path() / ("lab_echo_test_" + std::to_string(::getpid()));
    const outcome second = measure("taken " + sign.string());
    CHECK(std::filesystem::remove(sign));
    CHECK(std::holds_alternative<lab::echo_result>(second));

    const outcome never = measure("taken");
    REQUIRE(std::holds_alternative<lab::not_started>(never));
    CHECK(std::get<lab::not_started>(never).reason == "fake_server: the port is taken");
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

TEST_CASE("a server that answers with another byte has no row") {
    CHECK(contains(complaint_about("flips_a_bit"), "the answer differs from the message"));
}

TEST_CASE("a server that answers with the bytes of another connection has no row") {
    CHECK(contains(complaint_about("swaps_connections"), "the answer differs from the message"));
}

TEST_CASE("a server that swaps or repeats blocks within a message has no row") {
    lab::echo_case large = small_case;
    large.message_bytes = 100 << 10;
    for (const char* fault : {"swaps_blocks", "repeats_a_block"}) {
        CAPTURE(fault);
        CHECK(contains(complaint_about(fault, large), "the answer differs from the message"));
    }
}

TEST_CASE("a server that hangs up has no row") {
    CHECK(contains(complaint_about("hangs_up"), "the server hung up"));
}

TEST_CASE("a server that leaves Nagle's algorithm on has no row") {
    CHECK(contains(complaint_about("delays"), "the server does not set TCP_NODELAY"));
}

TEST_CASE("a server that does not end when told to has no row") {
    CHECK(contains(complaint_about("ignores_sigterm"), "does not end when told to"));
}
