// SPDX-License-Identifier: BSL-1.0
//
// The three programs together, used as exchange/docs/run.md says.
#include <exchange/tests/net/silent_host.hpp>
#include <exchange/tests/programs/running_exchange.hpp>

#include <exchange/codec/soup_framer.hpp>
#include <exchange/codec/soup_packet.hpp>
#include <exchange/management/lifeline.hpp>

#include <gyre/base/build.hpp>
#include <support/harness.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::testing::program;

namespace {

void check_accepted(const running_exchange& on, const std::vector<std::string>& words) {
    const auto [status, text] = on.ctl(words);
    CHECK_MESSAGE(status == 0, text);
    CHECK_MESSAGE(text.starts_with("accepted: "), text);
}

void check_refused(const running_exchange& on, const std::vector<std::string>& words,
                   const std::string& reason) {
    const auto [status, text] = on.ctl(words);
    CHECK_MESSAGE(status == 1, text);
    CHECK_MESSAGE(text.starts_with("refused: "), text);
    CHECK_MESSAGE(text.find(reason) != std::string::npos, text);
}

nlohmann::json parse_list(const running_exchange& on, std::vector<std::string> words) {
    words.emplace_back("--json");
    const auto [status, text] = on.ctl(words);
    REQUIRE_MESSAGE(status == 0, text);
    return nlohmann::json::parse(text);
}

/// Of digits as a string, as what can be large is listed.
std::int64_t integer_of(const nlohmann::json& digits) {
    return std::stoll(digits.get<std::string>());
}

/// Of each market, what all accounts hold together.
std::map<int, std::int64_t> sums_of(const nlohmann::json& held) {
    std::map<int, std::int64_t> sums;
    for (const nlohmann::json& each : held["positions"])
        sums[each["instrument"].get<int>()] += each["position"].get<std::int64_t>();
    return sums;
}

/// A client that logs in and hears what there is, up to a packet of the type `until` or to the end.
class lone_client {
public:
    explicit lone_client(const std::string& where, std::string_view password = "secret")
        : socket_{gyre::testing::plain_connect(gyre::endpoint::parse(where).value())} {
        const auto login = format_soup_login(
            {.username = "alice", .password = password, .session = {}, .sequence = 1});
        std::array<std::byte, soup_header_bytes> header;
        write_soup_header(header, soup_type::login_request, login.size());
        send(header);
        send(login);
    }
    lone_client(const lone_client&) = delete;
    lone_client& operator=(const lone_client&) = delete;
    ~lone_client() { ::close(socket_); }

    [[nodiscard]] bool hears(soup_type until) {
        for (;;) {
            const soup_framed framed = framer_.next();
            if (framed.complete && framed.packet.type == until) return true;
            if (framed.complete) continue;
            const std::span<std::byte> space = framer_.space();
            const ssize_t size = ::recv(socket_, space.data(), space.size(), 0);
            if (size <= 0) return false;
            framer_.received(static_cast<std::size_t>(size));
        }
    }

private:
    void send(std::span<const std::byte> bytes) const {
        REQUIRE(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize(bytes));
    }

    int socket_;
    soup_framer framer_{};
};

}  // namespace

TEST_CASE("an exchange is opened, traded on, halted and ended, on every backend") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        running_exchange it{backend};
        CHECK(it.ready_line().find(", backend " + backend + ", life ") != std::string::npos);

        check_accepted(it, {"define", "product", "3", "--multiplier", "5", "--tick", "0:5"});
        check_accepted(it, {"define", "instrument", "3", "--product", "3"});
        check_accepted(it, {"phase", "3", "continuous"});
        check_refused(it, {"define", "instrument", "3", "--product", "3"}, "already_defined");
        check_refused(it, {"phase", "9", "continuous"}, "unknown_instrument");

        const auto [traded, report] = it.load({"--orders", "5000", "--seed", "1"});
        CHECK_MESSAGE(traded == 0, report);
        CHECK_MESSAGE(report.find("everything agrees") != std::string::npos, report);
        CHECK_MESSAGE(report.find("sent 5000 messages") != std::string::npos, report);

        check_accepted(it, {"phase", "1", "halted"});
        check_accepted(it, {"phase", "2", "halted"});
        const auto [halted, refusals] = it.load({"--orders", "50", "--seed", "2"});
        CHECK_MESSAGE(halted == 0, refusals);
        CHECK_MESSAGE(refusals.find("market_halted 50") != std::string::npos, refusals);

        it.facility().send(SIGTERM);
        const std::string summary = it.facility().rest_of_output();
        CHECK(it.facility().wait() == 0);
        CHECK_MESSAGE(summary.starts_with("commands "), summary);
        CHECK_MESSAGE(summary.find("malformed 0,") != std::string::npos, summary);
        CHECK_MESSAGE(summary.find("lost unsent 0,") != std::string::npos, summary);
    }
}

