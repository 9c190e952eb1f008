// SPDX-License-Identifier: BSL-1.0
//
// Readers of both versions of HTTP ask here which fields may follow a body. If they differed, a proxy between
// them would carry a field further than it may go.
#pragma once

#include <gyre/http/fields.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace gyre::http {

/// True if a trailer may have this name. RFC 9110, 6.5.1: a field that frames, routes or authenticates a
/// message comes too late there.
[[nodiscard]] inline bool may_be_trailer(std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 12> others{"content-length",
                                                             "transfer-encoding",
                                                             "host",
                                                             "connection",
                                                             "te",
                                                             "trailer",
                                                             "authorization",
                                                             "content-encoding",
                                                             "content-type",
                                                             "content-range",
                                                             "cookie",
                                                             "set-cookie"};
    return std::ranges::none_of(
        others, [name](std::string_view other) { return equal_without_case(name, other); });
}

}  // namespace gyre::http
