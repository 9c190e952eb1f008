// SPDX-License-Identifier: BSL-1.0
//
// A reference into a result that is gone; g++ has no warning of it.
//
// must not compile: will be destroyed at the end of the full-expression
#include <gyre/base/result.hpp>

#include <string>

gyre::io_result<std::string> ask();

std::size_t size_of_answer() {
    const std::string& answer = ask().value();
    return answer.size();
}
