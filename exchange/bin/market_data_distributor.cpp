// SPDX-License-Identifier: BSL-1.0
//
// The market data distributor: the exchange's feed on one side, subscribers on the other.
//
// This is its command line; run_distributor.hpp is what it does.
#include <exchange/bin/run_distributor.hpp>
#include <exchange/bin/served_program.hpp>

using namespace exchange;

namespace {

constexpr const char* about = R"(Runs a market data distributor until SIGTERM or SIGINT.

When subscribers may come it prints `ready: subscribers ADDRESS, feed ADDRESS, backend
NAME`, and behind that `, websocket ADDRESS` where those of WebSocket may and
`, redistribution ADDRESS, requests ADDRESS` if it sends the feed once more, whether or not
the exchange is there: until its feed is heard, logins wait. The first signal lets
subscribers leave, a second one ends the process at once. SIGQUIT tells who is there, how
each book stands and, on gyre, what every coroutine waits for.

A distributor keeps nothing: a subscriber that comes again, to this one or to another,
subscribes again.)";

[[nodiscard]] client_server_options& doors_of(distributor_config& it) {
    return it.distributor.clients;
}

}  // namespace

int main(int count, char** arguments) {
    CLI::App options{about, "market_data_distributor"};
    const served_arguments served{options};
    if (const auto status = parse_command_line(options, count, arguments)) return *status;
    return served.serve<distributor_config>({.name = "market_data_distributor",
                                             .section = "subscribers",
                                             .load = load_distributor_config,
                                             .doors_of = doors_of,
                                             .run = run_distributor});
}
