// SPDX-License-Identifier: BSL-1.0
//
// What the laws of the seam have in common: the names of one side, and how a body is run on it.
//
// A `Side` is one side of the seam as tests see it: its traits, and where contexts come from
// (gyre_side.hpp, asio_side.hpp). A law is a test case over a side. stream_laws.hpp, datagram_laws.hpp
// and waiting_laws.hpp have the laws; gyre_traits_test.cpp and asio_traits_test.cpp apply each of them.
#pragma once

#include <exchange/net/executor_traits.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace exchange::testing {

using gyre::bytes_of;
using gyre::const_buffer;
using gyre::const_buffers;
using gyre::endpoint;
using gyre::errc;
using gyre::io_result;
using gyre::ipv4;
using gyre::mutable_buffer;
using gyre::text_of;

using bytes = std::vector<std::byte>;
using count_result = io_result<std::size_t>;

/// A pattern without short periods, so that lost, doubled and swapped pieces all show.
[[nodiscard]] inline bytes patterned(std::size_t size) {
    bytes made(size);
    std::uint32_t state = 1;
    for (std::byte& each : made) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<std::byte>(state >> 24);
    }
    return made;
}

[[nodiscard]] inline endpoint any_port() { return {ipv4::loopback(), 0}; }

/// The names of one side of the seam.
template <class Side>
struct law {
    using X = typename Side::traits;
    using context = typename X::context;
    template <class Result = void>
    using task = typename X::template task<Result>;
    using stream_socket = typename X::stream_socket;
    using acceptor = typename X::acceptor;
    using udp_socket = typename X::udp_socket;
    using datagram_batch = typename X::datagram_batch;
    using event = typename X::event;
    using timer = typename X::timer;

    /// Runs `body(context)`, which returns task<>, to its end on every context of the side.
    template <class Body>
    static void hold(const Body& body) {
        Side::each_context([&](context& on) {
            bool ended = false;
            X::launch(on, note_end(body, on, ended));
            CHECK(Side::run_to_rest(on));
            CHECK(ended);
        });
    }

    /// What `make()` yields, noted by a task of its own.
    template <class Make, class Result>
    static task<> note(Make make, Result& outcome, event& ended) {
        Result got = co_await make();
        outcome = std::move(got);
        ended.set();
    }

    /// Lets everything run that is ready, and what becomes ready by that.
    static task<> settle(context& on) {
        for (int round = 0; round < 4; ++round) {
            event turn;
            on.post([&turn] { turn.set(); });
            static_cast<void>(co_await turn.wait());
        }
    }

    /// Calls `what` again and again, each time behind all that is ready then, until it returns false or a
    /// thousand times.
    template <class What>
    static task<> in_each_turn(context& on, What what) {
        event over;
        int turns = 1'000;
        const auto next = [&](const auto& self) -> void {
            if (!what() || --turns == 0) over.set();
            else on.post([&self] { self(self); });
        };
        next(next);
        static_cast<void>(co_await over.wait());
    }

    /// Two ends of a connection.
    struct connection {
        stream_socket near;
        stream_socket far;
    };

    static task<connection> connect_at(context& on, endpoint where) {
        auto listening = X::listen(on, where, {});
        REQUIRE(listening.ok());
        acceptor listener = listening.take();
        const endpoint at = listener.local_endpoint().value();
        connection made;
        auto connected = co_await X::connect(on, at);
        REQUIRE(connected.ok());
        made.near = connected.take();
        auto accepted = co_await listener.accept();
        REQUIRE(accepted.ok());
        made.far = accepted.take();
        co_return made;
    }

    /// Over TCP on the loopback interface.
    static task<connection> connect_pair(context& on) { return connect_at(on, any_port()); }

    /// Makes closing send a reset instead of an end.
    static void reset(stream_socket& it) {
        CHECK(it.set_option(gyre::reset_on_close{}).ok());
        CHECK(it.close().ok());
    }

    static udp_socket bound(context& on, const gyre::udp_options& options = {}) {
        auto made = X::bind(on, any_port(), options);
        REQUIRE(made.ok());
        return made.take();
    }

private:
    template <class Body>
    static task<> note_end(const Body& body, context& on, bool& ended) {
        co_await body(on);
        ended = true;
    }
};

}  // namespace exchange::testing
