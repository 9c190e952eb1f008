// SPDX-License-Identifier: BSL-1.0
//
// The sessions of a server that are under way: whose they are, since when, and what each waits for.
//
// A server that is to end waits for its sessions, and its operator wants to know for which. task_dump.hpp
// tells of every coroutine of a loop; this of the sessions of one server, as values. serve.hpp keeps one.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/environment.hpp>
#include <gyre/coro/stop.hpp>
#include <gyre/io/endpoint.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace gyre {

/// One of them.
struct session_report {
    endpoint peer;
    duration age{};     ///< Since it was accepted.
    std::string waits;  ///< Its coroutines and what they wait for, as `dump_tasks` tells it: lines.

    /// For people: the peer, the age, and the lines below. Allocates.
    [[nodiscard]] std::string message() const;
};

/// Those that have not ended when a server was told to end at last.
struct straggler_report {
    std::size_t sessions = 0;            ///< How many there are.
    std::vector<session_report> oldest;  ///< Of these, those that began first.

    /// For people: a line, and the message of each. Allocates.
    [[nodiscard]] std::string message() const;
};

/// The list. On one loop; outlives its places.
class session_list {
public:
    /// Where one session stands. Its coroutine's chain is told when it begins.
    class place : public list_link<> {
    public:
        place(session_list& in, const endpoint& peer, time_point now) noexcept
            : peer_{peer}, began_{now} {
            in.sessions_.push_back(*this);
        }
        ~place() { unlink(); }

        void runs_in(const stop_chain& chain) noexcept { chain_ = &chain; }
        [[nodiscard]] const endpoint& peer() const noexcept { return peer_; }

    private:
        friend class session_list;

        endpoint peer_;
        time_point began_;
        const stop_chain* chain_ = nullptr;  // Null until it begins.
    };

    [[nodiscard]] bool empty() const noexcept { return sessions_.empty(); }

    /// Tells of all, and in detail of the first `details_max`. On the loop `on`, which is theirs.
    [[nodiscard]] straggler_report report(loop& on, std::size_t details_max);

private:
    list<place> sessions_;
};

}  // namespace gyre
