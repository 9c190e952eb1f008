// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/header_lookup.hpp>

#include <websocket/header_scanner.hpp>

namespace gyre::websocket {

bool header_lookup::same_name(std::string_view left, std::string_view right) noexcept {
    return same_word(left, right);
}

}  // namespace gyre::websocket
