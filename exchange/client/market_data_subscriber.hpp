// SPDX-License-Identifier: BSL-1.0
//
// Market data for a program, in one object: subscriptions out, news in, and books that are kept for it.
//
// It keeps itself connected to a distributor, subscribes again after each login, and puts snapshots and what
// follows together. A program makes one on its loop, awaits `next` in a loop of its own, and looks at the
// books; examples/market_watch.cpp is one.
#pragma once

#include <exchange/client/client_tls.hpp>
#include <exchange/client/client_transport.hpp>
#include <exchange/client/followed_books.hpp>
#include <exchange/client/market_news.hpp>

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace exchange {

struct market_data_options {
    gyre::endpoint distributor;
    std::string username;  ///< At most 6 printable characters,
    std::string password;  ///< and at most 10. A distributor that is open to all takes any.
    client_transport transport = client_transport::soup;
    std::string websocket_path = "/market-data/v1";
    client_tls tls;

    /// When the exchange has begun another life: log in to that one, or leave?
    bool join_next_life = true;

    std::size_t news_max = 4096;         ///< Waiting for `next`; then the connection is not read.
    std::size_t instruments_max = 1024;  ///< That are kept.
    std::size_t levels_max = 65'536;     ///< Of a side.
    gyre::duration heartbeat_after = std::chrono::seconds{1};
    gyre::duration dead_after = std::chrono::seconds{15};            ///< Of hearing nothing.
    gyre::duration connect_within = std::chrono::seconds{2};         ///< With its handshakes.
    gyre::duration reconnect_after = std::chrono::milliseconds{10};  ///< Doubles, up to
    gyre::duration reconnect_after_max = std::chrono::seconds{1};    ///< this.
};

/// What is wanted of a market.
struct market_wish {
    instrument_id instrument = instrument_id::none;  ///< None: all, those that come later included.
    std::uint16_t depth = 0;  ///< Levels of a side, at most `subscription_depth_max`; 0: all.
    bool book = true;
    bool trades = true;
    bool summary = true;
};

class subscriber_session;

/// A program's subscriptions at a distributor. Moves.
///
/// A slow program is told less, and the newest: while `news_max` news wait the connection is not read, and
/// the distributor conflates what is to be told. So memory is bounded by the options. One that takes nothing
/// for the distributor's `stalled_ms` is shed, and learns that when it reads again, behind what its kernel
/// had kept: `connection_lost`, and then books are told anew. Trades between are not told, nor counted.
///
/// Destruction: at any time on the loop's thread, also while `next` waits, which then ends with
/// `errc::closed`. The connection is cut, and what remains ends by itself as the loop goes on; the loop may
/// be destroyed first, too.
///
/// Threads:  the loop's.
class market_data_subscriber {
public:
    /// Begins to connect as the loop runs; what comes of it is told by `next`.
    ///
    /// @param  on  Borrowed; outlives the connection.
    ///
    /// Errors:  `errc::invalid_argument` for a name or a password that no session can have, and bounds that
    ///          are zero; `errc::not_supported` for a WebSocket or TLS in a build without; those of
    ///          `client_security`.
    [[nodiscard]] static gyre::io_result<market_data_subscriber> open(
        gyre::io_context& on, const market_data_options& options);

    market_data_subscriber() noexcept = default;  ///< Of no session: every call ends with `closed`.
    market_data_subscriber(market_data_subscriber&& other) noexcept = default;
    market_data_subscriber& operator=(market_data_subscriber&& other) noexcept;
    ~market_data_subscriber();

    /// Subscribes, now or as soon as there is a connection, and again after each login. Another one for the
    /// same instrument takes the place of the one before; one for all, of all before.
    ///
    /// @return The number of the request, which `subscription_granted` or `subscription_denied` names. A
    ///         subscription that was granted once and is refused after a later login, since the distributor
    ///         does not know the instrument yet, is said again until it does.
    ///
    /// Errors:  `errc::invalid_argument` for a depth that is too large, or if nothing is wanted;
    ///          `errc::no_buffer_space` beyond `instruments_max` subscriptions and exceptions (see
    ///          `unsubscribe`);
    ///          `errc::closed`.
    /// Cost:    a lookup; memory for each subscription.
    gyre::io_result<std::uint32_t> subscribe(const market_wish& what);
    /// Ends one, or all. What is known of the market is kept, and is not current any more; nothing more is
    /// told of it. While all are subscribed to, it is an exception from that, and stays one after each login.
    ///
    /// Errors:  `errc::no_buffer_space` for another exception beyond `instruments_max` of these and
    ///          subscriptions; nothing has changed. `errc::closed`.
    gyre::io_result<std::uint32_t> unsubscribe(instrument_id which);

    /// The next news.
    ///
    /// Errors:        `errc::closed` behind `session_over`.
    /// Cancellation:  `errc::canceled`; no news was taken.
    /// Threads:       the loop's. Any number may wait; each news goes to one.
    /// Cost:          a frame, which is used again.
    [[nodiscard]] gyre::task<gyre::io_result<market_news>> next();
    /// The same, of what is here already: false if that is nothing.
    [[nodiscard]] bool try_next(market_news& into);

    /// The market as of the last message that came in: news that `next` has not told yet are in it. Null if
    /// nothing was told of it. Borrowed, until a life ends or this does.
    [[nodiscard]] const followed_market* find(instrument_id which) const noexcept;
    /// All of them. Borrowed as above.
    [[nodiscard]] const std::map<instrument_id, followed_market>& markets() const noexcept;
    /// Is there a login?
    [[nodiscard]] bool connected() const noexcept;
    /// Times that a book did not go on where it had ended and was asked for anew. Of a distributor that is in
    /// order, only where a subscription follows the end of one before its last difference has come.
    [[nodiscard]] std::uint64_t broken_books() const noexcept;

    /// Ends the session in order: `session_over` follows. False if there is no connection, or no room.
    [[nodiscard]] bool log_out() noexcept;
    /// Ends it at once; `session_over` follows.
    void stop() noexcept;

private:
    explicit market_data_subscriber(std::shared_ptr<subscriber_session> it) noexcept;

    std::shared_ptr<subscriber_session> it_;  // Shared with what runs on the loop.
};

}  // namespace exchange
