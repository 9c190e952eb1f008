// SPDX-License-Identifier: BSL-1.0
//
// Where names of hosts are looked for, and in which order: the "hosts" line of nsswitch.conf(5).
//
// Read as glibc reads it; docs/decisions/0062-settings-of-names.md tells what becomes of sources that
// we have not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gyre {

/// How a source has ended.
enum class name_status : std::uint8_t { success, not_found, unavailable };

/// One source of names, and after which of its ends the search is over.
struct name_source {
    enum class kind : std::uint8_t { files, dns, unknown };

    [[nodiscard]] bool ends_after(name_status it) const noexcept {
        return ends[static_cast<std::size_t>(it)];
    }

    kind from = kind::unknown;
    std::array<bool, 3> ends{true, false, false};  // By name_status.
};

/// The sources that `text`, an nsswitch.conf, names for hosts; files and then servers where it names none.
[[nodiscard]] std::vector<name_source> read_name_order(std::string_view text);

}  // namespace gyre
