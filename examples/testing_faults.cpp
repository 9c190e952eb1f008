// SPDX-License-Identifier: BSL-1.0
//
// How to test what a program makes of failures: each operation fails once, with each of its errors.
//
// The settings must be whole after whatever fails, the old ones or the new ones. It links gyre::test.
#include <gyre/gyre.hpp>
#include <gyre/test/fuse.hpp>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

gyre::task<gyre::io_result<>> save(std::string path, std::string text) {
    const auto saved = co_await gyre::replace_file(path, gyre::bytes_of(text));
    co_return saved;
}

std::string text_of_file(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

int main() {
    const std::string name = "testing_faults." + std::to_string(::getpid());
    const std::string path = (std::filesystem::temp_directory_path() / name).string();
    // snippet: scenario
    const auto report = gyre::test::fail_each([&](gyre::test::fuse& fault) -> std::string {
        std::ofstream{path} << "old";
        const gyre::test::fused_loops under{fault};
        const auto saved = gyre::run(save(path, "new"));
        if (saved.error() != fault.fault()) return "it tells something else";
        const std::string kept = text_of_file(path);
        const bool whole = kept == "new" || (kept == "old" && !saved.ok());
        return whole ? "" : "the settings are lost";
    });
    std::printf("%s", report.text().c_str());
    // end of snippet
    std::filesystem::remove(path);
    std::printf("%zu faults of %zu operations\n", report.faults(), report.operations());
    return report.ok() && report.faults() > 0 ? 0 : 1;
}
