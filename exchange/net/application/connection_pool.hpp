// SPDX-License-Identifier: BSL-1.0
//
// As many connections as there may be clients at a door, and which of them gives way when all are taken.
//
// They are made when they are needed for the first time, and serve one client after the other, so that no
// client costs memory of the next.
#pragma once

#include <gyre/base/time.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>

namespace exchange {

/// @tparam  Connection  An order_entry_connection, or what has its members.
///
/// Threads:  that of the context.
/// Cost:     Memory is taken when more clients are here than ever before.
template <class Connection>
class connection_pool {
public:
    /// @param  shared  What connections share. Borrowed; outlives this.
    template <class Shared>
    connection_pool(Shared& shared, std::size_t connections_max)
        : connections_max_{connections_max},
          add_{[&shared](std::deque<Connection>& to) { return &to.emplace_back(shared); }} {}

    /// A connection for a client, or null. If all are taken, the client that has been there longest
    /// without ever logging in has to leave, so that strangers cannot keep participants out; only
    /// if there is none, the one that has been there longest of those that are being told why they
    /// are logged in no more. Ask again when a client has left.
    [[nodiscard]] Connection* find() noexcept {
        Connection* first = nullptr;
        for (Connection& each : connections_) {
            if (!each.serving()) return &each;
            if (each.logged_in()) continue;
            if (first == nullptr || leaves_before(each, *first)) first = &each;
        }
        if (connections_.size() < connections_max_) return add_(connections_);
        if (first != nullptr) first->hang_up();
        return nullptr;
    }

    /// Does what is due on the connections of the next part. All of them at once would be thousands of
    /// heartbeats in a row, and what others send waits behind them.
    void on_timer(gyre::time_point now) noexcept {
        if (next_ >= connections_.size()) next_ = 0;
        const std::size_t end = std::min(next_ + part_max, connections_.size());
        for (; next_ < end; ++next_)
            if (connections_[next_].serving()) connections_[next_].on_timer(now);
    }
    /// The same for each part that is due at `tick` or since, all of them at most.
    ///
    /// @return When the next one is.
    [[nodiscard]] gyre::time_point on_tick(gyre::time_point tick, gyre::time_point now,
                                           gyre::duration round) noexcept {
        const gyre::duration step = round / static_cast<long>(parts());
        for (std::size_t part = 0; tick <= now && part < parts(); ++part, tick += step)
            on_timer(now);
        return std::max(tick, now);
    }
    /// How many parts there are: so often is `on_timer` wanted in the time in which each has its turn.
    [[nodiscard]] std::size_t parts() const noexcept {
        return std::max<std::size_t>((connections_.size() + part_max - 1) / part_max, 1);
    }

    /// Calls `look(connection)` for each that is there.
    template <class Look>
    void for_each(const Look& look) const {
        for (const Connection& each : connections_)
            if (each.serving()) look(each);
    }

    /// Ends all connections now.
    void hang_up() noexcept {
        for (Connection& each : connections_)
            if (each.serving()) each.hang_up();
    }

private:
    static constexpr std::size_t part_max = 256;

    [[nodiscard]] static bool leaves_before(const Connection& left,
                                            const Connection& right) noexcept {
        if (left.was_logged_in() != right.was_logged_in()) return right.was_logged_in();
        return left.accepted_at() < right.accepted_at();
    }

    std::size_t connections_max_;
    std::function<Connection*(std::deque<Connection>&)> add_;
    std::deque<Connection> connections_;  // They stay where they are.
    std::size_t next_ = 0;                // Where the next part begins.
};

}  // namespace exchange
