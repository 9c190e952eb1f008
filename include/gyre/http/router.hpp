// SPDX-License-Identifier: BSL-1.0
//
// Chooses a handler by method and path.
//
// A path is matched as it was sent, segment by segment, before anything is decoded: an encoded slash never
// becomes a separator that a check in front has not seen. Literal segments win over parameters, whatever the
// order in which routes were added.
#pragma once

#include <gyre/http/handler.hpp>
#include <gyre/http/method.hpp>

#include <memory>
#include <string_view>

namespace gyre::http {

/// A set of routes that becomes a handler.
///
///     router routes;
///     routes.add(method::get, "/users/{id}", show_user)
///         .add(method::get, "/files/{path*}", send_file);
///     const handler serves = std::move(routes).build();
///
/// In a pattern `{name}` is one segment that is not empty, and `{name*}`, at the end, all that follows, be it
/// nothing: `request::parameter` has them. Names have letters, digits, `_` and `-`, each once in a pattern.
class router {
public:
    router();
    router(router&&) noexcept;
    router& operator=(router&&) noexcept;
    ~router();

    /// Adds a route. GET answers HEAD as well, unless HEAD has a route of its own.
    ///
    /// @param  pattern  Begins with a slash; at most `request::parameters_max` parameters.
    /// @param  what     Owned; not empty.
    /// @pre  the pattern is well-formed, and not taken for this method.
    router& add(method by, std::string_view pattern, handler what);

    /// The same whatever the method, unless it has a route of its own: for methods that have no name here,
    /// too.
    router& add(std::string_view pattern, handler what);

    /// What answers when no pattern matches; 404 if nothing is set.
    router& otherwise(handler what);

    /// The handler. A path that matches with no route for the method is answered with 405, or for OPTIONS
    /// with 204, and with `Allow`.
    ///
    /// Cost: of each request a walk over its segments, no frame and no allocation.
    [[nodiscard]] handler build() &&;

private:
    struct state;

    std::shared_ptr<state> state_;
};

}  // namespace gyre::http
