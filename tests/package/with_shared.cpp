// SPDX-License-Identifier: BSL-1.0
//
// A stranger's program on the shared library. What is inline in headers and keeps a state, the frame cache
// for one, has to be one object for the program and the library, whatever the program hides.
#include <gyre/gyre.hpp>

#include <cstddef>
#include <cstdio>

gyre::task<> note_loop(bool& seen) {
    seen = gyre::loop::any_runs_here();
    co_return;
}

int main() {
    constexpr std::size_t size = 64;
    gyre::frame_cache::set_bytes_max(size);  // The library's code; the next two are the program's.
    gyre::frame_cache::release(gyre::frame_cache::allocate(size), size);
    const std::size_t held = gyre::frame_cache::bytes_held();
    gyre::frame_cache::trim();  // The library's again.
    const std::size_t left = gyre::frame_cache::bytes_held();

    bool loop_seen = false;
    gyre::run(note_loop(loop_seen));
    std::printf("%zu bytes held, %zu left, a loop %s\n", held, left,
                loop_seen ? "runs" : "is elsewhere");
}
