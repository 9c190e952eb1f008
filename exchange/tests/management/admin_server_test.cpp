// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/admin_server.hpp>

#include <gyre/runtime/io_context.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace exchange;
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

// A client of plain system calls.
class client {
public:
    explicit client(const gyre::endpoint& to) {
        socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(to.port());
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{30, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
    }
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() { ::close(socket_); }

    void say(const std::string& text) const {
        REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(text.size()));
    }
    [[nodiscard]] std::string rest() const {
        std::string made;
        char bytes[4096];
        for (ssize_t got = 0; (got = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;)
            made.append(bytes, static_cast<std::size_t>(got));
        return made;
    }

private:
    int socket_ = -1;
};

std::string asked(const admin_server& of, const std::string& what) {
    const client it{of.at()};
    it.say(what + " HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    return it.rest();
}
std::string status_of(const std::string& answer) { return answer.substr(0, 12); }
std::string body_of(const std::string& answer) {
    const std::size_t head = answer.find("\r\n\r\n");
    return head == std::string::npos ? "" : answer.substr(head + 4);
}

}  // namespace

TEST_CASE("admin_server: a process says how it is, on a thread beside its loop") {
    process it;
    admin_server admin{it, somewhere()};
    REQUIRE(admin.start().ok());
    it.begin();
    CHECK(status_of(asked(admin, "GET /health")) == "HTTP/1.1 200");
    CHECK(body_of(asked(admin, "GET /ready")) == "ready\n");
    CHECK(nlohmann::json::parse(body_of(asked(admin, "GET /status")))["counts"]["turns"] == 5);
    CHECK(body_of(asked(admin, "GET /metrics")).find("exchange_turns_total{") != std::string::npos);
    CHECK(nlohmann::json::parse(body_of(asked(admin, "GET /latency")))["unit"] == "ns");
    CHECK(body_of(asked(admin, "GET /tasks")) == "a task\n");
    it.draining = true;
    const std::string answer = asked(admin, "GET /ready");
    CHECK(status_of(answer) == "HTTP/1.1 503");
    CHECK(body_of(answer) == "draining\n");
    it.end();
}

TEST_CASE("admin_server: a process whose loop stands still is not healthy, until it goes on") {
    process it;
    admin_options how = somewhere();
    how.answer_within = 50ms;
    admin_server admin{it, how};
    REQUIRE(admin.start().ok());
    CHECK(status_of(asked(admin, "GET /health")) == "HTTP/1.1 503");
    CHECK(status_of(asked(admin, "GET /status")) == "HTTP/1.1 503");
    CHECK(status_of(asked(admin, "GET /tasks")) == "HTTP/1.1 503");
    CHECK(it.reports == 0);
    it.begin();
    // It has to be given the processor within 50 ms once.
    bool healthy = false;
    for (int attempt = 0; attempt < 1000 && !healthy; ++attempt)
        healthy = status_of(asked(admin, "GET /health")) == "HTTP/1.1 200";
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
                if (status_of(asked(admin, "GET /status")) == "HTTP/1.1 200") ++answered;
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
    CHECK(status_of(asked(admin, "GET /")) == "HTTP/1.1 404");
    CHECK(status_of(asked(admin, "GET /status/..")) == "HTTP/1.1 404");
    CHECK(status_of(asked(admin, "POST /status")) == "HTTP/1.1 405");
    CHECK(status_of(asked(admin, "GET /" + std::string(100'000, 'x'))).starts_with("HTTP/1.1 4"));
    const client long_body{admin.at()};
    long_body.say("POST /status HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n");
    CHECK(status_of(long_body.rest()) == "HTTP/1.1 413");
    const client noise{admin.at()};
    noise.say("\x16\x03\x01 no request at all\r\n\r\n");
    CHECK(status_of(noise.rest()) == "HTTP/1.1 400");
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
    const client silent{admin.at()};
    const client half{admin.at()};
    half.say("GET /sta");
    it.begin();
    CHECK(status_of(asked(admin, "GET /health")) == "HTTP/1.1 200");
    it.end();
}
