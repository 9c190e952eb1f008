// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/login_log.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

using namespace exchange;

namespace {

// A pipe whose end is read: the lines that were written to it.
class read_log {
public:
    read_log() { REQUIRE(::pipe2(ends_.data(), O_NONBLOCK) == 0); }
    read_log(const read_log&) = delete;
    read_log& operator=(const read_log&) = delete;
    ~read_log() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    [[nodiscard]] int descriptor() const { return ends_[1]; }
    [[nodiscard]] std::vector<nlohmann::json> lines() const {
        std::array<char, 1 << 16> bytes;
        const ssize_t got = ::read(ends_[0], bytes.data(), bytes.size());
        std::string rest{bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
        std::vector<nlohmann::json> made;
        for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
            made.push_back(nlohmann::json::parse(rest.substr(0, end)));
            rest.erase(0, end + 1);
        }
        return made;
    }

private:
    std::array<int, 2> ends_{};
};

}  // namespace

TEST_CASE("login_log: a line says whose login was refused, why, and for what it asked") {
    read_log to;
    event_log log{to.descriptor(), "facility"};
    login_log logins{log};
    logins.refused({.user = "alice",
                    .why = login_refusal::other_life,
                    .peer = gyre::endpoint::parse("127.0.0.1:4711").value(),
                    .session = session_id{7},
                    .life = "NIGHT",
                    .sequence = 42});
    const auto told = to.lines();
    REQUIRE(told.size() == 1);
    CHECK(told[0]["level"] == "warning");
    CHECK(told[0]["event"] == "login_refused");
    CHECK(told[0]["user"] == "alice");
    CHECK(told[0]["session"] == 7);
    CHECK(told[0]["why"] == "other_life");
    CHECK(told[0]["address"] == "127.0.0.1:4711");
    CHECK(told[0]["life"] == "NIGHT");
    CHECK(told[0]["sequence"] == 42);
    CHECK(told[0]["untold"] == 0);
}

TEST_CASE("login_log: of very many a bounded number is told") {
    read_log to;
    event_log log{to.descriptor(), "facility"};
    login_log logins{log};
    const auto begun = log_limit::clock::now();
    for (int each = 0; each < 100; ++each)
        logins.refused({.user = "mallory", .why = login_refusal::unknown_user});
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(log_limit::clock::now() - begun);
    const auto told = to.lines().size();
    CHECK(told >= 10);
    CHECK(told <= 10U * static_cast<unsigned>(seconds.count() + 1));
}

TEST_CASE("login_log: each reason has a word of its own") {
    std::vector<std::string_view> words;
    for (int each = 0; each <= static_cast<int>(login_refusal::no_place); ++each) {
        const std::string_view word = describe(static_cast<login_refusal>(each));
        CHECK(std::ranges::count(words, word) == 0);
        CHECK(word != "unknown");
        words.push_back(word);
    }
}