TEST_CASE("the book that the operator is shown has the levels that traders left") {
    running_exchange it{"gyre_epoll"};
    CHECK(it.ctl({"show", "book", "1"}).text == "instrument 1, continuous, feed from 3\n");
    REQUIRE(it.load({"--orders", "3000", "--seed", "7", "--instrument", "1"}).status == 0);

    const auto [status, all] = it.ctl({"show", "book", "1", "--levels", "0"});
    const auto [also, best] = it.ctl({"show", "book", "1", "--levels", "1"});
    const auto [refused, why] = it.ctl({"show", "book", "9"});

    CHECK(status == 0);
    CHECK(also == 0);
    CHECK(all.starts_with("instrument 1, continuous, feed from "));
    const std::size_t lines = static_cast<std::size_t>(std::ranges::count(all, '\n'));
    CHECK_MESSAGE(lines > 10, all);
    CHECK_MESSAGE(all.find("\nask ") < all.find("\nbid "), all);
    CHECK_MESSAGE(std::ranges::count(best, '\n') == 3, best);
    CHECK_MESSAGE(best.find(" orders\n") != std::string::npos, best);
    CHECK(refused == 1);
    CHECK(why == "refused: show book 9: unknown_instrument\n");
}

TEST_CASE("blocking an account cancels its orders and refuses new ones until it is active again") {
    running_exchange it{"gyre_epoll"};
    for (const char* account : {"1", "2", "3"}) check_accepted(it, {"account", account, "blocked"});
    const auto [status, report] = it.load({"--orders", "60", "--seed", "3"});
    CHECK_MESSAGE(status == 0, report);
    CHECK_MESSAGE(report.find("account_blocked 60") != std::string::npos, report);
    for (const char* account : {"1", "2", "3"}) check_accepted(it, {"account", account, "active"});
    const auto [again, traded] = it.load({"--orders", "60", "--seed", "3", "--clean"});
    CHECK_MESSAGE(again == 0, traded);
    CHECK_MESSAGE(traded.find("resting 0,") != std::string::npos, traded);
    check_accepted(it, {"settle", "1", "1200"});
    check_accepted(it, {"end-day", "1"});
    check_accepted(it, {"end-session", "1"});
}

TEST_CASE("lists show who is there and what is traded, as tables and as JSON") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        // A pace at which the tool has to wait between two pages.
        running_exchange it{backend, [](nlohmann::json& how) {
                                how["order_entry"]["queries_per_second_max"] = 50;
                                how["order_entry"]["query_burst_max"] = 1;
                            }};
        REQUIRE(it.load({"--orders", "3000", "--seed", "7"}).status == 0);

        const auto orders = parse_list(it, {"show", "orders", "--account", "1"})["orders"];
        CHECK(orders.size() > 32);  // More than a page has.
        for (const auto& each : orders) CHECK(each["account"] == 1);
        const auto in_two =
            parse_list(it, {"show", "orders", "--account", "1", "--instrument", "2"});
        CHECK(in_two["orders"].size() < orders.size());
        const auto accounts = parse_list(it, {"show", "accounts"})["accounts"];
        REQUIRE(accounts.size() == 4);
        CHECK(accounts[0]["open_orders"] == orders.size());
        const auto instruments = parse_list(it, {"show", "instruments"})["instruments"];
        REQUIRE(instruments.size() == 2);
        CHECK(instruments[0]["trades"] > 0);
        CHECK(parse_list(it, {"show", "products"})["products"][1]["ticks"][0]["step"] == 5);
        const auto sessions = parse_list(it, {"show", "sessions"})["sessions"];
        REQUIRE(sessions.size() == 4);
        CHECK(sessions[0]["logged_in"] == false);
        CHECK(integer_of(sessions[0]["last_client_seq"]) > 1);

        const auto [status, table] = it.ctl({"show", "positions", "--account", "2"});
        CHECK(status == 0);
        CHECK_MESSAGE(table.starts_with("account  instrument  position"), table);
        CHECK_MESSAGE(std::ranges::count(table, '\n') > 1, table);
        const auto [both, book] = it.ctl({"show", "book", "1", "--levels", "1"});  // Two questions.
        CHECK_MESSAGE(both == 0, book);
        check_refused(it, {"show", "orders", "--account", "9"}, "unknown_account");
        check_refused(it, {"show", "positions", "--instrument", "9"}, "unknown_instrument");
    }
}

