// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/codecs.hpp promises of bytes alone; framed_test.cpp has the streams.
#include <gyre/stream/codecs.hpp>

#include <support/harness.hpp>

#include <limits>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

/// The content of the first frame, or "-" if there is none yet.
template <class Codec>
std::string first_of(const Codec& codec, std::string_view text) {
    const found_frame found = codec.find(bytes_of(text), 0);
    CHECK(found.failure == errc::ok);
    if (!found.decided()) return "-";
    return std::string{text.substr(found.offset, found.size)};
}

template <class Codec>
errc refusal_of(const Codec& codec, std::string_view text) {
    const found_frame found = codec.find(bytes_of(text), 0);
    CHECK(found.total == 0);
    return found.failure;
}

/// What is written for a content, which must be read as that content again.
template <class Codec>
std::string enclosed(const Codec& codec, std::string_view content) {
    const io_result<frame_edges> edges = codec.enclose(bytes_of(content));
    CHECK(edges.ok());
    std::string text{text_of(edges.value().before.bytes())};
    text += content;
    text += text_of(edges.value().after.bytes());
    CHECK(first_of(codec, text + "more") == content);
    return text;
}

length_delimited_options of_length(std::size_t bytes, std::endian order = std::endian::big,
                                   bool counted = false) {
    return {.prefix_bytes = bytes, .order = order, .prefix_counted = counted};
}

}  // namespace

TEST_CASE("a line ends with a line feed, and one carriage return before it is not part of it") {
    const lines_codec codec;

    CHECK(first_of(codec, "one\ntwo\n") == "one");
    CHECK(first_of(codec, "one\r\ntwo\r\n") == "one");
    CHECK(first_of(codec, "\n") == "");
    CHECK(first_of(codec, "\r\n") == "");
    CHECK(first_of(codec, "a\r\r\n") == "a\r");
    CHECK(first_of(codec, "a\rb\n") == "a\rb");
    CHECK(first_of(codec, "one") == "-");
    CHECK(first_of(codec, "one\r") == "-");
    CHECK(first_of(codec, "") == "-");
}

TEST_CASE("a line may be as long as is allowed, whichever way it ends") {
    const lines_codec codec{3};

    CHECK(first_of(codec, "abc\n") == "abc");
    CHECK(first_of(codec, "abc\r\n") == "abc");
    CHECK(first_of(codec, "abc\r") == "-");
    CHECK(refusal_of(codec, "abcd") == errc::limit_exceeded);
    CHECK(refusal_of(codec, "abc\rd") == errc::limit_exceeded);
    CHECK(refusal_of(codec, "abcd\n") == errc::limit_exceeded);
}

TEST_CASE("what is dropped of a line ends behind its line feed") {
    const lines_codec codec;

    const dropped_bytes part = codec.drop(bytes_of("abc"));
    const dropped_bytes rest = codec.drop(bytes_of("d\r\ne\n"));

    CHECK(part.count == 3);
    CHECK_FALSE(part.over);
    CHECK(rest.count == 3);
    CHECK(rest.over);
}

TEST_CASE("a line is written with its end, and not if it would be read otherwise") {
    const lines_codec plain{4};
    const lines_codec network{4, line_ending::crlf};

    CHECK(enclosed(plain, "ab") == "ab\n");
    CHECK(enclosed(network, "ab") == "ab\r\n");
    CHECK(enclosed(network, "") == "\r\n");
    CHECK(plain.enclose(bytes_of("a\nb")).error() == errc::invalid_argument);
    CHECK(plain.enclose(bytes_of("a\r")).error() == errc::invalid_argument);
    CHECK(plain.enclose(bytes_of("abcde")).error() == errc::limit_exceeded);
}

TEST_CASE("a length has one, two, four or eight bytes, in either order, and may count itself") {
    constexpr auto big = std::endian::big;
    constexpr auto little = std::endian::little;
    const auto text = [](const length_delimited_options& options) {
        return enclosed(length_delimited_codec{options}, "abc");
    };

    CHECK(text(of_length(1)) == "\3abc"sv);
    CHECK(text(of_length(2)) == "\0\3abc"sv);
    CHECK(text(of_length(4)) == "\0\0\0\3abc"sv);
    CHECK(text(of_length(8)) == "\0\0\0\0\0\0\0\3abc"sv);
    CHECK(text(of_length(2, little)) == "\3\0abc"sv);
    CHECK(text(of_length(4, little)) == "\3\0\0\0abc"sv);
    CHECK(text(of_length(8, little)) == "\3\0\0\0\0\0\0\0abc"sv);
    CHECK(text(of_length(2, big, true)) == "\0\5abc"sv);
    CHECK(text(of_length(4, little, true)) == "\7\0\0\0abc"sv);
}

