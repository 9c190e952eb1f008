// SPDX-License-Identifier: BSL-1.0
//
// A client that sends whatever comes to its mind, and remembers what it is told.
//
// Its connection is the library's (session/order_entry_client.hpp), its memory is blotter.hpp, and what
// it does is drawn from a seed. When it is to finish, it asks something last whose answer tells that
// everything before was heard.
#pragma once

#include <exchange/net/session/order_entry_client.hpp>
#include <exchange/tests/codec/dice.hpp>
#include <exchange/tests/links/blotter.hpp>
#include <exchange/tests/links/crowded_market.hpp>

#include <vector>

namespace exchange::testing {

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
template <executor_traits X>
class wild_trader final : public order_entry_handler {
public:
    using task = typename X::template task<void>;

    wild_trader(typename X::context& context, std::uint16_t member,
                order_entry_client_options options, std::uint64_t seed)
        : context_{context},
          client_{context, options, *this},
          blotter_{session_id{member}},
          dice_{seed},
          timer_{context},
          account_{member} {}

    /// Begins to trade.
    void begin() {
        X::launch(context_, stay_connected());
        X::launch(context_, trade());
    }

    /// Trades no more, and makes sure that all is heard: then it `is_settled`.
    void finish() noexcept { finishing_ = true; }
    [[nodiscard]] bool is_settled() const noexcept { return settled_; }

    /// Ends its connection; it makes the next one. False if it has none.
    bool hang_up() noexcept {
        if (!client_.machine().logged_in()) return false;
        client_.hang_up();
        return true;
    }

    /// For a test that has given up.
    void stop() noexcept {
        finishing_ = settled_ = true;
        client_.stop();
    }

    /// Has it ever been logged in?
    [[nodiscard]] bool has_been_in() const noexcept { return logins_ > 0; }

    /// Has the exchange ended the session?
    [[nodiscard]] bool is_gone() const noexcept { return gone_; }

    [[nodiscard]] const soup_client& machine() const noexcept { return client_.machine(); }
    [[nodiscard]] const exchange::testing::blotter& blotter() const noexcept { return blotter_; }
    [[nodiscard]] std::uint64_t new_lives() const noexcept { return new_lives_; }
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }

private:
    void logged_in() noexcept override { ++logins_; }
    void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept override {
        if (sequence != 0 && sequence != next_sequence_++)
            blotter_.complain("a message is missing, or here twice");
        if (decode_private_event(message, blotter_)) blotter_.complain("a message cannot be read");
    }
    void disconnected(soup_ending) noexcept override { blotter_.connection_lost(); }
    next_life life_ended(const soup_session&, const soup_session&) noexcept override {
        blotter_.begin_life();
        next_sequence_ = 1;
        last_ = client_sequence::none;
        ++new_lives_;
        return next_life::join;
    }

    task stay_connected() {
        co_await client_.run();
        gone_ = true;
    }

    task trade() {
        while (!finishing_) {
            co_await pause(std::chrono::milliseconds{1 + dice_.below(400)});
            if (finishing_) break;
            if (!client_.machine().logged_in()) continue;

            for (std::size_t commands = 1 + dice_.below(6); commands > 0; --commands) act();
        }
        // What can never be entered: refused, and that is in the sequence.
        client_sequence last = client_sequence::none;
        std::uint64_t asked_at = 0;
        while (!settled_) {
            if (client_.machine().logged_in() && asked_at != logins_) {
                last = next();
                if (send(cancel_order{{}, last, {order_id::none, last}})) asked_at = logins_;
            }
            co_await pause(std::chrono::milliseconds{10});
            settled_ = settled_ || (asked_at != 0 && blotter_.is_answered(last));
        }
    }

    task pause(gyre::duration time) {
        static_cast<void>(co_await timer_.wait_until(X::now(context_) + time));
    }

    void act() {
        const std::size_t what = dice_.below(100);
        if (what < 40) enter();
        else if (what < 45) enter_advanced();
        else if (what < 60) amend();
        else if (what < 88) cancel();
        else if (what < 98) quote();
        else send(cancel_orders{{}, next(), account_id{account_}, some_market(), some_sides()});
    }

