// SPDX-License-Identifier: BSL-1.0
//
// One of a thousand subscribers of a distributor on a loop: it hears the levels of a book, or has asked for
// much and never reads.
//
// The same for every distributor that is measured, over any transport.
#pragma once

#include <exchange/bench/due_levels.hpp>
#include <exchange/codec/market_subscription_codec.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/histogram.hpp>

#include <gyre/coro/launch.hpp>

#include <array>
#include <chrono>
#include <string>

namespace exchange::bench {

/// What subscribers hear: from when an order was due until its level was read.
struct told_levels {
    const due_levels& due;
    lab::histogram late;  ///< In ns.
};

class bench_subscriber {
public:
    virtual ~bench_subscriber() = default;
    /// Is its subscription granted?
    [[nodiscard]] virtual bool is_in() const noexcept = 0;
    virtual void leave() noexcept = 0;
};

/// @tparam  Transport  What carries its packets.
///
/// Threads:  that of the context.
template <class Transport>
class subscriber_over final : public bench_subscriber, order_entry_handler {
public:
    /// @param  context  Borrowed; outlives this, and ends its connection.
    /// @param  silent   It never reads.
    /// @param  told     Borrowed; outlives this.
    subscriber_over(gyre::io_context& context, const order_entry_client_options& how, bool silent,
                    told_levels& told)
        : client_{context, how, *this}, told_{told}, silent_{silent} {
        gyre::launch(context, client_.run(), gyre::or_terminate{});
    }

    [[nodiscard]] bool is_in() const noexcept override { return granted_; }
    void leave() noexcept override {
        leaving_ = true;
        client_.stop();
    }

    void operator()(const subscribed&) {
        granted_ = true;
        if (silent_) client_.pause();
    }
    void operator()(const book_delta& it) {
        const gyre::time_point now = std::chrono::steady_clock::now();
        for (std::uint16_t each = 0; each < it.count; ++each) {
            if (it.levels[each].orders == 0) continue;
            if (const auto late = told_.due.since(it.levels[each].price, now))
                told_.late.record(static_cast<std::uint64_t>(late->count()));
        }
    }
    void operator()(const auto&) {}

private:
    void logged_in() noexcept override {
        const std::uint16_t depth = silent_ ? subscription_depth_max : 0;
        std::array<std::byte, message_bytes_of<subscribe>> bytes;
        static_cast<void>(
            encode_market(subscribe{1, instrument_id::none, depth, true, silent_, silent_}, bytes));
        lab::require(client_.send(bytes), "a subscription has no room");
    }
    void heard(std::uint64_t, std::span<const std::byte> message) noexcept override {
        static_cast<void>(decode_market_message(message, *this));
    }
    void disconnected(soup_ending why) noexcept override {
        if (!leaving_ && !silent_)
            lab::fail("a subscriber has lost its connection: " + std::string{describe(why)});
    }

    order_entry_client<gyre_traits, Transport> client_;
    told_levels& told_;
    bool silent_;
    bool granted_ = false;
    bool leaving_ = false;
};

}  // namespace exchange::bench
