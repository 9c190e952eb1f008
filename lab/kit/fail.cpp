// SPDX-License-Identifier: BSL-1.0
//
// How a program of the lab ends that did not do its work: without a number.
#include <lab/kit/fail.hpp>

#include <cstdio>
#include <cstdlib>

namespace lab {

void fail(std::string_view what) {
    std::fprintf(stderr, "lab: %.*s\n", static_cast<int>(what.size()), what.data());
    std::_Exit(failed);  // Not exit: other threads may still be running.
}

}  // namespace lab
