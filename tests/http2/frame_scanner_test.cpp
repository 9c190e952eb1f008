// SPDX-License-Identifier: BSL-1.0
#include <http2/frame_scanner.hpp>

#include <http2/frames.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using http2::frame_head;
using http2::frame_scanner;

namespace {

// The heads that are found in `bytes`, as text.
std::string heads_in(frame_scanner& by, std::string_view bytes) {
    std::string found;
    const_buffer rest = bytes_of(bytes);
    frame_head head;
    while (by.next(rest, head)) {
        found.append(std::to_string(head.type)).append("/").append(std::to_string(head.flags));
        found.append("/").append(std::to_string(head.length)).append(" ");
    }
    CHECK((rest.empty() || by.is_foreign()));
    return found;
}

}  // namespace

TEST_CASE("http2: heads of frames are found however their bytes are split") {
    // RFC 9113, 4.1.
    const std::string bytes = greeting() + frame_of(frame::headers, end_headers, 1, "123456789") +
                              frame_of(frame::data, 0, 1, std::string(70'000, 'x')) +
                              frame_of(frame::ping, ack, 0, "12345678");
    constexpr std::string_view expected = "4/0/0 1/4/9 0/0/70000 6/1/8 ";
    frame_scanner at_once{true};
    CHECK(heads_in(at_once, bytes) == expected);
    CHECK(at_once.between_frames());

    for (std::size_t cut = 0; cut < 100; ++cut) {
        CAPTURE(cut);
        frame_scanner split{true};
        std::string found = heads_in(split, std::string_view{bytes}.substr(0, cut));
        found.append(heads_in(split, std::string_view{bytes}.substr(cut)));
        CHECK(found == expected);
        CHECK(split.between_frames());
    }
    frame_scanner bytewise{true};
    std::string found;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        found.append(heads_in(bytewise, std::string_view{bytes}.substr(at, 1)));
    }
    CHECK(found == expected);
}

TEST_CASE(
    "http2: a frame is under way from the first byte of its head to the last of its content") {
    const std::string bytes = frame_of(frame::data, 0, 1, "abc");
    frame_scanner scanner{false};
    CHECK(scanner.between_frames());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        heads_in(scanner, std::string_view{bytes}.substr(at, 1));
        CHECK(scanner.between_frames() == (at + 1 == bytes.size()));
    }
}

TEST_CASE("http2: what is not the preface is told from it by its first wrong byte") {
    // RFC 9113, 3.4.
    for (std::size_t wrong = 0; wrong < preface.size(); ++wrong) {
        CAPTURE(wrong);
        std::string bytes{preface};
        bytes[wrong] = '?';
        frame_scanner scanner{true};
        heads_in(scanner, std::string_view{bytes}.substr(0, wrong));
        CHECK_FALSE(scanner.is_foreign());
        heads_in(scanner, std::string_view{bytes}.substr(wrong));
        CHECK(scanner.is_foreign());
        // Nothing of it is taken for a frame.
        CHECK(heads_in(scanner, frame_of(frame::ping, 0, 0, "12345678")).empty());
    }
    frame_scanner server_says{false};
    CHECK(heads_in(server_says, frame_of(frame::settings, 0, 0)) == "4/0/0 ");
}
