// SPDX-License-Identifier: BSL-1.0
//
// What a life of the exchange is called: from when a facility starts to when it ends, whichever way.
//
// A facility that starts anew numbers orders, trades and messages from 1 again. Were its streams called as
// before, a client that resumes would be given the middle of other messages than those it has heard, and
// a listener would take the first new messages for old ones. So each life has a name, of order entry and of
// the feed alike, and names sort in the order of lives.
#pragma once

#include <exchange/codec/padded_text.hpp>
#include <exchange/core/types.hpp>

namespace exchange {

/// The name of a life that began at a moment of the machine's clock: the day in UTC (YYMMDD), and behind it
/// the time of that day in four digits to the base of 36, which are 51.4 ms each. Ten characters, all that
/// SoupBinTCP and MoldUDP64 have for a session.
///
/// Two moments of one century that are 52 ms apart have different names, and the later one's is greater. A
/// life that neither accepts nor sends before its name is over (`life_name(wall_time())` is another) has a
/// name of its own, if lives follow each other. Names do not sort if the machine's clock is set back between
/// two lives by more than lies between them.
///
/// @param  begun  Nanoseconds since 1970.
[[nodiscard]] padded_text<10> life_name(timestamp_ns begun) noexcept;

}  // namespace exchange