TEST_CASE("positions of one life begin the next, by a file that the tool has printed") {
    std::string positions;
    nlohmann::json held;
    {
        running_exchange it{"gyre_epoll"};
        REQUIRE(it.load({"--orders", "3000", "--seed", "9", "--clean"}).status == 0);
        positions = it.ctl({"show", "positions", "--json"}).text;
        held = nlohmann::json::parse(positions);
        REQUIRE(held["positions"].size() > 1);
    }

    const written_config file{positions};
    running_exchange next{"gyre_epoll",
                          [&](nlohmann::json& how) { how["start_of_day"] = file.path(); }};
    CHECK(next.ctl({"show", "positions", "--json"}).text == positions);

    // They are positions as any other: trades add to them.
    REQUIRE(next.load({"--orders", "3000", "--seed", "10", "--clean"}).status == 0);
    const auto later = nlohmann::json::parse(next.ctl({"show", "positions", "--json"}).text);
    CHECK(later != held);
    for (const auto& [market, sum] : sums_of(later)) CHECK(sum == 0);  // One buys, another sells.
}

TEST_CASE("terms are changed, positions taken over and things taken out of use while it runs") {
    running_exchange it{"gyre_epoll"};
    CHECK(it.ctl({"change", "account", "3", "--position-max", "1000"}).text ==
          "accepted: change_account 3\n");
    check_accepted(it, {"change", "instrument", "2", "--market-band", "100"});
    check_refused(it, {"change", "product", "1", "--multiplier", "3"}, "not_changeable");
    check_refused(it, {"change", "account", "9", "--firm", "1"}, "unknown_account");
    const auto [unknown, why] = it.ctl({"change", "account", "9"});
    CHECK(unknown == 2);
    CHECK_MESSAGE(why.find("--firm") != std::string::npos, why);

    check_refused(it, {"position", "1", "1", "-5"}, "not_permitted");
    check_accepted(it, {"phase", "1", "closed"});
    CHECK(it.ctl({"position", "1", "1", "-5"}).text == "accepted: set_position 1\n");
    CHECK(it.ctl({"expire"}).text == "accepted: expire_instruments\n");
    CHECK(it.ctl({"retire", "session", "3"}).text == "accepted: retire_session 3\n");
    check_refused(it, {"retire", "session", "3"}, "out_of_use");
    check_accepted(it, {"retire", "instrument", "2"});
    check_refused(it, {"phase", "2", "continuous"}, "out_of_use");
    CHECK(it.ctl({"show", "book", "2"}).text.starts_with("instrument 2, ended, feed from "));
}

TEST_CASE("a day has an opening auction, a report, and a trade that is busted") {
    running_exchange it{"gyre_epoll"};
    check_accepted(it, {"phase", "1", "pre_open"});
    const auto [loaded, said] = it.load({"--orders", "1500", "--seed", "3"});
    REQUIRE_MESSAGE(loaded == 0, said);
    CHECK_MESSAGE(said.find("not_in_auction") != std::string::npos, said);
    CHECK(it.ctl({"show", "book", "1"}).text.starts_with("instrument 1, pre_open, feed from "));
    const auto of_market = [&](const std::string& market) {
        return parse_list(it, {"report", "--instrument", market})["report"];
    };
    const auto trades_of = [](const nlohmann::json& report) {
        std::uint64_t trades = 0;
        for (const nlohmann::json& each : report) trades += each["trades"].get<std::uint64_t>();
        return trades;
    };
    CHECK(trades_of(of_market("1")) == 0);

    check_refused(it, {"uncross", "2"}, "no_auction");
    check_accepted(it, {"uncross", "1"});

    CHECK(it.ctl({"show", "book", "1"}).text.starts_with("instrument 1, continuous, feed from "));
    const nlohmann::json report = of_market("1");
    std::int64_t bought = 0;
    std::int64_t sold = 0;
    std::int64_t value = 0;
    for (const nlohmann::json& each : report) {
        bought += integer_of(each["bought"]);
        sold += integer_of(each["sold"]);
        value += integer_of(each["bought_value"]) - integer_of(each["sold_value"]);
        CHECK(integer_of(each["position_end"]) == integer_of(each["position_begin"]) +
                                                      integer_of(each["bought"]) -
                                                      integer_of(each["sold"]));
    }
    CHECK(bought > 0);
    CHECK(bought == sold);
    CHECK(value == 0);
    // All at one price, which is the last one; the multiplier of the product is 10.
    const auto last = parse_list(it, {"show", "instruments"})["instruments"][0]["last"];
    CHECK(integer_of(report[0]["bought_value"]) ==
          10 * last.get<std::int64_t>() * integer_of(report[0]["bought"]));

    // The other market trades all the time, so the first trade is one of its own.
    const std::uint64_t before = trades_of(of_market("2"));
    check_refused(it, {"bust", "1", "1"}, "unknown_trade");
    check_accepted(it, {"bust", "2", "1"});
    check_refused(it, {"bust", "2", "1"}, "already_busted");
    CHECK(trades_of(of_market("2")) == before - 2);

    check_accepted(it, {"phase", "1", "closing_auction"});
    check_accepted(it, {"uncross", "1"});
    CHECK(it.ctl({"show", "book", "1"}).text.starts_with("instrument 1, closed, feed from "));
    CHECK(of_market("1") == report);
    check_accepted(it, {"interruption", "2", "5", "--duration-ns", "1000000"});
    check_accepted(it, {"advance-phases"});
}

