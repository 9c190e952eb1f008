// SPDX-License-Identifier: BSL-1.0
//
// What a batch keeps and refuses by itself; udp_socket_test.cpp sends and receives with it.
#include <gyre/io/datagram_batch.hpp>

#include <base/ending.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/sync/when_all.hpp>

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;

TEST_CASE("a batch takes datagrams until it is full, and none that is too long") {
    datagram_batch batch{2, 4};
    const endpoint to{ipv4::loopback(), 7};

    CHECK_FALSE(batch.append(bytes_of("longer"), to));
    CHECK(batch.empty());
    CHECK(batch.append(bytes_of("four"), to));
    CHECK(batch.append(const_buffer{}));
    CHECK(batch.full());
    CHECK_FALSE(batch.append(bytes_of("x"), to));

    CHECK(batch.size() == 2);
    CHECK(batch.capacity() == 2);
    CHECK(text_of(batch[0]) == "four");
    CHECK(batch.peer(0) == to);
    CHECK(batch[1].empty());
    CHECK(batch.peer(1).kind() == endpoint::family::none);
    CHECK_FALSE(batch.truncated(1));
}

TEST_CASE(
    "a datagram gathered from parts is one datagram, and too long if its parts are together") {
    datagram_batch batch{3, 8};
    const std::array<const_buffer, 3> parts{bytes_of("head"), const_buffer{}, bytes_of("tail")};
    const std::array<const_buffer, 2> longer{bytes_of("head"), bytes_of("tails")};
    const endpoint to{ipv4::loopback(), 7};

    CHECK_FALSE(batch.append(longer, to));
    CHECK(batch.empty());
    CHECK(batch.append(parts, to));
    CHECK(batch.append(const_buffers{}, to));

    CHECK(batch.size() == 2);
    CHECK(text_of(batch[0]) == "headtail");
    CHECK(batch.peer(0) == to);
    CHECK(batch[1].empty());
}

TEST_CASE("a batch owns its bytes, moves with them, and starts anew when cleared") {
    datagram_batch first{4, 16};
    {
        const std::string text = "gone soon";
        CHECK(first.append(bytes_of(text)));
    }

    datagram_batch second{std::move(first)};
    CHECK(text_of(second[0]) == "gone soon");
    second.clear();

    CHECK(second.empty());
    for (int each = 0; each < 4; ++each) CHECK(second.append(bytes_of("again")));
    CHECK(second.full());
}

TEST_CASE(
    "what was sent leaves the batch from the front, and its room comes back with the last one") {
    datagram_batch batch{3, 8};
    for (const char* each : {"one", "two", "three"}) CHECK(batch.append(bytes_of(each)));

    batch.note_sent(2);
    CHECK(batch.size() == 1);
    CHECK(text_of(batch[0]) == "three");
    CHECK(batch.full());

    batch.note_sent(1);
    CHECK(batch.empty());
    CHECK_FALSE(batch.full());
}

TEST_CASE("the first datagram can be dropped, and its room comes back with the last one") {
    datagram_batch batch{2, 8};
    for (const char* each : {"one", "two"}) CHECK(batch.append(bytes_of(each)));

    batch.drop_first();
    CHECK(batch.size() == 1);
    CHECK(text_of(batch[0]) == "two");
    CHECK(batch.full());

    batch.drop_first();
    CHECK(batch.empty());
    CHECK_FALSE(batch.full());
}

namespace {

gyre::task<> receive_twice_at_once() {
    udp_socket socket = udp_socket::bind(*io_context::current(), {ipv4::loopback(), 0}).take();
    datagram_batch batch{2, 8};
    static_cast<void>(co_await when_all(socket.receive(batch), socket.receive(batch)));
}

}  // namespace

TEST_CASE("a batch that is lent to two operations at once is a failed check") {
    const testing::ending how = testing::ending_of([] {
        io_context io;
        launch(io, receive_twice_at_once(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("lent to one operation at a time"));
}
