// SPDX-License-Identifier: BSL-1.0
//
// What a program must be able to do to be measured in slices.
//
// A contender of the in-process suites prepares a case once: sockets are connected, loops and threads
// exist, and stay. Then it plays slices of the case whenever driver.cpp, which has the stopwatch, is
// told to.
#pragma once

#include <lab/kit/cases.hpp>
#include <lab/kit/histogram.hpp>
#include <lab/kit/payloads.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lab {

/// Something that a library counts of its own accord, such as how often it asked the kernel for events:
/// it explains a row, and is nothing to win by.
struct counter {
    std::string_view name;  ///< A literal.
    std::uint64_t count = 0;
};

/// A number of operations to be played, and what came of them.
struct slice {
    std::uint64_t operations;
    verification how = verification::edges;
    std::uint64_t done = 0;  ///< Set by the session; 0: as many as there are latencies.
    histogram latency{};     ///< Nanoseconds; empty where there is none.
};

/// A case that is ready to be played, again and again.
class session {
public:
    virtual ~session() = default;

    /// What has to be done before the clock starts.
    virtual void get_ready(slice&) {}

    /// Plays exactly `operations` of the case. This is what is timed.
    virtual void play(slice& now) = 0;

    /// What may be left until the clock has stopped: adding up.
    virtual void mark_done(slice&) {}

    /// What has been counted so far: always the same counters, from wherever they started.
    [[nodiscard]] virtual std::vector<counter> counted() { return {}; }
};

/// Why a row stays empty; printed under the table, so write it for its reader.
struct cannot_run {
    std::string reason;
};

using preparation = std::variant<std::unique_ptr<session>, cannot_run>;

/// Makes a session of the type `Session` from what its constructor takes.
template <class Session, class... Arguments>
[[nodiscard]] preparation prepared(Arguments&&... arguments) {
    return std::make_unique<Session>(std::forward<Arguments>(arguments)...);
}

struct identity {
    std::string name;  ///< As in the tables: `asio_callback`.
    std::string library;
    std::string version;
    std::string backend;  ///< What it waits with: `epoll`, `io_uring`, `none`.
};

/// One way to do the lab's work.
struct contender {
    identity about;

    /// Sets up everything but the warm-up, which is a slice with every byte verified.
    std::function<preparation(const work&)> prepare;
};

/// Defined by each contender.
///
/// @param backend  The program's `--backend`, empty if absent. A contender with only one backend accepts
///                 only the empty one; others fail on a name they do not know.
[[nodiscard]] contender make_contender(std::string_view backend);

}  // namespace lab