TEST_CASE("a bad configuration starts nothing, says everything that is wrong, and ends with 2") {
    const written_config bad{sample_text([](nlohmann::json& it) {
        it["backend"] = "kqueue";
        it["limits"]["orders"] = 5;
    })};
    const std::string expected = bad.path() +
                                 ": backend: expected one of gyre_uring, gyre_epoll, "
                                 "but found \"kqueue\"\n" +
                                 bad.path() +
                                 ": limits.orders: unknown key; there are accounts_max, ";
    for (const std::string path :
         {EXCHANGE_MATCHING_FACILITY, EXCHANGE_EXCHANGE_CTL, EXCHANGE_LOAD_GENERATOR}) {
        CAPTURE(path);
        std::vector<std::string> words{"--config", bad.path(), "--credentials",
                                       EXCHANGE_SAMPLE_FOLDER "/passwords.json"};
        if (path == EXCHANGE_MATCHING_FACILITY) words = {bad.path(), "--check"};
        if (path == EXCHANGE_EXCHANGE_CTL) words.insert(words.end(), {"phase", "1", "halted"});
        const auto [status, text] = outcome_of(path, words);
        CHECK(status == 2);
        CHECK_MESSAGE(text.starts_with(expected), text);
    }
    CHECK(outcome_of(EXCHANGE_MATCHING_FACILITY, {bad.path()}).status == 2);
    CHECK(outcome_of(EXCHANGE_MATCHING_FACILITY, {"/nowhere"}).text ==
          "/nowhere: cannot be read\n");
    CHECK(outcome_of(EXCHANGE_MATCHING_FACILITY, {}).status == 2);
    CHECK(outcome_of(EXCHANGE_MATCHING_FACILITY, {"--help"}).status == 0);
    const auto [status, text] =
        outcome_of(EXCHANGE_MATCHING_FACILITY, {EXCHANGE_SAMPLE, "--check"});
    CHECK_MESSAGE(status == 0, text);
    CHECK_MESSAGE(text.starts_with(EXCHANGE_SAMPLE ": in order, needs at most "), text);
}

TEST_CASE(
    "a configuration that needs more memory than there is starts nothing, and says what to lower") {
    const written_config greedy{sample_text([](nlohmann::json& it) {
        it["order_entry"]["stream_memory_max"] = std::int64_t{1} << 40;
    })};
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{greedy.path(), "--check"}, {greedy.path()}}) {
        const auto [status, text] = outcome_of(EXCHANGE_MATCHING_FACILITY, words);
        CHECK(status == 2);
        CHECK_MESSAGE(
            text.starts_with(greedy.path() + ": order_entry.stream_memory_max: expected less: the "
                                             "facility needs at most 10"),
            text);
        CHECK_MESSAGE(text.find("streams 1048") != std::string::npos, text);
    }
    // Traders and operators need none of it.
    CHECK(outcome_of(EXCHANGE_EXCHANGE_CTL, {"-c", greedy.path(), "phase", "1", "open"}).status ==
          2);
}

