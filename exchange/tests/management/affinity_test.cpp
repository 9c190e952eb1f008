// SPDX-License-Identifier: BSL-1.0
//
// Staying on one processor, or hearing that it cannot be.
#include <exchange/management/affinity.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <thread>

using namespace exchange;

namespace {

// The processors that the kernel lets this thread run on, as it writes them: "0-3" or "2".
std::string allowed() {
    std::ifstream status{"/proc/thread-self/status"};
    const std::string key = "Cpus_allowed_list:\t";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key)) return line.substr(key.size());
    return "unknown";
}

}  // namespace

TEST_CASE("a thread that is pinned may run on its processor and on no other") {
    std::thread{[] {  // The tests' own thread stays free.
        const std::string before = allowed();
        const auto first = static_cast<unsigned>(std::stoul(before));

        const auto [refused] = pin_this_thread(first);

        CHECK_FALSE(refused);
        CHECK(allowed() == std::to_string(first));
    }}
        .join();
}

TEST_CASE("a processor that is not there is refused, and nothing changes") {
    const std::string before = allowed();

    CHECK(pin_this_thread(1023).error() == gyre::errc::invalid_argument);
    CHECK(pin_this_thread(100'000).error() == gyre::errc::invalid_argument);

    CHECK(allowed() == before);
}
