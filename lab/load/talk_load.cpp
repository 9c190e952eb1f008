// SPDX-License-Identifier: BSL-1.0
//
// Loads a server of one of the protocols that is there already, as lab/measure/protocols.py says.
//
//     lab_talk_load --port P --case '{"protocol":"http_server","profile":"text","connections":512,
//                                     "at_once":1,"each_lives":0,"bytes":0}'
//
// Each line of standard input is a request and is answered by a line of JSON: `open` opens the connections
// that stay, `play MILLISECONDS` plays a phase and tells what was exchanged. Between two requests it is
// silent, so that the server's costs can be read. At the end of standard input it ends with 0.
#include <lab/kit/descriptor_limit.hpp>
#include <lab/kit/fail.hpp>
#include <lab/kit/kernel_counts.hpp>
#include <lab/load/talk.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

namespace {

using json = nlohmann::ordered_json;

lab::talk_case parse_case(std::string_view text) {
    const json given = json::parse(text, nullptr, false);
    lab::require(given.is_object(), "lab_talk_load: --case takes an object in JSON");
    lab::talk_case what;
    what.protocol = given.value("protocol", "");
    what.profile = given.value("profile", "");
    what.connections = given.value("connections", std::size_t{0});
    what.at_once = given.value("at_once", std::size_t{1});
    what.each_lives = given.value("each_lives", std::size_t{0});
    what.bytes = given.value("bytes", std::size_t{0});
    lab::require(what.connections > 0 && what.at_once > 0,
                 "lab_talk_load: connections and at_once are more than 0");
    return what;
}

json report_of(const lab::phase& of, lab::phase::clock::duration wall,
               std::chrono::nanoseconds processor) {
    using seconds = std::chrono::duration<double>;
    json found = {{"messages", of.messages()},
                  {"bytes", of.bytes()},
                  {"connections", of.connections()},
                  {"seconds", seconds{wall}.count()},
                  {"processor_seconds", seconds{processor}.count()},
                  {"mean_ns", of.latency().mean()}};
    for (const auto& [name, part] : {std::pair{"p50_ns", 0.5}, std::pair{"p90_ns", 0.9},
                                     std::pair{"p99_ns", 0.99}, std::pair{"p99.9_ns", 0.999}}) {
        if (const auto value = of.latency().known_quantile(part)) found[name] = *value;
    }
    json& buckets = found["latency_buckets"] = json::array();
    of.latency().for_each_bucket(
        [&](std::uint64_t value, std::uint64_t times) { buckets.push_back({value, times}); });
    return found;
}

gyre::task<json> play(lab::talk& clients, std::chrono::milliseconds length) {
    const auto processor = *lab::processor_time(CLOCK_THREAD_CPUTIME_ID);
    lab::phase during{length};
    co_await clients.play(during);
    const auto wall = lab::phase::clock::now() - during.began();
    lab::require(during.messages() > 0, "load: nothing was answered");
    co_return report_of(during, wall, *lab::processor_time(CLOCK_THREAD_CPUTIME_ID) - processor);
}

gyre::task<int> obey(std::unique_ptr<lab::talk> clients) {
    for (std::string line; std::getline(std::cin, line);) {
        json answer;
        if (line == "open") {
            co_await clients->open();
            answer = {{"open", true}};
        } else if (line.starts_with("play ")) {
            const std::chrono::milliseconds length{std::atoi(line.c_str() + 5)};
            answer = co_await play(*clients, length);
        } else {
            lab::fail("lab_talk_load: no such request: " + line);
        }
        std::cout << answer.dump() << std::endl;
    }
    co_return 0;
}

}  // namespace

int main(int count, char** arguments) {
    std::string_view text;
    int port = 0;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name{arguments[i]};
        if (name == "--case") text = arguments[i + 1];
        if (name == "--port") port = std::atoi(arguments[i + 1]);
    }
    if (text.empty() || port <= 0 || port > 65'535) {
        std::fputs("usage: lab_talk_load --port P --case JSON\n", stderr);
        return 2;
    }
    lab::raise_descriptor_limit();
    const gyre::endpoint server{gyre::ipv4::loopback(), static_cast<std::uint16_t>(port)};
    return gyre::run(obey(lab::make_talk(parse_case(text), server)));
}
