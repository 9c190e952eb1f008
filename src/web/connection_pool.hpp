// SPDX-License-Identifier: BSL-1.0
//
// The connections of a client: those under way, counted, and those kept for later.
//
// A request takes a lease; when that is dropped, a connection that can be used again waits for the next
// request to the same place, and others are closed. What waits too long is closed by a timer.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/coro/timer.hpp>
#include <gyre/coro/work.hpp>
#include <gyre/http/client_connection.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/web/client.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>

namespace gyre::web {

/// On one loop. Does not move.
class connection_pool {
    struct place;
    using places = std::map<std::string, place>;

public:
    connection_pool(client_options& options, client_counters& counters) noexcept
        : options_{options}, counters_{counters}, all_{options.connections_max}, timer_{*this} {}
    connection_pool(const connection_pool&) = delete;
    connection_pool& operator=(const connection_pool&) = delete;
    ~connection_pool() { close(); }

    /// The right to one connection, and the connection.
    class lease {
    public:
        lease() noexcept = default;
        lease(lease&& other) noexcept;
        lease& operator=(lease&& other) noexcept;
        ~lease() { give_back(); }

        http::client_connection connection;
        bool reused = false;     ///< It has served another request.
        bool forwarded = false;  ///< It is a proxy's, which wants to be told of whom.

    private:
        friend connection_pool;

        void give_back() noexcept;

        connection_pool* of_ = nullptr;
        places::iterator at_;
        semaphore::permits one_of_all_;
        semaphore::permits one_of_place_;
    };

    /// The right to a connection to `where`, and one that is idle or new.
    ///
    /// Errors:        those of connecting; `errc::timed_out`.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       the loop's.
    /// Cost:          a few frames, if it has to connect.
    [[nodiscard]] task<io_result<lease>> take(const url& where);

    /// The same right with another connection, after one that was stale.
    [[nodiscard]] task<io_result<>> renew(lease& it, const url& where);

    /// What is going to be said on a stream.
    enum class purpose : std::uint8_t { requests, other_protocol };

    /// Whether requests for `where` are forwarded by the proxy.
    [[nodiscard]] bool forwards(const url& where) const {
        return goes_through_proxy(where) && !where.is_secure();
    }

    /// A stream to `where`, through the proxy and TLS if need be; nothing to do with leases.
    [[nodiscard]] task<io_result<any_stream>> connect(const url& where, purpose of);

    /// Closes what is idle.
    void close_idle() noexcept;
    /// The same, and keeps nothing from now on.
    void close() noexcept;

    [[nodiscard]] std::size_t idle() const noexcept { return idle_count_; }

private:
    struct resting {
        http::client_connection connection;
        time_point until = never;
        places::iterator at;
    };

    // Where connections lead. Invariant: in the map while it has users or connections that rest.
    struct place {
        explicit place(std::size_t connections_max) noexcept : permits{connections_max} {}

        semaphore permits;
        std::list<std::list<resting>::iterator>
            resting_here;  // The one that came last stands last.
        std::size_t users = 0;
    };

    // A user of a place, while it waits for its permits.
    class visit {
    public:
        visit(connection_pool& of, places::iterator at) noexcept : of_{&of}, at_{at} {
            ++at_->second.users;
        }
        visit(const visit&) = delete;
        visit& operator=(const visit&) = delete;
        ~visit() {
            if (of_ != nullptr) of_->leave(at_);
        }
        void passes_on() noexcept { of_ = nullptr; }

    private:
        connection_pool* of_;
        places::iterator at_;
    };

    // Wakes when the first one has rested for too long; what that leads to is done as an item of the loop.
    struct idle_timer : timer, work {
        explicit idle_timer(connection_pool& owner) noexcept;
        connection_pool& of;
        bool posted = false;
    };

    [[nodiscard]] bool goes_through_proxy(const url& where) const;
    [[nodiscard]] task<io_result<any_stream>> connect_now(const url& where, purpose of);
    [[nodiscard]] task<io_result<any_stream>> tunnel(any_stream through, const url& where);
    [[nodiscard]] task<io_result<any_stream>> secure(any_stream below, const url& where);
    [[nodiscard]] task<io_result<>> open(lease& it, const url& where);
    [[nodiscard]] bool take_resting(lease& it) noexcept;
    void rest(lease& it) noexcept;
    void end_rest(std::list<resting>::iterator it) noexcept;
    void end_overdue() noexcept;
    void leave(places::iterator at) noexcept;

    client_options& options_;
    client_counters& counters_;
    semaphore all_;
    places places_;
    std::list<resting> resting_;  // The one that came first stands first: all rest for as long.
    std::size_t idle_count_ = 0;
    loop* home_ = nullptr;
    idle_timer timer_;
    bool closed_ = false;
};

}  // namespace gyre::web
