// SPDX-License-Identifier: BSL-1.0
//
// A connection of HTTP/2 in a client's pool: how many requests use it, and how long it may live.
//
// Requests wait for the origin, not for a connection: what comes first, a stream on one of its connections or
// the right to make another, is theirs. RFC 9113, 9.1: one connection serves as long as it has room.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/waiters.hpp>
#include <web/versions.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace gyre::web {

struct origin;

/// The connections that a client may have to all origins. Of origins whose requests want one while there is
/// none, the first to ask gets the next; their requests still wait for a stream meanwhile. Does not move.
class connection_budget {
public:
    explicit connection_budget(std::size_t most) noexcept : available_{most} {}

    /// Takes one. False if there is none: `of` is asked to `serve` when one is given back.
    [[nodiscard]] bool take(origin& of) noexcept;
    void give_back() noexcept;

    [[nodiscard]] std::size_t available() const noexcept { return available_; }

private:
    std::size_t available_;  // Invariant: 0 while an origin waits.
    list<origin> waiting_;
};

/// The right to a connection: one of the origin's, one of the client's. Moves.
class connection_permits {
public:
    connection_permits() noexcept = default;
    /// @param  finds_out  Others wait until it is known what the connection is.
    connection_permits(origin& of, bool finds_out) noexcept : of_{&of}, finds_out_{finds_out} {}
    connection_permits(connection_permits&& other) noexcept
        : of_{std::exchange(other.of_, nullptr)},
          finds_out_{std::exchange(other.finds_out_, false)} {}
    connection_permits& operator=(connection_permits&& other) noexcept;
    ~connection_permits() { release(); }

    /// It is known now, or will not be.
    void found_out() noexcept;
    void release() noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

private:
    origin* of_ = nullptr;
    bool finds_out_ = false;
};

class shared_connection;

/// Who keeps shared connections.
class shared_owner {
public:
    /// No request uses it. May end it.
    virtual void comes_to_rest(shared_connection& it) noexcept = 0;
    /// It has ended, and its origin does not have it any more.
    virtual void is_over(shared_connection& it) noexcept = 0;

protected:
    shared_owner() noexcept = default;
    shared_owner(const shared_owner&) = default;
    shared_owner& operator=(const shared_owner&) = default;
    ~shared_owner() = default;
};

/// Kept by its origin and by its coroutine until it has ended, and by its claims. Does not move.
class shared_connection : public std::enable_shared_from_this<shared_connection> {
public:
    /// The right to one request. Moves.
    class claim {
    public:
        claim() noexcept = default;
        explicit claim(shared_connection& on) noexcept : on_{on.shared_from_this()} {
            ++on_->requests_;
            ++on_->unsent_;
        }
        claim(claim&& other) noexcept
            : on_{std::move(other.on_)}, sent_{std::exchange(other.sent_, false)} {}
        claim& operator=(claim&& other) noexcept;
        ~claim() { release(); }

        void release() noexcept;
        /// Its request takes a stream now.
        void send() noexcept;

        [[nodiscard]] shared_connection* get() const noexcept { return on_.get(); }

    private:
        std::shared_ptr<shared_connection> on_;
        bool sent_ = false;
    };

    shared_connection(shared_owner& owner, origin& at) noexcept : owner_{&owner}, at_{at} {}
    shared_connection(const shared_connection&) = delete;
    shared_connection& operator=(const shared_connection&) = delete;

    /// Joins its origin and begins on `home`.
    void start(loop& home, any_stream stream, const http::client_options& options,
               std::size_t streams_max);

    /// Requests that may be sent beside those that it has.
    [[nodiscard]] std::size_t room() const noexcept;

    /// It begins no other request; ends with the last one, if there is any. Without any it says GOAWAY if
    /// there is room for that, and the loop's `run` waits until it has ended.
    void retire() noexcept;

    /// Its owner goes: ends now.
    void disown() noexcept;

    [[nodiscard]] multiplexed_connection& wire() noexcept { return *wire_; }
    [[nodiscard]] bool reusable() const noexcept {
        return !over_ && !retired_ && wire_->reusable();
    }
    [[nodiscard]] bool settled() const noexcept { return over_ || wire_->settled(); }
    [[nodiscard]] bool used() const noexcept { return requests_ > 0; }
    [[nodiscard]] origin& at() const noexcept { return at_; }

    connection_permits permits;  ///< While it has requests, or ends.

private:
    static task<> keep(std::shared_ptr<shared_connection> it);
    void changed() noexcept;
    void end() noexcept;
    void request_gone(bool sent) noexcept;

    shared_owner* owner_;  // Null once that has gone, or this is over.
    origin& at_;           // Valid while there is an owner.
    std::unique_ptr<multiplexed_connection> wire_;
    loop* home_ = nullptr;
    stop_handle running_;
    io_context::work_guard ending_;  // While it ends: as it rests, it keeps no loop running.
    std::size_t requests_ = 0;
    std::size_t unsent_ = 0;  // Of these.
    bool retired_ = false;
    bool over_ = false;
};

/// What requests to one place wait for. Does not move.
struct origin : list_link<> {
    /// @param  from  Borrowed.
    origin(std::size_t most, connection_budget& from) noexcept
        : connections_max{most}, budget{from} {}
    ~origin() { unlink(); }

    /// Waits for its turn, first come, first served.
    class turn_awaiter final : public waiter {
    public:
        explicit turn_awaiter(origin& of) noexcept : waiter{"a connection"}, of_{of} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;

        /// A stream, or the right to a connection.
        struct turn {
            turn() noexcept = default;

            shared_connection::claim shared;
            connection_permits permits;
        };
        io_result<turn> await_resume() noexcept;

    private:
        friend origin;

        origin& of_;
        turn got_;
    };

    [[nodiscard]] turn_awaiter turn() noexcept { return turn_awaiter{*this}; }

    /// One that has requests, and room for another.
    [[nodiscard]] shared_connection* with_room() const noexcept;

    /// Wakes all that can go.
    void serve() noexcept;

    const std::size_t connections_max;
    connection_budget& budget;
    std::size_t connections = 0;  ///< Permits for them.
    waiters queue;
    std::vector<std::shared_ptr<shared_connection>> shared;
    /// Requests may come to share a connection, so one is made at a time. False also after a failure, so that
    /// requests do not wait for one attempt after another.
    bool may_share = false;
    bool finding_out = false;

private:
    [[nodiscard]] bool grant(turn_awaiter& to) noexcept;
    [[nodiscard]] bool knows_enough() const noexcept;
};

}  // namespace gyre::web
