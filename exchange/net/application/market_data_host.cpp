// SPDX-License-Identifier: BSL-1.0
#include <exchange/net/application/market_data_host.hpp>

#include <exchange/net/session/market_data_client.hpp>

#include <gyre/base/check.hpp>

namespace exchange {

market_data_host::market_data_host(const market_data_host_options& options,
                                   const market_books& books, gyre::time_point now)
    : options_{options},
      books_{books},
      users_{options.users},
      logins_{bound_for(options.logins, users_), now} {
    gyre::expects(options.unsent_bytes_max >= market_message_bytes_max + soup_header_bytes,
                  "a subscriber has room for one message");
}

void market_data_host::begin_life(const soup_session& name, gyre::time_point now) noexcept {
    life_ = name;
    clients_.for_each_shrinking([now](market_data_client& it) { it.begin_life(now); });
}

void market_data_host::send_away(gyre::time_point now) noexcept {
    clients_.for_each_shrinking([now](market_data_client& it) { it.send_away(now); });
}

void market_data_host::changed() noexcept {
    clients_.for_each_shrinking([](market_data_client& it) { it.note_change(); });
}

void market_data_host::on_timer(gyre::time_point now) noexcept { logins_.on_timer(now); }

void market_data_host::enlist(market_data_client& it) noexcept { clients_.push_back(it); }

}  // namespace exchange
