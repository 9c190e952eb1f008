// SPDX-License-Identifier: BSL-1.0
//
// TLS for transports, on gyre's engine, which knows no socket: so it serves either side of the seam.
//
// The engine (gyre/tls/engine.hpp) takes bytes and gives bytes as a secure_channel does. What is encrypted
// counts as taken: a record cannot be made again, see docs/decisions/0036-tls.md.
#pragma once

#include <exchange/net/transport/channel_security.hpp>

#include <gyre/base/error.hpp>
#include <gyre/tls/context.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace exchange {

/// Secures a door.
///
/// @param  settings  Of a server.
///
/// Cost:  A handshake is computed on the loop: a tenth of a millisecond with an elliptic key, one with RSA.
[[nodiscard]] std::shared_ptr<channel_security> serve_with_tls(gyre::tls::context settings);

/// Secures a client.
///
/// @param  settings  Of a client.
/// @param  host      Whose certificate the server is to have: a name, or an address. Empty: the address that
///                   it connects to.
[[nodiscard]] std::shared_ptr<channel_security> connect_with_tls(gyre::tls::context settings,
                                                                 std::string host = {});

/// Can a server have that name, so that `connect_with_tls` may be given it?
///
/// @param  settings  Of a client.
/// @return Ok, also of an empty one; `errc::malformed` if no host can.
[[nodiscard]] gyre::error check_server_name(const gyre::tls::context& settings,
                                            std::string_view host);

}  // namespace exchange
