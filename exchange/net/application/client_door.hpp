// SPDX-License-Identifier: BSL-1.0
//
// A port at which peers connect, all over one transport: it accepts them, and serves each until it leaves.
//
// A facility has one for each transport that its clients speak, and a gateway does; what their connections
// share is behind it, so that a session does not know through which door it has come.
#pragma once

#include <exchange/net/application/connection_pool.hpp>
#include <exchange/net/application/inherited_listeners.hpp>
#include <exchange/net/executor_traits.hpp>

#include <gyre/io/endpoint.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

/// The socket of a door, and where it is.
///
/// @tparam  X  A side of the seam.
template <executor_traits X>
struct door_socket {
    typename X::acceptor acceptor;
    gyre::endpoint at;

    /// Listens at `where`; at a place that is none, nothing does.
    ///
    /// @param  inherited  Of these the one that listens there already is taken, if there is one. Borrowed, or
    ///                    null.
    ///
    /// Errors:  those of listening: what the kernel says.
    [[nodiscard]] static gyre::io_result<door_socket> open(
        typename X::context& on, const gyre::endpoint& where,
        inherited_listeners* inherited = nullptr) {
        if (where.kind() == gyre::endpoint::family::none) return door_socket{};
        const int there = inherited != nullptr ? inherited->take(where) : -1;
        if (there >= 0) return door_socket{X::adopt_listener(on, there), where};
        auto [failed, acceptor] = X::listen(on, where, {});
        if (failed) return failed;
        const auto [unnamed, at] = acceptor.local_endpoint();
        if (unnamed) return unnamed;
        return door_socket{std::move(acceptor), at};
    }
};

/// @tparam  X           A side of the seam.
/// @tparam  Connection  An order_entry_connection, or what has its members.
///
/// Threads:  that of the context.
/// Cost:     Memory for each peer that connects.
template <executor_traits X, class Connection>
class client_door {
public:
    using task = typename X::template task<void>;

    /// @param  context  Borrowed; outlives this.
    /// @param  shared   What connections share. Borrowed; outlives this.
    /// @param  round    In which each connection does what is due.
    template <class Shared>
    client_door(typename X::context& context, Shared& shared, std::size_t connections_max,
                gyre::duration round)
        : context_{context}, rest_{context}, connections_{shared, connections_max}, round_{round} {}
    client_door(const client_door&) = delete;
    client_door& operator=(const client_door&) = delete;

    /// Peers may come from here on. A socket that does not listen leaves the door closed.
    void open(door_socket<X> socket) {
        if (!socket.acceptor.is_open()) return;
        acceptor_ = std::move(socket.acceptor);
        at_ = socket.at;
        open_ = accepting_ = true;
        stopped_ = false;
        tick_ = X::now(context_) + round_;
        X::launch(context_, accept());
    }

    /// Accepts no more peers; those that are here stay, and so does one that was accepted just now.
    void close() noexcept {
        if (!std::exchange(open_, false)) return;
        static_cast<void>(acceptor_.close());
        rest_.cancel();
        free_.set();
    }

    /// Ends everything. The context runs out of work.
    void stop() noexcept {
        stopped_ = true;
        close();
        free_.set();
        connections_.hang_up();
    }

    /// Does what is due.
    ///
    /// @return When to call again; `never` if it was never opened.
    [[nodiscard]] gyre::time_point on_tick(gyre::time_point now) noexcept {
        if (at_.kind() == gyre::endpoint::family::none) return gyre::never;
        tick_ = connections_.on_tick(tick_, now, round_);
        return tick_;
    }

    /// Where peers connect; nowhere, if it was never opened.
    [[nodiscard]] const gyre::endpoint& at() const noexcept { return at_; }
    /// How many are here, logged in or not.
    [[nodiscard]] std::size_t serving() const noexcept { return serving_; }
    /// Is no peer connected?
    [[nodiscard]] bool idle() const noexcept { return serving_ == 0; }
    /// Has all ended that it began? Behind `stop`; then this may be destroyed.
    [[nodiscard]] bool over() const noexcept { return serving_ == 0 && !accepting_; }
    /// Calls `look(connection)` for each that is here.
    template <class Look>
    void for_each(const Look& look) const {
        connections_.for_each(look);
    }

private:
    task accept() {
        while (open_) {
            auto [error, socket] = co_await acceptor_.accept();
            if (error == gyre::errc::canceled) break;
            if (error) {  // Out of descriptors, or a peer that is gone again.
                static_cast<void>(co_await rest_.wait_until(X::now(context_) + round_));
                continue;
            }
            Connection* found = connections_.find();
            while (!stopped_ && found == nullptr) {
                free_.reset();
                static_cast<void>(co_await free_.wait());
                found = connections_.find();
            }
            if (stopped_) break;
            found->open(std::move(socket));
            X::launch(context_, serve(*found));
        }
        accepting_ = false;
    }

    task serve(Connection& by) {
        ++serving_;
        co_await by.serve();
        --serving_;
        free_.set();
    }

    typename X::context& context_;
    typename X::acceptor acceptor_;
    typename X::timer rest_;
    typename X::event free_;  // Set whenever a connection becomes free.
    connection_pool<Connection> connections_;
    gyre::duration round_;
    gyre::endpoint at_{};
    gyre::time_point tick_{};  // When the next part of the connections is looked at.
    std::size_t serving_ = 0;
    bool open_ = false;
    bool accepting_ = false;
    bool stopped_ = false;
};

/// A door that nobody comes through, where a transport is not spoken.
class closed_door {
public:
    template <class Context, class Shared>
    closed_door(Context&, Shared&, std::size_t, gyre::duration) noexcept {}

    template <class Socket>
    static void open(const Socket&) noexcept {}
    static void close() noexcept {}
    static void stop() noexcept {}
    [[nodiscard]] static gyre::time_point on_tick(gyre::time_point) noexcept { return gyre::never; }
    [[nodiscard]] const gyre::endpoint& at() const noexcept { return nowhere_; }
    [[nodiscard]] static std::size_t serving() noexcept { return 0; }
    [[nodiscard]] static bool idle() noexcept { return true; }
    [[nodiscard]] static bool over() noexcept { return true; }
    template <class Look>
    static void for_each(const Look&) noexcept {}

private:
    gyre::endpoint nowhere_{};
};

/// The door at which `Connection<X, Transport>`s are made; closed, if `Transport` is void.
template <executor_traits X, template <class, class> class Connection, class Transport>
struct door_of {
    using type = client_door<X, Connection<X, Transport>>;
};
template <executor_traits X, template <class, class> class Connection>
struct door_of<X, Connection, void> {
    using type = closed_door;
};

}  // namespace exchange
