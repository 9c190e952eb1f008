// SPDX-License-Identifier: BSL-1.0
//
// The connections of a client: those under way, counted, and those kept for later.
//
// A request takes a lease: of a connection of HTTP/1 to itself, or of a stream on one of HTTP/2 that others
// share (shared_connection.hpp). When nothing leases a connection, it waits for the next request to the same
// place if it can be used again, and is closed otherwise. What waits too long is closed by a timer.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/coro/timer.hpp>
#include <gyre/coro/work.hpp>
#include <gyre/http/client_connection.hpp>
#include <gyre/web/client.hpp>
#include <web/connector.hpp>
#include <web/shared_connection.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre::web {

/// On one loop. Does not move.
class connection_pool final : public shared_owner {
    struct place;
    using places = std::map<std::string, place>;

public:
    connection_pool(client_options& options, client_counters& counters) noexcept
        : options_{options},
          counters_{counters},
          connector_{options},
          all_{options.connections_max},
          timer_{*this} {}
    connection_pool(const connection_pool&) = delete;
    connection_pool& operator=(const connection_pool&) = delete;
    ~connection_pool();

    /// What became of a request that has failed.
    enum class fate : std::uint8_t {
        unknown,     ///< The server may have seen to it.
        lost,        ///< Others had used its connection, which was closed. RFC 9112, 9.3.1.
        unprocessed  ///< The server has not seen to it. RFC 9113, 8.7.
    };

    /// The right to one request, and what it goes to.
    class lease {
    public:
        lease() noexcept = default;
        lease(lease&& other) noexcept;
        lease& operator=(lease&& other) noexcept;
        ~lease() { give_back(); }

        /// As `http::client_connection::send`; the response is the lease's.
        ///
        /// @param  keeps  What `body` borrows from.
        [[nodiscard]] task<io_result<http::received_response>> send(const http::request& what,
                                                                    http::response_body body,
                                                                    std::shared_ptr<void> keeps);

        /// Of the last request, if it has failed.
        [[nodiscard]] fate last() const noexcept { return last_; }

        /// Whether the last request went to a connection that others may use at the same time.
        [[nodiscard]] bool shares() const noexcept { return !permits_; }

        bool reused = false;     ///< Another request has used the connection.
        bool forwarded = false;  ///< It is a proxy's, which wants to be told of whom.

    private:
        friend connection_pool;

        void give_back() noexcept;
        /// The same, but for the place.
        void let_go() noexcept;

        connection_pool* of_ = nullptr;
        places::iterator at_;
        connection_permits permits_;  // Of a connection that is the lease's own.
        http::client_connection connection_;
        shared_connection::claim shared_;
        std::shared_ptr<void> stream_;  // Of the response, on that.
        fate last_ = fate::unknown;
    };

    /// The right to a request to `where`, on a connection that is idle, new, or has room.
    ///
    /// Errors:        those of connecting; `errc::timed_out`.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       the loop's.
    /// Cost:          a few frames, if it has to connect.
    [[nodiscard]] task<io_result<lease>> take(const url& where);

    /// The same right on another connection, after a request that has not been answered.
    [[nodiscard]] task<io_result<>> renew(lease& it, const url& where);

    /// Makes streams to where URLs lead; nothing to do with leases.
    [[nodiscard]] connector& ways() noexcept { return connector_; }

    /// Closes what is idle.
    void close_idle() noexcept;
    /// The same, and keeps nothing from now on.
    void close() noexcept;

    [[nodiscard]] std::size_t idle() const noexcept { return idle_count_; }

private:
    // One of these two.
    struct resting {
        http::client_connection connection;
        std::shared_ptr<shared_connection> shared;
        time_point until = never;
        places::iterator at;
    };
    using rest_list = std::list<resting>;

    // Where connections lead. Invariant: in the map while it has users or connections that rest.
    struct place : origin {
        place(std::size_t connections_max, connection_budget& from) noexcept
            : origin{connections_max, from} {}

        std::list<rest_list::iterator> resting_here;  // The one that came last stands last.
        places::iterator self;
        std::size_t users = 0;  // Leases, and shared connections that have not ended.
    };

    // Wakes when the first one has rested for too long; what that leads to is done as an item of the loop.
    struct idle_timer : timer, work {
        explicit idle_timer(connection_pool& owner) noexcept;
        connection_pool& of;
        bool posted = false;
    };

    [[nodiscard]] task<io_result<>> settle(lease& it, const url& where);
    [[nodiscard]] task<io_result<>> open(lease& it, const url& where);
    [[nodiscard]] bool join_resting(lease& it) noexcept;
    [[nodiscard]] bool take_resting(lease& it) noexcept;
    void rest(lease& it) noexcept;
    void rest(resting it) noexcept;
    void end_rest(rest_list::iterator it) noexcept;
    void end_overdue() noexcept;
    void leave(places::iterator at) noexcept;
    void comes_to_rest(shared_connection& it) noexcept override;
    void is_over(shared_connection& it) noexcept override;

    client_options& options_;
    client_counters& counters_;
    connector connector_;
    connection_budget all_;
    places places_;
    rest_list resting_;  // The one that came first stands first: all rest for as long.
    std::size_t idle_count_ = 0;
    loop* home_ = nullptr;
    idle_timer timer_;
    bool closed_ = false;
};

}  // namespace gyre::web
