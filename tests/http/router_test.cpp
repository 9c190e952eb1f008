// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/router.hpp promises: which route a path takes, what it is told, and what is said of others.
#include <gyre/http/router.hpp>

#include <base/ending.hpp>
#include <support/harness.hpp>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::http;
using namespace gyre::testing;

namespace {

// Answers with its name and the parameters.
handler named(std::string name) {
    return [name](request& what) {
        std::string said = name;
        for (const path_parameter& each : what.parameters()) {
            said.append(" ").append(each.name).append("=").append(each.text);
        }
        return [](std::string text) -> task<response> {
            co_return response{status::ok, std::move(text)};
        }(std::move(said));
    };
}

handler some_routes() {
    router routes;
    routes.add(method::get, "/", named("root"))
        .add(method::get, "/users/{id}", named("user"))
        .add(method::get, "/users/me", named("me"))
        .add(method::post, "/users/{id}", named("change"))
        .add(method::get, "/users/{id}/posts/{post}", named("post"))
        .add(method::get, "/files/{path*}", named("file"))
        .add("/any", named("any"))
        .add(method::head, "/any", named("head"));
    return std::move(routes).build();
}

task<std::string> said_to(const handler& with, std::string_view by, std::string_view target) {
    request what;
    what.set_method(by);
    what.set_target(target);
    const response answer = co_await with(what);
    std::string said = std::to_string(number_of(answer.status)) + " ";
    said.append(gyre::text_of(answer.body.bytes())).append(answer.fields.value_or("allow"));
    co_return said;
}

}  // namespace

TEST_CASE("a path takes the route that matches it, literals before parameters") {
    on_every_backend([](io_context&) -> task<> {
        struct row {
            const char* by;
            const char* target;
            const char* said;
        };
        const row rows[] = {{"GET", "/", "200 root"},
                            {"HEAD", "/", "200 root"},
                            {"GET", "/users/7?x=y", "200 user id=7"},
                            {"GET", "/users/me", "200 me"},
                            {"POST", "/users/me", "405 GET, HEAD, OPTIONS"},
                            {"POST", "/users/7", "200 change id=7"},
                            {"GET", "/users/me/posts/1", "200 post id=me post=1"},
                            {"GET", "/users/a%2Fb", "200 user id=a%2Fb"},
                            {"GET", "/files/a/b", "200 file path=a/b"},
                            {"GET", "/files/", "200 file path="},
                            {"GET", "/files", "200 file path="},
                            {"GET", "/filesystem", "404 "},
                            {"GET", "/users", "404 "},
                            {"GET", "/users/", "404 "},
                            {"GET", "/users/7/", "404 "},
                            {"GET", "//users/7", "404 "},
                            {"PUT", "/users/7", "405 GET, HEAD, POST, OPTIONS"},
                            {"OPTIONS", "/users/7", "204 GET, HEAD, POST, OPTIONS"},
                            {"PURGE", "/any", "200 any"},
                            {"HEAD", "/any", "200 head"},
                            {"OPTIONS", "*", "404 "}};
        const handler with = some_routes();
        for (const row& each : rows) {
            const std::string said = co_await said_to(with, each.by, each.target);

            CAPTURE(each.by);
            CAPTURE(each.target);
            CHECK(said == each.said);
        }
    });
}

TEST_CASE("a parameter is decoded when it is asked for, and is nothing if it is malformed") {
    on_every_backend([](io_context&) -> task<> {
        std::optional<std::string> seen;
        router routes;
        routes.add(method::get, "/{it}", [&seen](request& what) {
            seen = what.parameter("it");
            return [](status code) -> task<response> { co_return response{code}; }(status::ok);
        });
        const handler with = std::move(routes).build();
        const auto see = [&](std::string_view target) -> task<std::optional<std::string>> {
            seen.reset();
            co_await said_to(with, "GET", target);
            co_return seen;
        };

        const auto plain = co_await see("/a%20b%2fc+d");
        const auto cut = co_await see("/a%2");
        const auto null = co_await see("/a%00");

        CHECK(plain == "a b/c+d");
        CHECK_FALSE(cut);
        CHECK_FALSE(null);
    });
}

TEST_CASE("what matches no route goes to the handler for the rest") {
    on_every_backend([](io_context&) -> task<> {
        router routes;
        routes.add(method::get, "/a", named("a")).otherwise(named("rest"));
        const handler with = std::move(routes).build();

        const std::string said = co_await said_to(with, "GET", "/b");

        CHECK(said == "200 rest");
    });
}

TEST_CASE("a pattern that would never match as it reads is the program's mistake") {
    const auto adding = [](const char* pattern) {
        router routes;
        routes.add(method::get, pattern, named("it"));
    };
    for (const char* const pattern :
         {"a", "/{rest...}", "/{id:[0-9]+}", "/{a}/{a}", "/{a}.json", "/x{a}", "/a?b={c}", "/{}"}) {
        CAPTURE(pattern);
        CHECK(ending_of([&] { adding(pattern); }).signal == SIGABRT);
    }
    for (const char* const pattern : {"/", "/{a}/{b-1}", "/x/{all_of*}", "/a//b/"}) {
        CAPTURE(pattern);
        CHECK(ending_of([&] { adding(pattern); }).signal == 0);
    }
}
