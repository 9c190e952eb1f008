// SPDX-License-Identifier: BSL-1.0
//
// A context of gyre on the interface of the kernel that a configuration names, or why there is none.
#pragma once

#include <exchange/management/config.hpp>

#include <gyre/runtime/io_context.hpp>

#include <cstdio>
#include <string>

namespace exchange {

/// Runs `body(context)`.
///
/// @param  program  What the process is called, for an error.
/// @return  What `body` does, or 1 if there can be no such context, which was said.
template <class Body>
[[nodiscard]] int with_gyre_context(const char* program, process_backend backend,
                                    const Body& body) {
    gyre::io_context_options options;
    options.backend = backend == process_backend::gyre_uring ? gyre::backend_choice::uring
                                                             : gyre::backend_choice::epoll;
    gyre::io_context context{options};
    if (const gyre::error refused = context.status()) {
        std::fprintf(stderr, "%s: %s does not work here: %s\n", program,
                     std::string{describe(backend)}.c_str(), refused.message().c_str());
        return 1;
    }
    return body(context);
}

}  // namespace exchange
