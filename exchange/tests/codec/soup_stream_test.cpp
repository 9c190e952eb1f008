// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/soup_stream.hpp promises: what is kept is what is sent.
#include <exchange/codec/soup_stream.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("what is committed stands framed as a sequenced packet") {
    soup_stream stream{{.session = "S1", .first_sequence = 5}};

    std::ranges::copy(bytes_of("hello"), stream.prepare(5).begin());
    stream.commit(5);
    static_cast<void>(stream.prepare(10));
    stream.commit(0);

    CHECK(packets_of(stream.messages().framed(5)) == std::vector<std::string>{"Shello"});
    CHECK(packets_of(stream.messages().framed(6)) == std::vector<std::string>{"S"});
    CHECK(stream.messages().next_sequence() == 7);
    CHECK_FALSE(stream.ended());
    stream.end();
    CHECK(stream.ended());
}
