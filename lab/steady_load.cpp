// SPDX-License-Identifier: BSL-1.0
//
// The lab's clients of an echo server that somebody else has started and watches.
//
// They are those of the suite `echo`: a closed loop in which every byte that returns is compared. They warm
// up, print `warm` and wait for a line, so that whoever watches can look at the server before and after
// what is measured; then they print how many messages have come back, and stay connected until the
// end of standard input.
#include <lab/churn_load.hpp>
#include <lab/echo_load.hpp>
#include <lab/histogram.hpp>
#include <lab/scenario.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

std::uint64_t play(lab::echo_load& clients, int milliseconds) {
    lab::histogram latency;
    clients.play(std::chrono::milliseconds{milliseconds}, latency);
    return latency.count();
}

bool wait_for_line() {
    for (;;) {
        const int next = std::getchar();
        if (next == '\n' || next == EOF) return next == '\n';
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 6) {
        std::fputs("usage: lab_steady_load PORT CONNECTIONS BYTES WARM_UP_MS MEASURED_MS\n",
                   stderr);
        return 2;
    }
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(static_cast<std::uint16_t>(std::atoi(arguments[1])));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    lab::echo_case work{};
    work.connections = static_cast<std::size_t>(std::atoi(arguments[2]));
    work.message_bytes = static_cast<std::size_t>(std::atoi(arguments[3]));

    lab::echo_load clients{work, server};
    static_cast<void>(play(clients, std::atoi(arguments[4])));
    std::puts("warm");
    std::fflush(stdout);
    if (!wait_for_line()) return 0;
    std::printf("%llu\n", static_cast<unsigned long long>(play(clients, std::atoi(arguments[5]))));
    std::fflush(stdout);
    while (wait_for_line()) continue;
    return 0;
}
