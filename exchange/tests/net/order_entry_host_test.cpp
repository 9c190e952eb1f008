// SPDX-License-Identifier: BSL-1.0
//
// Who may log in, who hears what, and what no client may do to the book.
#include <exchange/net/application/order_entry_host.hpp>

#include <exchange/core/reference.hpp>
#include <exchange/tests/net/noted_refusals.hpp>
#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;

namespace {

struct fixture {
    explicit fixture(const order_entry_host_options& options = two_traders())
        : host{options, day_start} {
        open_market(host);
        while (host.feed().next(day_start)) {
        }  // What the opening told.
    }

    [[nodiscard]] std::uint64_t public_messages() { return host.feed().messages().next_sequence(); }
    [[nodiscard]] std::size_t open_orders(session_id of) const {
        return host.market().state().accounts[number(of)].open_orders;
    }

    order_entry_host host;
    socketless_client alices{host, login_of("alice")};
    socketless_client bobs{host, login_of("bob")};
};

/// Streams of two segments each, of which few messages fill one.
order_entry_host_options scarce_memory() {
    order_entry_host_options options = two_traders();
    options.stream.message_bytes_max = 256;
    options.stream_memory.segment_bytes = 512;
    options.stream.unread_bytes_max = 2 * options.stream_memory.segment_bytes;
    return options;
}
constexpr std::uint32_t entries_that_fit =
    2 * (512 / (soup_header_bytes + message_bytes_of<order_entered> + sizeof(std::uint32_t)));

std::vector<std::byte> joined(const soup_output& from) {
    std::vector<std::byte> bytes;
    for (const auto part : from.buffers()) bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
}

}  // namespace

TEST_CASE("an order that rests is acknowledged to its owner alone and told to the public") {
    fixture it;
    it.alices.connect();
    it.bobs.connect();
    const std::uint64_t before = it.public_messages();

    it.alices.tell(limit(client_sequence{7}, order_side::buy, 100, 5));

    const auto entered = it.alices.heard_of<order_entered>();
    REQUIRE(entered.size() == 1);
    CHECK(entered[0].client_seq == client_sequence{7});
    CHECK(entered[0].open == 5);
    CHECK(entered[0].session == alice);
    CHECK(it.bobs.heard().empty());
    CHECK(it.public_messages() - before == 3);
    CHECK(it.open_orders(alice) == 1);
}

TEST_CASE("a trade is told to both sides, and the one that did not ask is announced") {
    fixture it;
    it.alices.connect();
    it.bobs.connect();
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.alices.forget();
    const int announced = it.alices.announced();

    it.bobs.tell(limit(client_sequence{1}, order_side::sell, 100, 5));

    CHECK(it.alices.announced() > announced);
    it.alices.exchange_bytes();
    CHECK(it.alices.heard_of<order_executed>().size() == 1);
    CHECK(it.alices.heard_of<trade_capture_report>().size() == 1);
    CHECK(it.bobs.heard_of<order_executed>().size() == 1);
    CHECK(it.open_orders(alice) == 0);
}

TEST_CASE("an order is cancelled by its client sequence before any acknowledgement was read") {
    fixture it;
    it.alices.connect();
    it.bobs.connect();
    REQUIRE(it.alices.send(limit(client_sequence{1}, order_side::buy, 100, 5)));
    REQUIRE(it.alices.send(cancel_of(client_sequence{2}, client_sequence{1})));

    it.alices.exchange_bytes();

    CHECK(it.alices.heard_of<order_entered>().size() == 1);
    CHECK(it.alices.heard_of<order_cancelled>().size() == 1);
    CHECK(it.open_orders(alice) == 0);
}

TEST_CASE("a wrong name or password is not authorised, and a session in use moves to the newest") {
    fixture it;
    socketless_client stranger{it.host, {.username = "alice", .password = "guess", .session = {}}};
    stranger.connect();
    CHECK(stranger.client().rejected() == soup_reject::not_authorized);
    CHECK(stranger.session().over());

    it.alices.connect();
    socketless_client again{it.host, login_of("alice")};
    again.connect();
    CHECK(it.alices.was_cut());
    CHECK(it.alices.session().ending() == soup_ending::replaced);
    CHECK(again.client().logged_in());
    it.alices.disconnect();

    again.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    CHECK(again.heard_of<order_entered>().size() == 1);
    CHECK(it.host.participants()[0].connection() == &again.session());
}

