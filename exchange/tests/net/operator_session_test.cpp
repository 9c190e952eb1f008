// SPDX-License-Identifier: BSL-1.0
//
// Several operators at once: who hears which answer, what a role refuses, and what the audit trail knows.
#include <exchange/net/application/operator_session.hpp>

#include <exchange/codec/participant_codec.hpp>
#include <exchange/net/application/order_entry_host.hpp>
#include <exchange/tests/net/noted_trail.hpp>
#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

order_entry_host_options many_operators(audit_trail& trail) {
    order_entry_host_options options = two_traders();
    options.operators.push_back({"eye", "secret", operator_role::viewer});
    options.operators.push_back({"floor", "secret", operator_role::market});
    options.operators.push_back({"risk", "secret", operator_role::risk});
    options.operator_connections_max = 20;
    options.trail = &trail;
    return options;
}

struct fixture {
    fixture() { open_market(host); }

    socketless_client& operator_of(std::string_view name) {
        socketless_client& made = operators.emplace_back(host, login_of(name));
        made.connect();
        return made;
    }

    noted_trail trail;
    order_entry_host host{many_operators(trail), day_start};
    std::deque<socketless_client> operators;
};

std::vector<std::uint32_t> subjects(const socketless_client& of) {
    std::vector<std::uint32_t> all;
    for (const admin_accepted& each : of.heard_of<admin_accepted>()) all.push_back(each.subject);
    return all;
}

struct refusal_reading {
    event_stamp stamp{};
    admin_rejected found{};

    void operator()(const event_stamp& where, const admin_rejected& it) {
        stamp = where;
        found = it;
    }
    void operator()(const event_stamp&, const auto&) {}
    void operator()(const message_rejected&) {}
};

set_settlement_price price_of(std::uint32_t instrument, price_ticks price) {
    return {instrument_id{instrument}, price};
}

}  // namespace

TEST_CASE("two connections of one operator hear each its own answers, from 1 on") {
    fixture it;
    socketless_client& first = it.operator_of("ops");
    socketless_client& second = it.operator_of("ops");
    CHECK(first.client().logged_in());
    CHECK_FALSE(first.was_cut());

    first.tell(price_of(1, 50));
    second.tell(set_account_state{account_id{2}, account_state::blocked});
    first.exchange_bytes();

    CHECK(subjects(first) == std::vector{1U});
    CHECK(subjects(second) == std::vector{2U});
    CHECK(first.heard().size() == 1);
    CHECK(second.heard().size() == 1);
    CHECK(first.client().resume().sequence == 2);
    CHECK(second.client().resume().sequence == 2);
}

TEST_CASE("twenty operators at once hear each answer once and in order, and the trail has all") {
    static constexpr std::uint32_t rounds = 25;
    fixture it;
    const char* const names[] = {"ops", "eye", "floor", "risk"};
    for (int each = 0; each < 20; ++each) static_cast<void>(it.operator_of(names[each % 4]));
    it.trail.entries.clear();

    for (std::uint32_t round = 1; round <= rounds; ++round) {
        for (socketless_client& each : it.operators) {
            REQUIRE(each.send(price_of(1, round)));
            REQUIRE(each.send(price_of(9, round)));  // Unknown.
        }
        for (socketless_client& each : it.operators) each.carry_to_server();
        for (socketless_client& each : it.operators) each.exchange_bytes();
    }

    for (std::size_t each = 0; each < 20; ++each) {
        CAPTURE(each);
        const socketless_client& whose = it.operators[each];
        const bool permitted = each % 4 == 0 || each % 4 == 2;
        REQUIRE(whose.heard().size() == 2 * rounds);
        CHECK(whose.heard_of<admin_accepted>().size() == (permitted ? rounds : 0));
        const auto refused = whose.heard_of<admin_rejected>();
        REQUIRE(refused.size() == (permitted ? rounds : 2 * rounds));
        for (const admin_rejected& one : refused)
            CHECK(one.reason ==
                  (permitted ? reject_reason::unknown_instrument : reject_reason::not_permitted));

        const auto noted = it.trail.of(static_cast<std::uint32_t>(each + 1));
        REQUIRE(noted.size() == 4 * rounds);  // Each command, and right behind it its answer.
        in_sequence last = 0;
        for (std::size_t at = 0; at < noted.size(); at += 2) {
            const auto& given = noted[at];
            const auto& answer = noted[at + 1];
            REQUIRE(given.what == audit_event::command);
            REQUIRE(given.given);
            CHECK(std::get<set_settlement_price>(*given.given).settlement_price == 1 + at / 4);
            CHECK(answer.what == audit_event::answer);
            CHECK(answer.answered == command_kind::set_settlement_price);
            CHECK(answer.user == names[each % 4]);
            CHECK((answer.in_seq != 0) == permitted);
            if (permitted) CHECK(answer.in_seq > std::exchange(last, answer.in_seq));
        }
    }
}

