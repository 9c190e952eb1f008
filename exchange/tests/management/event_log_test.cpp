// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/event_log.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

using namespace exchange;

namespace {

// A pipe whose end is read: what was written to it, line by line.
class listened {
public:
    listened() { REQUIRE(::pipe2(ends_.data(), O_NONBLOCK) == 0); }
    listened(const listened&) = delete;
    listened& operator=(const listened&) = delete;
    ~listened() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    [[nodiscard]] int descriptor() const { return ends_[1]; }
    [[nodiscard]] std::string text() const {
        std::array<char, 1 << 16> bytes;
        const ssize_t got = ::read(ends_[0], bytes.data(), bytes.size());
        return got > 0 ? std::string{bytes.data(), static_cast<std::size_t>(got)} : std::string{};
    }

private:
    std::array<int, 2> ends_{};
};

}  // namespace

TEST_CASE("event_log: an event is a line of JSON with a time, a level and its fields") {
    listened to;
    event_log log{to.descriptor(), "gateway"};
    log.info("link_lost", {{"facility", "127.0.0.1:7005"},
                           {"attempt", 3},
                           {"least", std::numeric_limits<std::int64_t>::min()},
                           {"most", std::numeric_limits<std::uint64_t>::max()},
                           {"drained", false}});
    const std::string text = to.text();
    REQUIRE(text.ends_with("\n"));
    const auto line = nlohmann::json::parse(text);
    CHECK(line["level"] == "info");
    CHECK(line["process"] == "gateway");
    CHECK(line["event"] == "link_lost");
    CHECK(line["facility"] == "127.0.0.1:7005");
    CHECK(line["attempt"] == 3);
    CHECK(line["least"] == std::numeric_limits<std::int64_t>::min());
    CHECK(line["most"] == std::numeric_limits<std::uint64_t>::max());
    CHECK(line["drained"] == false);
    const std::string time = line["time"];
    REQUIRE(time.size() == 27);
    CHECK(time[10] == 'T');
    CHECK(time[26] == 'Z');
    CHECK(time.substr(0, 2) == "20");
}

TEST_CASE("event_log: whatever a peer sent stays within its text, and its line") {
    listened to;
    event_log log{to.descriptor(), "gateway"};
    const std::string hostile = "a\"b\\c\n{\"level\":\"error\"}\r\x01\x7f\xff\xc3";
    log.warning("login_refused", {{"user", hostile}});
    const std::string text = to.text();
    CHECK(text.find('\n') == text.size() - 1);
    const auto line = nlohmann::json::parse(text);
    CHECK(line["level"] == "warning");
    CHECK(std::string{line["user"]}.starts_with("a\"b\\c\n{\"level\":\"error\"}\r"));
}

TEST_CASE("event_log: below its level nothing is told, and nowhere is a place") {
    listened to;
    event_log log{to.descriptor(), "facility", log_level::warning};
    log.debug("a");
    log.info("b");
    CHECK(to.text().empty());
    log.error("c");
    CHECK(nlohmann::json::parse(to.text())["event"] == "c");
    event_log nowhere{-1, "facility", log_level::debug};
    nowhere.error("d");
    CHECK(nowhere.lost() == 0);
}

TEST_CASE("event_log: long text is cut, and a line that is too long says so") {
    listened to;
    event_log log{to.descriptor(), "facility"};
    log.info("a", {{"text", std::string(10'000, 'x')}});
    const std::string cut = nlohmann::json::parse(to.text())["text"];
    CHECK(cut == std::string(event_log::text_bytes_max, 'x') + "...");
    const std::string long_one(event_log::text_bytes_max, '\x01');  // Six characters each.
    log.info("b", {{"one", long_one}, {"two", long_one}, {"three", long_one}});
    const auto line = nlohmann::json::parse(to.text());
    CHECK(line["event"] == "b");
    CHECK(line["cut"] == true);
    CHECK_FALSE(line.contains("one"));
}

TEST_CASE("event_log: lines that cannot be written are counted, and no reader is waited for") {
    listened to;
    REQUIRE(::fcntl(to.descriptor(), F_SETFL, 0) == 0);  // So a write into a full pipe would wait.
    event_log log{to.descriptor(), "facility"};
    const std::string text(event_log::text_bytes_max, 'x');
    int written = 0;
    while (log.lost() == 0 && written < 10'000) {
        log.info("a", {{"text", text}});
        ++written;
    }
    CHECK(log.lost() == 1);
    CHECK(written > 10);
    CHECK_FALSE(to.text().empty());
    log.info("b");
    CHECK(log.lost() == 1);
    CHECK(to.text().ends_with("\"event\":\"b\"}\n"));
}

TEST_CASE("event_log: levels have names") {
    CHECK(find_log_level("warning") == log_level::warning);
    CHECK_FALSE(find_log_level("loud"));
    CHECK(describe(log_level::debug) == "debug");
    CHECK(all_log_levels() == "debug, info, warning, error");
}
