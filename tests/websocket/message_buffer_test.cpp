// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/message_buffer.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <algorithm>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

void arrive(message_buffer& in, std::string_view text) {
    while (!text.empty()) {
        const mutable_buffer room = in.room(text.size());
        REQUIRE_FALSE(room.empty());
        const std::size_t count = std::min(room.size(), text.size());
        std::ranges::copy(bytes_of(text.substr(0, count)), room.begin());
        in.commit(count);
        text.remove_prefix(count);
    }
}

}  // namespace

TEST_CASE("message buffer: a message in one piece stays where it came") {
    message_buffer buffer{{64, 1024}};
    arrive(buffer, "HHpayload");
    buffer.skip(2);
    const std::byte* const came_to = buffer.raw().data();
    buffer.keep(7);
    CHECK(buffer.message().data() == came_to);
    CHECK(text_of(buffer.message()) == "payload");
    CHECK(buffer.raw().empty());
}

TEST_CASE("message buffer: headers between pieces are closed over, and what follows is left") {
    message_buffer buffer{{16, 1024}};
    arrive(buffer, "Hone Htwo Hthree, and more");
    buffer.skip(1);
    buffer.keep(4);
    buffer.skip(1);
    buffer.keep(4);
    buffer.skip(1);
    buffer.keep(5);
    CHECK(text_of(buffer.message()) == "one two three");
    CHECK(text_of(buffer.raw()) == ", and more");

    arrive(buffer, " of it, which needs other memory");
    CHECK(text_of(buffer.message()) == "one two three");
    CHECK(text_of(buffer.raw()) == ", and more of it, which needs other memory");
    buffer.drop_message();
    CHECK(buffer.message().empty());
    buffer.skip(6);
    CHECK(text_of(buffer.raw()) == "more of it, which needs other memory");
}

TEST_CASE("message buffer: memory follows what has come, and not what is wanted") {
    message_buffer buffer{{64, 1 << 20}};
    CHECK(buffer.room(1 << 20).size() == 64);
    CHECK(buffer.capacity() == 64);
    std::size_t come = 0;
    while (come < 100'000) {
        arrive(buffer, std::string(10, 'x'));
        buffer.keep(10);
        come += 10;
        REQUIRE(buffer.capacity() <= std::max<std::size_t>(64, 4 * come));
    }
    CHECK(buffer.message().size() == come);
}

TEST_CASE("message buffer: the bound holds") {
    message_buffer buffer{{64, 200}};
    arrive(buffer, std::string(200, 'x'));
    CHECK(buffer.room(1).empty());
    CHECK(buffer.capacity() == 200);
}

TEST_CASE("message buffer: the memory of a large message goes back after many small ones") {
    message_buffer buffer{{64, 1 << 20}};
    arrive(buffer, std::string(10'000, 'x'));
    buffer.keep(10'000);
    buffer.drop_message();
    const std::size_t large = buffer.capacity();
    for (int each = 0; each < 20; ++each) {
        arrive(buffer, "small");
        buffer.keep(5);
        buffer.drop_message();
    }
    CHECK(buffer.capacity() == large);
    for (int each = 0; each < 20; ++each) {
        arrive(buffer, "small");
        buffer.keep(5);
        buffer.drop_message();
    }
    CHECK(buffer.capacity() == 64);
}
