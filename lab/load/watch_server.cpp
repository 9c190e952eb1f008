// SPDX-License-Identifier: BSL-1.0
//
// Starts a server and watches it while another program loads it, for clients that can do neither (ab, wrk).
//
//     lab_watch_server [--count-system-calls] WORKLOAD THREADS SERVER [ARGUMENT...]
//
// The server runs on the first cores this process may use. A line of JSON says when it is ready: its port,
// its process and the cores that are left for the load; or why it cannot run. Then each line of standard
// input is a request: `no_delay PORT` looks at the server's end of a client's connection, `begin` and `end`
// read what it costs, each answered by a line. At the end of standard input it ends the server, and itself
// with 0 if that went well.
#include <lab/kit/fail.hpp>
#include <lab/load/server_process.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace {

using json = nlohmann::ordered_json;

void say(const json& line) { std::cout << line.dump() << std::endl; }

json cores_in(const cpu_set_t& set) {
    json found = json::array();
    for (int each = 0; each < CPU_SETSIZE; ++each) {
        if (CPU_ISSET(each, &set)) found.push_back(each);
    }
    return found;
}

json report_of(const lab::server_cost& spent) {
    using seconds = std::chrono::duration<double>;
    json found = {{"seconds", seconds{spent.wall}.count()},
                  {"processor_seconds", seconds{spent.processor}.count()},
                  {"memory_megabytes", spent.memory_megabytes}};
    if (spent.context_switches) found["context_switches"] = *spent.context_switches;
    if (spent.system_calls) found["system_calls"] = *spent.system_calls;
    return found;
}

void answer_requests(const lab::started_server& server) {
    std::optional<lab::server_watch> watch;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.starts_with("no_delay ")) {
            const std::array port{static_cast<std::uint16_t>(std::atoi(line.c_str() + 9))};
            say({{"no_delay_seen", server.process.require_no_delay(port)}});
        } else if (line == "begin") {
            watch.emplace(server.process);
            say({{"begun", true}});
        } else if (line == "end" && watch) {
            say(report_of(watch->stop()));
        } else {
            lab::fail("lab_watch_server: no such request: " + line);
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    const bool counts = count > 1 && std::string_view{arguments[1]} == "--count-system-calls";
    const int first = counts ? 2 : 1;
    if (count < first + 3) {
        std::fputs("usage: lab_watch_server [--count-system-calls] WORKLOAD THREADS SERVER...\n",
                   stderr);
        return 2;
    }
    const auto threads = static_cast<std::size_t>(std::atoi(arguments[first + 1]));
    lab::require(threads > 0, "lab_watch_server: a server has a thread at least");
    const lab::core_split cores = lab::cores_for(threads);
    const std::string refusal = counts ? lab::count_system_calls() : std::string{};
    auto started = lab::start_server(
        {{arguments + first + 2, arguments + count}, arguments[first], threads, cores.server});
    if (const auto* const failed = std::get_if<lab::not_started>(&started)) {
        say({{"cannot_run", failed->reason}});
        return 0;
    }
    auto& server = std::get<lab::started_server>(started);
    json ready = {{"port", ntohs(server.address.sin_port)},
                  {"process", server.process.id()},
                  {"load_cores", cores_in(cores.load)}};
    if (!refusal.empty()) ready["system_calls_not_counted"] = refusal;
    say(ready);
    answer_requests(server);
    server.process.stop();
    return 0;
}
