// SPDX-License-Identifier: BSL-1.0
//
// The laws of the seam on gyre's own side.
#include <exchange/net/gyre_traits.hpp>

#include <exchange/tests/net/gyre_world.hpp>
#include <exchange/tests/net/seam_laws.hpp>

using namespace exchange;
using testing::gyre_world;

TEST_CASE("gyre models the seam") {
    testing::law<gyre_world>::hold([](gyre::io_context& on) -> gyre::task<> {
        gyre_timer timer{on};
        const gyre::time_point due = gyre_traits::now(on) + std::chrono::milliseconds{2};

        const gyre::io_result<> passed = co_await timer.wait_until(due);

        CHECK(passed.ok());
        CHECK(gyre_traits::now(on) >= due);
    });
}
