// SPDX-License-Identifier: BSL-1.0
//
// What a build without Boost.Asio answers when asked for it; facility_on_asio.cpp is the other one.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_facility.hpp>

namespace exchange {

int run_on_asio(const config& how) { return lacks_asio("matching_facility", how.backend); }

}  // namespace exchange
