// SPDX-License-Identifier: BSL-1.0
//
// Logins that are refused, as lines of a log: whose they were, and why. Never a password.
#pragma once

#include <exchange/management/event_log.hpp>
#include <exchange/management/log_limit.hpp>
#include <exchange/net/application/login_refusal.hpp>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     a line for each of ten logins a second at most; of the rest some arithmetic.
class login_log {
public:
    /// @param  log  Borrowed; outlives this.
    explicit login_log(event_log& log) noexcept : log_{log} {}

    /// Tells it, unless ten were told within this second; the next line says how many were not.
    void refused(const refused_login& it) noexcept {
        if (!log_.tells(log_level::warning)) return;
        const auto untold = limit_.admit(log_limit::clock::now());
        if (!untold) return;
        log_.warning("login_refused", {{"user", it.user},
                                       {"session", number(it.session)},
                                       {"why", describe(it.why)},
                                       {"address", it.peer.to_string()},
                                       {"life", it.life},
                                       {"sequence", it.sequence},
                                       {"untold", *untold}});
    }

private:
    event_log& log_;
    log_limit limit_{10};
};

}  // namespace exchange
