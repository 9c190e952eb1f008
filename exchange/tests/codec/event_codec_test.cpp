// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/event_codec.hpp promises: every derived message comes back, to whom it is for.
#include <exchange/codec/event_codec.hpp>

#include <exchange/codec/mold_sender.hpp>
#include <exchange/codec/soup_stream.hpp>

#include <codec/dice.hpp>
#include <codec/record_fields.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

using message = std::vector<std::byte>;

static_assert(message_sink<soup_stream> && message_sink<mold_sender>);

bool same_stamp(const event_stamp& left, const event_stamp& right) { return same(left, right); }

template <class Event>
message encoded(const Event& event, const event_stamp& stamp) {
    message out(message_bytes_of<Event>, std::byte{0xEE});
    encode(event, stamp, std::span{out}.template first<message_bytes_of<Event>>());
    return out;
}

template <class Visitor>
decode_fault decode_any(std::span<const std::byte> bytes, Visitor visitor) {
    const std::unique_ptr<std::byte[]> copy{new std::byte[bytes.size()]};
    std::copy(bytes.begin(), bytes.end(), copy.get());
    const std::span<const std::byte> exact{copy.get(), bytes.size()};
    const decode_fault fault = decode_public_event(exact, visitor);
    return fault.error == decode_error::unknown_schema ? decode_operator_event(exact, visitor)
                                                       : fault;
}

/// What a list of messages is: each as its kind.
struct message_list {
    std::vector<message> messages;
    message prepared;

    std::span<std::byte> prepare(std::size_t size) {
        prepared.assign(size, std::byte{0xEE});
        return prepared;
    }
    void commit(std::size_t size) {
        prepared.resize(size);
        messages.push_back(prepared);
    }
};

struct lists {
    std::map<session_id, message_list> sessions;
    message_list public_feed;
    message_list operators;

    message_list* session(session_id it) {
        const auto found = sessions.find(it);
        return found == sessions.end() ? nullptr : &found->second;
    }
    message_list* feed() { return &public_feed; }
    message_list* administrator() { return &operators; }
};

static_assert(event_routes<lists>);

}  // namespace

TEST_CASE("each event has the template that its kind says, and no member that is not on the wire") {
    for_each_event([]<class Event>() {
        using reader = typename sbe::wire<Event>::reader;
        CHECK(reader::template_id == 100 + number(Event::kind));
        CHECK(reader::record_fields == members_of<Event>());
    });
    CHECK(sbe::wire<message_rejected>::reader::record_fields == members_of<message_rejected>());
    CHECK(members_of<event_stamp>() == 5);
}

TEST_CASE("random events come back as they were, with their place") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for_each_event([&random]<class Event>() {
        for (int each = 0; each < 500; ++each) {
            const auto event = random_record<Event>(random);
            const auto stamp = random_record<event_stamp>(random);
            std::optional<Event> back;
            const auto keep = [&]<class... Found>(const Found&... found) {
                if constexpr (sizeof...(Found) == 2) {
                    const auto& [place, record] = std::tie(found...);
                    CHECK(same_stamp(place, stamp));
                    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(record)>, Event>)
                        back = record;
                }
            };
            CHECK(decode_any(encoded(event, stamp), keep) == decode_fault{});
            REQUIRE(back.has_value());
            CHECK(same_record(*back, event));
        }
    });
}

TEST_CASE("an event cut anywhere is refused, and one with a changed byte refused or read") {
    dice random{3};
    for_each_event([&random]<class Event>() {
        const message whole =
            encoded(random_record<Event>(random), random_record<event_stamp>(random));
        const auto ignore = [](const auto&...) {};
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const decode_error error = decode_any(std::span{whole}.first(size), ignore).error;
            CHECK(error == (size < sbe::header_bytes ? decode_error::header_truncated
                                                     : decode_error::message_truncated));
        }
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (int change = 1; change < 256; ++change) {
                message bytes = whole;
                bytes[at] ^= static_cast<std::byte>(change);
                const bool of_sender = at == 6 || at == 7;
                static_cast<void>(decode_any(bytes, [&]<class... Found>(const Found&... found) {
                    if constexpr (sizeof...(Found) == 2) {
                        const auto& [place, record] = std::tie(found...);
                        if (!of_sender) CHECK(encoded(record, place) == bytes);
                    }
                }));
            }
        }
    });
}

TEST_CASE("a refusal comes back to the client and to the operator") {
    const message_rejected refusal{client_sequence{0x1'0000'0003}, 1, 5,
                                   decode_error::field_out_of_range};
    std::array<std::byte, message_bytes_of<message_rejected>> bytes;
    encode(refusal, bytes);
    std::optional<message_rejected> to_client;
    std::optional<message_rejected> to_operator;
    const auto keep_in = [](std::optional<message_rejected>& kept) {
        return [&kept]<class... Found>(const Found&... found) {
            if constexpr (sizeof...(Found) == 1) kept = (found, ...);
        };
    };

    CHECK(decode_private_event(bytes, keep_in(to_client)) == decode_fault{});
    CHECK(decode_operator_event(bytes, keep_in(to_operator)) == decode_fault{});

    REQUIRE(to_client.has_value());
    CHECK(same_record(*to_client, refusal));
    CHECK(to_operator.has_value());
}

