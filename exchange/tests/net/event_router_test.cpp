// SPDX-License-Identifier: BSL-1.0
//
// Who is told a message beside those whom it concerns; and that nothing leaves before its command is durable.
#include <exchange/net/application/event_router.hpp>

#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;

namespace {

constexpr session_id alices_sister{3};

order_entry_host_options with_listeners() {
    order_entry_host_options options = two_traders();
    options.participants.push_back({"sister", "secret", alices_sister});
    options.participants.push_back(
        {.username = "copy", .secret = "secret", .what = told::account, .account = account_id{1}});
    options.participants.push_back({.username = "watch", .secret = "secret", .what = told::all});
    return options;
}

// Alice with two sessions and bob; who is told copies of alice's account, and of all.
struct watched_venue {
    explicit watched_venue(const order_entry_host_options& options = with_listeners())
        : host{options, day_start} {
        open_market(host);
        host.apply(define_session{alices_sister, account_id{1}, disconnect_policy::cancel_orders});
        for (socketless_client* const each : {&alices, &sisters, &bobs, &copies, &watcher})
            each->connect();
    }

    void settle() {
        for (socketless_client* const each : {&alices, &sisters, &bobs, &copies, &watcher})
            each->exchange_bytes();
    }

    order_entry_host host;
    socketless_client alices{host, login_of("alice")};
    socketless_client sisters{host, login_of("sister")};
    socketless_client bobs{host, login_of("bob")};
    socketless_client copies{host, login_of("copy")};
    socketless_client watcher{host, login_of("watch")};
};

std::vector<std::vector<std::byte>> sequenced(const socketless_client& of) {
    std::vector<std::vector<std::byte>> made;
    for (const heard_message& each : of.heard())
        if (each.sequenced) made.push_back(each.bytes);
    return made;
}

}  // namespace

TEST_CASE("a drop copy has each message of its account's sessions once, and no other") {
    watched_venue it;
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.bobs.tell(limit(client_sequence{1}, order_side::sell, 100, 2));
    // The owner and the sister who asked are both told; the copy is one.
    const order_id resting = it.alices.heard_of<order_entered>().at(0).order;
    it.sisters.tell(
        cancel_order{session_id::none, client_sequence{1}, {resting, client_sequence::none}});
    it.bobs.tell(limit(client_sequence{2}, order_side::sell, 500, 2));
    it.settle();

    REQUIRE(it.alices.heard_of<order_cancelled>().size() == 1);
    REQUIRE(it.sisters.heard_of<order_cancelled>().size() == 1);
    CHECK(sequenced(it.copies) == sequenced(it.alices));
    CHECK(it.copies.heard_of<order_entered>()[0].session == alice);
}

TEST_CASE("surveillance has each message of all sessions once, in the order of their numbers") {
    watched_venue it;
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.bobs.tell(limit(client_sequence{1}, order_side::sell, 100, 2));
    it.sisters.tell(limit(client_sequence{0}, order_side::buy, 100, 5));  // Refused.
    it.settle();

    CHECK(sequenced(it.watcher).size() ==
          sequenced(it.alices).size() + sequenced(it.bobs).size() + sequenced(it.sisters).size());
    std::vector<out_sequence> numbers;
    const auto keep = [&](const auto&... told) {
        const auto number_of = [&](const event_stamp& stamp, const auto&) {
            numbers.push_back(stamp.out_seq);
        };
        if constexpr (sizeof...(told) == 2) number_of(told...);
    };
    for (const auto& each : sequenced(it.watcher))
        CHECK(decode_private_event(each, keep) == decode_fault{});
    CHECK(std::ranges::is_sorted(numbers));
    CHECK(numbers.size() == sequenced(it.watcher).size());
}

TEST_CASE("who is told copies cannot trade, and nothing happens when such a connection is lost") {
    watched_venue it;
    const std::uint64_t commands = it.host.counts().commands;
    for (socketless_client* const each : {&it.copies, &it.watcher}) {
        each->tell(limit(client_sequence{1}, order_side::buy, 100, 5));
        REQUIRE(each->refusals().size() == 1);
        CHECK(each->refusals()[0].error == decode_error::unexpected_message);
        each->disconnect();
    }
    CHECK(it.host.counts().commands == commands);
    CHECK(it.host.counts().malformed == 2);

    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.copies.connect();  // What it has missed waits for it.
    CHECK(sequenced(it.copies) == sequenced(it.alices));
}

