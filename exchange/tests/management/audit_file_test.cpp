// SPDX-License-Identifier: BSL-1.0
//
// What the lines of an audit trail say, and what becomes of those that are there already.
#include <exchange/management/audit_file.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <sys/resource.h>

using namespace exchange;

namespace {

struct file_name {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("exchange_audit_" + std::to_string(std::random_device{}()));

    file_name() = default;
    file_name(const file_name&) = delete;
    file_name& operator=(const file_name&) = delete;
    ~file_name() { std::filesystem::remove(path); }

    [[nodiscard]] std::string text() const {
        const std::ifstream file{path};
        std::ostringstream all;
        all << file.rdbuf();
        return all.str();
    }
};

}  // namespace

TEST_CASE("a line says who did what, when, from where, and what was answered") {
    const file_name where;
    const gyre::endpoint peer = gyre::endpoint::parse("10.0.0.1:99").value();
    const command halt{set_phase{instrument_id{1}, market_phase::halted}};
    const audit_actor ops{"ops", operator_role::market, 7, &peer};
    {
        audit_file trail{"L1"};
        REQUIRE(trail.open(where.path));
        trail.record({.what = audit_event::command, .time = 5, .who = ops, .given = &halt});
        trail.record({.what = audit_event::answer,
                      .time = 6,
                      .in_seq = 3,
                      .subject = 1,
                      .answered = command_kind::set_phase,
                      .reason = reject_reason::unknown_instrument});
        CHECK(where.text() ==  // Before it is closed.
              R"({"time_ns":5,"life":"L1","event":"command","user":"ops","role":"market",)"
              R"("connection":7,"peer":"10.0.0.1:99","command":"set_phase","instrument":1,)"
              R"("phase":"halted"})"
              "\n"
              R"({"time_ns":6,"life":"L1","event":"answer","user":"exchange",)"
              R"("command":"set_phase","subject":1,"in_seq":3,"answer":"rejected",)"
              R"("reason":"unknown_instrument"})"
              "\n");
        CHECK(trail.lost() == 0);
    }
    namespace files = std::filesystem;
    CHECK((files::status(where.path).permissions() &
           (files::perms::group_all | files::perms::others_all)) == files::perms::none);
}

TEST_CASE("a change of who may log in is told without the password's hash") {
    const file_name where;
    audit_file trail{"L"};
    REQUIRE(trail.open(where.path));
    audit_participant carol{
        .name = "carol", .session = session_id{3}, .action = definition_action::create};
    trail.record({.what = audit_event::command, .participant = &carol});
    carol.outcome = participant_outcome::session_taken;
    trail.record({.what = audit_event::answer, .participant = &carol});
    const audit_participant nobody{.name = "carol", .outcome = participant_outcome::done};
    trail.record({.what = audit_event::answer, .participant = &nobody});
    CHECK(where.text() ==
          R"({"time_ns":0,"life":"L","event":"command","user":"exchange",)"
          R"("command":"define_participant","username":"carol","session":3,"action":"create"})"
          "\n"
          R"({"time_ns":0,"life":"L","event":"answer","user":"exchange",)"
          R"("command":"define_participant","username":"carol","answer":"rejected",)"
          R"("reason":"session_taken"})"
          "\n"
          R"({"time_ns":0,"life":"L","event":"answer","user":"exchange",)"
          R"("command":"remove_participant","username":"carol","answer":"accepted"})"
          "\n");
}

TEST_CASE("a restart appends, also behind a line that was torn") {
    const file_name where;
    {
        std::ofstream{where.path} << "{\"time_ns\":1}\n{\"tim";
    }
    audit_file trail{"L2"};
    REQUIRE(trail.open(where.path));
    trail.record({.what = audit_event::login_refused,
                  .who = {.user = "eve"},
                  .refused = login_refusal::unknown_user});
    CHECK(where.text() ==
          "{\"time_ns\":1}\n{\"tim\n"
          R"({"time_ns":0,"life":"L2","event":"login_refused","user":"eve","why":"unknown_user"})"
          "\n");
}

TEST_CASE(
    "a trail that cannot be written counts what it loses, and one that cannot be made says so") {
    audit_file full{"L"};
    REQUIRE(full.open("/dev/full"));
    full.record({.what = audit_event::logout});
    full.record({.what = audit_event::logout});
    CHECK(full.lost() == 2);
    audit_file nowhere{"L"};
    CHECK_FALSE(nowhere.open("/nowhere/at/all"));
}