TEST_CASE("a watcher is told whose login is refused, and why") {
    order_entry_host_options options = two_traders();
    options.stream.messages_max = 4;
    fixture it{options};
    noted_refusals noted;
    it.host.be_watched(&noted);
    const auto try_it = [&](const soup_login& with) {
        socketless_client client{it.host, with};
        client.connect();
        REQUIRE_FALSE(client.client().logged_in());
    };
    try_it({.username = "eve", .password = "guess", .session = {}, .sequence = 1});
    CHECK(noted.last_session == session_id::none);
    try_it({.username = "alice", .password = "guess", .session = {}, .sequence = 1});
    CHECK(noted.last_session == alice);
    try_it({.username = "ops", .password = "guess", .session = {}, .sequence = 1});
    CHECK(noted.last_session == session_id::none);
    try_it({.username = "alice", .password = "secret", .session = "NIGHT", .sequence = 3});
    CHECK(noted.last_life == "NIGHT");
    CHECK(noted.last_sequence == 3);

    it.alices.connect();
    for (std::uint32_t each = 1; each <= 16; ++each)
        it.alices.tell(limit(client_sequence{each}, order_side::buy, 100, 5));
    it.alices.disconnect();
    REQUIRE(it.host.participants()[0].stream().messages().first_sequence() > 1);
    try_it(login_of("alice", 1));
    try_it(login_of("alice", 99));
    CHECK(noted.last_sequence == 99);

    socketless_client ops{it.host, login_of("ops")};
    ops.connect();
    try_it(login_of("ops"));  // The one place is taken.
    ops.disconnect();
    try_it(login_of("ops", 2));

    CHECK(noted.told == std::vector<std::string>{"eve unknown_user", "alice wrong_password",
                                                 "ops wrong_password", "alice other_life",
                                                 "alice not_kept", "alice not_there_yet",
                                                 "ops no_place", "ops not_there_yet"});
    it.host.be_watched(nullptr);
}

TEST_CASE("bytes that are no command are refused outside of the sequence, and nothing changes") {
    fixture it;
    it.alices.connect();
    const std::uint64_t commands = it.host.counts().commands;
    const std::uint64_t messages = it.public_messages();
    std::vector<std::byte> torn(message_bytes_of<enter_order>);
    encode(limit(client_sequence{9}, order_side::buy, 100, 5), torn);
    torn.pop_back();

    REQUIRE(it.alices.send_bytes(torn));
    it.alices.exchange_bytes();

    REQUIRE(it.alices.refusals().size() == 1);
    CHECK(it.alices.refusals()[0].error != decode_error::none);
    CHECK_FALSE(it.alices.heard()[0].sequenced);
    CHECK(it.host.counts().commands == commands);
    CHECK(it.host.counts().malformed == 1);
    CHECK(it.public_messages() == messages);
    it.alices.tell(limit(client_sequence{9}, order_side::buy, 100, 5));
    CHECK(it.alices.heard_of<order_entered>().size() == 1);
}

TEST_CASE("clients cannot give the operator's commands, nor the operator theirs") {
    fixture it;
    socketless_client ops{it.host, login_of("ops", 0)};  // Not what the opening told.
    it.alices.connect();
    ops.connect();

    it.alices.tell(set_phase{the_market, market_phase::halted});
    REQUIRE(it.alices.refusals().size() == 1);
    ops.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    REQUIRE(ops.refusals().size() == 1);
    ops.tell(set_phase{the_market, market_phase::halted});
    CHECK(ops.heard_of<admin_accepted>().size() == 1);

    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    REQUIRE(it.alices.heard_of<order_rejected>().size() == 1);
    CHECK(it.alices.heard_of<order_rejected>()[0].reason == reject_reason::market_halted);
}

