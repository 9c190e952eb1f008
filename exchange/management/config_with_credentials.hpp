// SPDX-License-Identifier: BSL-1.0
//
// A configuration that stands in two files: what a process does, and which secrets it knows.
//
// The second is named by the first (`credentials_file`), and nobody but its process should read it.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/management/text_file.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace exchange {

/// A configuration, or everything that is wrong with it.
template <class Config>
struct secret_reading {
    Config value;  ///< Meaningful if there are no errors.
    std::vector<config_error> errors;
    bool open_to_others =
        false;  ///< Others than its owner may read the credentials, or write them.
};

/// Adds what is wrong with the second file, by its name.
inline void add_errors(std::vector<config_error>& to, std::vector<config_error> wrong,
                       const std::string& name) {
    for (config_error& each : wrong)
        to.push_back({each.where.empty() ? name : name + ": " + each.where, std::move(each.what)});
}

/// Reads both files. That one cannot be read is an error like any other.
///
/// @param  read         Of the text of the first, and of the folder where it is: a secret_reading.
/// @param  credentials  Reads the text of the second into that, and calls it by its name in errors.
template <class Config, class Read, class Credentials>
[[nodiscard]] secret_reading<Config> load_with_credentials(const std::string& path,
                                                           const Read& read,
                                                           const Credentials& credentials) {
    secret_reading<Config> made;
    const std::optional<std::string> text = read_text_file(path);
    if (!text) {
        made.errors.push_back({"", "cannot be read"});
        return made;
    }
    made = read(*text, std::filesystem::path{path}.parent_path());
    const std::string& file = made.value.credentials_file;
    if (file.empty()) return made;  // Which was said, if one is needed.
    const std::string name = std::filesystem::path{file}.filename().string();
    if (const std::optional<std::string> secrets = read_text_file(file))
        credentials(*secrets, name, made);
    else made.errors.push_back({name, "cannot be read"});
    made.open_to_others = is_open_to_others(file);
    return made;
}

}  // namespace exchange
