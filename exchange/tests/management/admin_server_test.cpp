// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/admin_server.hpp>

#include <exchange/tests/support/plain_http.hpp>

#include <gyre/runtime/io_context.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

// A process: a loop on a thread, which may be held up.
class process final : public admin_source {
public:
    process() : loop_{on_epoll()} {}

    void begin() {
        loop_.post([this] { ++turns_; });
        thread_ = std::thread{[this] {
            while (!ended_) {
                loop_.restart();
                loop_.run_for(10ms);
            }
        }};
    }
    void end() {
        ended_ = true;
        if (thread_.joinable()) thread_.join();
    }
    ~process() { end(); }

    void post(std::function<void()> function) override { loop_.post(std::move(function)); }
    admin_report report() override {
        ++reports;
        admin_report made;
        made.process = "test";
        made.state = draining ? process_state::draining : process_state::ready;
        made.figures = {{"turns", 5, "Turns"}};
        return made;
    }
    std::string tasks() override { return "a task\n"; }
    std::vector<std::string> commands() const override { return {"replace"}; }
    admin_outcome command(std::string_view name, std::string_view child) override {
        using kind = admin_outcome::kind;
        commanded += std::string{name} + ' ' + std::string{child} + ';';
        if (child == "nobody") return {kind::unknown_child, "no such child"};
        if (child == "busy") return {kind::not_now, "not now"};
        return {kind::begun, "begun"};
    }
    std::string commanded;  ///< Of its thread.

    std::atomic<int> reports = 0;
    std::atomic<bool> draining = false;

private:
    static gyre::io_context_options on_epoll() {
        gyre::io_context_options made;
        made.backend = gyre::backend_choice::epoll;
        return made;
    }

    gyre::io_context loop_;
    std::thread thread_;
    std::atomic<bool> ended_ = false;
    int turns_ = 0;
};

admin_options somewhere() {
    admin_options made;
    made.at = {gyre::ipv4::loopback(), 0};
    made.fresh_for = 0ms;
    return made;
}

http_answer asked(const admin_server& of, const std::string& request) {
    return ask(of.at().port(), request);
}

}  // namespace

TEST_CASE("admin_server: a process says how it is, on a thread beside its loop") {
    process it;
    admin_server admin{it, somewhere()};
    REQUIRE(admin.start().ok());
    it.begin();
    CHECK(asked(admin, "GET /health").status == 200);
    CHECK(asked(admin, "GET /ready").body == "ready\n");
    CHECK(nlohmann::json::parse(asked(admin, "GET /status").body)["counts"]["turns"] == 5);
    CHECK(asked(admin, "GET /metrics").body.find("exchange_turns_total{") != std::string::npos);
    CHECK(nlohmann::json::parse(asked(admin, "GET /latency").body)["unit"] == "ns");
    CHECK(asked(admin, "GET /tasks").body == "a task\n");
    it.draining = true;
    const http_answer answer = asked(admin, "GET /ready");
    CHECK(answer.status == 503);
    CHECK(answer.body == "draining\n");
    it.end();
}

TEST_CASE("admin_server: a process whose loop stands still is not healthy, until it goes on") {
    process it;
    admin_options how = somewhere();
    how.answer_within = 50ms;
    admin_server admin{it, how};
    REQUIRE(admin.start().ok());
    CHECK(asked(admin, "GET /health").status == 503);
    CHECK(asked(admin, "GET /status").status == 503);
    CHECK(asked(admin, "GET /tasks").status == 503);
    CHECK(it.reports == 0);
    it.begin();
    // It has to be given the processor within 50 ms once.
    bool healthy = false;
    for (int attempt = 0; attempt < 1000 && !healthy; ++attempt)
        healthy = asked(admin, "GET /health").status == 200;
    CHECK(healthy);
    it.end();
}

TEST_CASE("admin_server: an answer serves all who ask while it is fresh") {
    process it;
    admin_options how = somewhere();
    how.fresh_for = 1h;
    admin_server admin{it, how};
    REQUIRE(admin.start().ok());
    it.begin();
    std::atomic<int> answered = 0;
    std::vector<std::thread> crowd;
    for (int each = 0; each < 8; ++each)
        crowd.emplace_back([&admin, &answered] {
            for (int again = 0; again < 20; ++again)
                if (asked(admin, "GET /status").status == 200) ++answered;
        });
    for (std::thread& each : crowd) each.join();
    CHECK(answered == 160);
    CHECK(it.reports == 1);
    it.end();
}