TEST_CASE("a client that was away resumes at the message it wants next") {
    fixture it;
    it.alices.connect();
    it.bobs.connect();
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.alices.disconnect();
    it.bobs.tell(limit(client_sequence{1}, order_side::sell, 100, 2));
    CHECK(it.alices.heard_of<order_executed>().empty());

    it.alices.connect();

    CHECK(it.alices.heard_of<order_entered>().size() == 1);
    REQUIRE(it.alices.heard_of<order_executed>().size() == 1);
    CHECK(it.alices.heard_of<order_executed>()[0].quantity == 2);
}

TEST_CASE("what becomes of orders when a connection ends is the session's policy") {
    SUBCASE("kept") {
        fixture it;
        it.alices.connect();
        it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
        it.alices.disconnect();
        CHECK(it.open_orders(alice) == 1);
    }
    SUBCASE("cancelled") {
        order_entry_host host{two_traders(), day_start};
        open_market(host, disconnect_policy::cancel_orders);
        socketless_client alices{host, login_of("alice")};
        alices.connect();
        alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
        alices.disconnect();
        CHECK(host.market().state().accounts[number(alice)].open_orders == 0);
        alices.connect();
        REQUIRE(alices.heard_of<order_cancelled>().size() == 1);
        CHECK(alices.heard_of<order_cancelled>()[0].reason == cancel_reason::session_ended);
    }
}

