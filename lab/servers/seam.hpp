// SPDX-License-Identifier: BSL-1.0
//
// What every server of the lab is told, and how: one program per library, seen from outside only.
//
//     PROGRAM --workload echo|http|http_server|websocket|tls --threads N --port P
//             [--buffer BYTES] [--backend NAME] [--polling-core N] [--certificate FILE --key FILE]
//
// It binds 127.0.0.1:P, prints `ready` when it accepts, sets TCP_NODELAY on each connection and ends with 0
// soon after SIGTERM. A port that is taken is one line on standard error and status 1, an argument that
// it does not know is one and status 2. `--version` prints LIBRARY VERSION BACKEND.
//
// Each folder here is a library: `echo.cpp` is the echo session with its listener and its loop, and all
// that a user of the library would write for it; `http.cpp` is the workload of `baseline`, and the others are
// called as theirs. The suite `cost` compiles echo.cpp alone and links it with main.cpp into
// `lab_echo_<library>`, so the program whose compile time, size and memory are measured holds no line that an
// echo server does not need, and is yet the same code that `echo` and `baseline` load as
// `lab_server_<library>`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace servers {

struct job {
    unsigned threads = 1;
    std::uint16_t port = 0;            ///< 0: any.
    std::size_t buffer_bytes = 4'096;  ///< What a connection reads at most at once.
    std::string_view backend;          ///< One of those that the program knows.

    std::string_view certificate{};  ///< Of `tls`: a file in PEM.
    std::string_view key{};          ///< The same.

    /// The core of the kernel thread that submits for a polled ring; none: it shares the server's own.
    std::optional<unsigned> polling_core;
};

/// Serve until the process ends or is told to end, and return its status. Those are null that a
/// program does not have: in those of `cost` there is to be nothing but echo.
[[gnu::weak]] int serve_echo(const job& wanted);
[[gnu::weak]] int serve_http(const job& wanted);

/// Of the suites of protocols: what web.hpp says is asked over HTTP, WebSocket and TLS. Null where a library
/// has no such thing.
[[gnu::weak]] int serve_http_server(const job& wanted);
[[gnu::weak]] int serve_websocket(const job& wanted);
[[gnu::weak]] int serve_tls(const job& wanted);

// For libraries that bring no such thing themselves:

/// Runs `serve` on each of the threads; it listens, calls `say_ready` and does not return as long as it
/// serves. SIGTERM ends the process with 0. Where there are several threads each has a listener of its own
/// on the port (SO_REUSEPORT), so that no two share a queue and the kernel spreads connections over them.
int serve_on_threads(const job& wanted, void (*serve)(const job&));

/// The same, if a `Server` is made from a job, says that it is ready, and runs.
template <class Server>
int serve_on_threads(const job& wanted) {
    return serve_on_threads(wanted, [](const job& each) { Server{each}.run(); });
}

/// Ends the program if another one listens on the port, shared or not.
void expect_free_port(const job& wanted);

/// To be called once by each thread that serves; prints `ready` when the last one does.
void say_ready(const job& wanted);

/// A listener on the port; sockets inherit TCP_NODELAY from it. Ends the program if the port is taken.
[[nodiscard]] int listen_on(const job& wanted);

}  // namespace servers
