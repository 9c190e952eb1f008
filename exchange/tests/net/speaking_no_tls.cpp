// SPDX-License-Identifier: BSL-1.0
//
// What stands for speaking_tls.cpp in a build without TLS.
#include <exchange/tests/net/spoken_security.hpp>

namespace exchange::testing {

speaking_tls::speaking_tls() = default;

}  // namespace exchange::testing
