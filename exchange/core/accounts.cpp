// SPDX-License-Identifier: BSL-1.0
//
// See the header: how a holding is made.
#include <exchange/core/accounts.hpp>

namespace exchange {

holding_index holding_table::make(account_id account, std::uint16_t market) noexcept {
    expects(has(1));
    holding_index& head = heads_[place(account, market)];
    holding& made = holdings_[fresh_];
    made.account = account;
    made.market = market;
    made.chain_next = head;
    head = fresh_;
    return fresh_++;
}

}  // namespace exchange
