// SPDX-License-Identifier: BSL-1.0
//
// The fuzzers without a fuzzer: many inputs from one seed, in every build.
//
// Random bytes rarely get past a header, so most inputs are proper messages with some bytes changed, cut,
// doubled or put together.
#include <fuzz/decoders.hpp>

#include <exchange/codec/json_packet.hpp>
#include <exchange/codec/link_frame.hpp>
#include <exchange/codec/mold_packet.hpp>
#include <exchange/codec/query_codec.hpp>
#include <exchange/codec/soup_packet.hpp>

#include <codec/dice.hpp>
#include <codec/packets.hpp>
#include <codec/record_fields.hpp>

#include <doctest/doctest.h>

#include <memory>

using namespace exchange;
using namespace exchange::testing;

namespace {

bytes some_command(dice& random) {
    std::vector<bytes> all;
    const auto add = [&]<class Command>() {
        const auto command = random_record<Command>(random);
        all.emplace_back(message_bytes(command));
        encode(command, all.back());
    };
    for_each_client_command(add);
    for_each_operator_command(add);
    return all[random.below(all.size())];
}

bytes some_event(dice& random) {
    std::vector<bytes> all;
    for_each_event([&]<class Event>() {
        all.emplace_back(message_bytes_of<Event>);
        encode(random_record<Event>(random), random_record<event_stamp>(random),
               std::span{all.back()}.template first<message_bytes_of<Event>>());
    });
    return all[random.below(all.size())];
}

bytes some_book(dice& random) {
    const auto instrument = instrument_id{static_cast<std::uint32_t>(1 + random.below(9))};
    bytes made(book_answer_bytes_max);
    std::size_t size = message_bytes_of<book_request>;
    switch (random.below(3)) {
        case 0:
            encode(book_request{instrument, best_of(order_side::buy), order_side::buy},
                   std::span{made}.first<message_bytes_of<book_request>>());
            break;
        case 1:
            size = message_bytes_of<book_refused>;
            encode(book_refused{instrument, reject_reason::unknown_instrument},
                   std::span{made}.first<message_bytes_of<book_refused>>());
            break;
        default: {
            book_page page{};
            page.instrument = instrument;
            page.phase = market_phase::halted;
            page.count = static_cast<std::uint16_t>(random.below(book_page_levels_max + 1));
            for (std::size_t each = 0; each < page.count; ++each)
                page.levels[each] = {static_cast<price_ticks>(random.below(1000)), random.any(), 7};
            size = encode(page, std::span{made}.first<book_answer_bytes_max>());
        }
    }
    made.resize(size);
    return made;
}

template <class Row>
bytes some_page(dice& random) {
    query_page<Row> page{};
    page.next = random.any() >> 1;
    page.count = static_cast<std::uint16_t>(random.below(query_rows_max<Row> + 1u));
    bytes made(page_bytes<Row>(page.count));
    static_cast<void>(encode(page, std::span{made}));
    // Whatever a row holds, most of it is allowed.
    for (std::size_t at = page_bytes<Row>(0); at < made.size(); ++at)
        made[at] = static_cast<std::byte>(1 + random.below(3));
    return made;
}

bytes some_query(dice& random) {
    switch (random.below(8)) {
        case 0: return some_page<order_row>(random);
        case 1: return some_page<position_row>(random);
        case 2: return some_page<account_row>(random);
        case 3: return some_page<session_row>(random);
        case 4: return some_page<instrument_row>(random);
        case 5: return some_page<product_row>(random);
        case 6: {
            bytes made(message_bytes_of<query_refused>);
            encode(query_refused{random.any() >> 1, account_id{3}, instrument_id{4},
                                 query_subject::orders, reject_reason::not_permitted},
                   std::span{made}.first<message_bytes_of<query_refused>>());
            return made;
        }
        default: {
            bytes made(message_bytes_of<query>);
            encode(query{random.any() >> 1, account_id{3}, instrument_id{4},
                         query_subject{static_cast<std::uint8_t>(1 + random.below(7))}},
                   std::span{made}.first<message_bytes_of<query>>());
            return made;
        }
    }
}

void append(bytes& to, std::span<const std::byte> more) {
    to.insert(to.end(), more.begin(), more.end());
}

bytes some_packets(dice& random) {
    bytes all;
    if (!random.chance(4)) append(all, framed('L', text_of(format_soup_login({"u", "p", "", 1}))));
    if (!random.chance(4)) append(all, framed('A', text_of(format_soup_acceptance({"S1", 1}))));
    constexpr std::string_view types = "+AJSHZLUROSSUU";
    for (std::size_t count = random.below(20); count > 0; --count)
        append(all, framed(types[random.below(types.size())], std::string(random.below(60), 'x')));
    return all;
}

bytes some_datagram(dice& random) {
    const auto count = static_cast<std::uint16_t>(random.below(4));
    bytes all;
    append(all, format_mold_header({"S1", 1 + random.below(30), count}));
    for (std::uint16_t each = 0; each < count; ++each) {
        const std::size_t size = random.below(20);
        append(all, bytes{std::byte{0}, static_cast<std::byte>(size)});
        append(all, random.bytes(size));
    }
    return all;
}

bytes some_datagrams(dice& random) {
    bytes all;
    for (std::size_t count = random.below(12); count > 0; --count) {
        const bytes one = some_datagram(random);
        all.push_back(static_cast<std::byte>(one.size()));
        append(all, one);
    }
    return all;
}

/// A message as JSON, of either side, or the packets around messages.
bytes some_text(dice& random) {
    bytes said(64 * 1024);
    json_writer to{said};
    const bytes message = random.chance(2) ? some_command(random) : some_event(random);
    const auto login = format_soup_login({"u", "p", "", 1});
    const bool plain = random.chance(4);
    const soup_packet packet = plain ? soup_packet{soup_type::login_request, login}
                                     : soup_packet{soup_type::sequenced, message};
    REQUIRE(write_json_packet(to, packet, random.below(3)));
    said.resize(to.size());
    return said;
}

/// Behind a byte that says whether a hello, or a welcome, has come before.
bytes some_frames(dice& random) {
    bytes all{static_cast<std::byte>(random.below(2))};
    const auto add = [&all](link_kind kind, std::uint32_t channel, const auto& payload) {
        std::array<std::byte, link_header_bytes> header;
        write_link_header(header, {static_cast<std::uint32_t>(payload.size()), channel, kind});
        append(all, header);
        append(all, payload);
    };
    if (random.chance(2)) add(link_kind::hello, 0, format_link_hello({1, 1 << 16, "gw1", "pw"}));
    if (random.chance(2)) add(link_kind::welcome, 0, format_link_welcome({1 << 16, 8, "LIFE"}));
    for (std::size_t count = random.below(40); count > 0; --count) {
        const auto channel = static_cast<std::uint32_t>(1 + random.below(4));
        const std::byte why{static_cast<unsigned char>(random.below(24))};
        const bytes credit{std::byte{0}, std::byte{0}, static_cast<std::byte>(random.below(4)),
                           static_cast<std::byte>(random.below(256))};
        switch (random.below(8)) {
            case 0:
            case 1:
                add(link_kind::open, channel,
                    format_link_open({{"u", {}, {}, 1}, random.chance(2)}));
                break;
            case 2:
            case 3:
            case 4:
                add(link_kind::packets, channel, framed('U', std::string(random.below(90), 'x')));
                break;
            case 5: add(link_kind::credit, channel, credit); break;
            case 6: add(link_kind::close, channel, bytes{why}); break;
            default: add(link_kind::heartbeat, 0, bytes{});
        }
    }
    return all;
}

bytes some_input(dice& random) {
    switch (random.below(11)) {
        case 0: return some_command(random);
        case 1: return some_event(random);
        case 2: return some_packets(random);
        case 3: return some_datagram(random);
        case 4: return some_datagrams(random);
        case 5: return some_book(random);
        case 6: return some_query(random);
        case 7: return some_text(random);
        case 8:
        case 9: return some_frames(random);
        default: return random.bytes(random.below(300));
    }
}

void damage(dice& random, bytes& it) {
    for (std::size_t count = random.below(4); count > 0 && !it.empty(); --count) {
        const auto at = it.begin() + static_cast<std::ptrdiff_t>(random.below(it.size()));
        switch (random.below(4)) {
            case 0: *at ^= static_cast<std::byte>(1 + random.below(255)); break;
            case 1: *at = random.chance(2) ? std::byte{0xFF} : std::byte{0}; break;
            case 2: it.erase(at, it.end()); break;
            default: it.insert(at, static_cast<std::byte>(random.below(256)));
        }
    }
}

}  // namespace

TEST_CASE("no decoder is surprised by proper, damaged or random bytes") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 5'000; ++round) {
        bytes input = some_input(random);
        damage(random, input);
        // Memory of exactly its size shows every byte that is read too far.
        const std::unique_ptr<std::byte[]> exact{new std::byte[input.size()]};
        std::copy(input.begin(), input.end(), exact.get());
        for (const fuzz::decoder& each : fuzz::decoders) each.run({exact.get(), input.size()});
    }
    CHECK(std::size(fuzz::decoders) == 12);
}

TEST_CASE("no decoder is surprised by nothing at all") {
    for (const fuzz::decoder& each : fuzz::decoders) each.run({});
    CHECK(std::size(fuzz::decoders) == 12);
}