TEST_CASE("a command is no event") {
    std::array<std::byte, message_bytes_of<cancel_order>> bytes;
    encode(cancel_order{session_id{7}, client_sequence{3}, {order_id{9}, client_sequence::none}},
           bytes);

    CHECK(decode_private_event(bytes, [](const auto&...) {}).error ==
          decode_error::unexpected_message);
}

TEST_CASE("messages of a batch are routed: a session's to the session, the rest to the feed") {
    lists to;
    to.sessions[session_id{1}];
    to.sessions[session_id{2}];
    std::vector<event> events(5);
    const auto set = [&events](std::size_t at, auto member, auto record) {
        events[at].*member = record;
        events[at].kind = record.kind;
    };
    order_executed executed{};
    executed.session = session_id{2};
    set(0, &event::order_executed, executed);
    executed.session = session_id{3};  // No listener.
    set(1, &event::order_executed, executed);
    set(2, &event::trade, trade{});
    set(3, &event::top_of_book, top_of_book{});
    set(4, &event::admin_accepted, admin_accepted{});

    encode_batch(event_batch{events, 71, 9, 1000, 0, true}, to);

    CHECK(to.sessions[session_id{1}].messages.empty());
    CHECK(to.sessions[session_id{2}].messages.size() == 1);
    CHECK(to.public_feed.messages.size() == 2);
    REQUIRE(to.operators.messages.size() == 1);
    const auto stamp_of = [](const message& bytes) {
        administration::admin_accepted_reader reader;
        REQUIRE_FALSE(reader.wrap(sbe::load_header(std::span{bytes}.first<sbe::header_bytes>()),
                                  std::span{bytes}.subspan(sbe::header_bytes)));
        return reader.stamp();
    };
    const event_stamp stamp = stamp_of(to.operators.messages[0]);
    CHECK(stamp.out_seq == 75);
    CHECK(stamp.in_seq == 9);
    CHECK(stamp.index == 4);
    CHECK(stamp.last_in_event);
}

TEST_CASE_TEMPLATE("what a sister session asked for is told to it as well, and to each once", Event,
                   order_amended, order_cancelled) {
    constexpr session_id owner{1};
    constexpr session_id sister{2};
    const auto told = [](lists& to, session_id asked) {
        Event it{};
        it.session = owner;
        it.request_session = asked;
        it.request_seq = client_sequence{0x1'0000'0003};
        std::vector<event> events(1);
        if constexpr (std::is_same_v<Event, order_amended>) events[0].order_amended = it;
        else events[0].order_cancelled = it;
        events[0].kind = Event::kind;
        encode_batch(event_batch{events, 71, 9, 1000, 0, true}, to);
    };
    const auto count = [](lists& to, session_id of) { return to.sessions[of].messages.size(); };
    lists to;
    to.sessions[owner];
    to.sessions[sister];

    told(to, sister);
    CHECK(count(to, owner) == 1);
    CHECK(count(to, sister) == 1);
    CHECK(to.sessions[owner].messages == to.sessions[sister].messages);

    told(to, owner);
    CHECK(count(to, owner) == 2);
    CHECK(count(to, sister) == 1);

    told(to, session_id::none);  // Nobody asked: a self-trade, the end of a day.
    CHECK(count(to, owner) == 3);
    CHECK(count(to, sister) == 1);

    told(to, session_id{3});  // Which has no stream.
    CHECK(count(to, owner) == 4);
    CHECK(count(to, sister) == 1);

    lists alone;
    alone.sessions[sister];  // The owner has no stream, and who asked is told all the same.
    told(alone, sister);
    CHECK(count(alone, sister) == 1);
    CHECK(to.public_feed.messages.empty());
    CHECK(to.operators.messages.empty());
}

TEST_CASE("a batch is written straight into a session's stream and the feed") {
    struct wires {
        soup_stream private_stream{{.session = "S1"}};
        mold_sender public_feed{{.session = "F1"}, gyre::time_point{}};

        soup_stream* session(session_id) { return &private_stream; }
        mold_sender* feed() { return &public_feed; }
        soup_stream* administrator() { return nullptr; }
    } to;
    std::vector<event> events(2);
    events[0].order_entered = order_entered{};
    events[0].kind = event_kind::order_entered;
    events[1].volume_update = volume_update{};
    events[1].kind = event_kind::volume_update;

    encode_batch(event_batch{events, 1, 1, 0, 0, true}, to);

    CHECK(to.private_stream.messages().framed(1).size() ==
          soup_header_bytes + message_bytes_of<order_entered>);
    CHECK(to.public_feed.messages().framed(1).size() ==
          mold_block_bytes + message_bytes_of<volume_update>);
}
