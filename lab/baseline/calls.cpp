// SPDX-License-Identifier: BSL-1.0
//
// Counts the system calls of another process while somebody loads it: ab and wrk cannot.
//
// It prints one line of JSON when it has begun to count, or why it cannot, and the count when its standard
// input ends, or why there is none.
#include <lab/kernel_counts.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
    const int process = count == 2 ? std::atoi(arguments[1]) : 0;
    if (process <= 0) {
        std::fputs("usage: lab_baseline_calls PROCESS\n", stderr);
        return 2;
    }
    using json = nlohmann::ordered_json;
    const auto say = [](const json& line) {
        std::puts(line.dump().c_str());
        std::fflush(stdout);
    };
    if (const std::string refusal = lab::count_system_calls(); !refusal.empty()) {
        say({{"system_calls_not_counted", refusal}});
        return 0;
    }
    const lab::system_call_counter calls{process};
    say({{"counting", true}});
    while (std::getchar() != EOF) continue;
    if (const auto made = calls.so_far()) {
        say({{"system_calls", *made}});
    } else {
        say({{"system_calls_not_counted", lab::unreadable_count}});
    }
    return 0;
}
