// SPDX-License-Identifier: BSL-1.0
//
// What exchange/management/text_file.hpp promises: the whole of a file, or nothing.
#include <exchange/management/text_file.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>

using namespace exchange;

TEST_CASE("a file is read to its end, whatever its size") {
    const std::string path = std::filesystem::temp_directory_path() /
                             ("exchange_text_" + std::to_string(std::random_device{}()));
    for (const std::size_t size : {0, 1, 4095, 4096, 4097, 100'000}) {
        CAPTURE(size);
        const std::string text(size, 'x');
        std::ofstream{path} << text;
        CHECK(read_text_file(path) == text);
    }
    std::filesystem::remove(path);
}

TEST_CASE("a file of the kernel's, which is said to be empty, is read as well") {
    const auto text = read_text_file("/proc/meminfo");
    REQUIRE(text.has_value());
    CHECK(text->starts_with("MemTotal:"));
}

TEST_CASE("what is no file, or not there, is nothing") {
    CHECK_FALSE(read_text_file("/nowhere/it").has_value());
    CHECK_FALSE(read_text_file("/").has_value());
}