TEST_CASE("admin_server: what it does not know, and what is too much, is refused") {
    process it;
    admin_server admin{it, somewhere()};
    REQUIRE(admin.start().ok());
    it.begin();
    CHECK(asked(admin, "GET /").status == 404);
    CHECK(asked(admin, "GET /status/..").status == 404);
    CHECK(asked(admin, "POST /status").status == 405);
    CHECK(asked(admin, "GET /" + std::string(100'000, 'x')).status / 100 == 4);
    const plain_connection long_body{admin.at().port()};
    long_body.say("POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
    CHECK(answer_in(long_body.rest()).status == 413);
    const plain_connection noise{admin.at().port()};
    noise.say("\x16\x03\x01 no request at all\r\n\r\n");
    CHECK(answer_in(noise.rest()).status == 400);
    it.end();
}

TEST_CASE("admin_server: it can end with clients that say nothing, and before it began") {
    process it;
    {
        const admin_server never_started{it, somewhere()};
    }
    admin_server admin{it, somewhere()};
    REQUIRE(admin.start().ok());
    admin_server second{it, [&admin] {
                            admin_options made = somewhere();
                            made.at = admin.at();
                            return made;
                        }()};
    CHECK(second.start().error() == gyre::errc::address_in_use);
    const plain_connection silent{admin.at().port()};
    const plain_connection half{admin.at().port()};
    half.say("GET /sta");
    it.begin();
    CHECK(asked(admin, "GET /health").status == 200);
    it.end();
}

TEST_CASE(
    "admin_server: where it waits for a place that is taken, it answers from when that is free") {
    process it;
    process next;
    it.begin();
    next.begin();
    admin_options how = somewhere();
    auto first = std::make_unique<admin_server>(it, how);
    REQUIRE(first->start().ok());
    how.at = first->at();
    how.waits_for_place = true;
    admin_server second{next, how};
    REQUIRE(second.start().ok());
    CHECK(second.at() == first->at());
    CHECK(asked(second, "GET /health").status == 200);  // By the first one.
    CHECK(it.reports > 0);
    CHECK(next.reports == 0);
    it.end();
    first.reset();

    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (!listens(second.at().port()) && std::chrono::steady_clock::now() < limit) {
    }
    CHECK(asked(second, "GET /health").status == 200);
    CHECK(next.reports > 0);
    next.end();
}

TEST_CASE("admin_server: one that waits for its place can end before that is free") {
    process it;
    admin_options how = somewhere();
    admin_server first{it, how};
    REQUIRE(first.start().ok());
    how.at = first.at();
    how.waits_for_place = true;
    {
        admin_server second{it, how};
        REQUIRE(second.start().ok());
    }
    it.begin();
    CHECK(asked(first, "GET /health").status == 200);
    it.end();
}

TEST_CASE("admin_server: commands are taken where they may be given, and not from web pages") {
    process it;
    admin_options how = somewhere();
    {
        admin_server closed{it, how};
        REQUIRE(closed.start().ok());
        CHECK(asked(closed, "POST /replace?child=a").status == 404);
    }
    how.commands = true;
    admin_server admin{it, how};
    REQUIRE(admin.start().ok());
    it.begin();
    const http_answer begun = asked(admin, "POST /replace?child=a%2Bb");
    CHECK(begun.status == 202);
    CHECK(begun.body == "begun\n");
    CHECK(asked(admin, "POST /replace?child=busy").status == 409);
    CHECK(asked(admin, "POST /replace?child=nobody").status == 404);
    CHECK(asked(admin, "POST /replace").status == 202);
    CHECK(asked(admin, "GET /replace?child=a").status == 405);
    CHECK(asked(admin, "POST /restart?child=a").status == 404);
    const plain_connection page{admin.at().port()};
    page.say(
        "POST /replace?child=a HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere\r\n"
        "Connection: close\r\n\r\n");
    CHECK(answer_in(page.rest()).status == 403);
    it.end();
    CHECK(it.commanded == "replace a+b;replace busy;replace nobody;replace ;");
}

TEST_CASE("admin_server: a name that another site has pointed here is not served") {
    process it;
    admin_options how = somewhere();
    how.commands = true;
    admin_server admin{it, how};
    REQUIRE(admin.start().ok());
    it.begin();
    const auto status = [&admin](const std::string& request, const std::string& host) {
        const plain_connection page{admin.at().port()};
        page.say(request + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
        return answer_in(page.rest()).status;
    };
    for (const char* each : {"localhost", "localhost:7021", "127.0.0.1:7021", "127.0.0.1", "[::1]",
                             "[::1]:7021", "192.0.2.1:80"})
        CHECK_MESSAGE(status("GET /status", each) == 200, each);
    for (const char* each : {"elsewhere.example", "elsewhere.example:7021", "localhost.example",
                             "127.0.0.1.example:7021", ""}) {
        CHECK_MESSAGE(status("GET /status", each) == 421, each);
        CHECK_MESSAGE(status("POST /replace?child=a", each) == 421, each);
    }
    CHECK(status("GET /status", "[elsewhere]:7021") == 400);  // No host by RFC 3986, 3.2.2.
    it.end();
    CHECK(it.commanded.empty());
}
