// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/http_date.hpp promises: the one form of dates, and a line that is made once a second.
#include <gyre/http/http_date.hpp>

#include <support/harness.hpp>

#include <string_view>

using namespace gyre;
using namespace gyre::http;
using namespace std::chrono_literals;

// RFC 9110, 5.6.7.
TEST_CASE("a date is written in one form, and read in three") {
    const std::chrono::sys_seconds when{784111777s};
    const http_date_text text = format_http_date(when);

    CHECK(std::string_view{text.data(), text.size()} == "Sun, 06 Nov 1994 08:49:37 GMT");
    for (const std::string_view same :
         {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994", "Sun Nov 06 08:49:37 1994"}) {
        CAPTURE(same);
        CHECK(parse_http_date(same) == when);
    }
    for (const std::string_view other : {"Mon, 06 Nov 1994 08:49:37 GMT",
                                         "Sun, 06 Nov 1994 08:49:37 CET",
                                         "Sun, 06 Nov 1994 24:49:37 GMT",
                                         "Sun, 31 Feb 1994 08:49:37 GMT",
                                         "Sun, 06 nov 1994 08:49:37 GMT",
                                         "Sun, 06 Nov 1994 08:4x:37 GMT",
                                         "Sun, 6 Nov 1994 08:49:37 GMT",
                                         "Sun, 06 Nov 1994 08:49:61 GMT",
                                         "Sun, 06-Nov-94 08:49:37 GMT",
                                         "Monday, 06-Nov-94 08:49:37 GMT",
                                         "Sunday, 06-Nov-1994 08:49:37 GMT",
                                         "Sunday, 06-Nov-94 08:49:37 UTC",
                                         "Sunday, 06-unN-94 08:49:37 GMT",
                                         "Sunday 06-Nov-94 08:49:37 GMT",
                                         "Sun Nov 6 08:49:37 1994",
                                         "Mon Nov  6 08:49:37 1994",
                                         "Sun Nov  6 08:49:37 94",
                                         "Sun Nov  6 08:49:37 1994 GMT",
                                         "Sun Nov -6 08:49:37 1994",
                                         "Sun Nov  6 08:49:37 199x",
                                         " GMT",
                                         ", GMT",
                                         "Sunday, GMT",
                                         "GMT",
                                         "-",
                                         ""}) {
        CAPTURE(other);
        CHECK_FALSE(parse_http_date(other));
    }
}

// RFC 9110, 5.6.7: what appears to be more than fifty years ahead was in the past.
TEST_CASE("a year of two digits is at most fifty years ahead") {
    const std::chrono::sys_seconds present =
        std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h;
    const auto read = [present](std::string_view text) { return parse_http_date(text, present); };
    using std::chrono::sys_days;
    using std::chrono::year;
    CHECK(read("Sunday, 01-Mar-76 12:00:00 GMT") == sys_days{year{2076} / 3 / 1} + 12h);
    CHECK(read("Monday, 01-Mar-76 12:00:01 GMT") == sys_days{year{1976} / 3 / 1} + 12h + 1s);
    CHECK_FALSE(read("Sunday, 01-Mar-76 12:00:01 GMT"));
    CHECK(read("Saturday, 01-Jan-77 00:00:00 GMT") == sys_days{year{1977} / 1 / 1});
    CHECK(read("Saturday, 01-Jan-00 00:00:00 GMT") == sys_days{year{2000} / 1 / 1});
    CHECK(read("Friday, 31-Dec-99 00:00:00 GMT") == sys_days{year{1999} / 12 / 31});
    CHECK(read("Sunday, 01-Mar-26 12:00:00 GMT") == present);
}

TEST_CASE("each day of sixty years is read as it was written") {
    for (std::int64_t day = 0; day < 60 * 366; ++day) {
        const std::chrono::sys_seconds when{std::chrono::seconds{day * 86400 + day % 86400}};
        const http_date_text text = format_http_date(when);
        REQUIRE(parse_http_date({text.data(), text.size()}) == when);
    }
}

TEST_CASE("the present date is asked for once a second") {
    int asked = 0;
    std::chrono::system_clock::time_point clock{784111777s + 400ms};
    date_cache date{[&] {
        ++asked;
        return clock;
    }};
    const time_point start{};

    CHECK(date.line(start) == "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    clock += 599ms;
    CHECK(date.line(start + 599ms) == "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    CHECK(asked == 1);
    clock += 1ms;
    CHECK(date.line(start + 600ms) == "date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
    CHECK(asked == 2);
}
