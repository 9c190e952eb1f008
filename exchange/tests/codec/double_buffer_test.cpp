// SPDX-License-Identifier: BSL-1.0
#include <exchange/codec/double_buffer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

using exchange::double_buffer;

namespace {

/// How much of `text` there was space for.
std::size_t put(double_buffer& into, std::string_view text) {
    const std::span<std::byte> space = into.space();
    const std::size_t size = std::min(space.size(), text.size());
    std::ranges::copy(std::as_bytes(std::span{text.substr(0, size)}), space.begin());
    into.add(size);
    return size;
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("double buffer: what was offered stays where it is while more comes") {
    double_buffer it{8};
    CHECK(put(it, "first") == 5);
    const std::span<const std::byte> offered = it.offer();

    CHECK(put(it, "second") == 6);

    CHECK(text_of(offered) == "first");
    CHECK(it.offer().data() == offered.data());
    it.sent(2);
    CHECK(text_of(it.offer()) == "rst");
    it.sent(3);
    CHECK(text_of(it.offer()) == "second");
    it.sent(6);
    CHECK(it.empty());
}

TEST_CASE("double buffer: each half takes what it was made for and no more") {
    double_buffer it{4};
    CHECK(put(it, "abcdef") == 4);
    CHECK(put(it, "x") == 0);
    CHECK(text_of(it.offer()) == "abcd");
    CHECK(put(it, "efghi") == 4);
    CHECK(put(it, "x") == 0);
}

TEST_CASE("double buffer: an empty offer takes nothing away from what comes") {
    double_buffer it{4};
    CHECK(it.offer().empty());
    CHECK(put(it, "abcd") == 4);
    CHECK(text_of(it.offer()) == "abcd");
}

TEST_CASE("double buffer: clearing forgets both halves, moving keeps them") {
    double_buffer it{4};
    put(it, "ab");
    static_cast<void>(it.offer());
    put(it, "cd");

    double_buffer moved = std::move(it);
    CHECK(text_of(moved.offer()) == "ab");
    moved.sent(2);
    CHECK(text_of(moved.offer()) == "cd");

    moved.clear();
    CHECK(moved.empty());
    CHECK(put(moved, "efgh") == 4);
    CHECK(text_of(moved.offer()) == "efgh");
}
