// SPDX-License-Identifier: BSL-1.0
//
// A distributor without its sockets: books on one side, subscribers on the other.
//
// session/market_data_client.hpp is a subscriber. A driver feeds the books, says so by `changed`, and moves
// the subscribers' bytes.
#pragma once

#include <exchange/codec/soup_packet.hpp>
#include <exchange/net/application/gateway_users.hpp>
#include <exchange/net/application/login_refusal.hpp>
#include <exchange/net/application/login_throttle.hpp>
#include <exchange/net/application/market_books.hpp>
#include <exchange/net/application/market_updates.hpp>

#include <gyre/base/intrusive.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace exchange {

class market_data_client;

struct market_data_host_options {
    gateway_users_options users{};
    bool open = false;  ///< Everybody may subscribe, whatever name and password say.
    login_throttle_options logins{};
    soup_options sessions{};
    std::size_t unsent_bytes_max = 64 * 1024;  ///< Of a subscriber: one message at least.
    std::size_t subscriptions_max = 256;       ///< Of a subscriber.
    /// For so long a subscriber may not take a byte of what waits for it.
    gyre::duration stalled_max = std::chrono::seconds{30};
};

struct market_data_counts {
    std::uint64_t logins = 0;         ///< That were right.
    std::uint64_t refused = 0;        ///< That were not.
    std::uint64_t subscriptions = 0;  ///< That were granted.
    std::uint64_t messages = 0;       ///< Of markets, to all subscribers together.
    std::uint64_t dropped = 0;        ///< Trades that subscribers read too slowly for.
    std::uint64_t shed = 0;           ///< Subscribers that read nothing for too long.
};

/// Threads:  One at a time, all subscribers included.
/// Cost:     Memory is taken at construction.
class market_data_host {
public:
    /// @param  books  Borrowed; outlives this.
    market_data_host(const market_data_host_options& options, const market_books& books,
                     gyre::time_point now);
    market_data_host(const market_data_host&) = delete;
    market_data_host& operator=(const market_data_host&) = delete;

    /// The books are of this life from here on. Subscribers of another one are ended, and those that wait
    /// for one are let in.
    void begin_life(const soup_session& name, gyre::time_point now) noexcept;
    /// Empty before the first.
    [[nodiscard]] const soup_session& life() const noexcept { return life_; }
    /// Subscribers that are logged in, or wait for a life, are told to log in again, here or elsewhere.
    void send_away(gyre::time_point now) noexcept;
    /// Books have changed: subscribers that are idle are told. Once for many changes.
    void changed() noexcept;

    void on_timer(gyre::time_point now) noexcept;
    [[nodiscard]] gyre::time_point deadline() const noexcept { return logins_.deadline(); }

    /// Who is told of logins that are refused. Borrowed, or null.
    void be_watched(login_watcher* watcher) noexcept { watcher_ = watcher; }

    // For subscribers.

    /// Counts a login that is refused, and tells it.
    void note_refused(const refused_login& it) noexcept {
        ++counts_.refused;
        if (watcher_ != nullptr) watcher_->login_refused(it);
    }
    [[nodiscard]] const market_books& books() const noexcept { return books_; }
    [[nodiscard]] market_updates& updates() noexcept { return updates_; }
    [[nodiscard]] login_throttle& logins() noexcept { return logins_; }
    [[nodiscard]] gateway_users& users() noexcept { return users_; }
    [[nodiscard]] market_data_counts& counts() noexcept { return counts_; }
    [[nodiscard]] const market_data_counts& counts() const noexcept { return counts_; }
    [[nodiscard]] const market_data_host_options& options() const noexcept { return options_; }
    void enlist(market_data_client& it) noexcept;

private:
    market_data_host_options options_;
    const market_books& books_;
    market_updates updates_;
    gateway_users users_;
    login_throttle logins_;
    gyre::list<market_data_client, market_data_client>
        clients_;  // Logged in, or waiting for a life.
    soup_session life_{};
    market_data_counts counts_;
    login_watcher* watcher_ = nullptr;
};

}  // namespace exchange
