// SPDX-License-Identifier: BSL-1.0
//
// How much memory a facility can come to need, and whether the machine has as much.
//
// What a facility reserves at its start it uses only as it is needed, so a start succeeds that the day cannot
// keep: the kernel would end the process in the middle of it. Therefore `matching_facility` adds up the worst
// beforehand, part by part, and begins nothing that does not fit.
#pragma once

#include <exchange/management/config.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

/// A part of the facility, at its worst.
struct memory_part {
    std::string_view what;  ///< "orders"; static storage.
    std::string_view
        key;  ///< The number in the configuration that it grows with, or empty. Static storage.
    std::uint64_t bytes = 0;
};

/// All parts, the largest first. What the kernel keeps for sockets is not among them.
[[nodiscard]] std::vector<memory_part> memory_needs(const config& of);

/// Of all parts. What is no number is the largest there is.
[[nodiscard]] std::uint64_t sum_of(const std::vector<memory_part>& parts) noexcept;

/// Reads a file, or nothing if it is not there.
using file_reader = std::function<std::optional<std::string>(const std::string& path)>;

/// What the machine has left for a program, or what its control groups allow it, if that is less. Nothing if
/// the machine does not tell.
///
/// @param  read  How to read files of /proc and /sys.
[[nodiscard]] std::optional<std::uint64_t> memory_there(const file_reader& read);

/// Why the facility cannot have what it may need, or nothing: it names the largest parts, and what to lower.
///
/// @param  there  In bytes; nothing: it is not known, and whatever is needed fits.
[[nodiscard]] std::optional<config_error> why_too_much(const std::vector<memory_part>& needed,
                                                       std::optional<std::uint64_t> there);

/// Does the system give addresses for so much? A limit of the process (`ulimit -v`) may be in the way.
[[nodiscard]] bool can_be_reserved(std::uint64_t bytes) noexcept;

/// "needs at most 300 MiB of 24105 MiB".
[[nodiscard]] std::string describe(const std::vector<memory_part>& needed,
                                   std::optional<std::uint64_t> there);

}  // namespace exchange
