// SPDX-License-Identifier: BSL-1.0
//
// Command lines that end a program the same way in all programs of the exchange.
//
// The parser's own exit statuses are beyond 100 and different for each mistake; ours are few, and scripts
// tell by 2 that they were misunderstood, on the command line as in the configuration.
#pragma once

#include <exchange/management/config.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace exchange {

/// Of programs that did not understand what they were asked.
inline constexpr int misunderstood = 2;

/// Parses, and says what is wrong or the help.
///
/// @return  The exit status if the program is to end here: 0 after help.
[[nodiscard]] inline std::optional<int> parse_command_line(CLI::App& options, int count,
                                                           char** arguments) {
    try {
        options.parse(count, arguments);
    } catch (const CLI::ParseError& said) {
        return options.exit(said) == 0 ? 0 : misunderstood;
    }
    return std::nullopt;
}

/// Says everything that is wrong with a configuration, a line each.
///
/// @return  The exit status.
[[nodiscard]] inline int complain(const std::string& path,
                                  const std::vector<config_error>& errors) {
    for (const config_error& each : errors)
        std::fprintf(stderr, "%s: %s\n", path.c_str(), each.message().c_str());
    return misunderstood;
}

}  // namespace exchange
