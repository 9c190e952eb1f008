// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/deflate.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

bytes deflated(deflater& by, std::string_view text, piece_end end = piece_end::message) {
    flat_buffer made{{0, std::size_t{1} << 28}};
    by.add(bytes_of(text), made, end);
    return copy_of(made.data());
}

struct inflated {
    std::string text;
    violation why = violation::none;
};

// In pieces of `size`, into room of `room`.
inflated inflate(inflater& by, const bytes& from, std::size_t size, std::size_t room) {
    inflated made;
    const_buffer rest{from};
    bytes space(room);
    do {
        const std::size_t count = std::min(size, rest.size());
        const piece_end end = count == rest.size() ? piece_end::message : piece_end::open;
        const_buffer piece = rest.first(count);
        rest = rest.subspan(count);
        inflater::progress went;
        do {
            went = by.add(piece, space, end);
            piece = piece.subspan(went.consumed);
            made.text += text_of(const_buffer{space}.first(went.produced));
            made.why = went.why;
            if (made.why != violation::none) return made;
        } while (went.full);
        REQUIRE(piece.empty());
    } while (!rest.empty());
    return made;
}

std::string noise(std::size_t size, unsigned seed) {
    std::mt19937 random{seed};
    std::string made(size, '\0');
    for (char& each : made) each = static_cast<char>(random());
    return made;
}

}  // namespace

// RFC 7692, 7.2.3.1 and 7.2.3.3.
TEST_CASE("deflate: the standard's example, with and without the window kept") {
    inflater keeps{inflater::context::kept};
    CHECK(inflate(keeps, hex("f2 48 cd c9 c9 07 00"), 100, 100).text == "Hello");
    CHECK(inflate(keeps, hex("f2 00 11 00 00"), 100, 100).text == "Hello");

    inflater drops{inflater::context::dropped};
    CHECK(inflate(drops, hex("f2 48 cd c9 c9 07 00"), 1, 1).text == "Hello");
    CHECK(inflate(drops, hex("f2 00 11 00 00"), 1, 1).why == violation::corrupt_deflate_data);
}

TEST_CASE("deflate: a message that fills the room to its last byte ends with the next call") {
    for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{65'536}}) {
        for (const std::string& text : {std::string(size * 2, 'x'), noise(size * 2, 5)}) {
            deflater by{{}};
            inflater back{inflater::context::dropped};
            const bytes first = deflated(by, text);
            const bytes second = deflated(by, text);
            for (const bytes* each : {&first, &second}) {
                const inflated got = inflate(back, *each, each->size(), size);
                CHECK(got.why == violation::none);
                CHECK(got.text == text);
            }
        }
    }
}

// RFC 7692, 7.2.3.3 to 7.2.3.5.
TEST_CASE("deflate: the standard's other forms: stored, with a final block, in two blocks") {
    inflater by{inflater::context::kept};
    CHECK(inflate(by, hex("00 05 00 fa ff 48 65 6c 6c 6f 00"), 3, 2).text == "Hello");
    CHECK(inflate(by, hex("f3 48 cd c9 c9 07 00 00"), 3, 2).text == "Hello");
    CHECK(inflate(by, hex("f2 48 05 00 00 00 ff ff ca c9 c9 07 00"), 3, 2).text == "Hello");
}

// RFC 7692, 7.2.3.6.
TEST_CASE("deflate: a message of nothing is one byte") {
    for (const bool kept : {false, true}) {
        deflater_settings settings;
        settings.context_kept = kept;
        deflater by{settings};
        CHECK(deflated(by, "") == hex("00"));
        CHECK(deflated(by, "") == hex("00"));
        inflater back{inflater::context::kept};
        CHECK(inflate(back, hex("00"), 1, 1).text.empty());
        static_cast<void>(deflated(by, "something"));
        CHECK(deflated(by, "") == hex("00"));
    }
}

TEST_CASE("deflate: messages come back as they were, in pieces of any size") {
    std::vector<std::string> messages{"a",
                                      "Hello, Hello, Hello",
                                      "",
                                      std::string(100'000, 'z'),
                                      noise(100'000, 1),
                                      noise(70, 2) + noise(70, 2)};
    for (const bool kept : {false, true}) {
        for (const int bits : {9, 12, 15}) {
            deflater_settings settings;
            settings.context_kept = kept;
            settings.window_bits = bits;
            deflater by{settings};
            inflater back{kept ? inflater::context::kept : inflater::context::dropped};
            for (const std::string& each : messages) {
                for (const std::size_t size : {1UL, 7UL, 1'000'000UL}) {
                    const inflated got = inflate(back, deflated(by, each), size, 4096);
                    REQUIRE(got.why == violation::none);
                    REQUIRE(got.text == each);
                }
            }
        }
    }
}

TEST_CASE("deflate: a fragment comes out whole, and the message goes on behind it") {
    deflater by{{}};
    inflater back{inflater::context::dropped};
    for (const std::string_view last : {"", "the end"}) {
        const bytes first = deflated(by, "fragment one ", piece_end::fragment);
        const bytes rest = deflated(by, last);
        bytes space(1000);
        const inflater::progress part = back.add(first, space, piece_end::open);
        CHECK(text_of(const_buffer{space}.first(part.produced)) == "fragment one ");
        CHECK(inflate(back, rest, 100, 100).text == last);
    }
}

TEST_CASE("deflate: what a window keeps makes the next message small, and can be forgotten") {
    deflater_settings settings;
    settings.context_kept = true;
    deflater by{settings};
    inflater back{inflater::context::kept};
    const std::string text = noise(200, 3);
    const bytes first = deflated(by, text);
    const bytes second = deflated(by, text);
    by.forget();
    const bytes third = deflated(by, text);
    CHECK(second.size() < 20);
    CHECK(third == first);
    CHECK(inflate(back, first, 100, 100).text == text);
    CHECK(inflate(back, second, 100, 100).text == text);
    CHECK(inflate(back, third, 100, 100).text == text);
}

TEST_CASE("deflate: a bomb fills what it is given and no more") {
    deflater by{{}};
    const bytes bomb = deflated(by, std::string(10'000'000, '\0'));
    CHECK(bomb.size() < 11'000);
    inflater back{inflater::context::dropped};
    bytes space(1000);
    const inflater::progress went = back.add(bomb, space, piece_end::message);
    CHECK(went.produced == space.size());
    CHECK(went.full);
    CHECK(went.why == violation::none);
}

TEST_CASE("deflate: damaged data is refused, and so is a message cut short") {
    deflater by{{}};
    const bytes whole = deflated(by, "a message that is cut short, cut short, cut short");
    for (std::size_t size = 1; size < whole.size(); ++size) {
        inflater back{inflater::context::dropped};
        const bytes cut{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)};
        const inflated got = inflate(back, cut, 100, 4096);
        REQUIRE((got.why == violation::corrupt_deflate_data || got.text.size() < 49));
    }
    inflater back{inflater::context::dropped};
    CHECK(inflate(back, hex("07"), 100, 100).why == violation::corrupt_deflate_data);
}

TEST_CASE("deflate: final blocks without end are refused") {
    bytes many;
    for (int each = 0; each < 100; ++each) many += hex("03 00");
    inflater back{inflater::context::dropped};
    CHECK(inflate(back, many, 1000, 100).why == violation::too_many_deflate_streams);
}