TEST_CASE("a length of several digits is read in its order") {
    const std::string content(0x0102, 'x');
    const length_delimited_codec big{of_length(2)};
    const length_delimited_codec little{of_length(2, std::endian::little)};

    CHECK(first_of(big, "\1\2"s + content) == content);
    CHECK(first_of(little, "\2\1"s + content) == content);
    CHECK(enclosed(big, content).starts_with("\1\2"));
    CHECK(enclosed(little, content).starts_with("\2\1"));
}

TEST_CASE("a frame that is not whole tells how many bytes are missing") {
    const length_delimited_codec codec{of_length(2)};

    CHECK(codec.find(bytes_of(""), 0).missing == 2);
    CHECK(codec.find(bytes_of("\0"sv), 0).missing == 1);
    CHECK(codec.find(bytes_of("\0\5"sv), 0).missing == 5);
    CHECK(codec.find(bytes_of("\0\5abcd"sv), 0).missing == 1);
    CHECK(fixed_size_codec{8}.find(bytes_of("abc"), 0).missing == 5);
}

TEST_CASE("an empty frame is a frame") {
    CHECK(first_of(length_delimited_codec{of_length(2)}, "\0\0rest"sv) == "");
    CHECK(first_of(length_delimited_codec{of_length(2, std::endian::big, true)}, "\0\2rest"sv) ==
          "");
}

TEST_CASE("no length that a peer announces is believed") {
    length_delimited_options options = of_length(8);
    const length_delimited_codec unlimited{options};
    options.frame_bytes_max = 10;
    const length_delimited_codec limited{options};
    const length_delimited_codec counted{of_length(2, std::endian::big, true)};
    const std::string huge(8, '\xff');

    CHECK(refusal_of(unlimited, huge) == errc::limit_exceeded);
    CHECK(refusal_of(limited, huge) == errc::limit_exceeded);
    CHECK(refusal_of(limited, "\0\0\0\0\0\0\0\x0b"sv) == errc::limit_exceeded);
    CHECK(first_of(limited, "\0\0\0\0\0\0\0\x0a"sv) == "-");
    CHECK(refusal_of(counted, "\0\1"sv) == errc::malformed);
    CHECK(refusal_of(counted, "\0\0"sv) == errc::malformed);
}

TEST_CASE("what is too large for its length is not written") {
    const length_delimited_codec one{of_length(1)};
    const length_delimited_codec counted{of_length(1, std::endian::big, true)};
    length_delimited_options options;
    options.frame_bytes_max = 3;

    CHECK(one.enclose(bytes_of(std::string(255, 'x'))).ok());
    CHECK(one.enclose(bytes_of(std::string(256, 'x'))).error() == errc::limit_exceeded);
    CHECK(counted.enclose(bytes_of(std::string(254, 'x'))).ok());
    CHECK(counted.enclose(bytes_of(std::string(255, 'x'))).error() == errc::limit_exceeded);
    CHECK(length_delimited_codec{options}.enclose(bytes_of("abcd")).error() ==
          errc::limit_exceeded);
}

TEST_CASE("a frame is dropped as it comes, its length included") {
    length_delimited_codec codec{of_length(2)};

    const dropped_bytes before = codec.drop(bytes_of("\0"sv));
    const dropped_bytes part = codec.drop(bytes_of("\0\5ab"sv));
    const dropped_bytes rest = codec.drop(bytes_of("cde\0\1"sv));
    const dropped_bytes next = codec.drop(bytes_of("\0\1x"sv));

    CHECK(before.count == 0);
    CHECK_FALSE(before.over);
    CHECK(part.count == 4);
    CHECK_FALSE(part.over);
    CHECK(rest.count == 3);
    CHECK(rest.over);
    CHECK(next.count == 3);
    CHECK(next.over);
}

TEST_CASE(
    "a length that counts less than itself is not dropped: nobody knows how much that would be") {
    length_delimited_codec codec{of_length(1, std::endian::big, true)};

    const dropped_bytes none = codec.drop(bytes_of("\0abc"sv));

    CHECK(none.count == 0);
    CHECK(none.over);
}

TEST_CASE("frames of a fixed size have that size") {
    const fixed_size_codec codec{3};

    CHECK(first_of(codec, "abcdef") == "abc");
    CHECK(first_of(codec, "ab") == "-");
    CHECK(enclosed(codec, "xyz") == "xyz");
    CHECK(codec.enclose(bytes_of("ab")).error() == errc::invalid_argument);
    CHECK(codec.enclose(bytes_of("abcd")).error() == errc::invalid_argument);
}
