// SPDX-License-Identifier: BSL-1.0
//
// Many orders that one command cancels: which, why, and how far it has come.
//
// A client's mass cancel, the kill switch, the end of a session, a day or a market are the same walk, over
// the orders of an account or over the book of a market. It stops when a step's work is done and goes on
// from here.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/publisher.hpp>
#include <exchange/core/slab.hpp>

#include <cstdint>

namespace exchange {

struct mass_cancel {
    struct position {
        order_index next;    ///< To be looked at; none: nothing is left, of a book at this price.
        level_index behind;  ///< Of a book: the next price of this side.
        order_side side;     ///< Of a book: bids come first.
        bool found;          ///< Was anything cancelled?
    };

    account_id account;    ///< Whose list is walked; none: the book of `market`, best prices first.
    std::uint16_t market;  ///< 0: those of all.
    session_id session;    ///< None: those of all.
    side_filter sides;
    bool only_day_orders;
    cancel_reason reason;
    request_name request;
    position progress;
};

}  // namespace exchange
