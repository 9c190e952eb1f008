// SPDX-License-Identifier: BSL-1.0
//
// A port at which clients come, all over one transport: it accepts them, and serves each until it leaves.
//
// A facility has one for each transport that its clients speak; what they all share is behind it
// (order_entry_shared_state), so that a session does not know through which it has come.
#pragma once

#include <exchange/net/application/connection_pool.hpp>
#include <exchange/net/session/order_entry_connection.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

/// @tparam  X          A side of the seam.
/// @tparam  Transport  What clients speak here.
///
/// Threads:  that of the context.
/// Cost:     Memory for each client that connects.
template <executor_traits X, frame_transport<X> Transport>
class client_door {
public:
    using task = typename X::template task<void>;
    using connection = order_entry_connection<X, Transport>;

    /// @param  shared  Borrowed; outlives this.
    explicit client_door(order_entry_shared_state<X>& shared)
        : shared_{shared},
          rest_{shared.context},
          connections_{shared, shared.host, shared.options} {}
    client_door(const client_door&) = delete;
    client_door& operator=(const client_door&) = delete;

    /// Clients may come from here on.
    void open(typename X::acceptor acceptor) {
        acceptor_ = std::move(acceptor);
        open_ = true;
        tick_ = X::now(shared_.context) + shared_.options.timer_tick;
        X::launch(shared_.context, accept_clients());
    }

    /// Ends everything. The context runs out of work.
    void stop() noexcept {
        if (!std::exchange(open_, false)) return;
        static_cast<void>(acceptor_.close());
        rest_.cancel();
        free_.set();
        connections_.hang_up();
    }

    /// Does what is due.
    ///
    /// @return When to call again; `never` if it is not open.
    [[nodiscard]] gyre::time_point on_tick(gyre::time_point now) noexcept {
        if (!open_) return gyre::never;
        tick_ = connections_.on_tick(tick_, now, shared_.options.timer_tick);
        return tick_;
    }

    /// Is no client connected?
    [[nodiscard]] bool idle() const noexcept { return serving_ == 0; }

private:
    task accept_clients() {
        while (open_ && acceptor_.is_open()) {
            auto [error, socket] = co_await acceptor_.accept();
            if (error == gyre::errc::canceled) break;
            if (error) {  // Out of descriptors, or a client that is gone again.
                static_cast<void>(co_await rest_.wait_until(X::now(shared_.context) +
                                                            shared_.options.timer_tick));
                continue;
            }
            connection* found = connections_.find();
            while (open_ && found == nullptr) {
                free_.reset();
                static_cast<void>(co_await free_.wait());
                found = connections_.find();
            }
            if (!open_) break;
            found->open(std::move(socket));
            X::launch(shared_.context, serve(*found));
        }
    }

    task serve(connection& by) {
        ++serving_;
        co_await by.serve();
        --serving_;
        free_.set();
    }

    order_entry_shared_state<X>& shared_;
    typename X::acceptor acceptor_;
    typename X::timer rest_;
    typename X::event free_;  // Set whenever a connection becomes free.
    connection_pool<connection> connections_;
    gyre::time_point tick_{};  // When the next part of the connections is looked at.
    std::size_t serving_ = 0;
    bool open_ = false;
};

/// A door that nobody comes through, for facilities with one transport.
struct closed_door {
    template <class Shared>
    explicit closed_door(Shared&) noexcept {}

    static void stop() noexcept {}
    [[nodiscard]] static gyre::time_point on_tick(gyre::time_point) noexcept { return gyre::never; }
    [[nodiscard]] static bool idle() noexcept { return true; }
};

/// The door for `Transport`, closed if that is void.
template <executor_traits X, class Transport>
struct second_door {
    using type = client_door<X, Transport>;
};
template <executor_traits X>
struct second_door<X, void> {
    using type = closed_door;
};

}  // namespace exchange
