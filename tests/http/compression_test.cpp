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
#include <utility>
#include <vector>

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
        if (done.value().consumed == 0 && done.value().produced == 0) break;
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

// RFC 1952, 2.2; RFC 8878, 3.
TEST_CASE("all parts of a body are decoded, whatever stands between and behind them") {
    const std::string one = some_text();
    const std::string two = "another";
    const std::string skipped{"\x5a\x2a\x4d\x18\x03\0\0\0xyz", 11};  // RFC 8878, 3.1.2.
    struct row {
        coding with;
        std::string coded;
    };
    const auto both = [&](coding with) { return compressed(with, one) + compressed(with, two); };
    const std::string nothing = compressed(coding::gzip, "");
    const std::vector<row> rows{
        {coding::gzip, both(coding::gzip)},
        {coding::gzip, nothing + both(coding::gzip) + nothing},
        {coding::gzip, both(coding::gzip) + std::string(1000, '\0')},
        {coding::zstd, both(coding::zstd)},
        {coding::zstd, skipped + compressed(coding::zstd, one) + skipped +
                           compressed(coding::zstd, two) + skipped},
    };
    for (const row& each : rows) {
        for (const std::size_t piece : {1, 7, 100'000}) {
            for (const std::size_t room : {1, 100, 100'000}) {
                const decoded got =
                    decode(each.with, each.coded, one.size() + two.size(), piece, room);
                CAPTURE(name_of(each.with));
                CAPTURE(piece);
                CHECK(!got.failed);
                CHECK(got.text == one + two);
                CHECK(got.ended);
            }
        }
        // The bound is of all parts together.
        const std::size_t less = one.size() + two.size() - 1;
        CHECK(decode(each.with, each.coded, less, 99, 99).failed == errc::limit_exceeded);
    }
    const std::string member = compressed(coding::gzip, two);
    for (const std::string& behind :
         {std::string{"more"}, std::string{"\0x", 2}, std::string{"\0", 1} + member}) {
        CHECK(decode(coding::gzip, member + behind, 100, 1, 99).failed == errc::malformed);
        CHECK(decode(coding::gzip, member + behind, 100, 99, 99).failed == errc::malformed);
    }
    CHECK_FALSE(decode(coding::gzip, member + member.substr(0, 5), 100, 99, 99).ended);
    CHECK_FALSE(
        decode(coding::zstd, both(coding::zstd) + skipped.substr(0, 9), 1 << 20, 99, 99).ended);
    const std::string with_header = compressed(coding::deflate, two);
    CHECK(decode(coding::deflate, with_header + with_header, 100, 99, 99).failed ==
          errc::malformed);
}

// RFC 9110, 8.4.1.2: servers send both, and browsers read both.
TEST_CASE("deflate is decoded with its header and without it") {
    const std::string text = some_text();
    const std::string with_header = compressed(coding::deflate, text);
    constexpr std::size_t header = 2;  // RFC 1950, 2.2; behind the data stands a sum of four bytes.
    const std::string raw = with_header.substr(header, with_header.size() - header - 4);
    for (const std::size_t piece : {1, 7, 100'000}) {
        const decoded got = decode(coding::deflate, raw, text.size(), piece, 100);
        CHECK(got.text == text);
        CHECK(got.ended);
    }
    // A block that is stored, and one of fixed codes.
    const std::string stored{"\x01\x02\0\xfd\xffhi", 7};
    CHECK(decode(coding::deflate, stored, 2, 1, 99).text == "hi");
    const std::string fixed{"\xcb\xc8\x04\0", 4};
    CHECK(decode(coding::deflate, fixed, 2, 1, 99).text == "hi");
    CHECK(decode(coding::deflate, raw, text.size() - 1, 99, 99).failed == errc::limit_exceeded);
    CHECK(decode(coding::deflate, raw + "x", text.size(), 99, 99).failed == errc::malformed);
    CHECK_FALSE(decode(coding::deflate, raw.substr(0, raw.size() / 2), text.size(), 99, 99).ended);
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

namespace {

// What describes a representation, of an answer in HTTP/1.
std::string metadata_of(std::string_view answer) {
    std::string found;
    for (const std::string_view name : {"etag", "vary", "content-encoding", "content-type"}) {
        const std::string line = std::string{"\r\n"}.append(name).append(": ");
        const std::size_t at = answer.find(line);
        if (at == std::string_view::npos) continue;
        const std::size_t from = at + 2;
        found.append(answer.substr(from, answer.find("\r\n", from) - from)).append("; ");
    }
    return found;
}

// Answers like a file's handler: whole, a part, or nothing new; to HEAD with a body or only with its length.
struct resource {
    const char* type = "text/plain";
    bool leaves_body_out = false;
    bool makes_body = false;

    task<response> operator()(request& what) const {
        const std::string text = some_text();
        response answer{status::ok, type, std::string{}};
        answer.fields.set("etag", "\"a\"");
        if (what.fields.contains("if-none-match")) {
            answer.status = status::not_modified;
            answer.fields.remove("content-type");
        } else if (what.fields.contains("range")) {
            answer.status = status::partial_content;
            answer.fields.set("content-range", "bytes 0-3/" + std::to_string(text.size()));
            answer.body = text.substr(0, 4);
        } else if (what.method() == method::head && leaves_body_out) {
            answer.fields.set("content-length", text.size());
        } else if (makes_body) {
            answer.body = produced_by([text](body_writer to) -> task<io_result<>> {
                const auto put = co_await write_all(to, bytes_of(text));
                co_return put.error();
            });
        } else {
            answer.body = text;
        }
        co_return answer;
    }
};

}  // namespace

// RFC 9110, 8.6, 9.3.2, 15.3.7 and 15.4.5.
TEST_CASE("what describes a representation depends on neither the method nor the status") {
    on_every_backend([](io_context&) -> task<> {
        struct row {
            const char* by;
            const char* type;
            const char* fields;
            const char* expected;
        };
        constexpr const char* coded =
            "etag: W/\"a\"; vary: accept-encoding; content-encoding: gzip; content-type: "
            "text/plain; ";
        constexpr const char* png = "etag: \"a\"; content-type: image/png; ";
        const row rows[] = {
            {"GET", "text/plain", "Accept-Encoding: gzip\r\n", coded},
            {"HEAD", "text/plain", "Accept-Encoding: gzip\r\n", coded},
            {"GET", "text/plain", "",
             "etag: \"a\"; vary: accept-encoding; content-type: text/plain; "},
            {"HEAD", "text/plain", "",
             "etag: \"a\"; vary: accept-encoding; content-type: text/plain; "},
            {"GET", "text/plain", "Accept-Encoding: gzip\r\nIf-None-Match: W/\"a\"\r\n",
             "etag: W/\"a\"; vary: accept-encoding; "},
            {"HEAD", "text/plain", "Accept-Encoding: gzip\r\nIf-None-Match: *\r\n",
             "etag: W/\"a\"; vary: accept-encoding; "},
            {"GET", "text/plain", "Accept-Encoding: gzip\r\nIf-None-Match: \"b\", \"a\"\r\n",
             "etag: \"a\"; vary: accept-encoding; "},
            {"GET", "text/plain", "If-None-Match: W/\"a\"\r\n",
             "etag: \"a\"; vary: accept-encoding; "},
            {"GET", "text/plain", "Accept-Encoding: gzip\r\nRange: bytes=0-3\r\n",
             "etag: W/\"a\"; vary: accept-encoding; content-type: text/plain; "},
            {"GET", "image/png", "Accept-Encoding: gzip\r\n", png},
            {"HEAD", "image/png", "Accept-Encoding: gzip\r\n", png},
            {"GET", "image/png", "Accept-Encoding: gzip\r\nRange: bytes=0-3\r\n", png}};
        for (const row& each : rows) {
            for (const auto& [leaves_out, makes] :
                 {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}}) {
                const resource of{each.type, leaves_out, makes};
                const handler plain = [&of](request& what) { return of(what); };
                const handler with = compress_responses()(plain);
                traffic over;
                over.in = std::string{each.by} + " / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" +
                          each.fields + "\r\n";

                const io_result<> ended = co_await serve_traffic(over, with);

                CAPTURE(each.by);
                CAPTURE(each.fields);
                CAPTURE(leaves_out);
                CAPTURE(makes);
                CHECK(ended.ok());
                CHECK(metadata_of(over.out) == each.expected);
                // RFC 9110, 8.6: no length that GET would not have.
                if (each.expected == coded && std::string_view{each.by} == "HEAD") {
                    const std::string wrong =
                        "content-length: " + std::to_string(some_text().size());
                    CHECK(over.out.find(wrong) == std::string::npos);
                    CHECK(over.out.find("content-length: 0\r\n") == std::string::npos);
                    CHECK(over.out.ends_with("\r\n\r\n"));
                }
            }
        }
    });
}
