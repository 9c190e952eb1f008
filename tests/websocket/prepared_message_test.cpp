// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/prepared_message.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <random>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

std::optional<deflate_agreement> window(int bits) {
    deflate_agreement made;
    made.our_window_bits = bits;
    return made;
}

prepared_message prepared(std::string_view text) {
    return prepared_message::make(message_kind::text, bytes_of(text)).take();
}

}  // namespace

TEST_CASE("prepared messages: one frame, and the payload in it") {
    const prepared_message it = prepared("Hello");
    CHECK(copy_of(it.plain().bytes()) == hex("81 05 48 65 6c 6c 6f"));
    CHECK(text_of(it.payload()) == "Hello");
    CHECK(prepared_message::make(message_kind::text, bytes_of("\xff")).error() == errc::malformed);
    CHECK(prepared("").payload().empty());
}

TEST_CASE("prepared messages: are compressed once for each size of window") {
    frame_compressor by;
    prepared_message it = prepared(std::string(1000, 'x'));
    const const_buffer first = by.frame_of(it, window(15)).bytes();
    CHECK(first.size() < 50);
    CHECK(by.frame_of(it, window(15)).bytes().data() == first.data());
    const const_buffer smaller = by.frame_of(it, window(9)).bytes();
    CHECK(smaller.data() != first.data());
    CHECK(by.frame_of(it, window(9)).bytes().data() == smaller.data());

    inflater back{inflater::context::kept};
    bytes space(2000);
    const auto got = back.add(first.subspan(2), space, piece_end::message);
    CHECK(text_of(const_buffer{space}.first(got.produced)) == std::string(1000, 'x'));
    CHECK(first[0] == std::byte{0xc1});
}

TEST_CASE(
    "prepared messages: what does not get smaller, or whom nobody can inflate for, goes plain") {
    frame_compressor by;
    prepared_message small = prepared("too small");
    CHECK(by.frame_of(small, window(15)).bytes().data() == small.plain().bytes().data());
    std::mt19937 random{1};
    bytes noise(100);
    for (std::byte& each : noise) each = static_cast<std::byte>(random());
    prepared_message no_gain = prepared_message::make(message_kind::binary, noise).take();
    CHECK(by.frame_of(no_gain, window(15)).bytes().data() == no_gain.plain().bytes().data());
    prepared_message large = prepared(std::string(1000, 'x'));
    CHECK(by.frame_of(large, std::nullopt).bytes().data() == large.plain().bytes().data());
    CHECK(by.frame_of(large, window(8)).bytes().data() == large.plain().bytes().data());
}
