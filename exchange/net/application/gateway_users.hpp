// SPDX-License-Identifier: BSL-1.0
//
// Who may log in at a gateway, by which secrets, and how fast each may send.
//
// A user has a password or tokens or both: a token is a secret that a program makes, so that one of several
// can be taken back. What is kept of each is a salted hash. Rates are token buckets, of the session and of
// the account that sessions share; what they hold back never reaches the exchange. Cancels have rates of
// their own, so that whoever has sent too much can take it back.
#pragma once

#include <exchange/codec/soup_packet.hpp>
#include <exchange/core/accounts.hpp>
#include <exchange/core/types.hpp>
#include <exchange/net/application/login_throttle.hpp>
#include <exchange/net/application/password_check.hpp>

#include <gyre/base/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

/// At which rate a message counts.
enum class message_class : std::uint8_t {
    entry,   ///< Whatever adds something, asks something, or is no message.
    cancel,  ///< What only takes away.
};

/// Token buckets' sizes, for either class.
struct gateway_rates {
    message_rate entries{};
    message_rate cancels{};

    [[nodiscard]] const message_rate& of(message_class it) const noexcept {
        return it == message_class::cancel ? cancels : entries;
    }
};

struct gateway_user {
    soup_username username{};
    std::vector<std::string> secrets{};     ///< Any of them lets in: see password_check.hpp.
    account_id account = account_id::none;  ///< Whose rate it shares; none: only its own.
    gateway_rates rates{};                  ///< Of its session.
};

struct gateway_account {
    account_id account = account_id::none;
    gateway_rates rates{};  ///< Of all its sessions at this gateway together.
};

struct gateway_users_options {
    std::vector<gateway_user> users{};        ///< Names differ.
    std::vector<gateway_account> accounts{};  ///< Those that have a rate. Numbers differ.
    password_check passwords = is_plain_password;
    std::string
        dummy_secret{};  ///< What stands in where a user has fewer secrets than another, or none.
};

/// Threads:  One at a time.
/// Cost:     Users are searched one after the other; a login costs as many hashes as any user has secrets.
class gateway_users {
public:
    /// A user, and what it has sent.
    struct known {
        gateway_user who;
        std::array<timestamp_ns, 2> occupied_until{};  ///< See `let_through` of core/accounts.hpp.
        std::size_t account;  ///< Its place; beyond the last: none has a rate.
    };

    explicit gateway_users(const gateway_users_options& options);

    /// The user with this name and one of its secrets, or null. It takes as long for any name and secret.
    [[nodiscard]] known* find(std::string_view name, std::string_view secret) noexcept;

    /// Is there a user of this name, whatever the secret?
    [[nodiscard]] bool knows(std::string_view name) const noexcept;

    /// How many `find` compares, which is what a login costs.
    [[nodiscard]] std::size_t hashes_of_a_login() const noexcept { return secrets_max_; }

    /// Is there room for a message of this user at its rate and at its account's? Counts it if so.
    [[nodiscard]] bool let_through(known& whose, message_class what, gyre::time_point now) noexcept;

private:
    struct shared_rate {
        gateway_account of;
        std::array<timestamp_ns, 2> occupied_until{};
    };

    std::vector<known> users_;  // They stay where they are.
    std::vector<shared_rate> accounts_;
    password_check passwords_;
    std::string dummy_secret_;
    std::size_t secrets_max_ = 1;  // Of any user.
};

/// The same bound for users with more secrets than one.
[[nodiscard]] inline login_throttle_options bound_for(login_throttle_options logins,
                                                      const gateway_users& whose) noexcept {
    logins.hashes_of_a_login = whose.hashes_of_a_login();
    return logins;
}

}  // namespace exchange
