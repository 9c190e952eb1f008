// SPDX-License-Identifier: BSL-1.0
//
// The storm, continued: what the operator does, in between.
#include <exchange/tests/support/storm.hpp>

#include <limits>

namespace exchange::testing {

command storm::operator_command() {
    const account_id account = chance(700) ? account_id{1 + below(accounts())} : whose();
    const bool wrong = chance(100);
    switch (below(28)) {
        case 0: return end_day{any_market()};
        case 1: return end_session{wrong ? session_id{511} : any_session()};
        case 2: {
            const auto state =
                wrong ? any_of({account_state::retired, account_state{9}}) : account_state::blocked;
            return set_account_state{account, state};
        }
        case 3:
            return set_settlement_price{any_market(),
                                        chance(200) ? price_ticks_max + 1 : 950 + below(100)};
        case 4:
            return set_phase{any_market(), market_phase{any_of<std::uint8_t>({1, 2, 3, 3, 4, 9})}};
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
        case 10: return any_definition();
        case 11:
        case 12: return any_retirement();
        case 13: return expire_instruments{};
        case 14:
        case 15:
        case 16:
        case 17: return any_position();
        default: break;
    }
    // What was stopped goes on before long.
    if (below(2) == 0) return set_account_state{account, account_state::active};
    return set_phase{any_market(), market_phase::continuous};
}

instrument_id storm::any_market() {
    if (chance(40)) return any_of({instrument_id{0}, instrument_id{9}, instrument_id{~0u}});
    return chance(400) ? instrument_id{4 + below(5)} : any_instrument();
}

// A lasting account, a passing one, or none that there is.
account_id storm::whose() {
    if (chance(150)) return account_id{chance(500) ? below(300) : 257 + below(9)};
    return account_id{chance(600) ? 1 + below(accounts())
                                  : accounts() + 1u + below(passing_accounts)};
}

// What passes, at any time; of what lasts the latter half, late.
retire storm::any_retirement() {
    const bool lasting = is_late() && chance(250);
    const std::uint32_t wrong = any_of({0u, 600u, 0x1'0001u, ~0u});
    retire it{definition_kind{static_cast<std::uint8_t>(1 + below(4))}, wrong};
    if (chance(60)) it.what = definition_kind{static_cast<std::uint8_t>(5 * below(2))};
    if (chance(150)) return it;
    switch (it.what) {
        case definition_kind::product: it.number = lasting ? 1 + below(2) : 3 + below(2); break;
        case definition_kind::instrument: it.number = lasting ? 2 + below(2) : 4 + below(6); break;
        case definition_kind::account:
            it.number = lasting ? accounts() / 2u + 1 + below(accounts() / 2u)
                                : accounts() + 1u + below(passing_accounts);
            break;
        case definition_kind::session:
            it.number = lasting ? accounts() + 1u + below(accounts())
                                : 2u * accounts() + 1 + below(2 * passing_accounts);
            break;
    }
    return it;
}

// Auctions begin, end before long, or are left to the timer.
command storm::any_phase_command() {
    const instrument_id in = chance(900) ? any_instrument() : any_market();
    switch (below(12)) {
        case 0:
        case 1: return set_phase{in, market_phase{any_of<std::uint8_t>({5, 6, 7, 7, 8})}};
        case 2:
        case 3:
        case 4: return uncross{in};
        case 5:
        case 6: return advance_phases{};
        case 8: {
            // Mostly at once, and mostly what lets a market go on.
            const auto now = static_cast<std::uint32_t>(now_ / 1'000'000'000 % seconds_of_day);
            return schedule_phase{
                in, market_phase{any_of<std::uint8_t>({1, 2, 2, 2, 3, 4, 5, 6, 7, 8})},
                chance(150) ? seconds_of_day + below(3) : (now + below(5)) % seconds_of_day};
        }
        case 7:
            return set_interruption{
                in, any_of<price_ticks>({0, 3, 12, 40, -1, price_ticks_max, price_ticks_max + 1}),
                any_of<timestamp_ns>({0, 1, 100'000'000, ~timestamp_ns{0}})};
        default: return set_phase{in, market_phase::continuous};
    }
}

// Mostly one of the latest trades, which may be known.
bust_trade storm::any_bust(const model& at) {
    const auto& trades = at.trades();
    bust_trade it{any_market(), trade_id{below(9)}};
    if (trades.empty() || chance(30)) return it;
    const auto last = static_cast<std::uint32_t>(number(trades.rbegin()->first));
    const std::uint32_t back = below(chance(700) ? 10 : 400);
    it.trade = trade_id{last - (back < last ? back : 0)};
    if (chance(200)) it.trade = last_bust_;
    last_bust_ = it.trade;
    const auto found = trades.find(it.trade);
    if (chance(900) && found != trades.end()) it.instrument = found->second.instrument;
    return it;
}

set_position storm::any_position() {
    // Where holdings are few, for the market that nobody has traded in yet.
    set_position it{whose(), instrument_id{cramped() ? 4 : 4 + below(3)}, 0};
    if (chance(400)) it.instrument = any_market();
    it.position = std::int64_t{below(400)} - 200;
    if (chance(150)) {
        it.position = any_of({position_limit, -position_limit, position_limit + 1,
                              -position_limit - 1, std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max()});
    }
    return it;
}

}  // namespace exchange::testing
