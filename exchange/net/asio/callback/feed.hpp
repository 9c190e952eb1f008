// SPDX-License-Identifier: BSL-1.0
//
// The public feed on its way out: transport/feed_publisher.hpp, but on completion handlers of Boost.Asio.
//
// Asio sends one datagram at a time, so each is made when its turn comes: there is no batch to be copied
// into, and what was committed meanwhile fills the next one.
#pragma once

#include <exchange/codec/mold_sender.hpp>
#include <exchange/net/application/span_watch.hpp>
#include <exchange/net/asio/callback/handler_memory.hpp>
#include <exchange/net/asio/callback/style.hpp>
#include <exchange/net/asio/loop.hpp>
#include <exchange/net/asio/udp_socket.hpp>
#include <exchange/net/transport/feed_options.hpp>

#include <gyre/base/intrusive.hpp>

#include <boost/asio/basic_waitable_timer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace exchange {

/// Told when the feed has been sent, as far as is needed.
class feed_waiter : public gyre::list_link<feed_waiter> {
public:
    virtual void feed_sent() = 0;

protected:
    ~feed_waiter() = default;
};

/// Threads:  that of its loop.
/// Cost:     Memory is taken at construction.
class callback_feed {
public:
    /// @param  loop  Borrowed; outlives this.
    /// @param  feed  Borrowed; outlives this.
    callback_feed(asio_loop& loop, mold_sender& feed, const feed_options& options,
                  callback_style style);
    callback_feed(const callback_feed&) = delete;
    callback_feed& operator=(const callback_feed&) = delete;

    /// Takes charge of the sockets, and begins to answer requests for retransmission.
    void open(asio_udp_socket outgoing, asio_udp_socket requests);
    /// Tells `watch` when a send is through that had to wait. Borrowed until it is closed
    /// and its loop has run out of work.
    void be_watched(span_watch& watch) noexcept { watch_ = &watch; }
    void close() noexcept;

    /// Has the feed anything that was not given to the kernel?
    [[nodiscard]] bool sending() const noexcept { return sending_; }

    /// Sends what was committed and not sent yet. What cannot be sent is counted, and stays in the feed
    /// for those who ask.
    ///
    /// @param  waiter  Borrowed, or null: told when all of it is sent, if it was not at once. If a sender
    ///                 is at work, so far behind that nothing more should be caused: once that is
    ///                 over.
    /// @return True if all is sent, or a sender is at work already, which goes on to the end. False
    ///         if `waiter` will be told.
    bool flush(feed_waiter* waiter);

    /// Sends a heartbeat, or the end once more, if it is due.
    void on_timer(gyre::time_point now);

    [[nodiscard]] const feed_counts& counts() const noexcept { return counts_; }

private:
    using address = asio_datagrams::endpoint_type;
    using timer =
        boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                          boost::asio::wait_traits<std::chrono::steady_clock>,
                                          asio_loop::executor_type>;

    [[nodiscard]] bool send_rest();
    [[nodiscard]] bool send(const mold_datagram& datagram);
    [[nodiscard]] bool sent_at_once(const mold_datagram& datagram);
    void on_sent(const boost::system::error_code& failure);
    void tell_waiters();
    [[nodiscard]] bool crowded() const noexcept { return sending_ && feed_.crowded(); }
    void note(const boost::system::error_code& failure) noexcept;
    void await_request();
    void await_request_later();
    void on_request(const boost::system::error_code& failure, std::size_t size);
    void on_answered(const boost::system::error_code& failure);

    mold_sender& feed_;
    address group_;
    gyre::duration pause_;
    answer_allowance allowance_;
    callback_style style_;
    timer rest_;  // Of who hears requests.
    asio_udp_socket outgoing_;
    asio_udp_socket requests_;
    handler_memory sending_memory_;
    handler_memory request_memory_;
    span_watch* watch_ = nullptr;
    feed_waiter* waiter_ = nullptr;  // Who began to send.
    gyre::list<feed_waiter, feed_waiter> held_back_;
    gyre::time_point now_{};           // When the flush began that is under way,
    std::uint64_t wanted_ = 0;         // and up to where its waiter waits.
    std::vector<std::byte> datagram_;  // What is being sent; its messages may be overwritten.
    std::vector<std::byte> answer_;
    std::array<std::byte, mold_header_bytes + 1> request_;  // One more: longer ones are none.
    address asker_;
    feed_counts counts_;
    bool sending_ = false;
};

}  // namespace exchange