TEST_CASE("what a role may not do is refused and not sequenced, in the order of commands") {
    fixture it;
    socketless_client& floor = it.operator_of("floor");
    const std::uint64_t commands = it.host.counts().commands;

    REQUIRE(floor.send(set_phase{the_market, market_phase::halted}));
    REQUIRE(floor.send(set_account_state{account_id{2}, account_state::blocked}));
    REQUIRE(floor.send(set_phase{the_market, market_phase::continuous}));
    floor.exchange_bytes();

    REQUIRE(floor.heard().size() == 3);
    refusal_reading read;
    CHECK_FALSE(decode_operator_event(floor.heard()[1].bytes, read));
    CHECK(read.found ==
          admin_rejected{2, command_kind::set_account_state, reject_reason::not_permitted});
    CHECK(read.stamp.in_seq == 0);
    CHECK(it.host.counts().commands == commands + 2);
    CHECK(it.host.counts().not_permitted == 1);
}

TEST_CASE(
    "there are as many operators as seats, one for each user, and one who leaves makes room") {
    fixture it;
    const auto is_let_in = [&](const char* name) {
        return it.operator_of(name).client().logged_in();
    };
    for (int each = 0; each < 17; ++each) CHECK(is_let_in("ops"));
    CHECK_FALSE(is_let_in("ops"));  // What is left is the others'.
    CHECK(is_let_in("eye"));
    CHECK_FALSE(is_let_in("eye"));
    for (const char* const other : {"floor", "risk"}) CHECK(is_let_in(other));
    CHECK(it.trail.of(audit_event::login_refused).size() == 2);

    it.operators.front().disconnect();
    CHECK(is_let_in("eye"));
    CHECK_FALSE(is_let_in("eye"));
}

TEST_CASE("an operator's stream is not resumed: it begins at 1 with each login") {
    fixture it;
    socketless_client& ops = it.operator_of("ops");
    ops.tell(price_of(1, 50));
    ops.disconnect();
    ops.connect();  // Asks for 2.
    CHECK(ops.client().rejected() == soup_reject::session_not_available);

    socketless_client& again = it.operator_of("ops");
    again.tell(price_of(1, 51));
    CHECK(subjects(again) == std::vector{1U});
}

TEST_CASE("an answer whose operator is gone goes nowhere but into the trail") {
    fixture it;
    socketless_client& ops = it.operator_of("ops");
    socketless_client& other = it.operator_of("ops");
    REQUIRE(ops.send(price_of(1, 50)));
    ops.carry_to_server();
    ops.disconnect();
    other.exchange_bytes();

    CHECK(other.heard().empty());
    const auto noted = it.trail.of(1U);
    REQUIRE(noted.size() == 4);
    CHECK(noted[0].what == audit_event::login);
    CHECK(noted[1].what == audit_event::command);
    CHECK(noted[2].what == audit_event::answer);
    CHECK_FALSE(noted[2].reason);
    CHECK(noted[3].what == audit_event::logout);
}

TEST_CASE("what the exchange does by itself is in the trail, and what clients do is not") {
    fixture it;
    CHECK(it.trail.of(0U).size() == 2 * 7);  // What opened the market, each with its answer.
    it.trail.entries.clear();
    socketless_client alices{it.host, login_of("alice")};
    alices.connect();
    alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    CHECK(it.trail.entries.empty());

    alices.disconnect();
    REQUIRE(it.trail.entries.size() == 2);
    CHECK(std::holds_alternative<end_session>(*it.trail.entries[0].given));
    CHECK(it.trail.entries[0].user.empty());
    CHECK(it.trail.entries[1].answered == command_kind::end_session);
}

