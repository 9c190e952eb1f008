// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/header_lookup.hpp>

#include <gyre/http/fields.hpp>

namespace gyre::websocket {

bool header_lookup::same_name(std::string_view left, std::string_view right) noexcept {
    return http::equal_without_case(left, right);
}

}  // namespace gyre::websocket
