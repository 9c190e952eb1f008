// SPDX-License-Identifier: BSL-1.0
#include <gyre/http2/breach.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace gyre;
using http2::breach;
using http2::error_code;

namespace {

constexpr int breaches = static_cast<int>(breach::silence) + 1;

}  // namespace

TEST_CASE("http2: each breach is described in words of its own") {
    std::set<std::string> said;
    for (int each = 0; each < breaches; ++each) {
        said.insert(http2::describe(static_cast<breach>(each)));
    }

    CHECK(said.size() == static_cast<std::size_t>(breaches));
    CHECK_FALSE(said.contains("unknown"));
    CHECK(http2::describe(static_cast<breach>(breaches)) == std::string{"unknown"});
}

TEST_CASE("http2: what is forbidden has the code of its clause, what is too much is to calm down") {
    struct row {
        breach why;
        error_code code;
        errc means;
    };
    // RFC 9113, 7, 3.4, 4.2, 4.3, 6.5.3 and 10.5.
    const row rows[] = {
        {breach::none, error_code::none, errc::ok},
        {breach::protocol, error_code::protocol, errc::malformed},
        {breach::preface, error_code::protocol, errc::malformed},
        {breach::compression, error_code::compression, errc::malformed},
        {breach::flow_control, error_code::flow_control, errc::malformed},
        {breach::frame_size, error_code::frame_size, errc::malformed},
        {breach::settings_too_slow, error_code::settings_timeout, errc::timed_out},
        {breach::head_too_slow, error_code::enhance_your_calm, errc::timed_out},
        {breach::silence, error_code::none, errc::timed_out},
    };
    std::set<breach> named;
    for (const row& each : rows) {
        CAPTURE(http2::describe(each.why));
        named.insert(each.why);
        CHECK(http2::code_for(each.why) == each.code);
        CHECK(http2::error_for(each.why).code() == each.means);
    }
    for (int each = 0; each < breaches; ++each) {
        const auto why = static_cast<breach>(each);
        if (named.contains(why)) continue;
        CAPTURE(http2::describe(why));
        CHECK(http2::code_for(why) == error_code::enhance_your_calm);
        CHECK(http2::error_for(why) == errc::limit_exceeded);
    }
}