TEST_CASE("a login that is refused is in the trail, whoever it said that it is") {
    fixture it;
    socketless_client guess{it.host, {.username = "ops", .password = "guess", .session = {}}};
    guess.connect();
    const auto noted = it.trail.of(audit_event::login_refused);
    REQUIRE(noted.size() == 1);
    CHECK(noted[0].user == "ops");
    CHECK(noted[0].operator_session == 0);
}

TEST_CASE("an operator that gives commands and reads no answer is ended") {
    noted_trail trail;
    order_entry_host_options options = many_operators(trail);
    options.operator_stream.messages_max = 4;
    order_entry_host host{options, day_start};
    socketless_client ops{host, login_of("ops")};
    ops.connect();
    for (std::uint32_t each = 1; each <= 5; ++each) REQUIRE(ops.send(price_of(1, each)));
    ops.carry_to_server();
    CHECK(ops.session().ending() == soup_ending::fell_behind);
}

TEST_CASE("at the end of the day operators are told, those who come only then as well") {
    fixture it;
    socketless_client& ops = it.operator_of("ops");
    it.host.end(day_start);
    ops.exchange_bytes();
    CHECK(ops.client().ending() == soup_ending::session_ended);
    CHECK(it.operator_of("eye").client().ending() == soup_ending::session_ended);
}

namespace {

/// The outcomes of changes, in order.
std::vector<participant_outcome> outcomes(const socketless_client& of) {
    std::vector<participant_outcome> all;
    for (const heard_message& each : of.heard())
        static_cast<void>(decode_participant_answer(
            each.bytes, [&all](const participant_changed& it) { all.push_back(it.outcome); }));
    return all;
}

template <participant_record Record>
participant_outcome ask(socketless_client& from, const Record& what) {
    std::array<std::byte, message_bytes_of<Record>> bytes;
    encode(what, bytes);
    REQUIRE(from.send_bytes(bytes));
    from.exchange_bytes();
    REQUIRE_FALSE(outcomes(from).empty());
    return outcomes(from).back();
}

define_participant somebody(std::string_view name, std::uint16_t session,
                            definition_action action = definition_action::create,
                            std::string_view secret = "secret") {
    return {to_field<6>(name), to_field<128>(secret), session_id{session}, action};
}

constexpr auto change_it = definition_action::change;

}  // namespace

TEST_CASE("a participant that is added at run time trades, and none when it is removed") {
    noted_trail trail;
    order_entry_host_options options = many_operators(trail);
    options.participants_max = 3;
    order_entry_host host{options, day_start};
    open_market(host);
    socketless_client ops{host, login_of("ops")};
    ops.connect();
    socketless_client carols{host, login_of("carol")};
    carols.connect();
    CHECK(carols.client().rejected() == soup_reject::not_authorized);

    define_account account{};
    account.account = account_id{3};
    account.firm = firm_id{1};
    account.self_trade = self_trade_action::cancel_resting;
    ops.tell(account);
    ops.tell(define_session{session_id{3}, account.account, disconnect_policy::cancel_orders});
    CHECK(ask(ops, somebody("carol", 3)) == participant_outcome::done);
    soup_login carol = login_of("carol");
    for (int again = 0; again < 3; ++again) {
        CAPTURE(again);
        socketless_client client{host, carol};
        client.connect();
        REQUIRE(client.client().logged_in());
        client.tell(
            limit(client_sequence{1U + static_cast<unsigned>(again)}, order_side::buy, 100, 5));
        CHECK(client.heard_of<order_entered>().size() == 1);
        CHECK(host.market().state().accounts[3].open_orders == 1);

        CHECK(ask(ops, remove_participant{to_field<6>("carol")}) == participant_outcome::done);
        CHECK(client.was_cut());
        CHECK(client.session().ending() == soup_ending::removed);
        carol = client.client().resume();  // A user who comes back goes on where it was removed.
        CHECK(host.market().state().accounts[3].open_orders == 0);
        client.disconnect();
        socketless_client late{host, login_of("carol")};
        late.connect();
        CHECK(late.client().rejected() == soup_reject::not_authorized);
        CHECK(ask(ops, somebody("carol", 3)) == participant_outcome::done);
        CHECK(host.participants().size() == 3);  // The place is used again.
    }
}

