// SPDX-License-Identifier: BSL-1.0
#include <websocket/accept_key.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

// RFC 6455, 1.3.
TEST_CASE("accept key: the standard's example") {
    CHECK(accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

// RFC 3174, 7.3, and FIPS 180's text of two blocks.
TEST_CASE("accept key: SHA-1 of known texts, and of texts around the end of a block") {
    const auto digest = [](std::string_view text) {
        const auto made = sha1(text);
        return bytes{made.begin(), made.end()};
    };
    CHECK(digest("abc") == hex("a9993e36 4706816a ba3e2571 7850c26c 9cd0d89d"));
    CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          hex("84983e44 1c3bd26e baae4aa1 f95129e5 e54670f1"));
    CHECK(digest(std::string(1'000'000, 'a')) ==
          hex("34aa973c d4c4daa4 f61eeb2b dbad2731 6534016f"));
    CHECK(digest("") == hex("da39a3ee 5e6b4b0d 3255bfef 95601890 afd80709"));
}

TEST_CASE("accept key: a key is 16 bytes in Base64") {
    CHECK(is_handshake_key("dGhlIHNhbXBsZSBub25jZQ=="));
    CHECK_FALSE(is_handshake_key("dGhlIHNhbXBsZSBub25jZR=="));
    CHECK_FALSE(is_handshake_key("dGhlIHNhbXBsZSBub25jZ==="));
    CHECK_FALSE(is_handshake_key("dGhlIHNhbXBsZSBub25j"));
    CHECK_FALSE(is_handshake_key("dGhlIHNhbXBsZSBub25j*Q=="));
    CHECK_FALSE(is_handshake_key(""));
}
