// SPDX-License-Identifier: BSL-1.0
//
// One trader's view of its orders, and every message that contradicts it.
//
// It is told each command before it is sent and each message that comes back. From these alone it knows
// what must rest in the book, and how long each answer took. An exchange that loses an acknowledged order,
// fills too much, or answers what was not asked contradicts it, which is noted with the message.
#pragma once

#include <exchange/codec/event_codec.hpp>

#include <lab/kit/histogram.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace exchange {

/// An order that was entered and is not over.
struct own_order {
    enter_order entered;
    order_id id = order_id::none;  ///< None before it rests.
    price_ticks price = 0;
    contracts open = 0;
    contracts executed = 0;
    order_type type = order_type::limit;  ///< As it was entered.
    contracts display = 0;                ///< How much is to be shown at once; 0: all.
    contracts shown = 0;                  ///< Of `open`, in the public book.
    bool waits = false;                   ///< For its trigger, in no book.
    bool rests = false;
    bool asked = false;  ///< An amend or a cancel of it is under way.
};

struct own_trade {
    instrument_id instrument;
    price_ticks price;
    contracts quantity;
};

/// How often each kind of message was heard.
struct heard_counts {
    std::uint64_t entered = 0;
    std::uint64_t amended = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t rejected = 0;
    std::uint64_t executed = 0;
    std::uint64_t captured = 0;
    std::uint64_t busted = 0;
    std::uint64_t held_back = 0;              ///< By a gateway: they have had no effect.
    std::array<std::uint64_t, 64> reasons{};  ///< Of rejections, by number.
};

/// Nanoseconds of a clock that only moves forward.
using steady_ns = std::uint64_t;

/// Threads:  One at a time.
/// Cost:     An entry for each order that is not over, and for each trade.
class order_view {
public:
    /// @param  whose  The session. What it is told of others of its account is no business of this.
    explicit order_view(session_id whose) : whose_{whose} {}

    /// To be called before a command is sent.
    void asks(const enter_order& it, steady_ns now);
    void asks(const enter_advanced_order& it, steady_ns now);
    void asks(const amend_order& it, steady_ns now);
    void asks(const cancel_order& it, steady_ns now);
    /// Of all that it has.
    void asks(const cancel_orders& it, steady_ns now);

    /// Takes one message of the session. What is none is a contradiction.
    void hear(std::span<const std::byte> message, steady_ns now);

    /// The connection is lost: what is not answered may have been lost with it.
    void lost_connection() noexcept;

    /// The exchange has begun another life: orders and trades of the old one are gone, and what was not
    /// answered is lost. Counts stay.
    void begin_life();

    /// Behind the answer to a message that was sent last of all: what still has no answer will have none.
    /// What was sent on a connection that was lost afterwards never arrived; anything else is a
    /// contradiction.
    void settle();

    /// Commands without an answer.
    [[nodiscard]] std::size_t unanswered() const noexcept { return asked_.size(); }
    /// Commands that were lost with a connection, known after `settle`, or with a life.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

    /// Orders that rest or wait, in no order.
    [[nodiscard]] std::size_t resting() const noexcept { return resting_.size(); }
    /// @param  index  Below `resting()`.
    [[nodiscard]] const own_order& resting(std::size_t index) const {
        return orders_.at(resting_[index]);
    }
    [[nodiscard]] const std::unordered_map<std::uint64_t, own_trade>& trades() const noexcept {
        return trades_;
    }

    [[nodiscard]] const heard_counts& heard() const noexcept { return heard_; }
    [[nodiscard]] const lab::histogram& latencies() const noexcept { return latencies_; }

    /// How many contradictions, and the first of them in words.
    [[nodiscard]] std::uint64_t contradictions() const noexcept { return contradictions_; }
    [[nodiscard]] const std::vector<std::string>& first_contradictions() const noexcept {
        return first_;
    }

    // Of decode_private_event.
    void operator()(const event_stamp&, const order_entered& it);
    void operator()(const event_stamp&, const order_amended& it);
    void operator()(const event_stamp&, const order_cancelled& it);
    void operator()(const event_stamp&, const order_rejected& it);
    void operator()(const event_stamp&, const order_executed& it);
    void operator()(const event_stamp&, const trade_capture_report& it);
    void operator()(const event_stamp&, const order_terms& it);
    void operator()(const event_stamp&, const stop_entered& it);
    void operator()(const event_stamp&, const stop_triggered& it);
    void operator()(const event_stamp&, const trigger_amended& it);
    void operator()(const event_stamp&, const protection_set&) {}     // It never asks for any,
    void operator()(const event_stamp&, const protection_struck&) {}  // and has no quotes.
    void operator()(const event_stamp&, const execution_busted& it);
    void operator()(const message_rejected& it);

private:
    /// A command that was sent and not answered.
    struct question {
        command_kind kind;
        std::uint64_t target;  // The order it is about; its own number if it enters one; 0: all.
        steady_ns asked_at;
        bool doubtful;  // Its connection was lost.
    };

    [[nodiscard]] own_order* find(client_sequence it);
    void answered(client_sequence request);
    /// Is it of an order of ours? If we asked for it, that is answered.
    template <class Event>
    bool hear_of(const Event& it);
    void begin_resting(std::uint64_t order);
    void end_resting(std::uint64_t order);
    void forget(std::uint64_t order);
    void contradict(std::string what);
    /// Notes a contradiction unless `holds`.
    void check(bool holds, const char* what, client_sequence about);

    session_id whose_;
    std::unordered_map<std::uint64_t, own_order> orders_;  // By the sequence that entered them.
    std::unordered_map<std::uint64_t, question> asked_;
    std::vector<std::uint64_t> resting_;
    std::unordered_map<std::uint64_t, std::size_t> place_;  // Of an order in `resting_`.
    std::unordered_map<std::uint64_t, own_trade> trades_;
    heard_counts heard_;
    lab::histogram latencies_;
    std::uint64_t lost_ = 0;
    std::uint64_t contradictions_ = 0;
    std::vector<std::string> first_;
    steady_ns now_ = 0;
};

}  // namespace exchange