TEST_CASE("a change of password or session cuts the connection, and the new one is needed") {
    noted_trail trail;
    order_entry_host_options options = many_operators(trail);
    options.participants_max = 3;
    order_entry_host host{options, day_start};
    open_market(host);
    socketless_client ops{host, login_of("ops")};
    ops.connect();
    socketless_client alices{host, login_of("alice")};
    alices.connect();
    alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));

    CHECK(ask(ops, somebody("alice", 1, change_it, "other")) == participant_outcome::done);
    CHECK(alices.was_cut());
    alices.disconnect();
    socketless_client old{host, login_of("alice")};
    old.connect();
    CHECK(old.client().rejected() == soup_reject::not_authorized);
    soup_login fresh = login_of("alice");
    fresh.password = "other";
    socketless_client again{host, fresh};
    again.connect();
    CHECK(again.heard_of<order_entered>().size() == 1);  // Its stream is the same.

    CHECK(ask(ops, somebody("alice", 4, change_it, "other")) == participant_outcome::done);
    CHECK(again.was_cut());
    socketless_client late{host, fresh};
    late.connect();
    CHECK(late.client().rejected() ==
          soup_reject::session_not_available);  // It asks for what is gone.
    fresh.sequence = again.client().resume().sequence;
    CHECK(fresh.sequence > 1);
    socketless_client moved{host, fresh};
    moved.connect();
    CHECK(moved.client().logged_in());
    CHECK(moved.heard().empty());
    again.disconnect();
}

TEST_CASE("a participant for whom no memory is left is refused, and the others trade on") {
    noted_trail trail;
    order_entry_host_options options = many_operators(trail);
    options.participants_max = 3;
    options.stream.message_bytes_max = 256;
    options.stream_memory = {.bytes_max = 4 * 512, .segment_bytes = 512};
    options.stream.unread_bytes_max = options.stream_memory.bytes_max;
    order_entry_host host{options, day_start};
    open_market(host);
    socketless_client ops{host, login_of("ops")};
    ops.connect();

    CHECK(ask(ops, somebody("carol", 4)) == participant_outcome::at_capacity);

    socketless_client alices{host, login_of("alice")};
    alices.connect();
    alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    CHECK(alices.heard_of<order_entered>().size() == 1);
    alices.disconnect();
    // There is room for another in the place of one who goes.
    CHECK(ask(ops, remove_participant{to_field<6>("alice")}) == participant_outcome::done);
    CHECK(ask(ops, somebody("carol", 4)) == participant_outcome::done);
}

TEST_CASE("what cannot be said of a participant is refused with the reason") {
    using enum participant_outcome;
    fixture it;
    socketless_client& ops = it.operator_of("ops");
    for (const char* const name : {"eye", "floor", "risk"}) {
        CHECK(ask(it.operator_of(name), somebody("carol", 3)) == not_permitted);
        CHECK(ask(it.operators.back(), remove_participant{to_field<6>("alice")}) == not_permitted);
    }
    CHECK(ask(ops, somebody("", 3)) == invalid_name);
    CHECK(ask(ops, somebody("carol", 3, definition_action::create, "")) == invalid_hash);
    CHECK(ask(ops, somebody("carol", 3, definition_action{0})) == at_capacity);
    CHECK(ask(ops, somebody("carol", 0)) == unknown_session);
    CHECK(ask(ops, somebody("carol", 9)) == unknown_session);
    CHECK(ask(ops, somebody("alice", 3)) == name_taken);
    CHECK(ask(ops, somebody("eye", 3)) == name_taken);
    CHECK(ask(ops, somebody("carol", 1)) == session_taken);
    CHECK(ask(ops, somebody("alice", 2, change_it)) == session_taken);
    CHECK(ask(ops, somebody("carol", 3, change_it)) == unknown_participant);
    CHECK(ask(ops, remove_participant{to_field<6>("eye")}) == unknown_participant);

    socketless_client alices{it.host, login_of("alice")};
    alices.connect();
    std::array<std::byte, message_bytes_of<remove_participant>> bytes;
    encode(remove_participant{to_field<6>("bob")}, bytes);
    REQUIRE(alices.send_bytes(bytes));
    alices.exchange_bytes();
    CHECK(alices.refusals().size() == 1);  // It is no message of a client's.
}