TEST_CASE(
    "a client that reads so slowly that its messages are overwritten is cut off before they are") {
    fixture it{scarce_memory()};
    it.alices.connect();
    it.bobs.connect();
    for (std::uint32_t each = 1; each <= entries_that_fit; ++each)
        REQUIRE(it.alices.send(limit(client_sequence{each}, order_side::buy, 100, 5)));
    REQUIRE(it.alices.carry_to_server());
    CHECK_FALSE(it.alices.was_cut());

    REQUIRE(it.alices.send(limit(client_sequence{1'000}, order_side::buy, 100, 5)));
    REQUIRE(it.alices.carry_to_server());

    CHECK(it.alices.was_cut());
    CHECK(it.alices.session().ending() == soup_ending::fell_behind);
    CHECK(it.open_orders(alice) == entries_that_fit + 1);  // What was accepted stays accepted.
    it.bobs.tell(limit(client_sequence{1}, order_side::sell, 100, 5));
    CHECK(it.bobs.heard_of<order_executed>().size() == 1);
}

TEST_CASE("an event that outruns a client with each of its messages cuts it off once") {
    fixture it{scarce_memory()};
    it.alices.connect();
    it.bobs.connect();
    for (std::uint32_t each = 1; each <= entries_that_fit; ++each)
        REQUIRE(it.alices.send(limit(client_sequence{each}, order_side::buy, 100, 5)));
    REQUIRE(it.alices.carry_to_server());
    CHECK(it.alices.cuts() == 0);

    REQUIRE(it.bobs.send(limit(client_sequence{1}, order_side::sell, 100, 3 * 5)));
    REQUIRE(it.bobs.carry_to_server());  // Alice is told six messages.

    CHECK(it.alices.cuts() == 1);
    CHECK(it.alices.session().ending() == soup_ending::fell_behind);
    CHECK(it.open_orders(alice) == entries_that_fit - 3);
}

namespace {

void check_that_nothing_is_overwritten_while_it_is_written(bool behind_its_end) {
    fixture it{scarce_memory()};
    it.alices.connect();
    it.bobs.connect();
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 1'000));
    REQUIRE(it.bobs.send(limit(client_sequence{1}, order_side::sell, 100, 1)));
    REQUIRE(it.bobs.carry_to_server());
    const soup_output under_way = it.alices.session().output();  // Its write does not end.
    REQUIRE(under_way.size() > 0);
    const std::vector<std::byte> before = joined(under_way);
    if (behind_its_end) it.alices.session().on_framing_error(soup_ending::unknown_packet);
    bool as_it_was = false;
    it.alices.when_cut = [&] { as_it_was = joined(under_way) == before; };

    for (std::uint32_t each = 2; each <= 100; ++each) {
        REQUIRE(it.bobs.send(limit(client_sequence{each}, order_side::sell, 100, 1)));
        REQUIRE(it.bobs.carry_to_server());
        static_cast<void>(it.bobs.carry_to_client());
        if (!it.alices.was_cut()) CHECK(joined(under_way) == before);
    }

    CHECK(it.alices.cuts() == 1);
    CHECK(as_it_was);
    CHECK(joined(under_way) != before);  // The same memory holds something else by now.
}

}  // namespace

TEST_CASE("what is being written to a client is as it was when the client is cut off") {
    check_that_nothing_is_overwritten_while_it_is_written(false);
}

TEST_CASE("what is being written to a client behind its end is as it was when it is cut off") {
    check_that_nothing_is_overwritten_while_it_is_written(true);
}

TEST_CASE("whoever reads gets all that one sweep tells, however much more than is kept") {
    order_entry_host_options options = two_traders();
    options.stream.messages_max = 8;
    fixture it{options};
    it.alices.connect();
    it.bobs.connect();
    for (std::uint32_t each = 1; each <= 100; ++each)
        it.alices.tell(limit(client_sequence{each}, order_side::buy, 100, 1));
    it.alices.forget();

    it.bobs.tell(limit(client_sequence{1}, order_side::sell, 100, 100));
    it.alices.exchange_bytes();

    CHECK(it.alices.heard_of<order_executed>().size() == 100);
    CHECK(it.bobs.heard_of<order_executed>().size() == 100);
    CHECK(it.alices.cuts() + it.bobs.cuts() == 0);
    CHECK(it.host.participants()[0].stream().messages().bytes() < 8 * 256);
}

TEST_CASE("a stream that is read gives back all memory but that of what is kept") {
    order_entry_host_options options = two_traders();
    options.stream.messages_max = 8;
    options.stream_memory.segment_bytes = 2'048;
    fixture it{options};
    const std::size_t at_rest = it.host.streams().in_use();
    CHECK(at_rest == 0);
    it.alices.connect();
    for (std::uint32_t each = 1; each <= 100; ++each)
        REQUIRE(it.alices.send(limit(client_sequence{each}, order_side::buy, 100, 1)));
    REQUIRE(it.alices.carry_to_server());
    CHECK(it.host.streams().in_use() > at_rest + 2);

    it.alices.exchange_bytes();

    CHECK(it.host.streams().in_use() <= at_rest + 2);
}

TEST_CASE("what one that does not read has not got leaves with it, but for what is kept") {
    order_entry_host_options options = two_traders();
    options.stream.messages_max = 8;
    fixture it{options};
    it.alices.connect();
    for (std::uint32_t each = 1; each <= 100; ++each)
        REQUIRE(it.alices.send(limit(client_sequence{each}, order_side::buy, 100, 1)));
    REQUIRE(it.alices.carry_to_server());
    const message_log& hers = it.host.participants()[0].stream().messages();
    CHECK(hers.first_sequence() == 1);

    it.alices.disconnect();

    CHECK(hers.next_sequence() - hers.first_sequence() == 8);
    it.alices.connect();
    CHECK(it.alices.client().rejected() == soup_reject::session_not_available);
}

TEST_CASE("one that does not read takes what others may want, but nothing that they have") {
    order_entry_host_options options = scarce_memory();
    options.stream.unread_bytes_max = 100 * options.stream_memory.segment_bytes;
    options.stream_memory.bytes_max = 6 * options.stream_memory.segment_bytes;
    options.stream.messages_max = 4;
    fixture it{options};
    it.alices.connect();
    it.bobs.connect();
    it.bobs.tell(limit(client_sequence{1}, order_side::sell, 200, 5));
    const message_log& bobs = it.host.participants()[1].stream().messages();
    for (std::uint32_t each = 1; !it.alices.was_cut() && each < 1'000; ++each) {
        REQUIRE(it.alices.send(limit(client_sequence{each}, order_side::buy, 100, 5)));
        REQUIRE(it.alices.carry_to_server());
        CHECK(bobs.first_sequence() == 1);
    }

    CHECK(it.alices.was_cut());
    CHECK(it.host.streams().in_use() < it.host.streams().capacity());  // Hers went with her.
    it.bobs.tell(limit(client_sequence{2}, order_side::sell, 100, 5));
    CHECK(it.bobs.heard_of<order_executed>().size() == 1);
    CHECK(it.bobs.cuts() == 0);
}

TEST_CASE("all streams together may take what was said, or what all may keep and one that waits") {
    order_entry_host_options options = two_traders();
    CHECK(stream_memory_for(options) == 2 * (options.stream.bytes_max + 2 * segment_bytes_usual) +
                                            options.stream.unread_bytes_max);
    options.stream_memory.bytes_max = 12'345'678;
    CHECK(stream_memory_for(options) == 12'345'678);
}

TEST_CASE("a participant that was lost is expected until it has logged out or heard the end") {
    fixture it;
    const auto is_expected = [&](std::string_view name) {
        const participant* const found = it.host.find(login_of(name)).trader;
        REQUIRE(found != nullptr);
        return found->is_expected();
    };
    CHECK_FALSE(is_expected("alice"));
    it.alices.connect();
    it.bobs.connect();
    CHECK(is_expected("alice"));

    it.alices.disconnect();
    static_cast<void>(it.bobs.client().log_out());
    it.bobs.exchange_bytes();

    CHECK(is_expected("alice"));  // Its connection is gone; it did not say that it is.
    CHECK_FALSE(is_expected("bob"));

    it.host.end(day_start);
    CHECK(is_expected("alice"));
    it.alices.connect();

    CHECK(it.alices.client().ending() == soup_ending::session_ended);
    CHECK_FALSE(is_expected("alice"));
    it.alices.disconnect();
    CHECK_FALSE(is_expected("alice"));
}

TEST_CASE(
    "an account's message rate counts the seconds that pass, even if the machine's clock is set") {
    constexpr timestamp_ns second = 1'000'000'000;
    constexpr timestamp_ns hour = 3'600 * second;
    static timestamp_ns wall = 500'000 * hour;
    static timestamp_ns steady = second;
    order_entry_host_options options = two_traders();
    options.sequencing.clocks = {.wall = []() noexcept { return wall; },
                                 .steady = []() noexcept { return steady; }};
    options.participants.push_back({"carol", "secret", session_id{3}});
    fixture it{options};
    define_account slow{};
    slow.account = account_id{3};
    slow.firm = firm_id{1};
    slow.self_trade = self_trade_action::cancel_resting;
    slow.messages_per_second_max = 1;
    it.host.apply(slow);
    it.host.apply(define_session{session_id{3}, slow.account, disconnect_policy::keep_orders});
    socketless_client carols{it.host, login_of("carol")};
    carols.connect();
    std::uint32_t sequence = 0;
    const auto is_taken = [&] {
        carols.forget();
        carols.tell(limit(client_sequence{++sequence}, order_side::buy, 100, 5));
        return carols.heard_of<order_entered>().size() == 1;
    };
    CHECK(is_taken());
    CHECK_FALSE(is_taken());

    wall -= hour;
    CHECK_FALSE(is_taken());
    steady += second;
    CHECK(is_taken());
    wall += 2 * hour;
    CHECK_FALSE(is_taken());
    steady += second;
    CHECK(is_taken());
}

TEST_CASE("at the end of the day every stream ends behind what it holds") {
    fixture it;
    it.alices.connect();
    REQUIRE(it.alices.send(limit(client_sequence{1}, order_side::buy, 100, 5)));
    REQUIRE(it.alices.carry_to_server());

    it.host.end(day_start);
    REQUIRE(it.alices.send(limit(client_sequence{2}, order_side::buy, 100, 5)));
    it.alices.exchange_bytes();

    CHECK(it.alices.heard_of<order_entered>().size() == 1);
    CHECK(it.alices.client().ending() == soup_ending::session_ended);
    CHECK(it.open_orders(alice) == 1);
    it.alices.disconnect();
}

// ---------------------------------------------------------------------------------------------
// Sister sessions
// ---------------------------------------------------------------------------------------------

namespace {

constexpr session_id anna{3};

// Anna's session is of alice's account.
struct sisters : fixture {
    sisters() : fixture{with_anna()} {
        host.apply(define_session{anna, account_id{number(alice)}, disconnect_policy::keep_orders});
        alices.connect();
        annas.connect();
    }

    static order_entry_host_options with_anna() {
        order_entry_host_options made = two_traders();
        made.participants.push_back({"anna", "secret", anna});
        return made;
    }

    socketless_client annas{host, login_of("anna")};
};

}  // namespace

TEST_CASE(
    "who cancels and amends from a sister session is answered, and the owner knows who it was") {
    sisters it;
    it.alices.tell(limit(client_sequence{7}, order_side::buy, 100, 5));
    const order_id id = it.alices.heard_of<order_entered>().at(0).order;

    it.annas.tell(amend_order{anna, client_sequence{1}, {id, client_sequence::none}, 100, 4});
    it.annas.tell(cancel_order{anna, client_sequence{2}, {id, client_sequence::none}});
    it.alices.exchange_bytes();

    for (const socketless_client* each : {&it.alices, &it.annas}) {
        const auto amended = each->heard_of<order_amended>();
        const auto cancelled = each->heard_of<order_cancelled>();
        REQUIRE(amended.size() == 1);
        REQUIRE(cancelled.size() == 1);
        CHECK(amended[0].session == alice);
        CHECK(amended[0].client_seq == client_sequence{7});
        CHECK(amended[0].request_session == anna);
        CHECK(amended[0].request_seq == client_sequence{1});
        CHECK(cancelled[0].session == alice);
        CHECK(cancelled[0].request_session == anna);
        CHECK(cancelled[0].request_seq == client_sequence{2});
    }
}

TEST_CASE("a mass cancel is told to whom it concerns and to the sister that asked, once each") {
    sisters it;
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.annas.tell(limit(client_sequence{1}, order_side::buy, 99, 5));

    it.annas.tell(cancel_orders{anna, client_sequence{2}, account_id{number(alice)},
                                instrument_id::none, side_filter::both});
    it.alices.exchange_bytes();

    CHECK(it.annas.heard_of<order_cancelled>().size() == 2);
    CHECK(it.alices.heard_of<order_cancelled>().size() == 1);
    it.annas.tell(cancel_orders{anna, client_sequence{3}, account_id{number(alice)},
                                instrument_id::none, side_filter::both});
    REQUIRE(it.annas.heard_of<order_rejected>().size() == 1);
    CHECK(it.annas.heard_of<order_rejected>()[0].reason == reject_reason::nothing_to_cancel);
}

// ---------------------------------------------------------------------------------------------
// Commands of several steps
// ---------------------------------------------------------------------------------------------

namespace {

// A facility that lets the host rest after each step.
struct slow_fixture final : fixture, command_runner {
    slow_fixture() : fixture{one_fill_a_step()} {
        host.run_with(this);
        alices.connect();
        bobs.connect();
        for (std::uint32_t each = 1; each <= 3; ++each)
            alices.tell(limit(client_sequence{each}, order_side::sell, 100, 5));
        alices.forget();
    }

    static order_entry_host_options one_fill_a_step() {
        order_entry_host_options made = two_traders();
        made.sequencing.limits.step_work_max = 1;
        return made;
    }

    void host_is_busy() noexcept override { ++told_busy; }

    int told_busy = 0;
};

}  // namespace

TEST_CASE("what a command causes is heard between its steps, and no other begins before its end") {
    slow_fixture it;

    it.bobs.tell(limit(client_sequence{1}, order_side::buy, 100, 15));

    CHECK(it.told_busy == 1);
    CHECK(it.host.busy());
    // Of the first fill, all but the last message, which is the public's.
    CHECK(it.bobs.heard_of<order_executed>().size() == 1);
    it.host.resume();
    it.bobs.exchange_bytes();
    CHECK(it.bobs.heard_of<order_executed>().size() == 2);
    it.host.resume();
    CHECK_FALSE(it.host.busy());
    it.alices.exchange_bytes();
    CHECK(it.alices.heard_of<order_executed>().size() == 3);
}

TEST_CASE("a session takes no packet behind one whose command takes several steps") {
    slow_fixture it;
    REQUIRE(it.bobs.send(limit(client_sequence{1}, order_side::buy, 100, 15)));
    REQUIRE(it.bobs.send(limit(client_sequence{2}, order_side::buy, 90, 1)));
    soup_framer wire;
    put(wire, it.bobs.client().output());
    span_watch spans{nullptr};

    CHECK(it.bobs.session().take_packets(wire, 64, day_start, spans) == 1);
    it.host.finish_command();
    CHECK(it.bobs.session().take_packets(wire, 64, day_start, spans) == 1);
}

TEST_CASE("a session that ends while a command is under way ends behind it, unless it is back") {
    slow_fixture it;
    it.host.apply(
        define_session{session_id{3}, account_id{number(alice)}, disconnect_policy::keep_orders});
    const std::uint64_t commands = it.host.counts().commands;
    it.bobs.tell(limit(client_sequence{1}, order_side::buy, 100, 15));
    REQUIRE(it.host.busy());

    it.alices.disconnect();
    CHECK(it.host.counts().commands == commands + 1);
    it.host.finish_command();
    CHECK(it.host.counts().commands == commands + 2);

    it.alices.connect();
    for (std::uint32_t each = 11; each <= 13; ++each)
        it.alices.tell(limit(client_sequence{each}, order_side::sell, 100, 5));
    const std::uint64_t before = it.host.counts().commands;
    it.bobs.tell(limit(client_sequence{2}, order_side::buy, 100, 15));
    REQUIRE(it.host.busy());
    it.alices.disconnect();
    it.alices.connect();
    it.host.finish_command();
    CHECK(it.host.counts().commands == before + 1);
}

TEST_CASE("sessions that end while a command is under way end one after the other, with turns") {
    slow_fixture it;
    it.bobs.tell(limit(client_sequence{1}, order_side::buy, 100, 15));
    REQUIRE(it.host.busy());
    it.alices.disconnect();
    it.bobs.disconnect();
    while (it.host.sequencing().busy()) it.host.resume();
    const std::uint64_t commands = it.host.counts().commands;

    CHECK(it.host.busy());
    it.host.resume();
    CHECK(it.host.counts().commands == commands + 1);
    CHECK(it.host.busy());
    it.host.resume();
    CHECK(it.host.counts().commands == commands + 2);
    CHECK_FALSE(it.host.busy());
}

TEST_CASE("a day that ends in the middle of a command ends behind it") {
    slow_fixture it;
    it.bobs.tell(limit(client_sequence{1}, order_side::buy, 100, 15));
    REQUIRE(it.host.busy());

    it.host.end(day_start);

    CHECK_FALSE(it.host.busy());
    it.alices.exchange_bytes();
    CHECK(it.alices.heard_of<order_executed>().size() == 3);
    CHECK(it.alices.client().ending() == soup_ending::session_ended);
}

TEST_CASE("the host ends instruments by itself when their last day is over, each at its time") {
    static timestamp_ns today = 0;
    today = end_of_expiry(20'301'219);
    order_entry_host_options options = two_traders();
    options.sequencing.clocks = {.wall = []() noexcept { return today; },
                                 .steady = []() noexcept { return today; }};
    order_entry_host host{options, day_start};
    open_market(host);
    for (const auto& [which, last_day] : {std::pair{2u, 20'301'220u}, {3u, 20'301'222u}}) {
        define_instrument it{};
        it.instrument = instrument_id{which};
        it.product = product_id{1};
        it.type = instrument_kind::future;
        it.expiry_yyyymmdd = last_day;
        host.apply(it);
    }
    const auto phase = [&](std::uint32_t of) { return host.market().state().markets[of].phase; };
    const std::uint64_t before = host.counts().commands;

    host.on_timer(day_start);
    CHECK(host.counts().commands == before);
    today = end_of_expiry(20'301'220);
    host.on_timer(day_start);
    CHECK(phase(2) == market_phase::ended);
    CHECK(phase(3) == market_phase::closed);
    host.on_timer(day_start);
    CHECK(host.counts().commands == before + 1);
    today = end_of_expiry(20'301'222);
    host.on_timer(day_start);
    CHECK(phase(3) == market_phase::ended);
    CHECK(host.counts().commands == before + 2);
}

TEST_CASE("an unknown name costs the check of a password, as a known one does") {
    static int checks = 0;
    checks = 0;
    order_entry_host_options options = two_traders();
    options.passwords = [](std::string_view, const std::string&) noexcept {
        ++checks;
        return false;
    };
    order_entry_host host{options, day_start};
    for (const char* name : {"alice", "ops", "nobody"}) {
        socketless_client it{host, login_of(name)};
        it.connect();
    }
    CHECK(checks == 3);
}

TEST_CASE("what prepares a day with several partitions is told to the one that it concerns") {
    order_entry_host_options options = two_traders();
    options.sequencing.partitions = 2;
    order_entry_host host{options, day_start};
    open_market(host);
    define_instrument second{};
    second.instrument = instrument_id{2};
    second.product = product_id{1};
    second.type = instrument_kind::future;
    for (const command& each :
         {command{second}, command{set_phase{the_market, market_phase::closed}},
          command{set_position{account_id{1}, the_market, -5}},
          command{set_position{account_id{2}, instrument_id{2}, 7}}})
        host.apply(each);

    const auto held = [&](std::size_t partition, account_id account, instrument_id in) {
        const venue& state = host.sequencing().at(partition).state();
        return state.holdings[state.holdings.find(account, static_cast<std::uint16_t>(number(in)))]
            .position;
    };
    CHECK(held(0, account_id{1}, the_market) == -5);
    CHECK(held(1, account_id{1}, the_market) == 0);
    CHECK(held(1, account_id{2}, instrument_id{2}) == 7);
    CHECK(held(0, account_id{2}, instrument_id{2}) == 0);
    const venue& other = host.sequencing().at(1).state();
    CHECK(other.markets[1].terms.instrument.instrument == instrument_id::none);
}

TEST_CASE("the host ends an interruption by itself when its time is over") {
    static timestamp_ns now = 0;
    now = 1'000'000'000;
    for (const std::uint32_t partitions : {1u, 2u}) {
        order_entry_host_options options = two_traders();
        options.sequencing.partitions = partitions;
        options.sequencing.clocks = {.wall = []() noexcept { return now; },
                                     .steady = []() noexcept { return now; }};
        order_entry_host host{options, day_start};
        open_market(host);
        host.apply(set_interruption{the_market, 5, 1'000'000});
        socketless_client alices{host, login_of("alice")};
        socketless_client bobs{host, login_of("bob")};
        alices.connect();
        bobs.connect();
        alices.tell(limit(client_sequence{1}, order_side::sell, 100, 5));
        bobs.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
        const auto phase = [&] {
            return host.sequencing()
                .at(host.sequencing().home_of(the_market))
                .state()
                .markets[number(the_market)]
                .phase;
        };
        REQUIRE(phase() == market_phase::volatility_auction);
        const std::uint64_t before = host.counts().commands;

        now += 999'999;
        host.on_timer(day_start);
        CHECK(phase() == market_phase::volatility_auction);
        CHECK(host.counts().commands == before);
        now += 1;
        host.on_timer(day_start);
        host.finish_command();
        CHECK(phase() == market_phase::continuous);
        CHECK(host.counts().commands == before + 1);
        alices.exchange_bytes();
        CHECK(alices.heard_of<order_executed>().size() == 1);
        host.on_timer(day_start);
        CHECK(host.counts().commands == before + 1);
    }
}
