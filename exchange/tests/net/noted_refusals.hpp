// SPDX-License-Identifier: BSL-1.0
//
// Logins that were refused, in memory, for tests: whose they were and why.
#pragma once

#include <exchange/net/application/order_entry_host.hpp>

#include <string>
#include <vector>

namespace exchange::testing {

struct noted_refusals final : host_watcher {
    void login_refused(const refused_login& it) noexcept override {
        told.push_back(std::string{it.user} + ' ' + std::string{describe(it.why)});
        last_session = it.session;
        last_life = it.life;
        last_sequence = it.sequence;
    }
    void client_shed(std::string_view, const gyre::endpoint&) noexcept override {}

    std::vector<std::string> told;
    session_id last_session = session_id::none;
    std::string last_life;
    std::uint64_t last_sequence = 0;
};

}  // namespace exchange::testing