TEST_CASE("a participant is defined only with what is a hash") {
    order_entry_host_options options = two_traders();
    options.participants_max = 3;
    options.is_secret = [](const std::string& it) { return it.starts_with('$'); };
    order_entry_host host{options, day_start};
    open_market(host);
    socketless_client ops{host, login_of("ops")};
    ops.connect();
    const auto define = [&](std::string_view hash) {
        std::array<std::byte, message_bytes_of<define_participant>> bytes;
        encode(define_participant{to_field<6>("carol"), to_field<128>(hash), session_id{3},
                                  definition_action::create},
               bytes);
        ops.forget();
        REQUIRE(ops.send_bytes(bytes));
        ops.exchange_bytes();
        participant_outcome outcome{};
        for (const auto& each : ops.heard())
            static_cast<void>(decode_participant_answer(
                each.bytes, [&](const participant_changed& it) { outcome = it.outcome; }));
        return outcome;
    };
    CHECK(define("plain") == participant_outcome::invalid_hash);
    CHECK(define("$5$salt$hash") == participant_outcome::done);
}

TEST_CASE("the answer to a command of several steps is in the trail") {
    struct answers final : audit_trail {
        void record(const audit_entry& it) noexcept override {
            count += it.what == audit_event::answer ? 1 : 0;
        }
        int count = 0;
    } trail;
    order_entry_host_options options = two_traders();
    options.sequencing.limits.step_work_max = 1;
    options.trail = &trail;
    order_entry_host host{options, day_start};
    open_market(host);
    socketless_client alices{host, login_of("alice")};
    alices.connect();
    for (std::uint32_t each = 1; each <= 3; ++each)
        alices.tell(limit(client_sequence{each}, order_side::buy, 100, 5));
    const int before = trail.count;
    host.apply(set_account_state{account_id{number(alice)}, account_state::blocked});
    host.finish_command();
    CHECK(trail.count == before + 1);
}

TEST_CASE("who changed participants is in the trail, with what was answered") {
    fixture it;
    socketless_client& ops = it.operator_of("ops");
    ask(ops, remove_participant{to_field<6>("bob")});
    ask(ops, remove_participant{to_field<6>("nobody")});

    std::vector<std::pair<std::string, std::optional<participant_outcome>>> noted;
    for (const noted_trail::entry& each : it.trail.entries)
        if (each.participant.empty()) continue;
        else noted.emplace_back(each.user + '/' + each.participant, each.outcome);
    using enum participant_outcome;
    CHECK(noted == decltype(noted){{"ops/bob", std::nullopt},
                                   {"ops/bob", done},
                                   {"ops/nobody", std::nullopt},
                                   {"ops/nobody", unknown_participant}});
}

TEST_CASE("a change that cuts a user off leaves room for what becomes of it, or is not made") {
    for (std::size_t segments = 6; segments <= 40; ++segments) {
        noted_trail trail;
        order_entry_host_options options = many_operators(trail);
        options.participants.push_back(
            {.username = "watch", .secret = "secret", .what = told::all});
        options.participants_max = 4;
        options.stream.message_bytes_max = 256;
        options.stream_memory = {.bytes_max = segments * 512, .segment_bytes = 512};
        options.stream.unread_bytes_max = options.stream_memory.bytes_max;
        order_entry_host host{options, day_start};
        open_market(host, disconnect_policy::cancel_orders);
        host.apply(define_session{session_id{3}, account_id{1}, disconnect_policy::cancel_orders});
        socketless_client ops{host, login_of("ops")};
        ops.connect();
        socketless_client alices{host, login_of("alice")};
        alices.connect();
        socketless_client watcher{host, login_of("watch")};
        watcher.connect();
        for (std::uint32_t each = 1; each <= 30; ++each)
            alices.tell(limit(client_sequence{each}, order_side::buy, 100, 5));

        const participant_outcome outcome = ask(ops, somebody("alice", 3, change_it));
        CHECK(
            (outcome == participant_outcome::done || outcome == participant_outcome::at_capacity));
        CHECK((outcome == participant_outcome::done) == alices.was_cut());
    }
}

TEST_CASE("who is told copies is not made a trader") {
    noted_trail trail;
    order_entry_host_options options = many_operators(trail);
    options.participants.push_back({.username = "watch", .secret = "secret", .what = told::all});
    options.participants_max = 4;
    order_entry_host host{options, day_start};
    open_market(host);
    socketless_client ops{host, login_of("ops")};
    ops.connect();
    CHECK(ask(ops, somebody("watch", 3, change_it)) == participant_outcome::invalid_action);
    CHECK(ask(ops, somebody("watch", 3)) == participant_outcome::name_taken);
    CHECK(ask(ops, remove_participant{to_field<6>("watch")}) == participant_outcome::done);
}
