// SPDX-License-Identifier: BSL-1.0
//
// Which format the clients of a test speak over WebSocket. A value and no parameter of templates, so that
// laws are compiled once for both.
#pragma once

#include <exchange/net/transport/transport_options.hpp>

namespace exchange::testing {

inline session_format spoken_format = session_format::sbe;

/// Clients speak JSON as long as this is there.
class speaking_json {
public:
    speaking_json() noexcept { spoken_format = session_format::json; }
    speaking_json(const speaking_json&) = delete;
    speaking_json& operator=(const speaking_json&) = delete;
    ~speaking_json() { spoken_format = session_format::sbe; }
};

}  // namespace exchange::testing
