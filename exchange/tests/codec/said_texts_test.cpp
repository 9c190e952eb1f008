// SPDX-License-Identifier: BSL-1.0
//
// Texts that are kept for packets, and packets that have none.
#include <exchange/codec/said_texts.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace exchange;

namespace {

[[nodiscard]] std::span<const std::byte> said(std::string_view text) {
    return std::as_bytes(std::span{text});
}
[[nodiscard]] std::string_view text_for(const said_texts& from, std::string_view packet) {
    const std::span<const std::byte> found = from.find(said(packet));
    return {reinterpret_cast<const char*>(found.data()), found.size()};
}

}  // namespace

TEST_CASE("said texts: a packet finds its own text, and no other's") {
    said_texts all;
    CHECK(all.find(said("a packet")).empty());
    CHECK(all.find({}).empty());
    all.keep(said("a packet"), said("in words"));
    CHECK(text_for(all, "a packet") == "in words");
    CHECK(all.find(said("a pack")).empty());
    CHECK(all.find(said("a packet.")).empty());
    CHECK(all.find(said("b packet")).empty());
    all.keep(said("a packet"), said("in other words"));
    CHECK(text_for(all, "a packet") == "in other words");
}

TEST_CASE("said texts: of many packets each has its text or none") {
    said_texts all;
    std::size_t kept = 0;
    const auto packet = [](int which) { return "packet number " + std::to_string(which); };
    for (int each = 0; each < 1'000; ++each)
        all.keep(said(packet(each)), said(std::to_string(each)));
    for (int each = 0; each < 1'000; ++each) {
        const std::string_view found = text_for(all, packet(each));
        if (found.empty()) continue;
        CHECK(found == std::to_string(each));
        ++kept;
    }
    CHECK(kept <= said_texts::packets_max);
    CHECK(kept > said_texts::packets_max / 2);  // They are spread.
}

TEST_CASE("said texts: what is too long is not kept") {
    said_texts all;
    const std::string longest(said_texts::packet_bytes_max, 'p');
    const std::string longest_text(said_texts::text_bytes_max, 't');
    all.keep(said(longest), said(longest_text));
    CHECK(text_for(all, longest) == longest_text);
    all.keep(said(longest + "p"), said("words"));
    CHECK(all.find(said(longest + "p")).empty());
    all.keep(said("short"), said(longest_text + "t"));
    CHECK(all.find(said("short")).empty());
}
