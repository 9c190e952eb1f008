// SPDX-License-Identifier: BSL-1.0
//
// Clients that are connected to a server: their ticks, and the one that gives way when all places are taken.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/time.hpp>
#include <gyre/sync/task_group.hpp>

#include <cstddef>

namespace exchange {

/// A connected client.
///
/// Threads:  the loop's.
class connected_client : public gyre::list_link<connected_client> {
public:
    connected_client(const connected_client&) = delete;
    connected_client& operator=(const connected_client&) = delete;

    /// Does what is due.
    virtual void on_timer(gyre::time_point now) noexcept = 0;
    [[nodiscard]] virtual bool logged_in() const noexcept = 0;
    [[nodiscard]] virtual bool was_logged_in() const noexcept = 0;

    /// Ends the connection now.
    void cut() noexcept {
        if (group_ != nullptr) group_->request_stop();
    }
    [[nodiscard]] gyre::time_point accepted_at() const noexcept { return accepted_at_; }

protected:
    explicit connected_client(gyre::time_point accepted_at) noexcept : accepted_at_{accepted_at} {}
    ~connected_client() = default;

    /// Runs `body()`, which `cut` stops.
    template <class Body>
    [[nodiscard]] gyre::task<> run_until_cut(const Body& body) {
        const auto noted = [&](gyre::task_group& group) -> gyre::task<> {
            group_ = &group;
            co_await body();
        };
        co_await gyre::with_group(noted);
        group_ = nullptr;
    }

private:
    gyre::task_group* group_ = nullptr;
    gyre::time_point accepted_at_;
};

/// Threads:  the loop's.
/// Cost:     no memory but its own.
class client_registry {
public:
    client_registry() noexcept = default;
    client_registry(const client_registry&) = delete;
    client_registry& operator=(const client_registry&) = delete;

    /// @param  it  Borrowed until it is gone.
    void enlist(connected_client& it) noexcept {
        clients_.push_back(it);
        ++size_;
    }
    void dismiss(connected_client& it) noexcept {
        it.unlink();
        --size_;
    }

    /// Cuts the client that has been here longest without ever logging in, so that strangers cannot keep
    /// participants out. Without such a client, cuts the one that has been here longest of those that are
    /// no longer logged in, and read why.
    void make_room() noexcept;

    /// Has clients do what is due, in parts: thousands of heartbeats in a row would hold up what others send.
    ///
    /// @param  round  In which each client has its turn.
    /// @return When to call again.
    [[nodiscard]] gyre::time_point on_tick(gyre::time_point now, gyre::duration round) noexcept;

    /// Calls `look(client)` for each.
    template <class Look>
    void for_each(const Look& look) {
        clients_.for_each(look);
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    gyre::list<connected_client, connected_client>
        clients_;              // The first is the one whose turn is next.
    gyre::time_point tick_{};  // When the next part is due.
    std::size_t size_ = 0;
};

}  // namespace exchange
