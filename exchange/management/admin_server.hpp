// SPDX-License-Identifier: BSL-1.0
//
// The admin port of a process: HTTP for who watches it, on a thread of its own.
//
//     GET /health    200 if the process' own loop has answered within a second, else 503
//     GET /ready     200 while clients are let in, else 503
//     GET /status    admin_report.hpp as JSON;  GET /latency its buckets
//     GET /metrics   the same for Prometheus
//     GET /tasks     what each coroutine waits for
//     POST /NAME?child=WHICH   a command, where the configuration allows any
//
// The thread has a loop of gyre's own, on epoll, so it is the same beside each backend. It knows nothing of
// the process: it posts a question to the process' loop, which answers between two pieces of its work. One
// question is under way at a time, and an answer serves all who ask within a tenth of a second, so a
// client that asks without end costs the process ten reports a second. There is no lock, and nothing is
// counted for it, so a process without an admin port pays nothing.
#pragma once

#include <exchange/management/admin_report.hpp>
#include <exchange/management/process_options.hpp>

#include <gyre/base/result.hpp>
#include <gyre/io/endpoint.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

/// What became of a command.
struct admin_outcome {
    enum class kind : std::uint8_t {
        begun,    ///< It is being carried out.
        not_now,  ///< It cannot be as things are.
        unknown_child,
    };

    kind what = kind::begun;
    std::string why{};  ///< For people; without an end of line.
};

/// What an admin port asks of its process.
class admin_source {
public:
    /// Runs `function()` on the loop of the process; at once, if it is called there. Any thread.
    virtual void post(std::function<void()> function) = 0;

    // On that loop.
    [[nodiscard]] virtual admin_report report() = 0;
    /// The task dump, or a line that says that the backend has none.
    [[nodiscard]] virtual std::string tasks() = 0;
    /// The names of the commands that it takes, as "restart". Any thread.
    [[nodiscard]] virtual std::vector<std::string> commands() const { return {}; }
    /// Carries one of these out, or begins to.
    [[nodiscard]] virtual admin_outcome command([[maybe_unused]] std::string_view name,
                                                [[maybe_unused]] std::string_view child) {
        return {admin_outcome::kind::not_now, "no commands are taken"};
    }

protected:
    ~admin_source() = default;
};

/// Threads:  made and started by the thread of the process; destroyed by it when its loop runs no more,
///           since a question may be under way until then.
/// Cost:     a thread.
class admin_server {
public:
    /// @param  source  Borrowed; outlives this.
    admin_server(admin_source& source, const admin_options& options);
    admin_server(const admin_server&) = delete;
    admin_server& operator=(const admin_server&) = delete;
    /// Closes all connections, and waits for the thread.
    ~admin_server();

    /// Listens, and begins to answer.
    ///
    /// Errors:  those of listening: what the kernel says. Nothing has begun then. A place that is taken is
    ///          none, if the options say that it is waited for.
    [[nodiscard]] gyre::io_result<> start();

    /// Where it listens, once started.
    [[nodiscard]] const gyre::endpoint& at() const noexcept;

private:
    class service;
    std::unique_ptr<service> service_;
};

}  // namespace exchange
