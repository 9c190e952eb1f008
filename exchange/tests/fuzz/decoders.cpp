// SPDX-License-Identifier: BSL-1.0
//
// What must hold for any bytes: see decoders.hpp.
#include <fuzz/decoders.hpp>

#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/json_packet.hpp>
#include <exchange/codec/link_connection.hpp>
#include <exchange/codec/mold_receiver.hpp>
#include <exchange/codec/mold_sender.hpp>
#include <exchange/codec/query_codec.hpp>
#include <exchange/codec/soup_client.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/codec/soup_server.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace exchange::fuzz {

namespace {

using namespace std::chrono_literals;

constexpr gyre::time_point start{1h};

/// What a sender of another version means by the rest cannot be written again.
bool is_of_our_version(input bytes) {
    return sbe::load_header(bytes.first<sbe::header_bytes>()).version == 0;
}

template <class Command>
void check_command(input bytes, const Command& command) {
    if (!is_of_our_version(bytes)) return;
    if constexpr (!fixed_size_record<Command>) {
        if (command.bands == 0) return;  // An empty group may claim entries of any size.
    }
    std::vector<std::byte> again(message_bytes(command));
    encode(command, again);
    gyre::expects(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()),
                  "a command that changed");
}

template <class Event>
void check_event(input bytes, const event_stamp& stamp, const Event& event) {
    if (!is_of_our_version(bytes)) return;
    std::array<std::byte, message_bytes_of<Event>> again;
    encode(event, stamp, again);
    gyre::expects(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()),
                  "an event that changed");
}

template <class Question>
void check_book(input bytes, const Question& it) {
    if (!is_of_our_version(bytes)) return;
    std::array<std::byte, book_answer_bytes_max> again;
    std::size_t size = 0;
    if constexpr (std::is_same_v<Question, book_page>) {
        if (it.count == 0) return;  // As above.
        size = encode(it, std::span{again});
    } else {
        size = message_bytes_of<Question>;
        encode(it, std::span{again}.first<message_bytes_of<Question>>());
    }
    gyre::expects(std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(size),
                             bytes.begin(), bytes.end()),
                  "a book that changed");
}

template <class Row>
void check_query(input bytes, const query_page<Row>& it) {
    if (!is_of_our_version(bytes) || it.count == 0) return;  // As above.
    std::array<std::byte, query_answer_bytes_max> again;
    const std::size_t size = encode(it, std::span{again});
    gyre::expects(std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(size),
                             bytes.begin(), bytes.end()),
                  "a page that changed");
}

template <class Message>
void check_query(input bytes, const Message& it) {
    if (!is_of_our_version(bytes)) return;
    std::array<std::byte, message_bytes_of<Message>> again;
    encode(it, again);
    gyre::expects(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()),
                  "a question that changed");
}

/// Packets out of `bytes`, each as its type and payload, read in pieces of `piece` bytes.
std::vector<std::string> packets_in(input bytes, std::size_t piece) {
    exchange::soup_framer framer{{.payload_bytes_max = 200, .buffer_bytes_max = 256}};
    std::vector<std::string> packets;
    while (!bytes.empty()) {
        const std::span<std::byte> space = framer.space();
        const std::size_t size = std::min({piece, bytes.size(), space.size()});
        gyre::expects(size > 0, "there is always room");
        std::copy_n(bytes.begin(), size, space.begin());
        framer.received(size);
        bytes = bytes.subspan(size);
        soup_framed next = framer.next();
        for (; next.complete; next = framer.next()) {
            const auto payload = next.packet.payload;
            packets.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
            packets.back() += static_cast<char>(next.packet.type);
        }
        if (next.ending != soup_ending::none) {
            packets.emplace_back(describe(next.ending));
            break;
        }
    }
    return packets;
}

