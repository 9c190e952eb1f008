// SPDX-License-Identifier: BSL-1.0
//
// Clients and listeners that go on when the exchange is killed and started again, and notice whether they
// are told so in time.
//
// Each message carries the exchange's time, and no other sign of its life. So what was stamped before the
// restart is of the old life, what was stamped behind it is of the new one, and either must be heard on its
// own side of the moment at which the handler was told.
#pragma once

#include <exchange/bin/feed_view.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/feed_listener.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace exchange::testing {

/// Messages by the life of which they are, and those that were heard on the wrong side.
struct life_watch {
    /// Takes the time of a message.
    void hear(timestamp_ns time) {
        const bool of_new_life = time >= begun;
        (of_new_life ? of_new : of_old)++;
        if (of_new_life != told) ++spliced;
    }
    void tell(std::string_view ended_life, std::string_view next_life) {
        if (told) ++told_again;
        told = true;
        ended = ended_life;
        next = next_life;
    }

    timestamp_ns begun = std::numeric_limits<timestamp_ns>::max();  ///< The new life.
    std::uint64_t of_old = 0;
    std::uint64_t of_new = 0;
    std::uint64_t spliced = 0;
    std::uint64_t told_again = 0;
    bool told = false;
    std::string ended;  ///< What it was told.
    std::string next;
};

/// A participant that enters orders as long as it has a connection, one when the one before is answered: the
/// exchange, the machine and the listener beside it set the pace.
class survivor final : public order_entry_handler {
public:
    survivor(gyre::io_context& on, const order_entry_client_options& options)
        : on_{on}, options_{options} {}

    /// Connects, to go on behind what was heard before.
    void come() {
        client_.emplace(on_, options_, *this);
        over_ = waits_ = false;
        gyre::launch(on_, stay(), gyre::or_terminate{});
    }
    /// Leaves as an application does that ends. It `is_away` once that is over.
    void go() { client_->stop(); }
    [[nodiscard]] bool is_away() const { return over_; }
    [[nodiscard]] bool is_in() const { return client_ && client_->machine().logged_in(); }

    /// Enters an order, if there is a connection and no order waits. It rests or meets another one's.
    void trade() {
        if (waits_ || !is_in()) return;
        enter_order it{};
        it.client_seq = client_sequence{next_};
        it.instrument = instrument_id{1};
        it.side = next_ % 2 == 0 ? order_side::buy : order_side::sell;
        it.type = order_type::limit;
        it.tif = time_in_force::good_till_cancel;
        it.price = 900 + next_ * 37 % 200;
        it.quantity = 1 + next_ % 5;
        std::array<std::byte, message_bytes_of<enter_order>> bytes;
        encode(it, bytes);
        waits_ = client_->send(bytes);
        if (waits_) ++next_;
    }

    // Of decode_private_event.
    void operator()(const event_stamp& stamp, const auto& it) {
        watch.hear(stamp.time);
        if constexpr (requires { it.client_seq; }) {
            if (number(it.client_seq) + 1 == next_) waits_ = false;
        }
    }
    void operator()(const message_rejected&) { ++unreadable; }

    life_watch watch;
    std::uint64_t next_sequence = 1;
    std::uint64_t out_of_order = 0;
    std::uint64_t unreadable = 0;

private:
    void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept override {
        if (sequence != next_sequence++) ++out_of_order;
        if (decode_private_event(message, *this)) ++unreadable;
    }
    next_life life_ended(const soup_session& ended, const soup_session& next) noexcept override {
        watch.tell(ended.view(), next.view());
        next_sequence = next_ = 1;
        waits_ = false;
        return next_life::join;
    }
    gyre::task<> stay() {
        co_await client_->run();
        options_.login = client_->machine().resume();
        over_ = true;
    }

    gyre::io_context& on_;
    order_entry_client_options options_;
    std::optional<order_entry_client<gyre_traits>> client_;
    std::uint32_t next_ = 1;
    bool over_ = true;
    bool waits_ = false;  // For the answer to its last order.
};

/// A listener with a book of what it has heard.
class surviving_listener final : public feed_handler {
public:
    surviving_listener(gyre::io_context& on, const feed_listener_options& options)
        : feed{on, options, *this} {}

    // Of decode_public_event.
    void operator()(const event_stamp& stamp, const auto&) { watch.hear(stamp.time); }

    feed_listener<gyre_traits> feed;
    feed_view view;
    life_watch watch;
    std::uint64_t missing = 0;

private:
    void heard(const mold_message& message) noexcept override {
        view.hear(message.payload);
        static_cast<void>(decode_public_event(message.payload, *this));
    }
    void missed(mold_gap gap) noexcept override { missing += gap.size(); }
    void new_life(const mold_session& ended, const mold_session& begun) noexcept override {
        watch.tell(ended.view(), begun.view());
        view.begin_life();
    }
};

}  // namespace exchange::testing
