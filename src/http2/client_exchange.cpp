// SPDX-License-Identifier: BSL-1.0
#include <http2/client_exchange.hpp>

#include <http2/message_fields.hpp>

#include <charconv>

namespace gyre::http2 {

void client_exchange::add_field(std::string_view name, std::string_view value) {
    if (head_done) in.came_behind.add(name, value);
    else if (name == ":status") {
        // Three digits: nghttp2 has seen to it.
        std::from_chars(value.data(), value.data() + value.size(), number_);
    } else if (!name.starts_with(':')) {
        fields.add(name, value);
    }
}

// RFC 9113, 8.1: any number of interim heads, a final one, and perhaps trailers.
bool client_exchange::end_head(bool last, std::size_t interim_max) {
    if (head_too_large || fields.refused() || in.came_behind.refused()) return false;
    if (head_done) {
        in.end();
        return true;
    }
    status = static_cast<http::status>(number_);
    if (http::is_interim(status)) {
        fields.clear();
        changed.set();
        return ++interims_ <= interim_max && !last;
    }
    head_done = true;
    in.begin(last ? 0 : declared_size(fields), false);
    if (last) in.end();
    changed.set();
    return true;
}

void client_exchange::fail(error why) noexcept {
    if (!failed) failed = why;
    in.fail(why);
    out.fail(why);
    if (producer != nullptr) producer->request(stop_level::stop);
    changed.set();
}

}  // namespace gyre::http2