    void enter() {
        enter_order it{};
        it.client_seq = next();
        it.instrument = some_market();
        it.side = dice_.chance(2) ? order_side::buy : order_side::sell;
        it.type = dice_.chance(20) ? order_type::market : order_type::limit;
        it.tif = dice_.chance(5)    ? time_in_force::immediate_or_cancel
                 : dice_.chance(20) ? time_in_force::fill_or_kill
                                    : time_in_force::good_till_cancel;
        const bool post_only = it.type == order_type::limit &&
                               it.tif == time_in_force::good_till_cancel && dice_.chance(10);
        it.instruction = post_only ? execution_instruction::post_only : execution_instruction::none;
        it.price = some_price(it.side);
        it.quantity = some_quantity();
        send(it);
    }

    /// An iceberg, or a stop whose trigger trades may reach.
    void enter_advanced() {
        enter_advanced_order it{};
        it.client_seq = next();
        it.instrument = some_market();
        it.side = dice_.chance(2) ? order_side::buy : order_side::sell;
        it.type = dice_.chance(2) ? order_type::stop_limit : order_type::limit;
        it.tif = time_in_force::good_till_cancel;
        it.price = some_price(it.side);
        it.quantity = 2 + some_quantity();
        if (it.type == order_type::limit) {
            it.display_quantity = 1 + it.quantity / 4;
        } else {
            const auto away = static_cast<price_ticks>(dice_.below(8));
            it.trigger_price = it.side == order_side::buy ? 1000 + away : 1000 - away;
        }
        send(it);
    }

    void amend() {
        amend_order it{};
        it.client_seq = next();
        it.target = some_order();
        it.price = some_price(dice_.chance(2) ? order_side::buy : order_side::sell);
        it.quantity = some_quantity();
        send(it);
    }

    void cancel() { send(cancel_order{{}, next(), some_order()}); }

    void quote() {
        enter_quote it{};
        it.client_seq = next();
        it.instrument = some_market();
        it.bid_price = some_price(order_side::buy);
        it.ask_price = it.bid_price + 1 + static_cast<price_ticks>(dice_.below(8));
        it.bid_quantity = dice_.chance(8) ? 0 : some_quantity();
        it.ask_quantity = dice_.chance(8) ? 0 : some_quantity();
        send(it);
    }

    /// One that rests, or one of which nothing was heard yet, or none of ours at all.
    order_reference some_order() {
        const auto& open = blotter_.open();
        if (open.empty() || dice_.chance(4)) {
            const std::uint64_t back = 1 + dice_.below(8);
            const std::uint64_t last = number(last_);
            return {order_id::none, client_sequence{last > back ? last - back : 1}};
        }
        const auto it =
            std::next(open.begin(), static_cast<std::ptrdiff_t>(dice_.below(open.size())));
        if (dice_.chance(2)) return {it->first, client_sequence::none};
        return {order_id::none, it->second.client_seq};
    }
    instrument_id some_market() {
        return instrument_id{1 + static_cast<std::uint32_t>(dice_.below(crowd_markets))};
    }
    side_filter some_sides() { return static_cast<side_filter>(dice_.below(3)); }
    contracts some_quantity() { return 1 + static_cast<contracts>(dice_.below(20)); }
    /// Bids and asks overlap a little, so that some of them trade.
    price_ticks some_price(order_side side) {
        const auto away = static_cast<price_ticks>(dice_.below(24)) - 6;
        return 1000 + (side == order_side::sell ? away : -away);
    }

    client_sequence next() noexcept {
        last_ = client_sequence{number(last_) + 1};
        return last_;
    }

    template <command_record Command>
    bool send(const Command& what) {
        std::array<std::byte, message_bytes_of<Command>> bytes;
        encode(what, bytes);
        if (!client_.send(bytes)) return false;
        blotter_.sent(what.client_seq);
        return true;
    }

    typename X::context& context_;
    order_entry_client<X> client_;
    exchange::testing::blotter blotter_;
    dice dice_;
    typename X::timer timer_;
    std::uint16_t account_;
    client_sequence last_ = client_sequence::none;
    std::uint64_t next_sequence_ = 1;
    std::uint64_t logins_ = 0;
    std::uint64_t new_lives_ = 0;

    bool finishing_ = false;
    bool settled_ = false;
    bool gone_ = false;
};

}  // namespace exchange::testing
