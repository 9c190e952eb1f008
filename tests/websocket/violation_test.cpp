// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/violation.hpp>

#include <support/harness.hpp>

#include <set>
#include <string>

using namespace gyre;
using namespace gyre::websocket;

TEST_CASE("violations: each has its own sentence, a code that travels, and an error") {
    std::set<std::string> sentences;
    const int last = static_cast<int>(violation::too_many_deflate_streams);
    for (int each = 1; each <= last; ++each) {
        const auto which = static_cast<violation>(each);
        INFO(describe(which));
        CHECK(sentences.insert(describe(which)).second);
        CHECK(may_travel(close_code_for(which)));
        CHECK(error_for(which));
    }
    CHECK_FALSE(error_for(violation::none));
}

TEST_CASE("violations: the caller learns what kind it was") {
    CHECK(error_for(violation::missing_mask) == errc::protocol_error);
    CHECK(error_for(violation::text_not_utf8) == errc::malformed);
    CHECK(error_for(violation::large_message) == errc::limit_exceeded);
    CHECK(close_code_for(violation::text_not_utf8) == close_code::invalid_payload);
    CHECK(close_code_for(violation::large_frame) == close_code::message_too_big);
}
