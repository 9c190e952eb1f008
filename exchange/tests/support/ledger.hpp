// SPDX-License-Identifier: BSL-1.0
//
// What clients are owed: no contract appears or vanishes, and no client trades beyond its limit.
//
// It follows each order through the messages of its session alone. What was asked for, less what was
// executed, cancelled and decremented, is what is open, after every message.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/events.hpp>

#include <map>
#include <string>

namespace exchange::testing {

class ledger {
public:
    /// The command whose messages come next.
    void begin(const command& it) { command_ = &it; }

    /// Says what is impossible about a message, or nothing.
    std::string hear(const event& it);

private:
    struct entry {
        price_ticks limit;
        contracts open;
        contracts executed;
        order_side side;
    };

    std::string hear(const order_entered& it);
    std::string hear(const order_amended& it);
    std::string hear(const order_cancelled& it);
    std::string hear(const order_executed& it);
    std::string hear(const trade& it);
    template <class Message>
    std::string hear(const Message&) {
        return {};
    }
    template <class Message>
    entry& entry_of(const Message& it);
    void close_if_done(order_id id);

    const command* command_ = nullptr;
    std::map<order_id, entry> open_;
    order_executed maker_{};
};

}  // namespace exchange::testing
