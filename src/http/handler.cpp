// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/handler.hpp>

namespace gyre::http {

handler wrap(around_function around, handler next) {
    // No coroutine itself: `around`'s frame refers to `next`, which lives as long as the handler does.
    return [around = std::move(around), next = std::move(next)](request& what) {
        return around(what, next);
    };
}

middleware as_middleware(around_function around) {
    return [around = std::move(around)](handler next) { return wrap(around, std::move(next)); };
}

}  // namespace gyre::http
