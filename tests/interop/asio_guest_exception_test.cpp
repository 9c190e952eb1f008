// SPDX-License-Identifier: BSL-1.0
//
// Handlers of the host's that throw while a guest dies and runs the host; built only where there are
// exceptions.
#include <gyre/interop/asio.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> keep_outcome_of_long_sleep(error& outcome) {
    const auto slept = co_await sleep_for(1h);
    outcome = slept.error();
}

// What the host throws, one call of `run` after the other, sorted.
std::vector<std::string> thrown_by(boost::asio::io_context& host) {
    std::vector<std::string> all;
    for (bool ended = false; !ended;) {
        try {
            host.restart();
            host.run();
            ended = true;
        } catch (const std::runtime_error& it) {
            all.emplace_back(it.what());
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("what the host throws while a guest dies is thrown by the host's next run") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        boost::asio::io_context host;
        error slept;
        {
            const asio_guest guest{host, loop};
            launch(loop, keep_outcome_of_long_sleep(slept), or_terminate{});
            host.poll();
            boost::asio::post(host, [] { throw std::runtime_error{"first"}; });
            boost::asio::post(host, [] { throw std::runtime_error{"second"}; });
        }

        CHECK(slept == errc::canceled);
        CHECK(thrown_by(host) == std::vector<std::string>{"first", "second"});
    });
}
