// SPDX-License-Identifier: BSL-1.0
//
// Why a login is refused, for those who operate: the client itself is told less.
#pragma once

#include <exchange/codec/soup_packet.hpp>
#include <exchange/core/types.hpp>

#include <gyre/io/endpoint.hpp>

#include <cstdint>
#include <string_view>

namespace exchange {

enum class login_refusal : std::uint8_t {
    none,  ///< It is not refused.
    unknown_user,
    wrong_password,
    unknown_gateway,
    wrong_link_password,  ///< Of a gateway.
    not_for_gateway,      ///< A gateway asks for a user whom it may not let in.
    other_life,           ///< It asks for the stream of a session that is over, or never was.
    not_kept,             ///< It asks for messages that its stream has forgotten.
    not_there_yet,        ///< It asks for messages that its stream has not got yet.
    no_place,             ///< As many operators are connected as there may be.
};

/// One word for a log; static storage.
[[nodiscard]] constexpr std::string_view describe(login_refusal why) noexcept {
    switch (why) {
        case login_refusal::none: return "none";
        case login_refusal::unknown_user: return "unknown_user";
        case login_refusal::wrong_password: return "wrong_password";
        case login_refusal::unknown_gateway: return "unknown_gateway";
        case login_refusal::wrong_link_password: return "wrong_link_password";
        case login_refusal::not_for_gateway: return "not_for_gateway";
        case login_refusal::other_life: return "other_life";
        case login_refusal::not_kept: return "not_kept";
        case login_refusal::not_there_yet: return "not_there_yet";
        case login_refusal::no_place: return "no_place";
    }
    return "unknown";
}

/// A login that is refused, without its password.
struct refused_login {
    std::string_view user;  ///< As the client has said it, known or not; or a gateway.
    login_refusal why = login_refusal::none;
    gyre::endpoint peer{};                  ///< Nowhere if that is not known.
    session_id session = session_id::none;  ///< Of the participant, if it is one.
    std::string_view life{};                ///< Whose stream it asks for; empty: the current one's.
    std::uint64_t sequence = 0;             ///< From which message on; 0: the next one.
};

/// Is told of logins that are refused. Within functions of a host, which it must not call.
class login_watcher {
public:
    /// Strangers decide how often.
    ///
    /// @param  what  Its text is borrowed during the call.
    virtual void login_refused(const refused_login& what) noexcept = 0;

protected:
    ~login_watcher() = default;
};

}  // namespace exchange
