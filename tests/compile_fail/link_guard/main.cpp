// SPDX-License-Identifier: BSL-1.0
//
// The smallest program that sees a coroutine header. link_guard.cmake links it with a library of its
// own kind and of the other.
#include <gyre/coro/task.hpp>

int main() { return 0; }
