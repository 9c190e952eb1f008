// SPDX-License-Identifier: BSL-1.0
//
// The page's server as a process beside a facility: operators that command through it.
#include <exchange/tests/programs/running_exchange.hpp>
#include <exchange/tests/support/plain_http.hpp>

#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

/// A server of the page whose operators log in at this exchange.
class running_page {
public:
    explicit running_page(const running_exchange& at)
        : config_{nlohmann::json{
              {"at", "127.0.0.1:0"},
              {"page", std::filesystem::absolute(EXCHANGE_SAMPLE_FOLDER "/../web/page").string()},
              {"operators", at.order_entry()}}
                      .dump()},
          process_{EXCHANGE_WEB, {config_.path()}} {
        const std::string ready = process_.next_line();
        constexpr std::string_view before = "ready: page http://";
        REQUIRE_MESSAGE(ready.starts_with(before), ready);
        host_ = ready.substr(before.size(), ready.rfind('/') - before.size());
    }

    /// What an operator's page hears that says all of this and leaves.
    [[nodiscard]] std::string hears(const std::vector<std::string>& messages,
                                    const std::string& origin) const {
        std::string said = "GET /operator HTTP/1.1\r\nhost: " + host_ + "\r\norigin: " + origin +
                           "\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
                           "sec-websocket-version: 13\r\n"
                           "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        for (const std::string& each : messages) said += frame('\x81', each);
        said += frame('\x88', std::string{"\x03\xe8", 2});
        const plain_connection page{port_of(host_)};
        page.say(said);
        return page.rest();
    }
    [[nodiscard]] std::string hears(const std::vector<std::string>& messages) const {
        return hears(messages, "http://" + host_);
    }

    [[nodiscard]] int end() {
        process_.send(SIGTERM);
        return process_.wait();
    }

private:
    // Masked by zero, as RFC 6455 5.3 lets a client choose.
    static std::string frame(char kind, const std::string& payload) {
        std::string made{kind};
        if (payload.size() < 126) {
            made += static_cast<char>(0x80U | payload.size());
        } else {
            made += static_cast<char>(0x80U | 126U);
            made += static_cast<char>(payload.size() >> 8U);
            made += static_cast<char>(payload.size() & 0xffU);
        }
        return made + std::string(4, '\0') + payload;
    }

    written_config config_;
    gyre::testing::program process_;
    std::string host_;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string login = R"({"message":"login","username":"ops","password":"operator"})";
const std::string halt = R"({"message":"set_phase","instrument":1,"phase":"halted"})";

}  // namespace

TEST_CASE("an operator commands from the page, and the exchange answers each command") {
    running_exchange exchange{backends().front()};
    running_page page{exchange};
    const std::string heard =
        page.hears({login, halt, R"({"message":"set_phase","instrument":99,"phase":"halted"})",
                    R"({"message":"enter_order","instrument":1})",
                    R"({"message":"set_account_state","account":1,"state":"blocked"})"});
    CHECK_MESSAGE(has(heard, R"({"message":"login_accepted"})"), heard);
    CHECK_MESSAGE(
        has(heard,
            R"({"command":"set_phase","message":"answer","outcome":"accepted","subject":1})"),
        heard);
    CHECK_MESSAGE(has(heard, R"("outcome":"refused","reason":"unknown_instrument","subject":99)"),
                  heard);
    CHECK_MESSAGE(has(heard, "message: expected one of"), heard);
    CHECK_MESSAGE(
        has(heard,
            R"({"command":"set_account_state","message":"answer","outcome":"accepted","subject":1})"),
        heard);

    CHECK(has(exchange.ctl({"show", "book", "1"}).text, "instrument 1, halted"));
    CHECK(has(exchange.ctl({"show", "accounts", "--account", "1"}).text, "blocked"));
    const std::string trail = exchange.trail();
    CHECK_MESSAGE(has(trail, "set_account_state"), trail);
    CHECK(page.end() == 0);
}

TEST_CASE("only an operator commands from the page, and no page of another site") {
    running_exchange exchange{backends().front()};
    running_page page{exchange};
    const std::string wrong =
        page.hears({R"({"message":"login","username":"ops","password":"wrong"})", halt});
    CHECK_MESSAGE(has(wrong, "wrong name or password"), wrong);
    const std::string trader =
        page.hears({R"({"message":"login","username":"alice","password":"secret"})", halt});
    CHECK_MESSAGE(has(trader, "no operator's"), trader);
    CHECK_FALSE(has(trader, "login_accepted"));
    const std::string unasked = page.hears({halt, login, halt});
    CHECK_MESSAGE(has(unasked, "login_rejected"), unasked);
    CHECK_FALSE(has(unasked, "accepted"));
    CHECK(page.hears({login, halt}, "http://evil.example").starts_with("HTTP/1.1 403"));
    CHECK(has(exchange.ctl({"show", "book", "1"}).text, "instrument 1, continuous"));
    CHECK(page.end() == 0);
}