TEST_CASE("memory that a limit of the process forbids is missed before the start") {
    if (!gyre::recycles_memory) return gyre::testing::skip("a sanitizer needs more than any limit");
    const auto [status, text] =
        outcome_of("/bin/sh", {"-c", "ulimit -v 150000; exec \"$0\" \"$1\"",
                               EXCHANGE_MATCHING_FACILITY, EXCHANGE_SAMPLE});
    CHECK(status == 2);
    CHECK_MESSAGE(text.find("a limit of the process does not allow it") != std::string::npos, text);
}

TEST_CASE("descriptors that a limit of the process forbids are missed before the start") {
    const written_config crowded{
        sample_text([](nlohmann::json& it) { it["order_entry"]["connections_max"] = 2'000; })};
    const auto with_limits = [&](const std::string& limits) {
        return outcome_of("/bin/sh", {"-c", limits + "; exec \"$0\" \"$1\" --check",
                                      EXCHANGE_MATCHING_FACILITY, crowded.path()});
    };
    const auto [status, text] = with_limits("ulimit -n 2000");
    CHECK(status == 2);
    CHECK_MESSAGE(text.starts_with(crowded.path() + ": order_entry.connections_max: expected less: "
                                                    "the process may have 2064 descriptors open"),
                  text);
    // Of the soft limit it is its own master.
    CHECK(with_limits("ulimit -Sn 100").status == 0);
}

TEST_CASE("what is reserved and not used is taken from nobody") {
    if (!gyre::recycles_memory) return gyre::testing::skip("a sanitizer uses what it watches");
    const written_config large{sample_text([](nlohmann::json& it) {
        it["limits"]["orders_max"] = 4'000'000;  // 300 MiB.
        it["order_entry"]["connections_max"] = 2'000;
        it["operators"]["audit_file"] =
            "/dev/null";  // Else its first line says that there is none.
    })};
    // Nor does the allocator fill it, as it does where tests run.
    program it{"/bin/sh",
               {"-c", "echo $$; exec \"$0\" \"$1\"", EXCHANGE_MATCHING_FACILITY, large.path()},
               {{"MALLOC_PERTURB_", "0"}}};
    const std::string id = it.next_line();
    CHECK(it.next_line().starts_with("ready: "));

    const std::string status = gyre::testing::text_of_file("/proc/" + id + "/status");
    const std::size_t at = status.find("VmRSS:");
    REQUIRE(at != std::string::npos);
    CHECK_MESSAGE(std::stoul(status.substr(at + 6)) < 100 * 1024, status.substr(at, 30));

    it.send(SIGTERM);
    CHECK(it.wait() == 0);
}

TEST_CASE("a wrong password is reported as wrong, and a missing exchange as unreachable") {
    running_exchange it{"gyre_epoll"};
    const written_config wrong{sample_passwords([](nlohmann::json& other) {
        for (nlohmann::json& each : other["users"]) each["password"] = "guess";
    })};

    const auto ctl = outcome_of(EXCHANGE_EXCHANGE_CTL,
                                {"-c", it.config_path(), "--order-entry", it.order_entry(),
                                 "--credentials", wrong.path(), "phase", "1", "halted"});
    CHECK(ctl.status == 3);
    CHECK(ctl.text == "exchange_ctl: " + it.order_entry() +
                          " as ops: the login is refused: wrong name or password\n");
    const auto load =
        outcome_of(EXCHANGE_LOAD_GENERATOR,
                   {"-c", it.config_path(), "--order-entry", it.order_entry(), "--requests",
                    it.requests(), "--credentials", wrong.path(), "--seed", "1"});
    CHECK(load.status == 3);
    CHECK(load.text ==
          "seed 1\nload_generator: " + it.order_entry() + " as alice: wrong name or password\n");

    it.facility().send(SIGTERM);
    CHECK(it.facility().wait() == 0);
    const auto unreachable = it.ctl({"--timeout", "0.1", "phase", "1", "halted"});
    CHECK(unreachable.status == 3);
    CHECK(unreachable.text == "exchange_ctl: " + it.order_entry() + " as ops: cannot be reached\n");
}

TEST_CASE("an exchange whose host answers nothing is given up when the time has passed") {
    const silent_host silent;
    const std::string where = silent.where().to_string();
    const written_config passwords{sample_passwords()};
    const auto begun = std::chrono::steady_clock::now();

    const auto [status, text] = outcome_of(
        EXCHANGE_EXCHANGE_CTL, {"-c", EXCHANGE_SAMPLE, "--order-entry", where, "--credentials",
                                passwords.path(), "--timeout", "0.1", "phase", "1", "halted"});

    CHECK(status == 3);
    CHECK(text == "exchange_ctl: " + where + " as ops: cannot be reached\n");
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{60});
}

TEST_CASE("a load that is asked to end settles what it has begun, and says whether all agrees") {
    running_exchange it{backends().front()};
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{}, std::vector<std::string>{"--rate", "500"}}) {
        for (const int signal : {SIGINT, SIGTERM}) {
            CAPTURE(signal);
            std::vector<std::string> words{"--orders", "1000000000", "--seed", "1", "--clean"};
            words.insert(words.end(), how.begin(), how.end());
            program load = it.start_load(std::move(words));
            CHECK(load.next_line() == "seed 1");
            CHECK(load.next_line() == "ready: 3 traders");

            load.send(signal);
            const auto [status, text] = outcome_of(load);

            CHECK_MESSAGE(status == 0, text);
            CHECK_MESSAGE(text.find("everything agrees") != std::string::npos, text);
            CHECK_MESSAGE(text.find("resting 0,") != std::string::npos, text);
        }
    }
}