/// Gives `bytes` to a machine as a peer would send them, and takes what it writes.
template <class Machine, class OnStep>
void converse(Machine& machine, input bytes, OnStep on_step) {
    exchange::soup_framer framer{{.payload_bytes_max = 200, .buffer_bytes_max = 4096}};
    gyre::time_point now = start;
    bool ended = false;
    const auto look = [&](const soup_step& step) {
        if (step.what == soup_step::kind::ended) {
            gyre::expects(!ended, "an ending is final");
            ended = true;
        }
        on_step(step);
    };
    const std::size_t size = std::min(bytes.size(), framer.space().size());
    std::copy_n(bytes.begin(), size, framer.space().begin());
    framer.received(size);
    for (soup_framed next = framer.next(); next.complete; next = framer.next()) {
        now += 100ms;
        look(machine.on_packet(next.packet, now));
        look(machine.on_timer(now));
        const std::size_t offered = machine.output().size();
        machine.sent(offered - offered / 3, now);
    }
    gyre::expects(!ended || machine.ending() != soup_ending::none, "an ending has a reason");
}

/// Frames out of `bytes`, read in pieces of `piece` bytes.
std::vector<std::string> frames_in(input bytes, std::size_t piece) {
    exchange::link_framer framer{link_header_bytes + link_payload_bytes_max};
    std::vector<std::string> frames;
    while (!bytes.empty()) {
        const std::span<std::byte> space = framer.space();
        const std::size_t size = std::min({piece, bytes.size(), space.size()});
        gyre::expects(size > 0, "there is always room");
        std::copy_n(bytes.begin(), size, space.begin());
        framer.received(size);
        bytes = bytes.subspan(size);
        link_framed next = framer.next();
        for (; next.complete; next = framer.next()) {
            const auto payload = next.frame.payload;
            frames.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
            frames.back() += std::to_string(next.frame.channel);
            frames.back() += static_cast<char>(next.frame.kind);
        }
        if (next.ending != link_ending::none) {
            frames.emplace_back(describe(next.ending));
            break;
        }
    }
    return frames;
}

/// Says as much as it may, and a little more than it is asked for.
struct talkative_channel final : link_channel {
    link_pull pull(std::span<std::byte> room) noexcept override {
        constexpr std::size_t size = 40;
        if (room.size() < size) return {.bytes = 0, .more = true};
        write_soup_header(room.first<soup_header_bytes>(), exchange::soup_type::sequenced,
                          size - soup_header_bytes);
        std::fill_n(room.begin() + soup_header_bytes, size - soup_header_bytes, std::byte{'x'});
        ++said;
        return {.bytes = size, .more = said % 3 != 0, .over = said % 50 == 0};
    }
    unsigned said = 0;
};

/// Gives frames to one end of a link, whose application does what it is asked, and looks at what it writes.
void converse(link_connection& link, input bytes, std::deque<talkative_channel>& channels) {
    exchange::link_framer framer{link_header_bytes + link_payload_bytes_max};
    exchange::link_framer written;
    gyre::time_point now = start;
    bool ended = false;
    const std::size_t size = std::min(bytes.size(), framer.space().size());
    std::copy_n(bytes.begin(), size, framer.space().begin());
    framer.received(size);
    for (link_framed next = framer.next(); next.complete; next = framer.next()) {
        now += 100ms;
        const link_step step = link.on_frame(next.frame, now);
        using kind = link_step::kind;
        if (step.what == kind::hello) link.welcome("LIFE");
        if (step.what == kind::open) link.admit(step.number, channels.emplace_back());
        if (step.what == kind::welcome)
            for (int each = 0; each < 3; ++each)
                static_cast<void>(link.open(channels.emplace_back(), {{"u", {}, {}, 1}, false}));
        if (step.what == kind::packets)
            link.take(*step.channel, static_cast<std::uint32_t>(step.payload.size()));
        if (step.what == kind::closed) gyre::expects(!step.channel->is_open(), "closed is closed");
        gyre::expects(step.what != kind::ended || !ended, "an ending is final");
        ended = ended || step.what == kind::ended;
        for (talkative_channel& each : channels)
            if (each.is_open()) link.announce(each);
        const auto out = link.output();
        gyre::expects(out.size() <= written.space().size(), "bounded");
        std::copy(out.begin(), out.end(), written.space().begin());
        written.received(out.size());
        link.sent(out.size(), now);
        for (link_framed one = written.next(); one.complete; one = written.next())
            gyre::expects(one.frame.payload.size() <= link_payload_bytes_max, "whole frames");
    }
    gyre::expects(!ended || link.ending() != link_ending::none, "an ending has a reason");
    link.lose_channels([](link_channel&, std::uint32_t) {});
}

