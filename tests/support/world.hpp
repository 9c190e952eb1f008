// SPDX-License-Identifier: BSL-1.0
//
// A machine in memory as one more backend of tests, under the name `world`.
//
// What the harness does with the kernel's sockets and descriptors it does with the machine's while a body
// runs in a world. conformance.hpp says for which families that is.
#pragma once

#include <gyre/test/world.hpp>
#include <support/harness.hpp>

#include <chrono>

namespace gyre::testing {

/// The machine that bodies of this thread run on; null where that is the real one.
[[nodiscard]] test::machine* machine_here() noexcept;

/// Says which machine bodies run on, until its end.
class on_machine {
public:
    explicit on_machine(test::machine& it) noexcept;
    on_machine(const on_machine&) = delete;
    on_machine& operator=(const on_machine&) = delete;
    ~on_machine();
};

/// Whether GYRE_TEST_BACKENDS has `world` in it.
[[nodiscard]] bool worlds_under_test();

/// Runs `body(io)` to its end on a machine of a world of its own, which is left with nothing open. True if
/// it ended.
template <class Body>
bool run_in_world(const Body& body) {
    INFO("backend world");
    test::world world;
    test::machine& here = world.add("here");
    const on_machine mark{here};
    auto outcome = world.run(here, body(here.io()), std::chrono::hours{24});
    INFO(outcome.text());
    CHECK(outcome.ok());
    if (!outcome.ok()) return false;
    outcome.take();
    CHECK(here.open_descriptors() == 0);
    return true;
}

/// Runs `body(io)` on every backend, and in a world.
template <class Body>
void everywhere(const Body& body) {
    for (const backend_choice each : backends_under_test()) run_on(each, body);
    if (worlds_under_test()) run_in_world(body);
}

}  // namespace gyre::testing
