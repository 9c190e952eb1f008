// SPDX-License-Identifier: BSL-1.0
//
// Counts are compared between contenders, so they must be neither missing nor those of another process.
#include <lab/kit/kernel_counts.hpp>

#include <doctest/doctest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <latch>
#include <optional>
#include <thread>

TEST_CASE("a wait of this process is a context switch of it") {
    const auto before = lab::context_switches();

    std::thread{[] {}}.join();
    std::thread{[] {}}.join();

    CHECK(lab::context_switches() > before);
    CHECK(lab::context_switches_of(::getpid()).at(::getpid()) > 0);
}

TEST_CASE("switches between two readings are those of threads that stayed or came") {
    const lab::switches_by_thread before{{1, 100}, {2, 10}};

    CHECK(lab::switches_between(before, {{1, 103}, {2, 10}}) == 3);
    CHECK(lab::switches_between(before, {{1, 103}, {2, 10}, {3, 7}}) == 10);
}

TEST_CASE("switches are not known when a thread has ended, or its number is another's") {
    const lab::switches_by_thread before{{1, 100}, {2, 10}};

    CHECK_FALSE(lab::switches_between(before, {{1, 103}}).has_value());
    CHECK_FALSE(lab::switches_between(before, {{1, 103}, {2, 4}}).has_value());
}

TEST_CASE("a process that has ended has neither threads nor memory") {
    constexpr pid_t no_process = 0x7fffffff;

    CHECK(lab::context_switches_of(no_process).empty());
    CHECK(lab::peak_memory_megabytes(no_process) == 0);
    CHECK(lab::peak_memory_megabytes(0) > 0);
    // Reading takes memory, too, and the kernel sums it up roughly.
    const doctest::Approx ours =
        doctest::Approx{lab::peak_memory_megabytes(::getpid())}.epsilon(0.1);
    CHECK(lab::peak_memory_megabytes(0) == ours);
}

TEST_CASE("system calls are counted where the kernel allows it, and nothing is said where not") {
    CHECK_FALSE(lab::system_call_counter{0}.so_far().has_value());
    const std::string refusal = lab::count_system_calls();
    if (!refusal.empty()) {
        MESSAGE("not counted here: " << refusal);
        CHECK_FALSE(lab::system_call_counter{0}.so_far().has_value());
        return;
    }

    const lab::system_call_counter calls{0};
    for (int i = 0; i < 10; ++i) ::syscall(SYS_getppid);

    CHECK(calls.so_far() == 11);  // Reading is a call, too.
}

TEST_CASE("calls of threads that were there before are counted, and of those that come later") {
    if (!lab::count_system_calls().empty()) return;  // The case above has said why.
    std::latch counting{1};
    const auto call_often = [] {
        for (int i = 0; i < 1000; ++i) ::syscall(SYS_getppid);
    };
    std::thread early{[&] {
        counting.wait();
        call_often();
    }};

    const lab::system_call_counter calls{0};
    counting.count_down();
    early.join();
    std::thread{call_often}.join();

    CHECK(calls.so_far() >= 2000);
    CHECK(calls.so_far() < 2200);
}

TEST_CASE("of one thread only its own calls are counted") {
    if (!lab::count_system_calls().empty()) return;  // As above.
    std::latch counting{1};
    std::thread other{[&] {
        counting.wait();
        for (int i = 0; i < 1000; ++i) ::syscall(SYS_getppid);
    }};

    const auto calls = lab::system_call_counter::of_this_thread();
    const auto nothing = lab::system_call_counter::none();
    counting.count_down();
    other.join();
    for (int i = 0; i < 10; ++i) ::syscall(SYS_getppid);

    CHECK(calls.so_far() >= 11);  // Waking and joining may be calls as well.
    CHECK(calls.so_far() < 100);
    CHECK_FALSE(nothing.so_far().has_value());
}
