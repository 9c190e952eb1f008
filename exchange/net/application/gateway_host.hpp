// SPDX-License-Identifier: BSL-1.0
//
// A gateway without its sockets: clients on one side, the link to the facility on the other.
//
// It keeps no order and no message: what a client is told stands in the facility's stream, which says from
// which message on it goes on, so a gateway that is started again, or another one, serves a client that comes
// again as if nothing had been. session/gateway_client.hpp is a client; order_entry_gateway.hpp moves the
// bytes. The facility's end of the link is session/gateway_session.hpp.
#pragma once

#include <exchange/codec/link_connection.hpp>
#include <exchange/net/application/gateway_users.hpp>
#include <exchange/net/application/login_refusal.hpp>
#include <exchange/net/application/login_throttle.hpp>

#include <gyre/base/intrusive.hpp>

#include <chrono>
#include <cstdint>

namespace exchange {

class gateway_client;

/// Is told what seldom happens at a gateway. Within functions of the host, which it must not call.
class gateway_watcher : public login_watcher {
public:
    virtual void link_up(const soup_session& life) noexcept = 0;
    virtual void link_lost() noexcept = 0;
    /// Another gateway of this name has connected, and has the link from there on.
    virtual void link_replaced() noexcept = 0;
    /// The facility does not let this gateway in, and will not while both are what they are: `refused`,
    /// `other_version` or `small_window`. Told once, however often it is tried, until the link is up.
    virtual void link_refused(link_ending why) noexcept = 0;
    virtual void client_shed(const gateway_client& which) noexcept = 0;

protected:
    ~gateway_watcher() = default;
};

struct gateway_host_options {
    gateway_users_options users{};
    login_throttle_options logins{};
    soup_username name{};  ///< As whom it connects to the facility.
    link_password password{};
    link_options link{};
    soup_options
        sessions{};  ///< Of clients. `outbox_bytes_max` is of what the gateway itself tells one.
    /// How long clients stay, and wait, while the facility is not there.
    gyre::duration grace = std::chrono::seconds{5};
    /// For so long a client may leave half a window of messages unread and not take a byte.
    gyre::duration stalled_max = std::chrono::seconds{10};
};

struct gateway_counts {
    std::uint64_t logins = 0;       ///< That were right.
    std::uint64_t refused = 0;      ///< That were not.
    std::uint64_t forwarded = 0;    ///< Messages of clients.
    std::uint64_t held_back = 0;    ///< Messages of clients, because of their rate.
    std::uint64_t unreachable = 0;  ///< Messages of clients, since the facility was not there.
    std::uint64_t shed = 0;         ///< Clients that read too slowly.
    std::uint64_t links = 0;        ///< Times that the facility has welcomed us.
    std::uint64_t unreached = 0;    ///< Attempts to connect to the facility that failed.
};

/// Who writes to the link.
class gateway_link_writer {
public:
    virtual void link_has_output() noexcept = 0;

protected:
    ~gateway_link_writer() = default;
};

/// Threads:  One at a time, all clients included.
/// Cost:     Memory is taken at construction.
class gateway_host {
public:
    gateway_host(const gateway_host_options& options, gyre::time_point now);
    gateway_host(const gateway_host&) = delete;
    gateway_host& operator=(const gateway_host&) = delete;

    /// Who is told that there is something to write to the link. Borrowed, or null.
    void write_with(gateway_link_writer* writer) noexcept { writer_ = writer; }
    /// Who is told what seldom happens. Borrowed, or null.
    void be_watched(gateway_watcher* watcher) noexcept { watcher_ = watcher; }

    // The link's driver.

    /// A connection to the facility was made.
    void connect(gyre::time_point now) noexcept;
    /// Takes all frames that are here.
    void take_frames(link_framer& from, gyre::time_point now) noexcept;
    [[nodiscard]] bool link_wants_to_write() const noexcept { return link_.wants_to_write(); }
    [[nodiscard]] std::span<const std::byte> link_output(gyre::time_point now) noexcept;
    void link_sent(std::size_t size, gyre::time_point now) noexcept { link_.sent(size, now); }
    [[nodiscard]] bool link_over() const noexcept { return link_.over(); }
    [[nodiscard]] bool link_up() const noexcept { return link_.up(); }
    [[nodiscard]] link_ending link_ended_by() const noexcept { return link_.ending(); }
    /// Which life the facility is in. @pre  the link is up.
    [[nodiscard]] const soup_session& life() const noexcept { return link_.welcomed().life; }
    /// The connection is gone: clients wait for the next one, or are told that messages are lost. If another
    /// gateway has the link, or we are draining, all of them are told to come again.
    ///
    /// @param  reported  False if the loss is our own doing.
    void link_lost(gyre::time_point now, bool reported = true) noexcept;
    /// No link follows the one that there is, if there is one.
    void drain(gyre::time_point now) noexcept;
    [[nodiscard]] bool draining() const noexcept { return draining_; }
    /// Was the link ended since another gateway of our name has come? Until we connect again.
    [[nodiscard]] bool link_replaced() const noexcept { return replaced_; }

    /// Does what is due.
    void on_timer(gyre::time_point now) noexcept;
    /// When that is wanted before the next tick, for logins; `never` if it is not.
    [[nodiscard]] gyre::time_point deadline() const noexcept { return logins_.deadline(); }

    // For clients.

    [[nodiscard]] login_throttle& logins() noexcept { return logins_; }
    [[nodiscard]] gateway_users& users() noexcept { return users_; }
    [[nodiscard]] gateway_counts& counts() noexcept { return counts_; }
    [[nodiscard]] const gateway_counts& counts() const noexcept { return counts_; }
    [[nodiscard]] const gateway_host_options& options() const noexcept { return options_; }
    /// Opens a channel as soon as there is a link.
    void want_channel(gateway_client& it) noexcept;
    void close_channel(gateway_client& it, soup_ending why) noexcept;
    /// It has packets for the facility.
    void announce(gateway_client& it) noexcept;
    void note_refused(const refused_login& it) noexcept;
    /// It reads too slowly.
    void note_shed(const gateway_client& it) noexcept;
    /// So many bytes of the facility's are done with; `give_back` tells it at once.
    void take(gateway_client& it, std::size_t bytes) noexcept;
    void give_back(gateway_client& it) noexcept;
    /// The time that was told last, by whomever.
    [[nodiscard]] gyre::time_point now() const noexcept { return now_; }
    void note_time(gyre::time_point now) noexcept { now_ = now; }

private:
    void on_step(const link_step& step) noexcept;
    void welcome_clients() noexcept;
    void open_channels() noexcept;
    void lose_channels() noexcept;
    void tell_refusal(link_ending why) noexcept;
    /// Is there no link, and none to be expected soon?
    [[nodiscard]] bool is_left() const noexcept { return !link_.up() && (draining_ || replaced_); }
    void wake_writer() noexcept;

    gateway_host_options options_;
    gateway_users users_;
    login_throttle logins_;
    link_connection link_;
    gyre::list<gateway_client, gateway_client> waiting_;  // For a channel.
    gateway_counts counts_;
    gateway_link_writer* writer_ = nullptr;
    gateway_watcher* watcher_ = nullptr;
    gyre::time_point now_;
    bool welcomed_ = false;  // The link was up, and its loss was not told yet.
    bool refusal_told_ = false;
    bool draining_ = false;
    bool replaced_ = false;
};

}  // namespace exchange