TEST_CASE("a load whose exchange dies gives up, says so, and still tells what it did") {
    for (const int how : {SIGKILL, SIGSTOP}) {
        CAPTURE(how);
        running_exchange it{backends().front()};
        program load = it.start_load({"--orders", "1000000000", "--seed", "1", "--timeout", "2"});
        // It trades once there are orders.
        while (it.ctl({"show", "book", "1"}).text.find("\nbid ") == std::string::npos) {
        }

        it.facility().send(how);
        const auto [status, text] = outcome_of(load);

        CHECK_MESSAGE(status == 3, text);
        CHECK_MESSAGE(text.find("nothing could be sent for 2 s") != std::string::npos, text);
        CHECK_MESSAGE(text.find("answered after p50") != std::string::npos, text);
    }
}

TEST_CASE("several operators at once all hear their answers, and the trail has who did what") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        const running_exchange it{backend};
        const char* const users[] = {"ops", "floor", "eye"};
        std::deque<program> all;
        for (int each = 0; each < 12; ++each)
            all.emplace_back(EXCHANGE_EXCHANGE_CTL,
                             it.ctl_words({"--user", users[each % 3], "settle", "1",
                                           std::to_string(1000 + each)}));
        for (int each = 0; each < 12; ++each) {
            const auto [status, text] = outcome_of(all[static_cast<std::size_t>(each)]);
            CAPTURE(text);
            CHECK(status == (each % 3 == 2 ? 1 : 0));
            CHECK(text == (each % 3 == 2 ? "refused: set_settlement_price 1: not_permitted\n"
                                         : "accepted: set_settlement_price 1\n"));
        }
        CHECK(it.ctl({"--user", "eye", "show", "book", "1"}).status == 0);

        const std::string trail = it.trail();
        CAPTURE(trail);
        CHECK(trail.find(R"("user":"exchange","command":"define_product","product":1)") !=
              std::string::npos);
        for (int each = 0; each < 12; ++each)
            CHECK(trail.find(R"("settlement_price":)" + std::to_string(1000 + each) + "}") !=
                  std::string::npos);
        CHECK(trail.find(R"("user":"eye","role":"viewer")") != std::string::npos);
        CHECK(trail.find(R"("answer":"rejected","reason":"not_permitted"})") != std::string::npos);
    }
}

TEST_CASE("who gives a command is told by a file or by the environment, and passwords are hashed") {
    const running_exchange it{"gyre_epoll"};
    check_refused(it, {"--user", "risk", "phase", "1", "halted"}, "not_permitted");
    check_accepted(it, {"--user", "risk", "change", "account", "3", "--open-orders-max", "10"});
    const auto [status, text] = it.ctl({"--user", "nobody", "expire"});
    CHECK(status == 2);
    CHECK_MESSAGE(text.ends_with(" has no operator nobody: a user without a session\n"), text);
    const auto bare =
        outcome_of(EXCHANGE_EXCHANGE_CTL, {"-c", it.config_path(), "--user", "ops", "expire"});
    CHECK(bare.status == 2);
    CHECK_MESSAGE(bare.text.find("EXCHANGE_PASSWORD") != std::string::npos, bare.text);
    CHECK(outcome_of(EXCHANGE_EXCHANGE_CTL, {"expire"}).text ==
          "exchange_ctl: --config is required\n");
    const auto open =
        outcome_of(EXCHANGE_EXCHANGE_CTL,
                   {"-c", it.config_path(), "--order-entry", it.order_entry(), "--credentials",
                    EXCHANGE_SAMPLE_FOLDER "/passwords.json", "expire"});
    CHECK(open.status == 0);
    program by_environment{
        EXCHANGE_EXCHANGE_CTL,
        {"-c", it.config_path(), "--order-entry", it.order_entry(), "--user", "ops", "expire"},
        {{"EXCHANGE_PASSWORD", "operator"}}};
    CHECK(outcome_of(by_environment).text == "accepted: expire_instruments\n");
    program hashed{EXCHANGE_EXCHANGE_CTL, {"hash-password"}, {}, "secret\n"};
    CHECK(outcome_of(hashed).text.starts_with("$5$rounds=1000$"));
    program too_long{EXCHANGE_EXCHANGE_CTL, {"hash-password"}, {}, "12345678901\n"};
    CHECK(outcome_of(too_long).status == 2);
}

