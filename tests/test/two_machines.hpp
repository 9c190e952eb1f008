// SPDX-License-Identifier: BSL-1.0
//
// A world of a server and a client, for tests of what lies between them.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/test/world.hpp>

#include <doctest/doctest.h>

#include <utility>

namespace gyre::testing {

inline test::link_options slow(duration latency) {
    test::link_options options;
    options.latency = latency;
    return options;
}

struct two_machines {
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(7000);

    stream_acceptor listen(const listen_options& options = {}) {
        return stream_acceptor::listen(server.io(), where, options).take();
    }

    template <class Result>
    Result run(test::machine& on, task<Result> work) {
        auto outcome = world.run(on, std::move(work));
        CHECK_MESSAGE(outcome.ok(), outcome.text());
        return outcome.take();
    }

    template <class Result>
    Result run(task<Result> work) {
        return run(client, std::move(work));
    }
};

}  // namespace gyre::testing
