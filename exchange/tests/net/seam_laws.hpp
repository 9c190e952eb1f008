// SPDX-License-Identifier: BSL-1.0
//
// What executor_traits.hpp promises, as tests that both sides of the seam pass.
//
// Each law is a template over a *world*: the traits, and how a test gets contexts and runs them.
// gyre_traits_test.cpp and asio_traits_test.cpp list the laws, so that one body judges both.
#pragma once

#include <exchange/net/executor_traits.hpp>

#include <doctest/doctest.h>

#include <array>
#include <utility>

namespace exchange::testing {

/// What a law works with: the names of one side.
template <class World>
struct law {
    using X = typename World::traits;
    using context = typename X::context;
    template <class Result = void>
    using task = typename X::template task<Result>;
    using stream_socket = typename X::stream_socket;
    using acceptor = typename X::acceptor;
    using udp_socket = typename X::udp_socket;
    using event = typename X::event;
    using timer = typename X::timer;

    /// Runs `body(context)`, which returns task<>, to its end on every context of the world.
    template <class Body>
    static void hold(const Body& body) {
        World::each_context([&](context& on) {
            bool ended = false;
            X::launch(on, note_end(body, on, ended));
            CHECK(World::run_to_rest(on));
            CHECK(ended);
        });
    }

private:
    template <class Body>
    static task<> note_end(const Body& body, context& on, bool& ended) {
        co_await body(on);
        ended = true;
    }
};

}  // namespace exchange::testing
