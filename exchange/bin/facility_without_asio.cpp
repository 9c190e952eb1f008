// SPDX-License-Identifier: BSL-1.0
//
// What a build without Boost.Asio answers when asked for it; facility_on_asio.cpp is the other one.
#include <exchange/bin/run_facility.hpp>

namespace exchange {

int run_on_asio(const config& how) {
    std::fprintf(stderr, "matching_facility: this build has no Boost.Asio, which %s needs\n",
                 std::string{describe(how.backend)}.c_str());
    return 1;
}

}  // namespace exchange
