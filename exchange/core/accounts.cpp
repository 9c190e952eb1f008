// SPDX-License-Identifier: BSL-1.0
//
// See the header: how a holding is found.
#include <exchange/core/accounts.hpp>

#include <bit>

namespace exchange {

holding_table::holding_table(std::uint32_t capacity)
    : holdings_(std::size_t{capacity} + 1),
      heads_(std::bit_ceil(2 * std::uint64_t{capacity} + 1)) {}

holding_index holding_table::find_or_make(account_id account, std::uint16_t market) noexcept {
    holding_index& head = heads_[place(account, market)];
    for (holding_index at = head; at != 0; at = holdings_[at].chain_next) {
        if (holdings_[at].account == account && holdings_[at].market == market) return at;
    }
    if (fresh_ == holdings_.size()) return 0;
    holding& made = holdings_[fresh_];
    made.account = account;
    made.market = market;
    made.chain_next = head;
    head = fresh_;
    return fresh_++;
}

}  // namespace exchange
