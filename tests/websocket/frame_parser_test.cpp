// SPDX-License-Identifier: BSL-1.0
//
// What gyre/websocket/frame_parser.hpp promises: the same events however the bytes are cut, and the right
// rule for each that is broken.
#include <gyre/websocket/frame_parser.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <algorithm>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

// What a run of the parser told, as a text: messages in brackets, control frames by name.
struct run {
    std::string told;
    violation why = violation::none;
    std::size_t shown = 0;  // Bytes that had come when it ended.
};

void note(run& to, const parsed& next) {
    switch (next.what) {
        case parsed::kind::payload:
            if (next.first) to.told += next.message == message_kind::text ? "[t:" : "[b:";
            to.told += text_of(next.bytes);
            if (next.last) to.told += "]";
            break;
        case parsed::kind::ping: to.told.append("<ping ").append(text_of(next.bytes)) += ">"; break;
        case parsed::kind::pong: to.told.append("<pong ").append(text_of(next.bytes)) += ">"; break;
        case parsed::kind::close:
            to.told += "<close " + std::to_string(static_cast<unsigned>(next.code)) + " ";
            to.told.append(text_of(next.bytes)) += ">";
            break;
        default: break;
    }
}

// Shows `all` in pieces of the given sizes, the last of them again and again.
run parse(frame_parser parser, const bytes& all, std::vector<std::size_t> sizes) {
    run made;
    bytes window;
    std::size_t step = 0;
    while (made.shown < all.size() && made.why == violation::none) {
        const std::size_t wanted = sizes[std::min(step++, sizes.size() - 1)];
        const std::size_t size = std::min(wanted, all.size() - made.shown);
        const const_buffer piece = const_buffer{all}.subspan(made.shown, size);
        window.insert(window.end(), piece.begin(), piece.end());
        made.shown += size;
        for (;;) {
            const parsed next = parser.next(window);
            note(made, next);
            made.why = next.why;
            const auto taken = static_cast<std::ptrdiff_t>(next.skipped + next.bytes.size());
            window.erase(window.begin(), window.begin() + taken);
            if (next.what == parsed::kind::incomplete || made.why != violation::none) break;
        }
    }
    return made;
}

frame_parser server(parse_limits limits = {},
                    frame_parser::deflate compression = frame_parser::deflate::refused) {
    return frame_parser{role::server, limits, compression};
}
frame_parser client(parse_limits limits = {}) {
    return frame_parser{role::client, limits, frame_parser::deflate::refused};
}

// The same whether it comes at once, byte by byte, or cut in two anywhere.
void check_every_split(const frame_parser& parser, const bytes& all, const std::string& told) {
    CHECK(parse(parser, all, {all.size()}).told == told);
    CHECK(parse(parser, all, {1}).told == told);
    for (std::size_t cut = 1; cut < all.size(); ++cut) {
        const run split = parse(parser, all, {cut, all.size()});
        INFO("cut at ", cut);
        REQUIRE(split.told == told);
        REQUIRE(split.why == violation::none);
    }
}

violation why_refused(const frame_parser& parser, const bytes& all) {
    const violation at_once = parse(parser, all, {all.size()}).why;
    CHECK(parse(parser, all, {1}).why == at_once);
    return at_once;
}

}  // namespace

// RFC 6455, 5.7.
TEST_CASE("frame parser: the standard's examples, split at every byte") {
    check_every_split(client(), hex("81 05 48 65 6c 6c 6f"), "[t:Hello]");
    check_every_split(server(), hex("81 85 37 fa 21 3d 7f 9f 4d 51 58"), "[t:Hello]");
    check_every_split(client(), hex("01 03 48 65 6c 80 02 6c 6f"), "[t:Hello]");
    check_every_split(client(), hex("89 05 48 65 6c 6c 6f"), "<ping Hello>");
    check_every_split(server(), hex("8a 85 37 fa 21 3d 7f 9f 4d 51 58"), "<pong Hello>");
}

// RFC 6455, 5.4 and 5.5.
TEST_CASE("frame parser: control frames come between fragments, split at every byte") {
    bytes all = client_frame(frame_opcode::text, "one ", false);
    all += client_frame(frame_opcode::ping, "still there?");
    all += client_frame(frame_opcode::continuation, "", false);
    all += client_frame(frame_opcode::continuation, "two ", false);
    all += client_frame(frame_opcode::pong, "");
    all += client_frame(frame_opcode::continuation, "three");
    all += client_frame(frame_opcode::binary, "");
    all += client_frame(frame_opcode::close, close_payload(1001, "bye"));

    check_every_split(server(), all,
                      "[t:one <ping still there?>two <pong >three][b:]<close 1001 bye>");
}

TEST_CASE("frame parser: payloads of every form of length") {
    for (const std::size_t size : {125U, 126U, 127U, 128U, 65535U, 65536U, 70000U}) {
        const std::string payload(size, 'x');
        const run whole = parse(server(), client_frame(frame_opcode::binary, payload), {1000});
        CHECK(whole.told == "[b:" + payload + "]");
    }
}

// RFC 6455, 5.2.
TEST_CASE("frame parser: reserved bits and opcodes are refused at the first byte") {
    for (const unsigned bits : {0x10U, 0x20U, 0x40U, 0x70U}) {
        const bytes first{static_cast<std::byte>(0x81U | bits)};
        CHECK(why_refused(server(), first) == violation::reserved_bits);
    }
    for (const unsigned code : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U}) {
        const bytes first{static_cast<std::byte>(0x80U | code)};
        CHECK(why_refused(server(), first) == violation::reserved_opcode);
    }
}