TEST_CASE("who may log in is changed while the exchange runs") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        const running_exchange it{backend};
        const auto with_password = [&](std::vector<std::string> words) {
            program ctl{EXCHANGE_EXCHANGE_CTL, it.ctl_words(std::move(words)), {}, "word\n"};
            return outcome_of(ctl).text;
        };
        check_accepted(it, {"participant", "remove", "alice"});
        CHECK(it.load({"--orders", "10"}).status == 3);
        CHECK(with_password({"participant", "add", "dora", "--session", "1"}) ==
              "accepted: define_participant dora\n");
        CHECK(with_password({"participant", "add", "dora", "--session", "4"}) ==
              "refused: define_participant dora: name_taken\n");
        CHECK(with_password({"--user", "risk", "participant", "change", "dora", "--session",
                             "4"}) == "refused: change_participant dora: not_permitted\n");
        const written_config theirs{sample_passwords([](nlohmann::json& other) {
            other["users"][0] = {{"username", "dora"}, {"password", "word"}, {"session", 1}};
        })};
        const auto [traded, report] = outcome_of(
            EXCHANGE_LOAD_GENERATOR,
            {"--config", it.config_path(), "--order-entry", it.order_entry(), "--requests",
             it.requests(), "--credentials", theirs.path(), "--orders", "300", "--seed", "1"});
        CHECK_MESSAGE(traded == 0, report);
        CHECK(it.trail().find("$5$") == std::string::npos);
        CHECK(it.trail().find(R"("command":"define_participant","username":"dora","session":1)") !=
              std::string::npos);
    }
}

TEST_CASE("who reads the log may hang or go away: the exchange goes on") {
    std::array<int, 2> log{};
    REQUIRE(::pipe2(log.data(), O_NONBLOCK) == 0);
    while (::write(log[1], log.data(), sizeof log) > 0) {
    }
    REQUIRE(::fcntl(log[1], F_SETFL, 0) == 0);  // It is full, and a write would wait.
    const written_config config{
        sample_text([](nlohmann::json& it) { it["log"]["level"] = "debug"; })};
    program facility{"/bin/sh",
                     {"-c", "exec \"$0\" \"$1\" 2>/proc/self/fd/" + std::to_string(log[1]),
                      EXCHANGE_MATCHING_FACILITY, config.path()}};
    const std::string ready = facility.next_line();
    REQUIRE_MESSAGE(ready.starts_with("ready: order entry "), ready);
    const std::string begin = ready.substr(std::string_view{"ready: order entry "}.size());
    const std::string at = begin.substr(0, begin.find(','));
    ::close(log[1]);
    for (const bool gone : {false, true}) {
        CAPTURE(gone);
        if (gone) ::close(log[0]);
        CHECK(lone_client{at, "guess"}.hears(soup_type::login_rejected));  // Which is logged,
        CHECK(lone_client{at}.hears(soup_type::login_accepted));           // and holds nothing up.
    }
    facility.send(SIGTERM);
    CHECK_MESSAGE(facility.rest_of_output().starts_with("commands "), "it says what it has done");
    CHECK(facility.wait() == 0);
}

TEST_CASE("what an operator cannot mean is refused on the command line") {
    const std::vector<std::vector<std::string>> all{{"phase", "1", "open"},
                                                    {"phase", "0", "halted"},
                                                    {"define", "product", "1", "--tick", "5"},
                                                    {"settle", "1", "999999999999999"},
                                                    {"define"},
                                                    {}};
    for (std::vector<std::string> words : all) {
        words.insert(words.begin(), {"-c", EXCHANGE_SAMPLE});
        const auto [status, text] = outcome_of(EXCHANGE_EXCHANGE_CTL, words);
        CHECK_MESSAGE(status == 2, text);
        CHECK_FALSE(text.empty());
    }
}

