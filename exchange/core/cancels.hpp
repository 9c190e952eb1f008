// SPDX-License-Identifier: BSL-1.0
//
// Many orders that one command cancels: which, why, and how far it has come.
//
// A client's mass cancel, the kill switch, the end of a session, a day or a market are the same walk, over
// the orders of an account or of a market, book and stops. It stops when a step's work is done and goes on
// from here.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/publisher.hpp>
#include <exchange/core/slab.hpp>

#include <cstdint>

namespace exchange {

struct mass_cancel {
    /// In which a market is walked.
    enum class part : std::uint8_t { bids, asks, stops_to_buy, stops_to_sell };

    struct position {
        order_index next;    ///< To be looked at; none: nothing is left, of a market at this price.
        level_index behind;  ///< Of a market: the next price of this part.
        part where;          ///< Of a market.
        bool found;          ///< Was anything cancelled?
    };

    account_id
        account;  ///< Whose list is walked; none: all of `market`, what trades first in front.
    std::uint16_t market;  ///< 0: those of all.
    session_id session;    ///< None: those of all.
    side_filter sides;
    bool only_day_orders;
    cancel_reason reason;
    request_name request;
    position progress;
};

}  // namespace exchange
