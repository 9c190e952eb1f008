// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/measured_process.hpp promises, of a shell that says that it is ready.
#include <exchange/bench/measured_process.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace exchange::bench;

namespace {

std::vector<process_file> script(const std::string& behind_ready) {
    return {{"script.sh",
             "echo \"ready: door 127.0.0.1:4711, life abc, secret "
             "$(stat -c %a \"$(dirname \"$0\")/secret\")\"\n" +
                 behind_ready},
            {"secret", "x"}};
}

}  // namespace

TEST_CASE("what a program says of itself in its first line can be asked for") {
    const measured_process it{"/bin/sh", script("read forever\n")};

    CHECK(it.endpoint_behind("door ").to_string() == "127.0.0.1:4711");
    CHECK(it.word_behind("life ") == "abc");
    CHECK(it.seconds_to_ready() > 0);
}

TEST_CASE("files of a measured process are its owner's to read") {
    const measured_process it{"/bin/sh", script("read forever\n")};

    CHECK(it.word_behind("secret ") == "600");
}

TEST_CASE("a program that works is seen to use the processor, and its memory is known") {
    const measured_process it{"/bin/sh", script("while :; do :; done\n")};
    const process_use before = it.used();

    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    process_use after = it.used();
    while (after.processor_seconds < before.processor_seconds + 0.02 &&
           std::chrono::steady_clock::now() < end)
        after = it.used();

    CHECK(before.processor_seconds > 0);
    CHECK(after.processor_seconds >= before.processor_seconds + 0.02);
    CHECK(after.processor_seconds < before.processor_seconds + 10);
    CHECK(after.resident_bytes > 100'000);
    CHECK(after.resident_bytes < 100'000'000);
    CHECK(after.resident_bytes_most >= after.resident_bytes);
}
