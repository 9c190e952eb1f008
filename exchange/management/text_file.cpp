// SPDX-License-Identifier: BSL-1.0
//
// To its end, whatever size it is said to have: files of the kernel's say 0. See text_file.hpp.
#include <exchange/management/text_file.hpp>

#include <array>
#include <cstdio>
#include <filesystem>

namespace exchange {

std::optional<std::string> read_text_file(const std::string& path) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return std::nullopt;
    std::string text;
    std::array<char, 4096> part;
    for (std::size_t size = part.size(); size == part.size();) {
        size = std::fread(part.data(), 1, part.size(), file);
        text.append(part.data(), size);
    }
    const bool whole = std::ferror(file) == 0;
    std::fclose(file);
    if (!whole) return std::nullopt;
    return text;
}

bool is_open_to_others(const std::string& path) {
    using std::filesystem::perms;
    std::error_code failure;
    const auto found = std::filesystem::status(path, failure);
    return !failure &&
           (found.permissions() & (perms::group_all | perms::others_all)) != perms::none;
}

}  // namespace exchange
