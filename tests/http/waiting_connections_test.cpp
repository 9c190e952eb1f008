// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/waiting_connections.hpp promises: who makes room, and when.
#include <gyre/http/waiting_connections.hpp>

#include <doctest/doctest.h>

#include <optional>

using namespace gyre;
using http::waiting_connections;

TEST_CASE("the connection that has waited longest makes room, each of them once") {
    waiting_connections all;
    stop_chain first;
    stop_chain second;
    waiting_connections::place one{&all};
    waiting_connections::place two{&all};
    one.begin_wait(first);
    two.begin_wait(second);
    one.end_wait();
    one.begin_wait(first);  // Now the second has waited longer.
    all.make_room();
    CHECK(second.level() == stop_level::drain);
    CHECK(first.level() == stop_level::none);
    all.make_room();
    CHECK(first.level() == stop_level::drain);
}

TEST_CASE("where none waits, the next that begins to makes room, unless one ends before") {
    waiting_connections all;
    stop_chain chain;
    {
        waiting_connections::place busy{&all};
        all.make_room();
        CHECK(chain.level() == stop_level::none);
        busy.begin_wait(chain);
        CHECK(chain.level() == stop_level::drain);
    }
    stop_chain other;
    std::optional<waiting_connections::place> ending{std::in_place, &all};
    waiting_connections::place stays{&all};
    all.make_room();
    ending.reset();
    stays.begin_wait(other);
    CHECK(other.level() == stop_level::none);
}

TEST_CASE("a place in no list makes no room") {
    stop_chain chain;
    waiting_connections::place alone{nullptr};
    alone.begin_wait(chain);
    alone.end_wait();
    CHECK(chain.level() == stop_level::none);
}
