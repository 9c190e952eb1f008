// SPDX-License-Identifier: BSL-1.0
//
// The matching facility on completion handlers of Boost.Asio: application/matching_facility.hpp without
// coroutines.
//
// Programs that were written before there were coroutines look like this, and what they cost is what
// coroutines are measured by; so this is as fast as we can make it: executors are typed, handlers have
// memory of their own, connections stay where they are, and one thread needs no strand. It stands on the
// same host, session and codecs, and passes the same laws.
#pragma once

#include <exchange/net/application/connection_pool.hpp>
#include <exchange/net/asio/acceptor.hpp>
#include <exchange/net/asio/callback/connection.hpp>
#include <exchange/net/asio/callback/handler_memory.hpp>
#include <exchange/net/asio/callback/shared_state.hpp>
#include <exchange/net/asio/loop.hpp>

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>

namespace exchange {

/// Threads:  that of its loop.
/// Cost:     Memory is taken at construction, and for each client that connects.
class callback_facility final : private connection_owner,
                                private command_runner,
                                private feed_waiter {
public:
    /// @param  loop      Borrowed; outlives this.
    /// @param  host   Borrowed; outlives this.
    /// @param  observer  Borrowed, or null.
    callback_facility(asio_loop& loop, order_entry_host& host, const facility_options& options,
                      span_observer* observer = nullptr,
                      callback_style style = callback_style::asynchronous);
    callback_facility(const callback_facility&) = delete;
    callback_facility& operator=(const callback_facility&) = delete;

    /// Opens all sockets and begins. After an error nothing has begun.
    ///
    /// Errors:  those of listening and binding, of joining `feed_interface`: what the kernel says.
    [[nodiscard]] gyre::io_result<> start();

    /// Where clients connect, once started.
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return order_entry_at_; }
    /// Where requests for retransmission go, once started.
    [[nodiscard]] const gyre::endpoint& feed_requests() const noexcept { return requests_at_; }

    /// Ends the day in order: each client is told what there is to tell, then that nothing follows;
    /// the feed ends. A client that comes only now, or again, is told the same from the message on
    /// that it asks for, and can change nothing any more. `stop` comes next; until then clients are
    /// let in.
    void drain() noexcept;

    /// Is no client connected? Once drained: each that was has been told, or was lost and may come
    /// again.
    [[nodiscard]] bool idle() const noexcept { return serving_ == 0; }

    /// Ends everything. The loop runs out of work, and then this may be destroyed.
    void stop() noexcept;

    [[nodiscard]] const feed_counts& feed() const noexcept { return feed_.counts(); }

private:
    using timer =
        boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                          boost::asio::wait_traits<std::chrono::steady_clock>,
                                          asio_loop::executor_type>;

    void accept();
    void on_accept(const boost::system::error_code& failure);
    void accept_later();
    void serve_arrived();
    void left() override;
    void host_is_busy() noexcept override;
    void go_on_later();
    void go_on();
    void feed_sent() override;
    void let_others_go_on();
    void await_tick();
    void on_tick();

    asio_loop& loop_;
    order_entry_host& host_;
    facility_options options_;
    callback_feed feed_;
    callback_shared_state shared_;
    asio_acceptor acceptor_;
    asio_stream arriving_;  // Being accepted, or waiting for a place.
    timer tick_;
    gyre::time_point next_tick_{};
    timer rest_;
    handler_memory accept_memory_;
    handler_memory tick_memory_;
    handler_memory step_memory_;
    connection_pool<callback_connection> connections_;
    gyre::endpoint order_entry_at_;
    gyre::endpoint requests_at_;
    std::size_t serving_ = 0;
    bool arrived_ = false;   // A client waits for a place.
    bool going_on_ = false;  // A handler, or the feed, will go on with a command's steps.
    bool running_ = false;
};

}  // namespace exchange
