// SPDX-License-Identifier: BSL-1.0
//
// Reads a local of a coroutine that has ended. Sanitizers must report it, or their builds prove nothing about
// frames: clang at -O1 keeps the child's frame inside its parent's, and then there is nothing to see.
#include <gyre/coro/task.hpp>
#include <gyre/io/run.hpp>
#include <gyre/sync/sleep.hpp>

#include <cstdio>

namespace {

gyre::task<> child(const volatile int*& where) {
    volatile int local = 1;
    where = &local;
    co_await gyre::yield();  // What does not outlive a suspension need not lie in the frame.
    local = 2;
}

gyre::task<int> parent() {
    const volatile int* ended = nullptr;
    co_await child(ended);
    co_return *ended;
}

}  // namespace

int main() { std::printf("not noticed: %d\n", gyre::run(parent())); }
