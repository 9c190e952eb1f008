// SPDX-License-Identifier: BSL-1.0
//
// What the three versions of one program have in common: how long they wait, and what they print.
//
// `follow ADDRESS:PORT NAME` keeps a session with a server of lines: it connects, again and again if it
// must, says hello, sends a ping now and then, prints what it is told, and connects anew when the
// connection ends or falls silent. The line "bye" ends it. docs/guide/porting_from_asio.md goes from
// follow_callbacks.cpp over follow_mixed.cpp to follow_gyre.cpp; tests/programs/porting_test.cpp is the
// one test suite of all three.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace follow {

inline constexpr int attempts_max = 5;  // In a row, without a session in between.
inline constexpr std::chrono::milliseconds beat_period{20};
inline constexpr std::chrono::milliseconds silence_max{1000};
inline constexpr std::size_t line_size_max = 256;

// Before the next attempt: 50 ms, and twice as long each time.
inline std::chrono::milliseconds pause_after(int attempts) {
    return std::chrono::milliseconds{50} * (1 << (attempts - 1));
}

// Statuses that the process may end with.
inline constexpr int done = 0;
inline constexpr int no_server = 1;
inline constexpr int misuse = 2;
inline constexpr int refused = 3;

inline void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

inline int explain_use() {
    say("usage: follow ADDRESS:PORT NAME");
    return misuse;
}

}  // namespace follow
