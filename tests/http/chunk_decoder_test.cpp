// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/chunk_decoder.hpp promises: the same body however its bytes are split, and nothing lenient.
#include <gyre/http/chunk_decoder.hpp>

#include <support/harness.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::http;

namespace {

struct decoded {
    std::string body;
    std::string rest;
    bool ended = false;
    refusal why = refusal::none;
    fields trailers;
};

decoded decode_by(std::size_t piece, std::string_view text, chunk_limits limits = {}) {
    decoded got;
    chunk_decoder decoder{limits};
    while (!text.empty()) {
        const const_buffer in = bytes_of(text.substr(0, piece));
        const chunk_decoder::step step = decoder.decode(in, got.trailers);
        got.body.append(gyre::text_of(step.data));
        text.remove_prefix(step.consumed);
        if (step.consumed == 0) break;
    }
    got.rest = text;
    got.ended = decoder.ended();
    got.why = decoder.why();
    return got;
}

}  // namespace

// RFC 9112, 7.1.
TEST_CASE("a chunked body is the same however its bytes are split, and leaves what follows") {
    const std::string text =
        "5\r\nhello\r\n0A;name=value;x=\"y;z\"\r\n, chunks!!\r\n0\r\nX-Sum: 1\r\nEmpty:\r\n\r\nGET "
        "/";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        const decoded got = decode_by(piece, text);

        CAPTURE(piece);
        CHECK(got.body == "hello, chunks!!");
        CHECK(got.ended);
        CHECK(got.rest == "GET /");
        CHECK(got.trailers.find("x-sum") == "1");
        CHECK(got.trailers.find("empty") == "");
    }
}

TEST_CASE("framing of chunks outside of the grammar is refused") {
    const std::vector<std::pair<std::string, refusal>> rows{
        {"\r\n", refusal::chunk_size},
        {"g\r\n", refusal::chunk_size},
        {"0x5\r\nhello\r\n", refusal::chunk_size},
        {"-5\r\nhello\r\n", refusal::chunk_size},
        {"+5\r\nhello\r\n", refusal::chunk_size},
        {" 5\r\nhello\r\n", refusal::chunk_size},
        {"5 \r\nhello\r\n", refusal::chunk_size},
        {"5\nhello\r\n", refusal::chunk_size},
        {"5\rhello\r\n", refusal::chunk_size},
        {"5;a\nhello\r\n", refusal::chunk_size},
        {"ffffffffffffffffff\r\n", refusal::chunk_size},
        {"10000000000000000\r\n", refusal::chunk_size},
        {"5\r\nhello5\r\n", refusal::chunk_framing},
        {"5\r\nhello\n5\r\n", refusal::chunk_framing},
        {"5\r\nhello\r5\r\n", refusal::chunk_framing},
        {"0\r\nX: y\nZ: w\r\n\r\n", refusal::trailers_malformed},
        {"0\r\nno colon\r\n\r\n", refusal::trailers_malformed},
        {"0\r\nX : y\r\n\r\n", refusal::trailers_malformed},
        {"0\r\nX: y\r\n z\r\n\r\n", refusal::trailers_malformed}};
    for (const auto& [text, why] : rows) {
        for (const std::size_t piece : {std::size_t{1}, text.size()}) {
            const decoded got = decode_by(piece, text);

            CAPTURE(text);
            CHECK(std::string_view{describe(got.why)} == describe(why));
            CHECK_FALSE(got.ended);
        }
    }
}

TEST_CASE("extensions, zeros and trailers are bounded") {
    chunk_limits limits;
    limits.extension_bytes_max = 16;
    limits.trailer_bytes_max = 32;
    limits.trailers_max = 2;

    const std::string extended = std::string{"1;"}.append(64, 'x').append("\r\n");
    const std::string zeros = std::string(64, '0').append("1\r\n");
    const std::string trailed = std::string{"0\r\nX: "}.append(64, 'x').append("\r\n\r\n");
    CHECK(decode_by(1, extended, limits).why == refusal::chunk_extensions);
    CHECK(decode_by(1, zeros, limits).why == refusal::chunk_size);
    CHECK(decode_by(1, trailed, limits).why == refusal::trailers_too_large);
    CHECK(decode_by(1, "0\r\na:1\r\nb:2\r\nc:3\r\n\r\n", limits).why ==
          refusal::trailers_too_large);
    CHECK(decode_by(1, "0\r\na:1\r\nb:2\r\n\r\n", limits).ended);
}

TEST_CASE("a body may have any number of chunks, and their sizes are no extensions") {
    constexpr std::size_t chunks = 5000;
    std::string wire;
    for (std::size_t each = 0; each < chunks; ++each) wire.append("0001\r\nx\r\n");
    wire.append("0\r\n\r\n");

    const decoded got = decode_by(64, wire);

    CHECK(got.why == refusal::none);
    CHECK(got.ended);
    CHECK(got.body.size() == chunks);
}

// RFC 9110, 6.5.1.
TEST_CASE("a trailer that would have framed or routed the message is dropped") {
    const decoded got = decode_by(
        64, "0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nHost: b\r\nSum: 1\r\n\r\n");

    CHECK(got.ended);
    CHECK(got.trailers.size() == 1);
    CHECK(got.trailers.find("sum") == "1");
}

TEST_CASE("bytes inside of a chunk may pass the decoder by") {
    fields trailers;
    chunk_decoder decoder;
    const std::string_view head = "64\r\n";
    const chunk_decoder::step step = decoder.decode(bytes_of(head), trailers);

    CHECK(step.consumed == head.size());
    CHECK(decoder.in_chunk() == 100);
    decoder.skip(60);
    CHECK(decoder.in_chunk() == 40);
    decoder.skip(40);
    CHECK(decoder.in_chunk() == 0);
    const std::string_view end = "\r\n0\r\n\r\n";
    CHECK(decoder.decode(bytes_of(end), trailers).consumed == end.size());
    CHECK(decoder.ended());
}
