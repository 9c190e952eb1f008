// SPDX-License-Identifier: BSL-1.0
#include <http2/response_head.hpp>

#include <charconv>

namespace gyre::http2 {

void response_head::add(std::string_view name, std::string_view value) {
    if (name == ":status") {
        // Three digits: nghttp2 has seen to that.
        std::from_chars(value.data(), value.data() + value.size(), number_);
    } else if (!name.starts_with(':')) {
        fields.add(name, value);
    }
}

// RFC 9110, 15: the first digit is a class.
bool response_head::finish() noexcept {
    if (number_ < 100 || fields.refused()) return false;
    status = static_cast<http::status>(number_);
    return true;
}

}  // namespace gyre::http2