constexpr link_options small_link() {
    link_options options;
    options.channels_max = 4;
    options.window_bytes = link_window_bytes_min;
    options.output_bytes_max = 2 * (link_header_bytes + link_payload_bytes_max);
    return options;
}

}  // namespace

void commands(input bytes) {
    const auto check = [bytes](const auto& command) { check_command(bytes, command); };
    const decode_fault fault = decode_client_command(bytes, session_id{1}, check);
    if (fault) static_cast<void>(refusal_of(bytes, fault));
    if (fault.error == decode_error::unknown_schema)
        static_cast<void>(decode_operator_command(bytes, check));
    static_cast<void>(
        decode_book_request(bytes, [bytes](const auto& it) { check_book(bytes, it); }));
    static_cast<void>(decode_question(bytes, [bytes](const auto& it) { check_query(bytes, it); }));
}

void events(input bytes) {
    const auto check = [bytes]<class... Found>(const Found&... found) {
        if constexpr (sizeof...(Found) == 2) check_event(bytes, found...);
    };
    if (decode_public_event(bytes, check).error == decode_error::unknown_schema)
        static_cast<void>(decode_operator_event(bytes, check));
    static_cast<void>(
        decode_book_answer(bytes, [bytes](const auto& it) { check_book(bytes, it); }));
    static_cast<void>(
        decode_query_answer(bytes, [bytes](const auto& it) { check_query(bytes, it); }));
}

void soup_framer(input bytes) {
    const auto whole = packets_in(bytes, bytes.size());
    gyre::expects(packets_in(bytes, 1) == whole, "cut into bytes");
    gyre::expects(packets_in(bytes, 7) == whole, "cut into sevens");
}

void soup_server(input bytes) {
    soup_stream stream{
        {.session = "S1", .bytes_max = 300, .messages_max = 16, .message_bytes_max = 100}};
    exchange::soup_server server{{.outbox_bytes_max = 256}, start};
    // Random bytes are hardly ever a login, so odd ones begin behind a good one. No packet does: its
    // length is below 256.
    if (!bytes.empty() && (bytes[0] & std::byte{1}) != std::byte{0}) {
        const auto login = exchange::format_soup_login({"u", "p", "", 1});
        static_cast<void>(server.on_packet({exchange::soup_type::login_request, login}, start));
        static_cast<void>(server.accept(stream, start));
        bytes = bytes.subspan(1);
    }
    converse(server, bytes, [&](const soup_step& step) {
        if (step.what == soup_step::kind::login) static_cast<void>(server.accept(stream, start));
        if (step.what != soup_step::kind::message) return;
        const std::size_t size = std::min<std::size_t>(step.payload.size(), 100);
        std::copy_n(step.payload.begin(), size, stream.prepare(size).begin());
        stream.commit(size);
    });
}

void soup_client(input bytes) {
    exchange::soup_client client{{.outbox_bytes_max = 256}, {"u", "p", "", 1}, start};
    client.connect(start);
    std::uint64_t last = 0;
    converse(client, bytes, [&](const soup_step& step) {
        if (step.sequence == 0) return;
        gyre::expects(step.sequence == last + 1, "each message once and in order");
        last = step.sequence;
    });
}

void link_framer(input bytes) {
    const auto whole = frames_in(bytes, bytes.size());
    gyre::expects(frames_in(bytes, 1) == whole, "cut into bytes");
    gyre::expects(frames_in(bytes, 7) == whole, "cut into sevens");
}

void link_facility(input bytes) {
    std::deque<talkative_channel> channels;
    link_connection link{link_role::facility, small_link(), start};
    // Random bytes are hardly ever a hello, so odd ones begin behind a good one.
    if (!bytes.empty() && (bytes[0] & std::byte{1}) != std::byte{0}) {
        const auto hello = format_link_hello({link_version, 1 << 16, "gw1", "pw"});
        static_cast<void>(link.on_frame({link_kind::hello, 0, hello}, start));
        link.welcome("LIFE");
        bytes = bytes.subspan(1);
    }
    converse(link, bytes, channels);
}

