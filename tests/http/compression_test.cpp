// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/compression.hpp promises: bodies there and back however they are split, bombs that end at a
// bound, and which answers are compressed.
#include <gyre/http/compression.hpp>

#include <gyre/stream/algorithms.hpp>
#include <http/fed_stream.hpp>
#include <support/harness.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::http;
using namespace gyre::testing;

namespace {

std::string compressed(coding with, std::string_view text) {
    std::string made;
    compressor once{with};
    REQUIRE(once.add(bytes_of(text), compressor::then::end, made).ok());
    return made;
}

struct decoded {
    std::string text;
    error failed;
    bool ended = false;
};

decoded decode(coding with, std::string_view coded, std::uint64_t bytes_max, std::size_t piece,
               std::size_t room) {
    decoded got;
    decompressor one{with, bytes_max};
    std::string space(room, '\0');
    for (;;) {
        const io_result<decompressor::step> done =
            one.decode(bytes_of(coded.substr(0, piece)), std::as_writable_bytes(std::span{space}));
        got.failed = done.error();
        if (!done.ok()) break;
        got.text.append(space, 0, done.value().produced);
        coded.remove_prefix(done.value().consumed);
        if (one.ended() || (done.value().consumed == 0 && done.value().produced == 0)) break;
    }
    got.ended = one.ended();
    return got;
}

std::string some_text() {
    std::string text;
    for (int at = 0; at < 2000; ++at) text.append("line ").append(std::to_string(at)).append("\n");
    return text;
}

fields accepting(std::string_view codings) {
    fields asked;
    asked.add("accept-encoding", codings);
    return asked;
}

}  // namespace

TEST_CASE("what was compressed is decoded, however input and output are split") {
    const std::string text = some_text();
    for (const coding with : {coding::gzip, coding::deflate, coding::zstd}) {
        const std::string coded = compressed(with, text);
        CHECK(coded.size() < text.size() / 2);
        for (const std::size_t piece : {1, 7, 100'000}) {
            for (const std::size_t room : {1, 100, 100'000}) {
                const decoded got = decode(with, coded, text.size(), piece, room);
                CAPTURE(name_of(with));
                CHECK(got.text == text);
                CHECK(got.ended);
            }
        }
        CHECK_FALSE(decode(with, coded.substr(0, coded.size() / 2), text.size(), 99, 99).ended);
    }
}

TEST_CASE("a bomb ends at its bound, and noise is malformed") {
    const std::string zeros(10'000'000, '\0');
    for (const coding with : {coding::gzip, coding::deflate, coding::zstd}) {
        const std::string bomb = compressed(with, zeros);
        const decoded got = decode(with, bomb, 100'000, SIZE_MAX, 64 * 1024);

        CAPTURE(name_of(with));
        CHECK(bomb.size() < 20'000);
        CHECK(got.failed == errc::limit_exceeded);
        CHECK(got.text.size() <= 100'000);
        CHECK(decode(with, "neither of these", 100, 99, 99).failed == errc::malformed);
    }
}

TEST_CASE("a bound may be nothing, and all that there is") {
    for (const coding with : {coding::gzip, coding::deflate, coding::zstd}) {
        CAPTURE(name_of(with));
        const std::string coded = compressed(with, "text");
        CHECK(decode(with, coded, UINT64_MAX, 99, 99).text == "text");
        CHECK(decode(with, coded, 0, 99, 99).failed == errc::limit_exceeded);
        CHECK(decode(with, compressed(with, ""), 0, 99, 99).ended);
    }
}

// RFC 9110, 12.5.3.
TEST_CASE("the coding is the one that the peer likes best") {
    CHECK(preferred_coding(accepting("gzip, deflate, br, zstd")) == coding::zstd);
    CHECK(preferred_coding(accepting("gzip")) == coding::gzip);
    CHECK(preferred_coding(accepting("gzip;q=1.0, zstd;q=0.5")) == coding::gzip);
    CHECK(preferred_coding(accepting("zstd;q=0, gzip;q=0")) == coding::identity);
    CHECK(preferred_coding(accepting("*")) == coding::zstd);
    CHECK(preferred_coding(accepting("*;q=0.5, zstd;q=0")) == coding::gzip);
    CHECK(preferred_coding(accepting("gzip;q=0.5, identity;q=0.8")) == coding::identity);
    CHECK(preferred_coding(accepting("gzip;q=2")) == coding::identity);
    CHECK(preferred_coding({}) == coding::identity);
}

TEST_CASE("text is compressed for those who accept it, and everything else is left alone") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text = some_text();
        struct row {
            const char* type;
            const char* accepts;
            bool compressed;
        };
        const row rows[] = {{"text/plain", "gzip", true},
                            {"application/json; charset=utf-8", "gzip", true},
                            {"image/png", "gzip", false},
                            {"text/event-stream", "gzip", false},
                            {"text/plain", "br", false}};
        for (const row& each : rows) {
            for (const bool produced : {false, true}) {
                traffic over;
                over.in = std::string{"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"} +
                          "Accept-Encoding: " + each.accepts + "\r\n\r\n";
                const handler plain = [&](request&) {
                    return [](const std::string& all, const char* type,
                              bool made) -> task<response> {
                        response answer{status::ok, type, std::string{}};
                        answer.fields.set("etag", "\"a\"");
                        if (made) {
                            answer.body = produced_by([&all](body_writer to) -> task<io_result<>> {
                                const auto put = co_await write_all(to, bytes_of(all));
                                co_return put.error();
                            });
                        } else {
                            answer.body = all;
                        }
                        co_return answer;
                    }(text, each.type, produced);
                };
                const handler with = compress_responses()(plain);

                const io_result<> ended = co_await serve_traffic(over, with);

                CAPTURE(each.type);
                CHECK(ended.ok());
                const bool coded = over.out.find("content-encoding: gzip\r\n") != std::string::npos;
                CHECK(coded == each.compressed);
                CHECK((over.out.find("etag: W/\"a\"") != std::string::npos) == each.compressed);
                CHECK((over.out.size() < text.size() / 2) == each.compressed);
            }
        }
    });
}
