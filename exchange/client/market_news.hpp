// SPDX-License-Identifier: BSL-1.0
//
// Everything that a subscriber of market data can be told, each kind by a type of its own.
//
// Books are kept by market_data_subscriber.hpp, and news say which of them is another one; trades are told
// one by one. What becomes of the session is told in the words of news.hpp.
#pragma once

#include <exchange/client/news.hpp>
#include <exchange/codec/market_subscription.hpp>

#include <cstdint>
#include <type_traits>
#include <variant>

namespace exchange {

/// A book is another one, or is current again, or is not any longer: look at it. Told once until it is
/// taken, however often the book changes meanwhile.
struct book_changed {
    instrument_id instrument;
};

/// The same of phase, sums and indication.
struct summary_changed {
    instrument_id instrument;
};

/// A trade, or that one was undone.
struct market_trade {
    instrument_id instrument;
    told_trade trade;
};

/// Trades that were too many for how fast the program reads.
struct trades_missed {
    instrument_id instrument;
    std::uint64_t count;
};

/// What was asked for is told from here on. Once for each subscription, not after each login; not for one
/// that was replaced or ended before its answer came.
struct subscription_granted {
    std::uint32_t request;
    instrument_id instrument;  ///< None: all.
};

/// It is not, and is forgotten.
struct subscription_denied {
    std::uint32_t request;
    instrument_id instrument;
    subscription_refusal why;
};

/// A book has more levels than are kept: it is given up until it is told anew. Or there is one more
/// instrument than are kept, which is told once.
struct market_untracked {
    instrument_id instrument;
};

/// Behind a login all subscriptions were said again; books become current as they come.
using market_news_kinds =
    std::variant<logged_in, connection_lost, unreachable, security_failed, life_changed,
                 unreadable_message, session_over, subscription_granted, subscription_denied,
                 book_changed, summary_changed, market_trade, trades_missed, market_untracked>;

struct market_news {
    market_news_kinds what;

    /// It, if it is of this kind; else null.
    template <class Kind>
    [[nodiscard]] const Kind* as() const noexcept {
        return std::get_if<Kind>(&what);
    }
};

static_assert(std::is_trivially_copyable_v<market_news>);

}  // namespace exchange