void link_gateway(input bytes) {
    std::deque<talkative_channel> channels;
    link_connection link{link_role::gateway, small_link(), start};
    link.connect("gw1", "pw", start);
    if (!bytes.empty() && (bytes[0] & std::byte{1}) != std::byte{0}) {
        const auto welcome = format_link_welcome({1 << 16, 8, "LIFE"});
        static_cast<void>(link.on_frame({link_kind::welcome, 0, welcome}, start));
        for (int each = 0; each < 3; ++each)
            static_cast<void>(link.open(channels.emplace_back(), {{"u", {}, {}, 1}, false}));
        bytes = bytes.subspan(1);
    }
    converse(link, bytes, channels);
}

void mold_packet(input bytes) {
    exchange::mold_packet packet = parse_mold_packet(bytes);
    std::size_t total = mold_header_bytes;
    while (!packet.messages.empty()) total += mold_block_bytes + packet.messages.pop().size();
    gyre::expects(packet.fault != mold_fault::none || total == bytes.size(),
                  "all bytes are messages");
}

void mold_receiver(input bytes) {
    exchange::mold_receiver receiver{{.datagram_bytes_max = 200, .datagrams_held_max = 4}, start};
    gyre::time_point now = start;
    std::uint64_t last = 0;
    while (!bytes.empty()) {  // Each datagram stands behind a byte that is its size.
        const std::size_t size = std::min(std::to_integer<std::size_t>(bytes[0]), bytes.size() - 1);
        const mold_session before = receiver.session();
        static_cast<void>(receiver.on_packet(bytes.subspan(1, size), now += 10ms));
        if (receiver.session() != before) last = 0;
        for (auto next = receiver.next(); next; next = receiver.next()) {
            gyre::expects(next->sequence > last, "each message once and in order");
            last = next->sequence;
        }
        for (auto request = receiver.request(now); request; request = receiver.request(now))
            gyre::expects(parse_mold_request(*request).fault == mold_fault::none,
                          "a proper request");
        if (receiver.stuck()) static_cast<void>(receiver.give_up());
        bytes = bytes.subspan(1 + size);
    }
}

void mold_request(input bytes) {
    mold_sender sender{{.session = "S1",
                        .datagram_bytes_max = 100,
                        .message_bytes_max = 40,
                        .kept_bytes_max = 400,
                        .kept_messages_max = 16},
                       start};
    for (std::size_t each = 0; each < 30; ++each) {
        static_cast<void>(sender.prepare(each));
        sender.commit(each);
        if (each < 25) {
            while (sender.next(start)) {
            }
        }
    }
    const mold_answer answer = sender.answer(bytes);
    if (answer.fault != mold_fault::none) return;
    std::vector<std::byte> datagram{answer.datagram.header.begin(), answer.datagram.header.end()};
    datagram.insert(datagram.end(), answer.datagram.messages.begin(),
                    answer.datagram.messages.end());
    gyre::expects(datagram.size() <= 100, "bounded");
    gyre::expects(parse_mold_packet(datagram).fault == mold_fault::none, "well formed");
}

void json_packet(input bytes) {
    const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    for (const soup_end from : {soup_end::server, soup_end::client}) {
        std::vector<std::byte> payload(2048);
        const json_packet_reading read = read_json_packet(text, from, payload);
        if (read.problem) {
            gyre::expects(
                !describe(read.problem.fault).empty() && read.problem.position <= text.size(),
                "a problem in the text");
            continue;
        }
        if (read.packet.type == soup_type::debug)
            continue;  // An error, which is no packet of ours.
        std::vector<std::byte> said(64 * 1024);
        json_writer to{said};
        gyre::expects(write_json_packet(to, read.packet, read.sequence) && !to.full(),
                      "what was read can be said");
        std::vector<std::byte> again(2048);
        const json_packet_reading same =
            read_json_packet({reinterpret_cast<const char*>(said.data()), to.size()}, from, again);
        gyre::expects(!same.problem && same.packet.type == read.packet.type &&
                          same.sequence == read.sequence &&
                          std::ranges::equal(same.packet.payload, read.packet.payload),
                      "a packet that changed");
    }
}

}  // namespace exchange::fuzz
