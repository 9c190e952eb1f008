// SPDX-License-Identifier: BSL-1.0
//
// How a user's exception leaves a world. Built only with exceptions.
#include <gyre/test/world.hpp>

#include <base/ending.hpp>
#include <gyre/sync/sleep.hpp>

#include <chrono>
#include <csignal>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> throw_late() {
    static_cast<void>(co_await sleep_for(1s));
    throw 13;
}

}  // namespace

TEST_CASE("an exception that a task ends with comes out of its run") {
    test::world world;
    test::machine& machine = world.add("alone");
    const time_point began = world.now();
    int caught = 0;

    try {
        static_cast<void>(world.run(machine, throw_late()).ok());
    } catch (int what) {
        caught = what;
    }

    CHECK(caught == 13);
    CHECK(world.now() - began == 1s);
    CHECK(world.run().ok());  // The world goes on.
}

TEST_CASE("an exception of a task that was started ends the process") {
    const ending how = ending_of([] {
        test::world world;
        world.start(world.add("alone"), throw_late());
        static_cast<void>(world.run().ok());
    });

    CHECK(how.signal == SIGABRT);
}
