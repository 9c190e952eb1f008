// SPDX-License-Identifier: BSL-1.0
//
// How scratch_directory.hpp makes and removes it.
#include <support/scratch_directory.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace gyre::testing {

scratch_directory::scratch_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "gyre_test_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
}

scratch_directory::~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string scratch_directory::put(const std::string& name, const std::string& content) const {
    std::ofstream{path_ / name, std::ios::binary} << content;
    return *this / name;
}

std::string scratch_directory::get(const std::string& name) const {
    std::ostringstream content;
    content << std::ifstream{path_ / name, std::ios::binary}.rdbuf();
    return content.str();
}

}  // namespace gyre::testing
