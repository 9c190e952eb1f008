// SPDX-License-Identifier: BSL-1.0
//
// What middleware does about exceptions that leave a handler.
#include <gyre/http/access_log.hpp>
#include <gyre/http/metrics.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/sync/sleep.hpp>

#include <http/fed_stream.hpp>
#include <support/harness.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

using namespace gyre;
using namespace gyre::http;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("a request whose handler throws is logged and counted as the 500 that its client gets") {
    on_every_backend([](io_context&) -> task<> {
        const auto throwing = [](request&) -> task<response> {
            co_await yield();
            throw std::runtime_error{"a mistake"};
        };
        std::string line;
        metrics counts;
        const auto log = [&line](const access_record& it) {
            line = combined_log_line(it, std::chrono::sys_seconds{784111777s});
            throw std::runtime_error{"another one"};  // Not instead of the first.
        };
        const handler with = count_requests(counts)(access_log(log)(throwing));
        request what{method::get, "/"};
        std::string thrown;

        try {
            static_cast<void>(co_await with(what));
        } catch (const std::runtime_error& it) {
            thrown = it.what();
        }

        CHECK(thrown == "a mistake");
        CHECK(line == "- - - [06/Nov/1994:08:49:37 +0000] \"GET / HTTP/1.1\" 500 0 \"-\" \"-\"");
        const std::string text = counts.text();
        CHECK(text.find("http_requests_total{method=\"GET\",status=\"5xx\"} 1\n") !=
              std::string::npos);
        CHECK(text.find("http_requests_in_flight 0\n") != std::string::npos);
    });
}

TEST_CASE("an exception that leaves what a connection was given to is told, and travels on") {
    on_every_backend([](io_context&) -> task<> {
        const handler handle = [](request&) -> task<response> {
            response answer{status::switching_protocols};
            answer.fields.set("upgrade", "talk");
            answer.upgrade = [](upgraded_connection) -> task<> {
                co_await yield();
                throw std::runtime_error{"a mistake of the session"};
            };
            co_return answer;
        };
        std::string told;
        connection_hooks hooks;
        hooks.on_exception = [&](const request& what, exception_slot& failure) {
            told.append(what.target()).append(" ").append(describe(failure.share().take()));
        };
        traffic over;
        over.in = "GET /talk HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: talk\r\n\r\n";
        std::string thrown;

        try {
            static_cast<void>(
                co_await serve_connection(any_stream{fed_stream{over}}, handle, {}, hooks));
        } catch (const std::runtime_error& it) {
            thrown = it.what();
        }

        CHECK(told == "/talk std::runtime_error: a mistake of the session");
        CHECK(thrown == "a mistake of the session");
        CHECK(over.out.starts_with("HTTP/1.1 101 "));
    });
}
