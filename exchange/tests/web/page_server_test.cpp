// SPDX-License-Identifier: BSL-1.0
#include <exchange/web/page_server.hpp>

#include <exchange/tests/support/plain_http.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <utility>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

gyre::io_context_options on_epoll() {
    gyre::io_context_options made;
    made.backend = gyre::backend_choice::epoll;
    return made;
}

// A page with one process, which is away: nothing listens at port 1.
page_config some_page() {
    page_config made;
    made.at = {gyre::ipv4::loopback(), 0};
    made.order_entry = {gyre::ipv4::loopback(), 7014};
    made.market_data = {gyre::ipv4::loopback(), 7042};
    made.folder = EXCHANGE_FOLDER "/web/page";
    made.show = {{"facility", {gyre::ipv4::loopback(), 1}}};
    made.pages_max = 1;
    return made;
}

// The server on a thread of its own.
class running_page {
public:
    explicit running_page(page_config how = some_page())
        : how_{std::move(how)}, server_{loop_, how_} {
        REQUIRE_FALSE(server_.start());
        thread_ = std::thread{[this] { loop_.run(); }};
    }
    running_page(const running_page&) = delete;
    running_page& operator=(const running_page&) = delete;
    ~running_page() {
        loop_.post([this] { server_.stop(); });
        thread_.join();
    }

    [[nodiscard]] std::string host() const { return server_.at().to_string(); }
    [[nodiscard]] std::uint16_t port() const { return server_.at().port(); }
    [[nodiscard]] std::string answer(const std::string& path, const std::string& host) const {
        const plain_connection it{port()};
        it.say("GET " + path + " HTTP/1.1\r\nhost: " + host + "\r\nconnection: close\r\n\r\n");
        return it.rest();
    }
    [[nodiscard]] std::string answer(const std::string& path) const { return answer(path, host()); }

    /// The server does nothing as long as one of these lives.
    class pause {
    public:
        explicit pause(running_page& of) {
            of.loop_.post([over = over_.get_future().share()] { over.wait(); });
        }
        pause(const pause&) = delete;
        pause& operator=(const pause&) = delete;
        ~pause() { over_.set_value(); }

    private:
        std::promise<void> over_;
    };

private:
    page_config how_;
    gyre::io_context loop_{on_epoll()};
    page_server server_;
    std::thread thread_;
};

std::string handshake(const std::string& host, const std::string& origin,
                      const std::string& path = "/live") {
    return "GET " + path + " HTTP/1.1\r\nhost: " + host + "\r\norigin: " + origin +
           "\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
           "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("page_server: the page comes with a policy that names all it may reach") {
    const running_page it;
    const std::string got = it.answer("/");
    CHECK(got.starts_with("HTTP/1.1 200"));
    CHECK(has(got, "default-src 'none'"));
    CHECK(has(got, "connect-src 'self' ws://127.0.0.1:7014 ws://127.0.0.1:7042\r\n"));
    CHECK(has(got, "<!doctype html>"));
    CHECK(it.answer("/page.js").starts_with("HTTP/1.1 200"));
    CHECK(it.answer("/..%2fpage_server.cpp").starts_with("HTTP/1.1 40"));
    CHECK(it.answer("/no_such_file").starts_with("HTTP/1.1 404"));
}

TEST_CASE("page_server: a name of another site that leads here is not served") {
    const running_page it;
    CHECK(it.answer("/", "evil.example").starts_with("HTTP/1.1 421"));
    CHECK(it.answer("/", "localhost:" + std::to_string(it.port())).starts_with("HTTP/1.1 200"));
}

TEST_CASE("page_server: a page is told where to trade, and who is away, and let go if it speaks") {
    const running_page it;
    const plain_connection page{it.port()};
    // A masked text of one byte, behind the handshake.
    page.say(handshake(it.host(), "http://" + it.host()) +
             std::string{"\x81\x81\x00\x00\x00\x00x", 7});
    const std::string got = page.rest();
    CHECK(got.starts_with("HTTP/1.1 101"));
    CHECK(has(got, "ws://127.0.0.1:7014/order-entry/v1"));
    CHECK(has(got, "ws://127.0.0.1:7042/market-data/v1"));
    CHECK(has(got, "\"reachable\":false"));
}

TEST_CASE("page_server: a page of another site gets no figures") {
    const running_page it;
    const plain_connection page{it.port()};
    page.say(handshake(it.host(), "http://evil.example"));
    CHECK(page.first(12) == "HTTP/1.1 403");
}

namespace {

/// How many are let in of those who come while the server has no time.
std::size_t let_in(running_page& it, const std::string& path, std::size_t who_come,
                   std::deque<plain_connection>& all) {
    {
        const running_page::pause meanwhile{it};
        for (std::size_t each = 0; each < who_come; ++each)
            all.emplace_back(it.port()).say(handshake(it.host(), "http://" + it.host(), path));
    }
    std::size_t in = 0;
    for (const plain_connection& each : all) {
        const std::string status = each.first(12);
        CHECK((status == "HTTP/1.1 101" || status == "HTTP/1.1 503"));
        if (status == "HTTP/1.1 101") ++in;
    }
    return in;
}

}  // namespace

TEST_CASE("page_server: of many that come at once as many are let in as there are places") {
    page_config how = some_page();
    how.operators = {gyre::ipv4::loopback(), 1};
    running_page it{how};
    {
        std::deque<plain_connection> pages;
        CHECK(let_in(it, "/live", 16, pages) == 1);
        std::deque<plain_connection> operators;
        CHECK(let_in(it, "/operator", 16, operators) == 8);
    }
    // Who leaves makes room, and who is refused takes none.
    const auto limit = std::chrono::steady_clock::now() + 60s;
    std::string status;
    while (status != "HTTP/1.1 101" && std::chrono::steady_clock::now() < limit) {
        const plain_connection page{it.port()};
        page.say(handshake(it.host(), "http://" + it.host()));
        status = page.first(12);
    }
    CHECK(status == "HTTP/1.1 101");
}

TEST_CASE("page_server: operators log in only where the file says so") {
    CHECK(running_page{}.answer("/operator").starts_with("HTTP/1.1 404"));
}

TEST_CASE("page_server: tasks of a process that is away, or unknown, are an error") {
    const running_page it;
    CHECK(it.answer("/processes/facility/tasks").starts_with("HTTP/1.1 502"));
    CHECK(it.answer("/processes/other/tasks").starts_with("HTTP/1.1 404"));
}

TEST_CASE("page_server: what an admin port says is passed on only if it is JSON") {
    using nlohmann::json;
    const json good = json::parse(process_message("a", R"({"pid":7})", R"({"unit":"ns"})"));
    CHECK(good["reachable"] == true);
    CHECK(good["status"]["pid"] == 7);
    const json bad = json::parse(process_message("a", "</script>", ""));
    CHECK(bad["reachable"] == false);
    CHECK_FALSE(bad.contains("status"));
    constexpr std::size_t deep = 500'000;
    const std::string nested = R"({"a":)" + std::string(deep, '[') + std::string(deep, ']') + "}";
    CHECK(json::parse(process_message("a", nested, nested)) ==
          json::parse(process_message("a", "", "")));
}