TEST_CASE("a drop copy asks about its own account only, and surveillance about all") {
    watched_venue it;
    const auto answer = [&](std::string_view name, account_id about) {
        std::array<std::byte, message_bytes_of<query>> question;
        encode(query{0, about, instrument_id::none, query_subject::orders}, question);
        const auto who = std::ranges::find_if(it.host.participants(), [&](const participant& each) {
            return each.who().username.view() == name;
        });
        timestamp_ns until = 0;
        std::optional<reject_reason> refused;
        std::size_t rows = 0;
        const auto keep = [&]<class Told>(const Told& told) {
            if constexpr (std::is_same_v<Told, query_refused>) refused = told.reason;
            if constexpr (std::is_same_v<Told, orders_page>) rows = told.count;
        };
        CHECK(decode_query_answer(it.host.answer(*who, question, day_start, until), keep) ==
              decode_fault{});
        return std::pair{refused, rows};
    };
    it.alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    it.bobs.tell(limit(client_sequence{1}, order_side::buy, 90, 5));

    using result = std::pair<std::optional<reject_reason>, std::size_t>;
    CHECK(answer("copy", account_id::none) == result{{}, 1});
    CHECK(answer("copy", account_id{1}) == result{{}, 1});
    CHECK(answer("copy", account_id{2}) == result{reject_reason::not_permitted, 0});
    CHECK(answer("watch", account_id::none) == result{{}, 2});
    CHECK(answer("watch", account_id{2}) == result{{}, 1});
}

TEST_CASE(
    "of a journaled exchange nothing leaves before it is released, then all that was sealed") {
    order_entry_host_options options = with_listeners();
    options.journaled = true;
    order_entry_host host{options, day_start};
    open_market(host);
    const auto sent = [&] {
        std::uint64_t messages = 0;
        for (auto each = host.feed().next(day_start); each; each = host.feed().next(day_start))
            messages += get_big_endian<std::uint16_t>(std::span{each->header}.subspan<18, 2>());
        return messages;
    };
    CHECK(sent() == 0);
    CHECK(host.seal() == host.counts().commands);
    host.release();
    CHECK(sent() > 0);
    socketless_client alices{host, login_of("alice")};
    socketless_client copies{host, login_of("copy")};
    alices.connect();
    copies.connect();
    REQUIRE(alices.client().logged_in());

    const std::uint64_t commands = host.counts().commands;
    alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    CHECK(host.seal() == commands + 1);
    alices.tell(limit(client_sequence{2}, order_side::buy, 100, 5));  // While the first is written.
    copies.exchange_bytes();
    CHECK(alices.heard().empty());
    CHECK(copies.heard().empty());
    CHECK(sent() == 0);
    const int announced = copies.announced();

    host.release();
    CHECK(copies.announced() > announced);
    alices.exchange_bytes();
    copies.exchange_bytes();
    REQUIRE(alices.heard_of<order_entered>().size() == 1);
    CHECK(alices.heard_of<order_entered>()[0].client_seq == client_sequence{1});
    CHECK(copies.heard_of<order_entered>().size() == 1);
    CHECK(sent() == 3);  // As of one order that rests.

    // What is kept for who comes again is released as well, or is not told to her either.
    alices.connect();
    CHECK(alices.heard_of<order_entered>().size() == 1);
    CHECK(host.seal() == commands + 3);  // The end of her session among them.
    host.release();
    alices.exchange_bytes();
    CHECK(alices.heard_of<order_entered>().size() == 2);
}

TEST_CASE("the end of a journaled day is told behind its last message") {
    order_entry_host_options options = two_traders();
    options.journaled = true;
    order_entry_host host{options, day_start};
    open_market(host);
    host.seal();
    host.release();
    socketless_client alices{host, login_of("alice")};
    alices.connect();
    alices.tell(limit(client_sequence{1}, order_side::buy, 100, 5));
    host.end(day_start);
    alices.exchange_bytes();
    CHECK(alices.heard().empty());
    CHECK_FALSE(alices.session().over());

    host.seal();
    host.release();
    alices.exchange_bytes();
    CHECK(alices.heard_of<order_entered>().size() == 1);
    CHECK(alices.session().ending() == soup_ending::session_ended);
}