TEST_CASE("a second facility on the same port says what is in its way") {
    running_exchange it{"gyre_epoll"};
    const written_config same{
        sample_text([&](nlohmann::json& other) { other["order_entry"]["at"] = it.order_entry(); })};
    const auto [status, text] = outcome_of(EXCHANGE_MATCHING_FACILITY, {same.path()});
    CHECK(status == 1);
    CHECK_MESSAGE(text.find("order entry " + it.order_entry()) != std::string::npos, text);
    CHECK_MESSAGE(text.find(": bind: Address already in use (port ") != std::string::npos, text);
}

TEST_CASE("whose connection is lost as the day ends comes again and hears the end") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        running_exchange it{backend, [](nlohmann::json& how) {
                                how["timing"]["tick_ms"] = 1;
                                how["timing"]["drain_within_ms"] = 600'000;
                            }};
        CHECK(lone_client{it.order_entry()}.hears(soup_type::login_accepted));

        it.facility().send(SIGTERM);
        while (it.ctl({"phase", "1", "halted"}).status == 0) {
        }  // Until the day has ended. Then no client is connected for many a tick, but for these.
        for (int others = 0; others < 20; ++others) {
            const auto [status, text] = it.ctl({"--timeout", "0.1", "phase", "1", "halted"});
            REQUIRE(status != 0);
            REQUIRE(text.find("cannot be reached") == std::string::npos);
        }
        CHECK(lone_client{it.order_entry()}.hears(soup_type::end_of_session));

        CHECK(it.facility().wait() == 0);
    }
}

TEST_CASE(
    "a participant that was lost and does not come again is named, once there was time enough") {
    running_exchange it{backends().front(),
                        [](nlohmann::json& how) { how["timing"]["drain_within_ms"] = 100; }};
    CHECK(lone_client{it.order_entry()}.hears(soup_type::login_accepted));

    it.facility().send(SIGTERM);
    const std::string said = it.facility().rest_of_output();

    CHECK_MESSAGE(said.find("alice was lost, and did not come for the end") != std::string::npos,
                  said);
    CHECK(it.facility().wait() == 0);
}

TEST_CASE("under a supervisor a second SIGTERM cuts no drain short") {
    std::array<int, 2> lifeline{};
    REQUIRE(::pipe(lifeline.data()) == 0);
    ::setenv(lifeline_variable, std::to_string(lifeline[0]).c_str(), 1);
    running_exchange it{backends().front(), [](nlohmann::json& how) {
                            how["timing"]["drain_within_ms"] = 600'000;
                            how["timing"]["login_within_ms"] = 600'000;
                        }};
    ::unsetenv(lifeline_variable);
    const int silent =
        gyre::testing::plain_connect(gyre::endpoint::parse(it.order_entry()).value());
    check_accepted(it, {"phase", "1", "halted"});  // By then, the silent one is accepted as well.
    it.facility().send(SIGTERM);
    while (it.ctl({"phase", "1", "halted"}).status == 0) {
    }

    it.facility().send(SIGTERM);
    it.facility().send(SIGQUIT);
    CHECK(it.facility().next_line() == "alice: away, next message 1");
    ::close(silent);

    CHECK(it.facility().wait() == 0);
    for (const int end : lifeline) ::close(end);
}

TEST_CASE("SIGQUIT tells who is there without ending anything, a second SIGTERM ends it at once") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        // A client that connects and says nothing is waited for, which is what the second signal is
        // for.
        running_exchange it{backend, [](nlohmann::json& how) {
                                how["timing"]["drain_within_ms"] = 600'000;
                                how["timing"]["login_within_ms"] = 600'000;
                            }};
        it.facility().send(SIGQUIT);
        CHECK(it.facility().next_line() == "alice: away, next message 1");
        const int silent =
            gyre::testing::plain_connect(gyre::endpoint::parse(it.order_entry()).value());
        check_accepted(it,
                       {"phase", "1", "halted"});  // By then, the silent one is accepted as well.

        it.facility().send(SIGTERM);
        // Once the day has ended no command is carried out. Only then comes the second one: two that are
        // pending at once are one.
        while (it.ctl({"phase", "1", "halted"}).status == 0) {
        }
        it.facility().send(SIGTERM);
        CHECK(it.facility().wait() == 128 + SIGTERM);
        static_cast<void>(silent);  // Open until the tests end: it never says a word.
    }
}
