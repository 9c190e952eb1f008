// SPDX-License-Identifier: BSL-1.0
//
// Passwords as they are kept: salted hashes, as crypt(5) writes them.
//
// Whoever reads the file of credentials learns no password from it, and two users with one password have
// two hashes. The C library's crypt does the work. A login is checked on the facility's own thread, so the
// method has to be cheap: `$5$rounds=1000$` costs a quarter of a millisecond, and what keeps guesses few is
// net/application/login_throttle.hpp.
#pragma once

#include <string>
#include <string_view>

namespace exchange {

/// What a text in a file of credentials is.
enum class hash_fault : unsigned char {
    none,
    unknown_method,  ///< No hash that crypt knows: a password in plain text, for example.
    incomplete,      ///< A method and a salt, and no hash behind them.
    costly,          ///< A login would hold the facility for more than a few milliseconds.
};

/// What is wrong with a hash, if anything.
///
/// Cost:  Of a hash that is not costly, that of a login.
[[nodiscard]] hash_fault find_fault(const std::string& hash);

/// Whether a password is the one that `hash` was made of. A password_check.
///
/// Cost:  That of the hash; what is no hash is compared as slowly as the dummy.
[[nodiscard]] bool is_hashed_password(std::string_view password, const std::string& hash) noexcept;

/// A hash that no password has: what an unknown user's is compared with.
[[nodiscard]] const std::string& dummy_hash();

/// Hashes a password with a salt of the system's, by the default method. Empty if there is no chance to be
/// had.
[[nodiscard]] std::string hash_password(std::string_view password);

}  // namespace exchange
