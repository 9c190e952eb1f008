// SPDX-License-Identifier: BSL-1.0
//
// The command line of a server that is loaded from outside, the same for all of them.
//
// The lab's clients, and ab and wrk, know nothing about a server but its port: how it is told what to
// serve, when it may be connected to and how it ends is written down here once.
#pragma once

#include <lab/load.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baseline {

enum class workload { echo, http };

struct job {
    workload what = workload::echo;
    unsigned threads = 1;
    std::uint16_t port = 0;
    std::string backend{};  ///< For programs that have several; the first of theirs by default.

    /// The core of the kernel thread that submits for us; none: it shares the server's own.
    std::optional<unsigned> polling_core{};
};

/// What `--version` prints about a program, one entry for each backend it knows.
struct identity {
    std::string_view library;
    std::string version;
    std::vector<std::string_view> backends;
};

/// The job that the arguments describe; or the status to end with, when everything has been said.
struct command_line {
    job wanted;
    std::optional<int> status;
};
[[nodiscard]] command_line parse(int count, char** arguments, const identity& about);

/// Listeners on 127.0.0.1, one for each of `count` threads; several share the port. TCP_NODELAY is set,
/// which accepted sockets inherit. Empty if the port is taken, which has been said on standard error.
[[nodiscard]] std::vector<lab::descriptor> listen_on(std::uint16_t port, unsigned count);

/// Says that connections are welcome.
void say_ready();

/// Serves connections of a listener for ever, on the calling thread.
using serve_function = std::function<void(const job&, lab::descriptor)>;

/// `main` of a server without an end of its own: parses, listens, runs `serve` on each thread. SIGTERM
/// ends the process with 0.
int run(int count, char** arguments, const identity& about, const serve_function& serve);

}  // namespace baseline
