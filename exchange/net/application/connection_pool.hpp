// SPDX-License-Identifier: BSL-1.0
//
// As many connections as a facility may have clients, and which of them gives way when all are
// taken.
//
// They are made once and serve one client after the other, so that no client costs memory of the next.
#pragma once

#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/application/matching_service.hpp>

#include <gyre/base/check.hpp>

#include <deque>

namespace exchange {

/// @tparam  Connection  An order_entry_connection, or what has its members.
///
/// Threads:  that of the facility's context.
/// Cost:     Memory is taken at construction.
template <class Connection>
class connection_pool {
public:
    /// @param  shared  What connections share. Borrowed; outlives this.
    template <class Shared>
    connection_pool(Shared& shared, const matching_service& service,
                    const facility_options& options) {
        gyre::expects(options.connections_max > service.participants().size(),
                      "a connection for each participant, and one to ask for it");
        for (std::size_t each = 0; each < options.connections_max; ++each)
            connections_.emplace_back(shared);
    }

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
        if (first != nullptr) first->hang_up();
        return nullptr;
    }

    /// Does what is due on each connection.
    void on_timer(gyre::time_point now) noexcept {
        for (Connection& each : connections_)
            if (each.serving()) each.on_timer(now);
    }

    /// Ends all connections now.
    void hang_up() noexcept {
        for (Connection& each : connections_)
            if (each.serving()) each.hang_up();
    }

private:
    [[nodiscard]] static bool leaves_before(const Connection& left,
                                            const Connection& right) noexcept {
        if (left.was_logged_in() != right.was_logged_in()) return right.was_logged_in();
        return left.accepted_at() < right.accepted_at();
    }

    std::deque<Connection> connections_;  // They stay where they are.
};

}  // namespace exchange
