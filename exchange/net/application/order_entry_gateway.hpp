// SPDX-License-Identifier: BSL-1.0
//
// The order entry gateway on one side of the seam: everything that waits, put together.
//
// It has a door for each transport, keeps the link to the facility, connects again when that is lost, and
// keeps time.
// What a packet means is gateway_host.hpp's and session/gateway_client.hpp's.
#pragma once

#include <exchange/net/application/client_doors.hpp>
#include <exchange/net/session/gateway_client.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace exchange {

struct gateway_options {
    client_doors_options doors{};  ///< Where clients connect.
    gyre::endpoint facility;       ///< Where the facility listens for gateways.
    gyre::duration connect_within = std::chrono::seconds{2};         ///< Then it is tried again.
    gyre::duration reconnect_after = std::chrono::milliseconds{10};  ///< Doubles with each failure,
    gyre::duration reconnect_after_max = std::chrono::seconds{1};    ///< up to this.
    /// When another gateway of our name has taken the link: how long it is left to that one. Doubles each
    /// time in a row, so that two that were given one name by mistake do not go on like that.
    gyre::duration take_back_after = std::chrono::seconds{1};
    gyre::duration take_back_after_max = std::chrono::minutes{1};  ///< Up to this.
    /// Clients are let in once the facility has welcomed this gateway. For one that is to replace another,
    /// and listens with the same sockets: until then that one has all that connect.
    bool opens_with_link = false;
};

/// @tparam  X           A side of the seam.
/// @tparam  Websockets  What carries sessions of WebSocket, as at a matching_facility.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction, and for each client that connects.
template <executor_traits X, class Websockets = void>
class order_entry_gateway final : private gateway_link_writer {
public:
    using task = typename X::template task<void>;

    /// @param  context  Borrowed; outlives this.
    /// @param  host     Borrowed; outlives this.
    order_entry_gateway(typename X::context& context, gateway_host& host,
                        const gateway_options& options)
        : context_{context},
          host_{host},
          options_{options},
          connector_{context},
          tick_{context},
          pause_{context},
          doors_{context, host, options.doors} {}
    order_entry_gateway(const order_entry_gateway&) = delete;
    order_entry_gateway& operator=(const order_entry_gateway&) = delete;

    /// Listens, and begins to connect to the facility. After an error nothing has begun.
    ///
    /// Errors:  those of listening: what the kernel says. That the facility is not there is none.
    [[nodiscard]] gyre::io_result<> start() {
        auto [failed, doors] = doors_.listen();
        if (failed) return failed;
        running_ = true;
        host_.write_with(this);
        waiting_doors_ = std::move(doors);
        if (!options_.opens_with_link) open_doors();
        begin(keep_link());
        begin(keep_time());
        return {};
    }

    /// Where clients connect, once they are let in.
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return doors_.tcp(); }
    /// Where clients of WebSocket do; nowhere, if there is no such place.
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept { return doors_.websocket(); }

    /// How many clients are connected, logged in or not.
    [[nodiscard]] std::size_t clients() const noexcept { return doors_.serving(); }
    template <class Look>
    void for_each_client(const Look& look) const {
        doors_.for_each(look);
    }

    /// Has everything ended that `start` has begun? Behind `stop`; then this may be destroyed.
    [[nodiscard]] bool idle() const noexcept { return tasks_ == 0 && doors_.over(); }

    /// No new client is let in; those that are here stay as long as the link does, which is not made again.
    /// So a gateway that takes our place by its link has our clients come to it.
    void drain() noexcept {
        waiting_doors_.reset();
        doors_.close();
        host_.drain(X::now(context_));
        if (host_.link_up()) return;
        connector_.cancel();
        pause_.cancel();
        cut_link();
    }

    /// Behind `drain`: clients that are still here are told to log in again, and leave when they have read
    /// that. The link is cut, since they end with it.
    void send_away() noexcept { cut_link(); }

    /// Ends everything. The context runs out of work, and then this may be destroyed: see `idle`.
    void stop() noexcept {
        running_ = false;
        waiting_doors_.reset();
        connector_.cancel();
        cut_link();
        tick_.cancel();
        pause_.cancel();
        doors_.stop();
        host_.write_with(nullptr);
    }

