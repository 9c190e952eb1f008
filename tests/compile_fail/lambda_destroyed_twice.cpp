// SPDX-License-Identifier: BSL-1.0
//
// g++ 12 destroys a lambda twice that is a temporary of an awaiting expression. It is told of, as a warning,
// because moving a lambda that has a name looks the same. Other compilers get it right.
//
// must not compile: give it a name, and pass that
#include <gyre/coro/task.hpp>
#include <gyre/runtime/call.hpp>

#include <string>

gyre::task<std::size_t> length_of(std::string text) {
    const auto length = co_await gyre::blocking([text] { return text.size(); });
    co_return length.value();
}
