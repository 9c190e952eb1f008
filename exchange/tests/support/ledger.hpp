// SPDX-License-Identifier: BSL-1.0
//
// What clients are owed: no contract appears or vanishes, and no client trades beyond its limit.
//
// It follows each order through the messages of its session alone. What was asked for, less what was
// executed, cancelled and decremented, is what is open, after every message. Positions it adds up from the
// fills, and from what accounts bring along.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/events.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace exchange::testing {

class ledger {
public:
    /// The command whose messages come next.
    void begin(const command& it) { command_ = &it; }

    /// Says what is impossible about a message, or nothing.
    std::string hear(const event& it);

    /// Bought less sold, what was brought along included.
    [[nodiscard]] std::int64_t position_of(account_id whose, instrument_id in) const;

    /// What all accounts together brought into a market: that much their positions add up to.
    [[nodiscard]] std::int64_t brought_into(instrument_id in) const;

private:
    struct entry {
        price_ticks limit;
        contracts open;
        contracts executed;
        order_side side;
        contracts least;  ///< Its minimum.
        order_type type = order_type::limit;
    };

    std::string hear(const order_entered& it);
    std::string hear(const order_amended& it);
    std::string hear(const order_terms& it);
    std::string hear(const stop_entered& it);
    std::string hear(const stop_triggered& it);
    std::string hear(const order_cancelled& it);
    std::string hear(const order_executed& it);
    std::string hear(const execution_busted& it);
    std::string hear(const trade& it);
    std::string hear(const admin_accepted& it);
    template <class Message>
    std::string hear(const Message&) {
        return {};
    }
    template <class Message>
    entry& entry_of(const Message& it);
    void close_if_done(order_id id);

    const command* command_ = nullptr;
    std::map<order_id, entry> open_;
    std::map<std::pair<account_id, instrument_id>, std::int64_t> positions_;
    std::map<instrument_id, std::int64_t> brought_;
    order_executed maker_{};
};

}  // namespace exchange::testing
