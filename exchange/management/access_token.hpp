// SPDX-License-Identifier: BSL-1.0
//
// A secret that a machine makes up, for programs: as hard to guess as SoupBinTCP's password field allows.
//
// Who logs in with it does so as with a password. A user may have several, so that one can be taken back;
// what is kept of each is a hash (password_hash.hpp), and it is shown once.
#pragma once

#include <string>

namespace exchange {

struct access_token {
    std::string secret;  ///< Ten characters of 64: 60 bits.
    std::string hash;    ///< What the gateway's file of credentials has.
};

/// Makes one, of the system's chance. Empty if there is none to be had.
[[nodiscard]] access_token make_access_token();

}  // namespace exchange
