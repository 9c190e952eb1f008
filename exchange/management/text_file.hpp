// SPDX-License-Identifier: BSL-1.0
//
// The whole of a file as text: what people, programs and the kernel write for the exchange to read.
#pragma once

#include <optional>
#include <string>

namespace exchange {

/// All of it; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& path);

/// Whether others than its owner may read or write a file.
[[nodiscard]] bool is_open_to_others(const std::string& path);

}  // namespace exchange
