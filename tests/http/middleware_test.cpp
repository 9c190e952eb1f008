// SPDX-License-Identifier: BSL-1.0
//
// What conditional.hpp, cors.hpp, access_log.hpp and metrics.hpp promise of the answers that they see.
#include <gyre/http/access_log.hpp>
#include <gyre/http/authorization.hpp>
#include <gyre/http/conditional.hpp>
#include <gyre/http/cors.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/metrics.hpp>

#include <base/ending.hpp>
#include <support/harness.hpp>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::http;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

handler answering(status code, std::string text) {
    return [code, text](request&) {
        return [](status with, std::string what) -> task<response> {
            co_return response{with, "text/plain", std::move(what)};
        }(code, text);
    };
}

request asking(std::string_view by, std::string_view target = "/") {
    request what;
    what.set_method(by);
    what.set_target(target);
    return what;
}

}  // namespace

// RFC 9110, 13.2.2.
TEST_CASE("conditions are judged in their order") {
    struct row {
        const char* by;
        const char* name;
        const char* value;
        unsigned code;  // 0: carry it out.
    };
    const row rows[] = {{"GET", "if-none-match", "\"a\"", 304},
                        {"GET", "if-none-match", "W/\"a\"", 304},
                        {"GET", "if-none-match", "\"b\", \"a\"", 304},
                        {"GET", "if-none-match", "*", 304},
                        {"GET", "if-none-match", "\"b\"", 0},
                        {"PUT", "if-none-match", "*", 412},
                        {"PUT", "if-match", "\"a\"", 0},
                        {"PUT", "if-match", "\"b\"", 412},
                        {"PUT", "if-match", "W/\"a\"", 412},
                        {"GET", "if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT", 304},
                        {"GET", "if-modified-since", "Sun, 06 Nov 1994 08:49:36 GMT", 0},
                        {"GET", "if-modified-since", "yesterday", 0},
                        {"PUT", "if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT", 0},
                        {"PUT", "if-unmodified-since", "Sun, 06 Nov 1994 08:49:36 GMT", 412},
                        {"PUT", "if-unmodified-since", "Sun, 06 Nov 1994 08:49:37 GMT", 0},
                        // RFC 9110, 5.6.7: a guard in an obsolete form guards.
                        {"PUT", "if-unmodified-since", "Sunday, 06-Nov-94 08:49:36 GMT", 412},
                        {"PUT", "if-unmodified-since", "Sun Nov  6 08:49:36 1994", 412},
                        {"PUT", "if-unmodified-since", "Sunday, 06-Nov-94 08:49:37 GMT", 0},
                        {"GET", "if-modified-since", "Sun Nov  6 08:49:37 1994", 304},
                        {"GET", "if-modified-since", "Sunday, 06-Nov-94 08:49:36 GMT", 0}};
    const validators resource{"\"a\"", std::chrono::sys_seconds{784111777s}};
    for (const row& each : rows) {
        request what = asking(each.by);
        what.fields.add(each.name, each.value);

        CAPTURE(each.by);
        CAPTURE(each.value);
        const std::optional<status> code = judge_conditions(what, resource);
        CHECK((code ? number_of(*code) : 0) == each.code);
    }
}

TEST_CASE("an answer gets a tag, and who has it already gets no body") {
    on_every_backend([](io_context&) -> task<> {
        const handler with = conditional_requests()(answering(status::ok, "text"));
        request what = asking("GET");

        const response first = co_await with(what);
        const std::string tag{first.fields.value_or("etag")};
        what.fields.add("if-none-match", tag);
        const response second = co_await with(what);

        CHECK(tag.size() > 4);
        CHECK(second.status == status::not_modified);
        CHECK(second.body.bytes().empty());
        CHECK(second.fields.find("etag") == tag);
        CHECK_FALSE(second.fields.contains("content-type"));
        CHECK(etag_of(bytes_of(std::string_view{"texu"})) != tag);
    });
}

