// SPDX-License-Identifier: BSL-1.0
//
// Quotes for many instruments in one message of a client.
//
// It is no command of the core: its entries are. The host gives them one after the other, with nothing in
// between, each as an `enter_quote` with a number of its own: the first has the message's, each further
// one the next. So each is asked, counted and answered by the rules of `enter_quote`, whatever becomes of
// the others, and a journal knows nothing else. The session's next message counts on from behind the last
// entry.
#pragma once

#include <exchange/core/commands.hpp>

#include <array>
#include <cstdint>

namespace exchange {

/// What `enter_quote` has beside the sender: a quantity of zero quotes nothing on that side.
struct quote_entry {
    instrument_id instrument;
    price_ticks bid_price;
    price_ticks ask_price;
    contracts bid_quantity;
    contracts ask_quantity;

    bool operator==(const quote_entry&) const = default;
};

inline constexpr std::uint16_t mass_quote_entries_max = 64;

struct enter_quotes {
    client_sequence client_seq;                               ///< Of the first entry.
    self_trade_action self_trade;                             ///< Of all.
    std::uint16_t count;                                      ///< Above zero.
    std::array<quote_entry, mass_quote_entries_max> entries;  ///< `count` of them.

    /// An entry as the command that it is.
    [[nodiscard]] constexpr enter_quote at(std::uint16_t which, session_id from) const noexcept {
        const quote_entry& it = entries[which];
        return {.session = from,
                .client_seq = client_sequence{number(client_seq) + which},
                .instrument = it.instrument,
                .self_trade = self_trade,
                .bid_price = it.bid_price,
                .ask_price = it.ask_price,
                .bid_quantity = it.bid_quantity,
                .ask_quantity = it.ask_quantity};
    }
};

}  // namespace exchange
