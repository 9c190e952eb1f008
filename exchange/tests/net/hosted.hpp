// SPDX-License-Identifier: BSL-1.0
//
// Servers that run on a loop beside their test.
#pragma once

#include <exchange/server/market_data_distributor.hpp>
#include <exchange/server/order_entry_gateway.hpp>

#include <gyre/coro/launch.hpp>

#include <doctest/doctest.h>

namespace exchange::testing {

/// Runs a task from `begin` to its end.
class hosted_task {
public:
    void begin(gyre::io_context& on, gyre::task<gyre::io_result<>> it) {
        runs_ = true;
        handle_ =
            gyre::launch(on, std::move(it), [this](gyre::task_outcome<gyre::io_result<>> end) {
                CHECK(end.get().ok());
                runs_ = false;
            });
    }
    void stop() const noexcept { handle_.request_stop(); }
    void drain() const noexcept { handle_.request_drain(); }
    [[nodiscard]] bool runs() const noexcept { return runs_; }

private:
    gyre::stop_handle handle_;
    bool runs_ = false;
};

/// A gateway from `start` on.
class hosted_gateway {
public:
    hosted_gateway(gyre::io_context& on, gateway_host& host, const gateway_options& options)
        : on_{on}, it_{host, options} {}

    [[nodiscard]] gyre::io_result<> start() {
        const gyre::io_result<> listening = it_.listen(on_);
        if (listening.ok()) task_.begin(on_, it_.serve());
        return listening;
    }
    void drain() const noexcept { task_.drain(); }
    void send_away() noexcept { it_.send_away(); }
    void stop() const noexcept { task_.stop(); }
    [[nodiscard]] bool idle() const noexcept { return !task_.runs(); }
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return it_.order_entry(); }
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept { return it_.websocket(); }
    [[nodiscard]] std::size_t clients() const noexcept { return it_.clients(); }

private:
    gyre::io_context& on_;
    order_entry_gateway it_;
    hosted_task task_;
};

/// A gateway whose clients come to `order_entry` by WebSocket.
class hosted_websocket_gateway : public hosted_gateway {
public:
    hosted_websocket_gateway(gyre::io_context& on, gateway_host& host,
                             const gateway_options& options)
        : hosted_gateway{on, host, with_websockets(options)} {}

    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return websocket(); }

private:
    [[nodiscard]] static gateway_options with_websockets(gateway_options options) {
        options.clients.websocket = std::exchange(options.clients.tcp, {gyre::ipv4::loopback(), 0});
        options.clients.websockets.unsent_bytes_max = 16 * 1024;
        return options;
    }
};

/// A distributor from `start` on.
class hosted_distributor : public market_data_distributor {
public:
    hosted_distributor(gyre::io_context& on, market_books& books, market_data_host& host,
                       const distributor_options& options)
        : market_data_distributor{on, books, host, options}, on_{on} {}

    [[nodiscard]] gyre::io_result<> start() {
        const gyre::io_result<> listening = listen();
        if (listening.ok()) task_.begin(on_, serve());
        return listening;
    }
    void drain() const noexcept { task_.drain(); }
    void stop() const noexcept { task_.stop(); }
    [[nodiscard]] bool idle() const noexcept { return !task_.runs(); }
    [[nodiscard]] bool left() const noexcept { return !task_.runs(); }

private:
    gyre::io_context& on_;
    hosted_task task_;
};

}  // namespace exchange::testing