// RFC 7692, 6.
TEST_CASE("frame parser: RSV1 is for the first frame of a message, where it was agreed") {
    const frame_parser agreed = server({}, frame_parser::deflate::agreed);
    CHECK(why_refused(agreed, hex("c1 80 00 00 00 00")) == violation::none);
    CHECK(why_refused(agreed, hex("c9")) == violation::reserved_bits);
    CHECK(why_refused(agreed, hex("01 80 00 00 00 00 c0")) == violation::reserved_bits);
}

// RFC 6455, 5.5.
TEST_CASE("frame parser: control frames are whole and short") {
    CHECK(why_refused(server(), hex("09")) == violation::fragmented_control);
    CHECK(why_refused(server(), hex("89 fe")) == violation::long_control);
    CHECK(why_refused(client(), hex("88 7f")) == violation::long_control);
    const std::string most(control_bytes_max, 'p');
    CHECK(parse(server(), client_frame(frame_opcode::ping, most), {7}).told ==
          "<ping " + most + ">");
}

// RFC 6455, 5.4.
TEST_CASE("frame parser: continuations continue something, and nothing else does") {
    CHECK(why_refused(server(), hex("80")) == violation::stray_continuation);
    bytes twice = client_frame(frame_opcode::text, "a", false);
    twice += hex("81");
    CHECK(why_refused(server(), twice) == violation::interrupted_message);
    bytes after = client_frame(frame_opcode::text, "a");
    after += hex("00");
    CHECK(why_refused(server(), after) == violation::stray_continuation);
}

// RFC 6455, 5.1.
TEST_CASE("frame parser: clients mask, servers do not") {
    CHECK(why_refused(server(), hex("81 05")) == violation::missing_mask);
    CHECK(why_refused(client(), hex("81 85")) == violation::unexpected_mask);
}

// RFC 6455, 5.2: payload length.
TEST_CASE("frame parser: lengths take no more bytes than they need") {
    CHECK(why_refused(client(), hex("82 7e 00 7d")) == violation::wasteful_length);
    CHECK(why_refused(client(), hex("82 7f 00 00 00 00 00 00 ff ff")) ==
          violation::wasteful_length);
    CHECK(why_refused(client(), hex("82 7f 80 00 00 00 00 00 00 00")) ==
          violation::impossible_length);
}

// RFC 6455, 10.4.
TEST_CASE("frame parser: what is too large is refused before it has come") {
    parse_limits limits;
    limits.frame_bytes_max = 1000;
    limits.message_bytes_max = 1500;
    CHECK(why_refused(client(limits), hex("82 7e 03 e8")) == violation::none);
    CHECK(why_refused(client(limits), hex("82 7e 03 e9")) == violation::large_frame);
    CHECK(why_refused(client(), hex("82 7f 00 00 00 00 40 00 00 00")) == violation::large_frame);

    bytes two = server_frame(frame_opcode::binary, std::string(1000, 'x'), false);
    two += hex("80 7e 01 f4");
    CHECK(why_refused(client(limits), two) == violation::none);
    two = server_frame(frame_opcode::binary, std::string(1000, 'x'), false);
    two += hex("80 7e 01 f5");
    CHECK(why_refused(client(limits), two) == violation::large_message);
}

TEST_CASE("frame parser: a limit may be all that there is, of what is deflated, too") {
    parse_limits limits;
    limits.frame_bytes_max = limits.message_bytes_max = UINT64_MAX;
    const bytes header = hex("c2 fe 03 e8 00 00 00 00");

    CHECK(why_refused(server(limits, frame_parser::deflate::agreed), header) == violation::none);
}

// RFC 6455, 8.1.
TEST_CASE("frame parser: a text is refused at the first byte that is no UTF-8") {
    bytes all = client_frame(frame_opcode::text, "ok \xce\xba", false);
    all += client_frame(frame_opcode::continuation, "\xf4\x90 never looked at", false);
    const run found = parse(server(), all, {1});
    CHECK(found.why == violation::text_not_utf8);
    CHECK(found.shown == client_frame(frame_opcode::text, "ok \xce\xba").size() + 6 + 2);

    CHECK(why_refused(server(), client_frame(frame_opcode::text, "\xce")) ==
          violation::text_not_utf8);
    bytes split = client_frame(frame_opcode::text, "\xce", false);
    split += client_frame(frame_opcode::continuation, "\xba");
    check_every_split(server(), split, "[t:\xce\xba]");
    CHECK(why_refused(server(), client_frame(frame_opcode::binary, "\xff\xfe")) == violation::none);
}

// RFC 6455, 5.5.1 and 7.4.
TEST_CASE("frame parser: a close has nothing, or a number that travels and words") {
    check_every_split(server(), client_frame(frame_opcode::close, ""), "<close 1005 >");
    CHECK(why_refused(server(), client_frame(frame_opcode::close, "x")) == violation::short_close);
    for (const std::uint16_t each : {0, 999, 1004, 1005, 1006, 1016, 2999, 5000}) {
        CHECK(why_refused(server(), client_frame(frame_opcode::close, close_payload(each))) ==
              violation::forbidden_close_code);
    }
    CHECK(why_refused(server(), client_frame(frame_opcode::close, close_payload(1000, "\xce"))) ==
          violation::close_text_not_utf8);
}

TEST_CASE("frame parser: what was refused once stays refused") {
    frame_parser parser = server();
    bytes bad = hex("83");
    CHECK(parser.next(bad).why == violation::reserved_opcode);
    bytes good = client_frame(frame_opcode::text, "late");
    CHECK(parser.next(good).why == violation::reserved_opcode);
}
