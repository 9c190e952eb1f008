// SPDX-License-Identifier: BSL-1.0
//
// The whole of a file as text: a configuration, or what the kernel tells about the machine in one.
#pragma once

#include <optional>
#include <string>

namespace exchange {

/// All of it; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& path);

}  // namespace exchange
