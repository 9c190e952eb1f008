// SPDX-License-Identifier: BSL-1.0
//
// An order entry gateway as the facility knows it: how it is recognised, and for whom it may speak.
//
// A gateway checks its clients' passwords itself, so what it may do is said here, and not by it.
// session/gateway_session.hpp asks.
#pragma once

#include <exchange/codec/soup_packet.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

struct known_gateway {
    soup_username name{};
    std::string secret{};  ///< What its password is compared with: see password_check.hpp.
    std::vector<soup_username>
        users{};  ///< Whose clients it may let in; none: those of all participants.

    [[nodiscard]] bool may_speak_for(std::string_view user) const noexcept {
        return users.empty() || std::ranges::any_of(users, [user](const soup_username& it) {
                   return it.view() == user;
               });
    }
};

}  // namespace exchange