TEST_CASE("a line that the disk had room for only in part is lost alone") {
    const file_name where;
    audit_file trail{"L"};
    REQUIRE(trail.open(where.path));
    trail.record({.what = audit_event::logout, .time = 1});
    const std::string first = where.text();
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit nearly{.rlim_cur = first.size() + 10, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &nearly) == 0);
    trail.record({.what = audit_event::logout, .time = 2});
    trail.record({.what = audit_event::logout, .time = 3});
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, ignored);
    CHECK(trail.lost() == 2);

    trail.record({.what = audit_event::logout, .time = 4});
    CHECK(trail.lost() == 2);
    const std::string text = where.text();
    CHECK(text.starts_with(first));
    CHECK(text.substr(first.size()) ==
          "{\"time_ns\"\n"
          R"({"time_ns":4,"life":"L","event":"logout","user":"exchange"})"
          "\n");
}

TEST_CASE("every field of an operator's commands is said in words") {
    CHECK(describe(define_product{product_id{1}, 2, 3, 1, {{4, 5}}, definition_action::change}) ==
          R"({"command":"define_product","product":1,"multiplier":2,"lot":3,)"
          R"("ticks":[{"from":4,"step":5}],"action":"change"})");
    CHECK(
        describe(define_account{.account = account_id{1},
                                .firm = firm_id{2},
                                .group = self_trade_group{3},
                                .self_trade = self_trade_action::cancel_both,
                                .order_quantity_max = 4,
                                .open_orders_max = 5,
                                .messages_per_second_max = 6,
                                .position_max = 7,
                                .message_burst_max = 8,
                                .cancels_per_second_max = 9,
                                .cancel_burst_max = 10}) ==
        R"({"command":"define_account","account":1,"firm":2,"group":3,"self_trade":"cancel_both",)"
        R"("order_quantity_max":4,"open_orders_max":5,"messages_per_second_max":6,)"
        R"("message_burst_max":8,"cancels_per_second_max":9,"cancel_burst_max":10,)"
        R"("position_max":7,"action":"create"})");
    CHECK(describe(define_instrument{.instrument = instrument_id{1},
                                     .product = product_id{2},
                                     .type = instrument_kind::call,
                                     .lone_orders = lone_order_policy::reject,
                                     .expiry_yyyymmdd = 20300101,
                                     .strike = -3,
                                     .settlement_price = 4,
                                     .collar = 5,
                                     .order_quantity_max = 6,
                                     .order_value_max = 7,
                                     .market_band = 8}) ==
          R"({"command":"define_instrument","instrument":1,"product":2,"type":"call",)"
          R"("lone_orders":"reject","expiry_yyyymmdd":20300101,"strike":-3,"settlement_price":4,)"
          R"("collar":5,"order_quantity_max":6,"order_value_max":7,"market_band":8,)"
          R"("action":"create"})");
    CHECK(
        describe(define_session{session_id{1}, account_id{2}, disconnect_policy::cancel_orders}) ==
        R"({"command":"define_session","session":1,"account":2,"on_disconnect":"cancel_orders",)"
        R"("action":"create"})");
    CHECK(describe(set_account_state{account_id{1}, account_state::blocked}) ==
          R"({"command":"set_account_state","account":1,"state":"blocked"})");
    CHECK(describe(set_settlement_price{instrument_id{1}, -9}) ==
          R"({"command":"set_settlement_price","instrument":1,"settlement_price":-9})");
    CHECK(describe(retire{definition_kind::account, 4}) ==
          R"({"command":"retire","what":"account","number":4})");
    CHECK(describe(set_position{account_id{1}, instrument_id{2}, -5}) ==
          R"({"command":"set_position","account":1,"instrument":2,"position":-5})");
    CHECK(describe(end_session{session_id{3}}) == R"({"command":"end_session","session":3})");
    CHECK(describe(end_day{instrument_id{3}}) == R"({"command":"end_day","instrument":3})");
    CHECK(describe(expire_instruments{}) == R"({"command":"expire_instruments"})");
    CHECK(describe(uncross{instrument_id{3}}) == R"({"command":"uncross","instrument":3})");
    CHECK(describe(set_interruption{instrument_id{3}, 4, 5}) ==
          R"({"command":"set_interruption","instrument":3,"collar":4,"duration_ns":5})");
    CHECK(describe(advance_phases{}) == R"({"command":"advance_phases"})");
    CHECK(describe(schedule_phase{instrument_id{3}, market_phase::pre_open, 9}) ==
          R"({"command":"schedule_phase","instrument":3,"phase":"pre_open","second_of_day":9})");
    CHECK(describe(bust_trade{instrument_id{3}, trade_id{7}}) ==
          R"({"command":"bust_trade","instrument":3,"trade":7})");
}
