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
#include <string>

gyre::task<gyre::io_result<>> save(std::string path, std::string text) {
    const auto saved = co_await gyre::replace_file(path, gyre::bytes_of(text));
    co_return saved;
}

int main() {
    const std::string name = "testing_faults." + std::to_string(::getpid());
    const std::string path = (std::filesystem::temp_directory_path() / name).string();
    // snippet: scenario
    const auto report = gyre::test::fail_each([&](gyre::test::fuse& fault) -> std::string {
        std::ofstream{path} << "old";
        gyre::io_result<> saved;
        {
            const gyre::test::fused_loops under{fault};
            saved = gyre::run(save(path, "new"));
        }
        if (saved.error() != fault.fault()) return "it tells something else";
        const auto kept = gyre::run(gyre::read_file(path));
        const bool whole = kept.value() == "new" || (kept.value() == "old" && !saved.ok());
        return whole ? "" : "the settings are lost";
    });
    std::printf("%s", report.text().c_str());
    // end of snippet
    std::filesystem::remove(path);
    std::printf("%zu faults of %zu operations\n", report.faults(), report.operations());
    return report.ok() && report.faults() > 0 ? 0 : 1;
}
