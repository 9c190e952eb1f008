// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/frame.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

// RFC 6455, 5.7: the examples.
TEST_CASE("frames: the standard's examples are written as it writes them") {
    CHECK(server_frame(frame_opcode::text, "Hello") == hex("81 05 48 65 6c 6c 6f"));
    CHECK(client_frame(frame_opcode::text, "Hello") == hex("81 85 37 fa 21 3d 7f 9f 4d 51 58"));
    const std::string_view hello = "Hello";
    CHECK(server_frame(frame_opcode::text, hello.substr(0, 3), false) == hex("01 03 48 65 6c"));
    CHECK(server_frame(frame_opcode::continuation, "lo") == hex("80 02 6c 6f"));
    CHECK(server_frame(frame_opcode::ping, "Hello") == hex("89 05 48 65 6c 6c 6f"));
    CHECK(client_frame(frame_opcode::pong, "Hello") == hex("8a 85 37 fa 21 3d 7f 9f 4d 51 58"));
}

// RFC 6455, 5.2: payload length.
TEST_CASE("frames: a length takes as few bytes as it needs") {
    const auto header = [](std::uint64_t size) {
        frame_header made;
        made.payload_bytes = size;
        return copy_of(encoded_header{made}.bytes());
    };
    CHECK(header(0) == hex("82 00"));
    CHECK(header(125) == hex("82 7d"));
    CHECK(header(126) == hex("82 7e 00 7e"));
    CHECK(header(256) == hex("82 7e 01 00"));
    CHECK(header(65535) == hex("82 7e ff ff"));
    CHECK(header(65536) == hex("82 7f 00 00 00 00 00 01 00 00"));
    CHECK(header((std::uint64_t{1} << 63) - 1) == hex("82 7f 7f ff ff ff ff ff ff ff"));
}

// RFC 7692, 6.
TEST_CASE("frames: RSV1 marks what is compressed") {
    frame_header made;
    made.code = frame_opcode::text;
    made.compressed = true;
    CHECK(copy_of(encoded_header{made}.bytes()) == hex("c1 00"));
}
