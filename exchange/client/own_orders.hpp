// SPDX-License-Identifier: BSL-1.0
//
// A client's own orders that rest or wait, as the exchange has told them.
//
// The stream of a session says everything about its orders, in order, also what happened while the
// client was away; so nothing is guessed here from what was sent. Orders of sister sessions, of which a
// session hears when it changes them, are no business of this.
#pragma once

#include <exchange/core/events.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>

namespace exchange {

/// An order, or a side of a quote, that is not over.
struct working_order {
    order_id order = order_id::none;
    client_sequence client_seq = client_sequence::none;  ///< With which it was entered.
    instrument_id instrument = instrument_id::none;
    order_side side = order_side::buy;
    order_type type = order_type::limit;  ///< Of what was entered as an advanced order.
    time_in_force tif = time_in_force::day;
    price_ticks price = 0;
    price_ticks trigger_price = 0;  ///< Of a stop.
    contracts open = 0;
    contracts executed = 0;
    contracts display_quantity = 0;  ///< Of an iceberg.
    bool rests = false;  ///< In the book. Else it is on its way there, or waits for its trigger.
    bool waits = false;  ///< For its trigger.
};

/// Threads:  One at a time.
/// Cost:     An entry for each order, whose memory is used again: none is taken once there were as many.
class own_orders {
public:
    /// @param  orders_max  What comes beyond is counted, and not kept.
    explicit own_orders(std::size_t orders_max);
    own_orders(const own_orders&) = delete;
    own_orders& operator=(const own_orders&) = delete;

    /// Takes an event of the session.
    ///
    /// @return False if it is about an order for which there is no room.
    bool hear(const order_entered& it);
    bool hear(const order_terms& it);
    bool hear(const stop_entered& it);
    bool hear(const stop_triggered& it);
    bool hear(const trigger_amended& it);
    bool hear(const order_amended& it);
    bool hear(const order_cancelled& it);
    bool hear(const order_executed& it);
    /// What changes no order: refusals, captures, protection, trades that are undone.
    template <class Event>
    bool hear(const Event&) {
        return true;
    }

    /// Whose orders these are; others are passed over. Known by what is heard, or by this.
    void belong_to(session_id whose) noexcept { whose_ = whose; }
    [[nodiscard]] session_id whose() const noexcept { return whose_; }

    /// The life is over: the next one may give the user another session.
    void clear() noexcept;

    /// An order by the number with which it was entered; null if it is over, or none. Of a quote there may
    /// be one of each side. Valid until the next event.
    [[nodiscard]] const working_order* find(client_sequence it, order_side side) const noexcept;
    [[nodiscard]] const working_order* find(client_sequence it) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return orders_.size(); }
    /// How many orders had no room, since the life began.
    [[nodiscard]] std::uint64_t untracked() const noexcept { return untracked_; }

    /// Calls `visitor(const working_order&)` for each, in no order.
    template <class Visitor>
    void for_each(Visitor&& visitor) const {
        for (const auto& [key, it] : orders_) visitor(it);
    }

private:
    using key = std::uint64_t;  // The number and the side.

    [[nodiscard]] static key key_of(client_sequence it, order_side side) noexcept {
        return number(it) << 1 | number(side);
    }
    /// Is the event about an order of this session? `asked` is who has asked for it.
    [[nodiscard]] bool is_own(session_id of, session_id asked) noexcept;
    template <class Event>
    [[nodiscard]] working_order* known(const Event& it) noexcept;
    template <class Event>
    [[nodiscard]] working_order* known_or_new(const Event& it);

    std::size_t orders_max_;
    session_id whose_ = session_id::none;
    std::uint64_t untracked_ = 0;
    std::pmr::unsynchronized_pool_resource memory_;
    std::pmr::unordered_map<key, working_order> orders_;
};

}  // namespace exchange
