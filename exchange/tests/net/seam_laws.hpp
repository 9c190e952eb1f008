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
#include <cstddef>
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

    struct connection {
        stream_socket near;
        stream_socket far;
    };

    /// Two ends of a connection over TCP on the loopback interface.
    static task<connection> connect_pair(context& on) {
        auto listening = X::listen(on, gyre::endpoint{gyre::ipv4::loopback(), 0}, {});
        REQUIRE(listening.ok());
        acceptor listener = listening.take();
        connection made;
        auto connected = co_await X::connect(on, listener.local_endpoint().value());
        REQUIRE(connected.ok());
        made.near = connected.take();
        auto accepted = co_await listener.accept();
        REQUIRE(accepted.ok());
        made.far = accepted.take();
        co_return made;
    }

private:
    template <class Body>
    static task<> note_end(const Body& body, context& on, bool& ended) {
        co_await body(on);
        ended = true;
    }
};

/// What one end writes, gathered or not, the other one reads.
template <class World>
void bytes_arrive_in_order() {
    using the = law<World>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        typename the::connection ends = co_await the::connect_pair(on);
        const std::array<gyre::const_buffer, 3> parts{gyre::bytes_of("one, "), gyre::const_buffer{},
                                                      gyre::bytes_of("two")};
        std::array<std::byte, 64> space;

        const gyre::io_result<std::size_t> first =
            co_await ends.near.write_some(gyre::bytes_of("zero, "));
        const gyre::io_result<std::size_t> rest =
            co_await ends.near.write_some(gyre::const_buffers{parts});
        const gyre::io_result<std::size_t> got = co_await ends.far.read_some(space);

        CHECK(first.ok());
        CHECK(rest.value() == 8);
        CHECK(gyre::text_of(std::span{space}.first(got.value())) == "zero, one, two");
    });
}

}  // namespace exchange::testing
