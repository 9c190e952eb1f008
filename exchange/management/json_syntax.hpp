// SPDX-License-Identifier: BSL-1.0
//
// Text that must be JSON, with comments, in which no object says the same key twice.
//
// The library that parses would let the last of two equal keys win in silence, and without exceptions it
// would not say where the text is wrong; this asks it for both.
#pragma once

#include <exchange/management/config.hpp>

#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace exchange {

/// Parses `text`. If it adds to `errors`, what it returns means nothing.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::vector<config_error>& errors);

}  // namespace exchange
