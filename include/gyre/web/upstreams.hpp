// SPDX-License-Identifier: BSL-1.0
//
// Several servers that answer the same requests, and which of them gets the next one.
//
// A reverse proxy, or a client of a service with replicas, needs three things that `web::client` has no
// opinion on: who is asked, who is asked no more, and when a request may be sent to another one. Nothing here
// connects or keeps connections: the client does. docs/decisions/0079-upstreams.md says what others do.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/status.hpp>
#include <gyre/web/client.hpp>
#include <gyre/web/url.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre::web {

/// One of the servers.
struct upstream {
    upstream() = default;
    upstream(url at, std::uint32_t share = 1) : origin{std::move(at)}, weight{share} {}

    url origin;  ///< Its target is not used.
    std::uint32_t weight =
        1;  ///< Its share of the requests, beside those of the others; at least 1.
};

/// When a server is asked no more, and how often a request is sent.
struct upstreams_options {
    upstreams_options() = default;  // No aggregate: see docs/guide/compilers.md.

    /// Servers that one request is sent to at most, one after the other; at least 1.
    std::size_t attempts_max = 3;

    /// Failures in a row after which a server is ejected; 0: never. Then for `ejected_first`, after each
    /// failure of a request sent after that for twice as long, up to `ejected_max`. In between one request
    /// at a time waits for its answer, until one of them succeeds.
    std::uint32_t failures_max = 5;
    duration ejected_first = std::chrono::seconds{5};
    duration ejected_max = std::chrono::minutes{5};

    /// Which responses count as failures. They are handed out all the same. Empty: 502, 503 and 504. Must
    /// not throw.
    std::function<bool(http::status)> is_failure;

    /// If fewer servers than this are available, in percent, all are: a wave of failures does not fall on
    /// the few that are left, and the first one that is back is found. 1: if none of up to a hundred is.
    /// 0: never; without any a request ends with `errc::host_down` at once.
    std::uint32_t available_min_percent = 1;
};

/// How servers are asked whether they live.
struct health_check {
    health_check() = default;

    std::string target = "/";  ///< Of a GET that is answered with 2xx: "/", path and query.
    duration interval = std::chrono::seconds{10};  ///< From one answer to the next request.
    duration time_max = std::chrono::seconds{2};   ///< For an answer, its body included.
    std::uint32_t failures_max = 3;   ///< In a row, until a server is down; at least 1.
    std::uint32_t successes_min = 2;  ///< In a row, until it is up again; at least 1.
};

/// What was counted of one server.
struct upstream_counters {
    std::uint64_t requests = 0;       ///< That it was sent, checks not included.
    std::uint64_t failures = 0;       ///< Of these.
    std::uint64_t repeated = 0;       ///< Requests that went to another one after it had failed.
    std::uint64_t ejections = 0;      ///< Times that failures in a row have ejected it.
    std::uint64_t failed_checks = 0;  ///< Checks without an answer of 2xx in time.
    std::size_t in_flight = 0;        ///< Requests whose responses live, or are waited for, now.
};

/// A response, and which server has sent it. It counts as in flight while it lives. Moves.
class upstream_response : public client_response {
public:
    upstream_response() noexcept = default;

    std::size_t from = 0;  ///< The server's index.

private:
    friend class upstreams;

    std::shared_ptr<void> in_flight_;
};

/// Sends requests to several servers. Belongs to one loop, its client's; requests and responses may outlive
/// it. Two servers are drawn by their weights. The first gets the request, unless the second
/// has, with it, no more in flight for its weight than the first has without it.
class upstreams {
public:
    /// @param  by  Borrowed; outlives this, its requests and its checks.
    /// @pre    `of` is not empty; weights and `attempts_max` are not 0.
    upstreams(client& by, std::vector<upstream> of, upstreams_options options = {});
    upstreams(const upstreams&) = delete;
    upstreams& operator=(const upstreams&) = delete;
    ~upstreams();

    /// Sends a request to one of the servers, and reads the head of its response.
    ///
    /// It goes to another server if one fails that has certainly not seen it, whatever its method: most
    /// often one that cannot be connected to. If one breaks off that may have seen it, only an idempotent
    /// request does. A request that took too long does not, nor one whose producer was asked for its body.
    ///
    /// @param  what  Owned. Of `where` the target is used.
    ///
    /// Errors:        `errc::host_down` if no server is available; else those of `client::send`, of the last
    ///                server that was asked.
    /// Cancellation:  `errc::canceled`; says nothing about the server.
    /// Threads:       resumes on the caller's executor, of the client's loop.
    /// Cost:          that of `client::send` for each server that is asked, a copy of the fields, a copy of
    ///                a body of bytes, and a look at each server.
    [[nodiscard]] task<io_result<upstream_response>> send(client_request what);

    /// Asks each server again and again whether it lives; what is down gets no requests. Runs until it is
    /// stopped: a child of a group. Servers are up until checks say otherwise, and when this ends. A check
    /// makes a connection of its own, which none of the client's limits count: it waits for no request.
    ///
    /// If two checks run at a time, the later answer counts.
    ///
    /// @pre  `how.target` is a path, and perhaps a query.
    ///
    /// Cancellation:  ends.
    /// Threads:       the client's loop.
    /// Cost:          two frames for each server; for each check a connection, and an answer that is read.
    [[nodiscard]] task<> check(health_check how = {});

    [[nodiscard]] std::size_t size() const noexcept;
    /// Whether it gets requests now: it is up, and not ejected. @pre  index < size().
    [[nodiscard]] bool available(std::size_t index) const noexcept;
    /// @pre  index < size().
    [[nodiscard]] const upstream_counters& counters(std::size_t index) const noexcept;
    /// @pre  index < size().
    [[nodiscard]] const url& origin(std::size_t index) const noexcept;

private:
    class state;

    static task<io_result<upstream_response>> send_by(std::shared_ptr<state> self,
                                                      client_request what);
    static task<> check_by(std::shared_ptr<state> self, health_check how);

    std::shared_ptr<state> state_;
};

}  // namespace gyre::web
