// SPDX-License-Identifier: BSL-1.0
//
// Servers behind `web::upstreams` that hang, lie, break off and come back, clients of a proxy that do, and
// stops at each step: what is learned of a server has to be its own doing, and nothing stays in flight.
#include <gyre/web/upstreams.hpp>

#include <gyre/io/serve.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/world.hpp>
#include <web/farm.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using web::client;
using web::upstream_response;
using web::upstreams;
using web::upstreams_options;

// -------- Shares --------

TEST_CASE("servers get the shares of their weights from several clients at a time") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins({10, 1})};
            const auto askers = [&to](task_group& group) -> task<> {
                for (int each = 0; each < 4; ++each) group.spawn(ask_often(to, 200));
                co_return;
            };
            co_await with_group(askers);
            CHECK(on.all[0].asked + on.all[1].asked == 800);
            // A share of 73. By the load alone it would be 200.
            CHECK(on.all[1].asked > 10);
            CHECK(on.all[1].asked < 120);
        };
        co_await on.run(body);
    });
}