private:
    void open_doors() {
        if (waiting_doors_) doors_.open(*std::exchange(waiting_doors_, {}));
    }

    void begin(task what) {
        ++tasks_;
        X::launch(context_, count(std::move(what)));
    }
    task count(task what) {
        co_await std::move(what);
        --tasks_;
    }

    task keep_time() {
        gyre::time_point tick = X::now(context_) + options_.doors.timer_tick;
        while (running_) {
            const gyre::time_point soon = X::now(context_) + std::chrono::milliseconds{1};
            const auto [ended] =
                co_await tick_.wait_until(std::min(tick, std::max(soon, host_.deadline())));
            if (ended || !running_) break;
            const gyre::time_point now = X::now(context_);
            tick = doors_.on_tick(now);
            host_.on_timer(now);
            end_link_in_time(now);
            if (now >= connect_by_) connector_.cancel();
        }
    }

    // ----------------------------------------------------------------------------------------
    // The link
    // ----------------------------------------------------------------------------------------

    void link_has_output() noexcept override { link_output_.set(); }

    task keep_link() {
        gyre::duration pause = options_.reconnect_after;
        gyre::duration taken_pause = options_.take_back_after;
        while (keeps_link()) {
            connect_by_ = gyre::deadline_after(X::now(context_), options_.connect_within);
            auto [error, socket] = co_await connector_.connect(options_.facility);
            connect_by_ = gyre::never;
            if (!keeps_link()) break;
            if (!error) {
                link_ = std::move(socket);
                const std::uint64_t welcomed = host_.counts().links;
                co_await serve_link();
                if (host_.counts().links != welcomed) pause = options_.reconnect_after;
            }
            if (!keeps_link()) break;
            const bool taken = host_.link_replaced();
            const gyre::duration rest = taken ? taken_pause : pause;
            const auto [ended] = co_await pause_.wait_until(X::now(context_) + rest);
            if (ended) break;
            if (taken) {
                taken_pause = std::min(taken_pause * 2, options_.take_back_after_max);
            } else {
                pause = std::min(pause * 2, options_.reconnect_after_max);
                taken_pause = options_.take_back_after;
            }
        }
    }
    [[nodiscard]] bool keeps_link() const noexcept { return running_ && !host_.draining(); }

    task serve_link() {
        link_frames_.reset();
        linked_ = true;
        link_writer_gone_.reset();
        host_.connect(X::now(context_));
        begin(write_link());
        while (linked_ && !host_.link_over()) {
            const auto [error, size] = co_await link_.read_some(link_frames_.space());
            if (error) break;
            link_frames_.received(size);
            host_.take_frames(link_frames_, X::now(context_));
            if (host_.link_up()) open_doors();
        }
        linked_ = false;
        host_.link_lost(X::now(context_));
        link_output_.set();
        static_cast<void>(co_await link_writer_gone_.wait());
        static_cast<void>(link_.close());
    }

    task write_link() {
        for (bool broken = false; !broken;) {
            if (!link_output_.is_set()) static_cast<void>(co_await link_output_.wait());
            link_output_.reset();
            while (!broken && host_.link_wants_to_write()) {
                const std::span<const std::byte> bytes = host_.link_output(X::now(context_));
                if (bytes.empty()) break;
                const auto [error, size] = co_await link_.write_some(gyre::const_buffer{bytes});
                if (error) broken = true;
                else host_.link_sent(size, X::now(context_));
            }
            if (broken || host_.link_over()) break;
        }
        cut_link();  // The reader may still be waiting.
        link_writer_gone_.set();
    }

    /// One that is over has a while to say why.
    void end_link_in_time(gyre::time_point now) noexcept {
        const bool ends = link_.is_open() && host_.link_over();
        link_over_since_ = ends ? std::min(link_over_since_, now) : gyre::never;
        if (!ends) return;
        link_output_.set();
        if (now >= gyre::deadline_after(link_over_since_, options_.doors.linger)) cut_link();
    }

    void cut_link() noexcept {
        linked_ = false;
        if (link_.is_open()) static_cast<void>(link_.shutdown(gyre::shutdown_side::both));
    }

    typename X::context& context_;
    gateway_host& host_;
    gateway_options options_;
    typename X::connector connector_;
    typename X::stream_socket link_;
    link_framer link_frames_;
    typename X::timer tick_;
    typename X::timer pause_;  // Between two attempts to connect.
    typename X::event link_output_;
    typename X::event link_writer_gone_;
    client_doors<X, gateway_client, Websockets> doors_;
    std::optional<typename client_doors<X, gateway_client, Websockets>::listening> waiting_doors_;
    gyre::time_point link_over_since_ = gyre::never;
    gyre::time_point connect_by_ = gyre::never;
    std::size_t tasks_ = 0;
    bool running_ = false;
    bool linked_ = false;  // The link's reader is at work.
};

}  // namespace exchange
