// SPDX-License-Identifier: BSL-1.0
//
// An example run once for each fault that its operations may meet, and what is wrong about what came of it.
//
// `under_every_fault` starts the program with fused_program.cpp linked in, again and again; a script plays
// whoever the program talks to, and a verdict says what must have come of the fault. What holds of
// every program is checked here: it ends by itself in time, and leaves no descriptor open.
#pragma once

#include <programs/program.hpp>

#include <gyre/base/error.hpp>
#include <gyre/io/endpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::testing {

/// What came of one run.
struct fused_outcome {
    std::string output;  ///< Of both streams, without what the fuse has to say.
    int status = -1;
    bool served = false;  ///< What the script has found: the program did what it is for.
    bool began = false;   ///< It has said that it is ready, if it is a server.
    std::size_t counted = 0;
    bool blown = false;
    bool more_errors = false;
    bool told_to_end = false;  ///< Instead of a fault: a SIGTERM came as the operation began.
    long left_open = -1;       ///< Descriptors; -1 where the program did not end as programs end.
    std::string fault;         ///< "accept: Connection aborted"; empty if none.

    [[nodiscard]] bool says(std::string_view text) const {
        return output.find(text) != std::string::npos;
    }
    /// Whether it says what failed, in whatever it was doing: "connect: Too many open files (port 80)" for
    /// an open.
    [[nodiscard]] bool tells_fault() const {
        const std::string text = fault.substr(std::min(fault.find(": "), fault.size()));
        return says(text + "\n") || says(text + " (port ");
    }
    /// Whether the fault is of this kind of operation ("accept"), or has this text ("Connection aborted").
    [[nodiscard]] bool fault_has(std::string_view text) const {
        return fault.find(text) != std::string::npos;
    }
};

/// How a program is started, what is done to it, and what must come of it.
struct fused_scenario {
    std::string path;
    std::function<std::vector<std::string>()> arguments;  ///< Called for each run.
    std::string input;
    long left_open_max = 0;  ///< Descriptors that may be open at the end.

    /// Plays the other side of `it` until it has ended, or may end by itself.
    std::function<void(program& it, fused_outcome& into)> script;

    /// What is wrong about a run whose fuse has blown; nothing if the program kept its promises.
    std::function<std::string(const fused_outcome&)> verdict;
};

/// Runs it without a fault, with each fault, and ended at each operation, on epoll and on io_uring. Built
/// with a sanitizer, each operation meets one of its errors, by a seed.
void under_every_fault(const fused_scenario& it);

/// An address of this process alone: a client whose server has ended must not reach another test's, at the
/// same port.
[[nodiscard]] std::string own_loopback();

/// The script of what ends by itself.
void only_watch(program& it, fused_outcome& into);

/// The script of a server, which says "listening on ADDRESS", or another line that begins as `ready` does.
/// `converse` is called with the address, two or three times, and returns whether it was answered as a
/// client expects; a fault may spoil one of these. Then the server is told to end, if it has not ended.
[[nodiscard]] std::function<void(program&, fused_outcome&)> talk_to(
    std::function<bool(const endpoint&)> converse, std::string ready = "listening on ");

/// Tells it to end, unless the fuse has.
void end_program(program& it, int signal, const fused_outcome& so_far);

/// The verdict on a server: what keeps it from beginning is told and ends it; after that nothing does.
[[nodiscard]] std::string goes_on_serving(const fused_outcome& it);

/// That on a program of one purpose: it has achieved it, or told the fault and ended with 1.
[[nodiscard]] std::string tells_or_succeeds(const fused_outcome& it);

/// One end of a plain connection, to or from a program that may end it at any time.
class plain_peer {
public:
    explicit plain_peer(int number) noexcept : number_{number} {}
    explicit plain_peer(const endpoint& to);  ///< Open or not: the server may be gone.
    plain_peer(const plain_peer&) = delete;
    plain_peer& operator=(const plain_peer&) = delete;
    ~plain_peer();

    void says(std::string_view text) const;

    /// The next line without its end; at the end of the stream, or a reset, what is left.
    [[nodiscard]] std::string hears();

    /// The next `count` bytes; at the end of the stream, or a reset, what is left.
    [[nodiscard]] std::string hears(std::size_t count);

    /// Sends no more, and reads what still comes.
    [[nodiscard]] std::string hears_the_rest();

private:
    [[nodiscard]] bool read_more();

    int number_;
    std::string unread_;
};

}  // namespace gyre::testing