TEST_CASE("scripts of named origins may read answers, and others are left to their browsers") {
    on_every_backend([](io_context&) -> task<> {
        cors_policy policy;
        policy.origins = {"https://a.example"};
        policy.with_credentials = true;
        policy.request_fields = {"x-one", "x-two"};
        const handler with = allow_origins(policy)(answering(status::ok, "text"));
        request from_there = asking("GET");
        from_there.fields.add("origin", "https://a.example");
        request from_elsewhere = asking("GET");
        from_elsewhere.fields.add("origin", "https://a.example.evil");
        request preflight = asking("OPTIONS");
        preflight.fields.add("origin", "https://a.example");
        preflight.fields.add("access-control-request-method", "PUT");

        const response marked = co_await with(from_there);
        const response unmarked = co_await with(from_elsewhere);
        const response allowed = co_await with(preflight);

        CHECK(marked.fields.find("access-control-allow-origin") == "https://a.example");
        CHECK(marked.fields.find("access-control-allow-credentials") == "true");
        CHECK(marked.fields.find("vary") == "origin");
        CHECK(unmarked.status == status::ok);
        CHECK_FALSE(unmarked.fields.contains("access-control-allow-origin"));
        CHECK(unmarked.fields.find("vary") == "origin");
        CHECK(allowed.status == status::no_content);
        CHECK(allowed.fields.find("access-control-allow-headers") == "x-one, x-two");
    });
}

TEST_CASE("a log line has what was asked, and nothing that could forge another") {
    on_every_backend([](io_context&) -> task<> {
        std::string line;
        const handler with = access_log([&line](const access_record& it) {
            line = combined_log_line(it, std::chrono::sys_seconds{784111777s});
        })(answering(status::not_found, "gone"));
        request what = asking("GET", "/a?b");
        what.set_peer("192.0.2.1:5000");
        what.fields.add("user-agent", "x \"y\" \x80");

        const response answer = co_await with(what);

        CHECK(answer.status == status::not_found);
        CHECK(line ==
              "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b HTTP/1.1\" 404 4 \"-\" "
              "\"x \\\"y\\\" \\x80\"");
    });
}

TEST_CASE("requests are counted by method, class and time") {
    on_every_backend([](io_context&) -> task<> {
        metrics counts;
        const handler good = count_requests(counts)(answering(status::ok, ""));
        const handler bad = count_requests(counts)(answering(status::not_found, ""));
        request get = asking("GET");
        request odd = asking("PURGE");

        for (int at = 0; at < 3; ++at) static_cast<void>(co_await good(get));
        static_cast<void>(co_await bad(odd));
        counts.count(method::post, status::bad_gateway, 2s);

        const std::string text = counts.text();
        const auto has = [&text](std::string_view line) {
            return text.find(std::string{line} + "\n") != std::string::npos;
        };
        CHECK(counts.answered() == 5);
        CHECK(has("http_requests_total{method=\"GET\",status=\"2xx\"} 3"));
        CHECK(has("http_requests_total{method=\"other\",status=\"4xx\"} 1"));
        CHECK(has("http_requests_total{method=\"POST\",status=\"5xx\"} 1"));
        CHECK(has("http_requests_in_flight 0"));
        CHECK(has("http_request_duration_seconds_bucket{le=\"5\"} 5"));
        CHECK(has("http_request_duration_seconds_bucket{le=\"+Inf\"} 5"));
        CHECK(has("http_request_duration_seconds_count 5"));
    });
}

TEST_CASE(
    "origins that no browser sends, and realms that end their quotes, are the program's mistake") {
    const auto allowing = [](std::string origin) {
        cors_policy policy;
        policy.origins = {std::move(origin)};
        static_cast<void>(allow_origins(std::move(policy)));
    };
    for (const char* const origin :
         {"app.example", "https://app.example/", "https://App.example"}) {
        CAPTURE(origin);
        CHECK(ending_of([&] { allowing(origin); }).said_that("an origin is *"));
    }
    for (const char* const origin : {"*", "null", "https://app.example", "http://[::1]:8080"}) {
        CAPTURE(origin);
        CHECK(ending_of([&] { allowing(origin); }).signal == 0);
    }
    const auto bearer = [] {
        static_cast<void>(require_bearer("a \"b\"", [](std::string_view) { return true; }));
    };
    const auto basic = [] {
        static_cast<void>(require_basic("a\n", [](const basic_credentials&) { return true; }));
    };
    CHECK(ending_of(bearer).signal == SIGABRT);
    CHECK(ending_of(basic).said_that("a realm has no quotes"));
}
