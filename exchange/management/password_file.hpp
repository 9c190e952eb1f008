// SPDX-License-Identifier: BSL-1.0
//
// The names and passwords that a client logs in with: a file of its own, which is no business of the
// exchange's.
//
//   {"users": [{"username": "alice", "password": "secret", "session": 1},
//              {"username": "ops", "password": "operator"}]}
//
// A participant has its session, which tells what it may do; who has none is an operator. A password that is
// not in the file is the environment's, EXCHANGE_PASSWORD.
#pragma once

#include <exchange/codec/soup_packet.hpp>
#include <exchange/core/types.hpp>
#include <exchange/management/config.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

struct client_user {
    soup_username username;
    soup_password password;
    session_id session = session_id::none;  ///< None: an operator.
};

/// Users, or everything that is wrong with a file of them.
struct passwords_reading {
    std::vector<client_user> users;  ///< Meaningful if there are no errors.
    std::vector<config_error> errors;
    bool open_to_others = false;  ///< Others than its owner may read the file, or write it.
};

/// Reads the text of such a file.
///
/// @param  otherwise  The password of who has none in it, if there is one.
[[nodiscard]] passwords_reading read_passwords(std::string_view text,
                                               const std::optional<std::string>& otherwise = {});

/// Reads a file, and the environment.
[[nodiscard]] passwords_reading load_passwords(const std::string& path);

/// What the environment says, if it does.
[[nodiscard]] std::optional<std::string> environment_password();

/// A password as the protocol carries it; nothing if it cannot.
[[nodiscard]] std::optional<soup_password> to_soup_password(std::string_view text) noexcept;

}  // namespace exchange
