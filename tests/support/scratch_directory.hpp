// SPDX-License-Identifier: BSL-1.0
//
// A directory of a test's own.
//
// Tests run side by side, and what they make is to be gone when they have ended.
#pragma once

#include <filesystem>
#include <string>

namespace gyre::testing {

/// Made empty; removed with all that is in it.
class scratch_directory {
public:
    scratch_directory();
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;
    ~scratch_directory();

    /// The path of `name` in it.
    [[nodiscard]] std::string operator/(const std::string& name) const {
        return (path_ / name).string();
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Writes `content` to `name` in it, past any loop.
    std::string put(const std::string& name, const std::string& content) const;

    /// What `name` in it holds.
    [[nodiscard]] std::string get(const std::string& name) const;

private:
    std::filesystem::path path_;
};

}  // namespace gyre::testing
