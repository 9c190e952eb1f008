// SPDX-License-Identifier: BSL-1.0
//
// What gyre/runtime/signal_port.hpp promises; tests/io/signals_test.cpp has the coroutine's view.
#include <gyre/runtime/signal_port.hpp>

#include <gyre/runtime/io_context.hpp>
#include <support/harness.hpp>

#include <signal.h>

#include <vector>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("a delivered signal can be taken once") {
    io_context io;
    auto opened = signal_port::open(io, {SIGUSR1});
    REQUIRE(opened.ok());
    signal_port port = opened.take();
    CHECK(port.take() == 0);

    ::raise(SIGUSR1);

    CHECK(port.take() == SIGUSR1);
    CHECK(port.take() == 0);
}

TEST_CASE("several signals are taken one by one, lowest first") {
    io_context io;
    auto opened = signal_port::open(io, {SIGUSR2, SIGUSR1});
    signal_port port = opened.take();

    ::raise(SIGUSR2);
    ::raise(SIGUSR1);

    CHECK(port.take() == SIGUSR1);
    CHECK(port.take() == SIGUSR2);
    CHECK(port.take() == 0);
}

TEST_CASE("every port that asked for a signal hears of it") {
    io_context io;
    auto first_opened = signal_port::open(io, {SIGUSR1});
    auto second_opened = signal_port::open(io, {SIGUSR1, SIGUSR2});
    signal_port first = first_opened.take();
    signal_port second = second_opened.take();

    ::raise(SIGUSR1);
    ::raise(SIGUSR2);

    CHECK(first.take() == SIGUSR1);
    CHECK(first.take() == 0);
    CHECK(second.take() == SIGUSR1);
    CHECK(second.take() == SIGUSR2);
}

TEST_CASE("the disposition before comes back with the last port") {
    io_context io;
    struct sigaction before{};
    struct sigaction after{};
    ::signal(SIGUSR1, SIG_IGN);
    {
        auto opened = signal_port::open(io, {SIGUSR1});
        auto again = signal_port::open(io, {SIGUSR1});
        ::sigaction(SIGUSR1, nullptr, &before);
        CHECK((before.sa_handler != SIG_IGN));
    }
    ::sigaction(SIGUSR1, nullptr, &after);

    CHECK((after.sa_handler == SIG_IGN));
    ::signal(SIGUSR1, SIG_DFL);
}

TEST_CASE("what is no signal, or too many ports, is an error") {
    io_context io;
    CHECK(signal_port::open(io, {0}).error() == errc::invalid_argument);
    CHECK(signal_port::open(io, {SIGUSR1, 9999}).error() == errc::invalid_argument);
    CHECK(signal_port::open(io, {SIGKILL}).error() == errc::invalid_argument);

    std::vector<signal_port> ports;
    for (int count = 0; count < 32; ++count) {
        auto opened = signal_port::open(io, {SIGUSR1});
        REQUIRE(opened.ok());
        ports.push_back(opened.take());
    }
    CHECK(signal_port::open(io, {SIGUSR1}).error() == errc::limit_exceeded);
}
