// SPDX-License-Identifier: BSL-1.0
#include <http2/client_exchange.hpp>

#include <http2/message_fields.hpp>

namespace gyre::http2 {

void client_exchange::add_field(std::string_view name, std::string_view value) {
    if (head_done) in.add_trailer(name, value);
    else head.add(name, value);
}

// RFC 9113, 8.1: any number of interim heads, a final one, and perhaps trailers.
bool client_exchange::end_head(bool last, std::size_t interim_max) {
    if (head_too_large || in.has_bad_trailer()) return false;
    if (head_done) {
        in.end();
        return true;
    }
    if (!head.finish()) return false;
    if (http::is_interim(head.status)) {
        head.fields.clear();
        changed.set();
        return ++interims_ <= interim_max && !last;
    }
    head_done = true;
    in.begin(last ? 0 : declared_size(head.fields), false);
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
