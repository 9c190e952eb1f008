// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/close_code.hpp>

#include <support/harness.hpp>

using namespace gyre::websocket;

// RFC 6455, 7.4.1 and 7.4.2.
TEST_CASE("close codes: those that are registered or the program's own travel, no others") {
    for (const int each : {1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 3999, 4000, 4999}) {
        INFO("code ", each);
        CHECK(may_travel(static_cast<close_code>(each)));
    }
    for (const int each :
         {0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535}) {
        INFO("code ", each);
        CHECK_FALSE(may_travel(static_cast<close_code>(each)));
    }
}
