// SPDX-License-Identifier: BSL-1.0
//
// The order entry gateway: clients of an exchange on one side, the matching facility on the other.
//
// This is its command line; run_gateway.hpp is what it does.
#include <exchange/bin/run_gateway.hpp>
#include <exchange/bin/served_program.hpp>
#include <exchange/management/access_token.hpp>

#include <cstdio>

#include <malloc.h>

using namespace exchange;

namespace {

constexpr const char* about = R"(Runs an order entry gateway until SIGTERM or SIGINT.

When clients may come it prints `ready: order entry ADDRESS, facility ADDRESS, backend
NAME`, and behind that `, websocket ADDRESS` where clients of WebSocket may, whether or not
the facility is there: until it is, logins wait. The first signal lets clients leave, a
second one ends the process at once. SIGQUIT tells who is there and, on gyre, what every
coroutine waits for.

A gateway keeps nothing: a client that comes again, to this one or to another, goes on
where it was.)";

[[nodiscard]] int print_token() {
    const access_token made = make_access_token();
    if (made.hash.empty()) {
        std::fputs("order_entry_gateway: the system gives no chance\n", stderr);
        return 1;
    }
    std::printf("token %s\nhash %s\n", made.secret.c_str(), made.hash.c_str());
    return 0;
}

[[nodiscard]] client_server_options& doors_of(gateway_config& it) { return it.gateway.clients; }

}  // namespace

int main(int count, char** arguments) {
    // Windows of clients that read are never used: from this size on the system gives pages when they are.
    ::mallopt(M_MMAP_THRESHOLD, 16 << 10);
    bool new_token = false;
    CLI::App options{about, "order_entry_gateway"};
    const served_arguments served{options};
    options.add_flag("--new-token", new_token,
                     "Print a token for a user, and the hash that the gateway is to know of it");
    if (const auto status = parse_command_line(options, count, arguments)) return *status;
    if (new_token) return print_token();
    return served.serve<gateway_config>({.name = "order_entry_gateway",
                                         .section = "order_entry",
                                         .load = load_gateway_config,
                                         .doors_of = doors_of,
                                         .run = run_gateway});
}
