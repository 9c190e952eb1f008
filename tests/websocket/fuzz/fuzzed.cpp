// SPDX-License-Identifier: BSL-1.0
#include <websocket/fuzz/fuzzed.hpp>

#include <gyre/base/check.hpp>
#include <gyre/websocket/deflate.hpp>
#include <gyre/websocket/frame_parser.hpp>
#include <gyre/websocket/handshake.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace gyre::testing {

namespace {

using namespace gyre::websocket;
using bytes = std::vector<std::byte>;

// Everything that a parser told of bytes shown to it `step` at a time.
struct told {
    std::string text;
    violation why = violation::none;
};

void note(told& to, const parsed& next) {
    // Where one message's bytes are cut is no matter.
    if (next.what == parsed::kind::payload) {
        if (next.first) to.text += next.compressed ? "[c" : "[";
        to.text += text_of(next.bytes);
        if (next.last) to.text += "]";
    } else if (next.what != parsed::kind::incomplete) {
        to.text += "<" + std::to_string(static_cast<int>(next.what)) + " " +
                   std::to_string(static_cast<int>(next.code)) + " ";
        to.text.append(text_of(next.bytes)) += ">";
    }
}

told parse(frame_parser parser, const_buffer input, std::size_t step) {
    told made;
    bytes window;
    while (!input.empty()) {
        const const_buffer piece = input.first(std::min(step, input.size()));
        input = input.subspan(piece.size());
        window.insert(window.end(), piece.begin(), piece.end());
        for (;;) {
            const parsed next = parser.next(window);
            const std::size_t taken = next.skipped + next.bytes.size();
            ensures(taken <= window.size(), "a parser takes what it was shown");
            ensures(next.bytes.empty() || next.bytes.data() == window.data() + next.skipped,
                    "what it tells is behind what it skips");
            note(made, next);
            made.why = next.why;
            if (made.why != violation::none) return made;
            window.erase(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(taken));
            if (next.what == parsed::kind::incomplete) break;
            ensures(taken > 0 || next.what != parsed::kind::payload || next.last || next.first,
                    "each event is one");
        }
        ensures(window.size() < frame_header_bytes_max + control_bytes_max,
                "a header and a control frame are all that waits");
    }
    return made;
}

// A violation within a payload leaves out what came with it, which depends on the cut.
bool same(const told& one, const told& other) {
    if (one.why != other.why) return false;
    if (one.why == violation::none) return one.text == other.text;
    const std::size_t shared = std::min(one.text.size(), other.text.size());
    return one.text.compare(0, shared, other.text, 0, shared) == 0 ||
           one.why == violation::text_not_utf8;
}

// What stands before the first `mark`, which is taken out of `text` with it.
std::string_view cut_at(std::string_view& text, char mark) {
    const auto end = static_cast<std::size_t>(std::ranges::find(text, mark) - text.begin());
    const std::string_view front = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return front;
}

std::vector<header_field> fields_in(const_buffer input) {
    std::vector<header_field> made;
    std::string_view text = text_of(input);
    while (!text.empty()) {
        const std::string_view line = cut_at(text, '\n');
        std::string_view value = line;
        const std::string_view name = cut_at(value, ':');
        made.push_back({std::string{name}, std::string{value}});
    }
    return made;
}

}  // namespace

void fuzz_frames(const_buffer input) {
    if (input.size() < 2) return;
    const auto settings = static_cast<unsigned>(input[0]);
    parse_limits limits;
    limits.frame_bytes_max = (settings & 4) != 0 ? 100 : 1'000'000;
    limits.message_bytes_max = (settings & 8) != 0 ? 150 : 1'000'000;
    const frame_parser parser{
        (settings & 1) != 0 ? role::server : role::client, limits,
        (settings & 2) != 0 ? frame_parser::deflate::agreed : frame_parser::deflate::refused};
    const std::size_t step = static_cast<std::size_t>(input[1]) + 1;
    const const_buffer sent = input.subspan(2);
    const told whole = parse(parser, sent, sent.size());
    ensures(same(whole, parse(parser, sent, step)), "the same in pieces");
    ensures(same(whole, parse(parser, sent, 1)), "the same byte by byte");
}

void fuzz_inflate(const_buffer input) {
    if (input.size() < 2) return;
    const auto settings = static_cast<unsigned>(input[0]);
    inflater by{(settings & 1) != 0 ? inflater::context::kept : inflater::context::dropped};
    bytes room(static_cast<std::size_t>(input[1]) + 1);
    const_buffer rest = input.subspan(2);
    std::size_t produced = 0;
    inflater::progress went;
    do {
        went = by.add(rest, room, piece_end::message);
        ensures(went.consumed <= rest.size() && went.produced <= room.size(), "within its bounds");
        rest = rest.subspan(went.consumed);
        produced += went.produced;
        if (went.why != violation::none) return;
        ensures(!went.full || went.produced == room.size(), "full is full");
    } while (went.full && produced < 1'000'000);
}

void fuzz_deflate(const_buffer input) {
    if (input.size() < 3) return;
    const auto settings = static_cast<unsigned>(input[0]);
    deflater_settings wanted;
    wanted.window_bits = 9 + static_cast<int>(settings % 7);
    wanted.level = 1 + static_cast<int>(settings / 7 % 9);
    wanted.context_kept = (settings & 128) != 0;
    deflater by{wanted};
    inflater back{wanted.context_kept ? inflater::context::kept : inflater::context::dropped};
    const std::size_t step = static_cast<std::size_t>(input[1]) + 1;
    const auto ends = static_cast<unsigned>(input[2]);
    const const_buffer text = input.subspan(3);
    for (int message = 0; message < 3; ++message) {
        flat_buffer made{{0, std::size_t{1} << 30}};
        const_buffer rest = text;
        for (unsigned turn = 0; rest.size() > step; ++turn) {
            const piece_end end =
                (ends >> (turn % 8) & 1) != 0 ? piece_end::fragment : piece_end::open;
            by.add(rest.first(step), made, end);
            rest = rest.subspan(step);
        }
        by.add(rest, made, piece_end::message);
        bytes room(text.size() + 1);
        const inflater::progress went = back.add(made.data(), room, piece_end::message);
        ensures(went.why == violation::none && !went.full, "what was deflated inflates");
        ensures(std::ranges::equal(const_buffer{room}.first(went.produced), text), "to the same");
    }
}

void fuzz_handshake(const_buffer input) {
    const std::vector<header_field> fields = fields_in(input);
    server_handshake_options server;
    server.subprotocols = {"chat"};
    server.deflate.emplace();
    const server_handshake answer = answer_handshake("GET", fields, server);
    ensures((answer.failure == handshake_failure::none) == (answer.status == 101), "one of both");

    client_handshake_options offered;
    offered.subprotocols = {"chat"};
    offered.deflate.emplace();
    const client_handshake client{offered, client_handshake::nonce{}};
    const client_handshake::outcome read = client.read_answer(101, fields);
    ensures(read.agreed.subprotocol.empty() || read.agreed.subprotocol == "chat", "as offered");

    const auto deflate = answer_deflate_offers(fields, *server.deflate);
    if (!deflate) return;
    ensures(deflate->agreed.our_window_bits >= 9 && deflate->agreed.our_window_bits <= 15, "bits");
    ensures(deflate->agreed.peer_window_bits >= 8 && deflate->agreed.peer_window_bits <= 15,
            "bits");
    ensures(!deflate->agreed.our_context_kept, "what was not wanted is not agreed");
}

}  // namespace gyre::testing
