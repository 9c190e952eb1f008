// SPDX-License-Identifier: BSL-1.0
//
// Several coroutines wait for the same socket: whose turn it is.
//
// A stream is one line of bytes, so its readers are served in the order in which they asked, on every
// backend, whether the bytes come one by one or all at once. The kernel alone would not see to that:
// io_uring wakes first who began to wait last.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr int readers = 8;

// The coroutines that have been served so far, by their names: "abc...".
struct register_of_service {
    void note(int reader, std::byte got) {
        order += static_cast<char>('a' + reader);
        bytes += static_cast<char>(got);
        served.set();
    }
    std::string order;
    std::string bytes;
    event served;
};

task<> wait_until_served(register_of_service& book, std::size_t count) {
    while (book.order.size() < count) {
        static_cast<void>(co_await book.served.wait());
        book.served.reset();
    }
}

void send_bytes(const stream_socket& from, std::string_view bytes) {
    CHECK(::send(from.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

// `read_one(socket, reader, book)` awaits one byte.
template <class ReadOne>
void check_readers_in_order(const ReadOne& read_one) {
    on_every_backend([&](io_context& io) -> task<> {
        auto [near, far] = local_pair(io);
        stream_socket& to = near;
        stream_socket& from = far;
        register_of_service one_by_one;
        register_of_service at_once;
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < readers; ++each) group.spawn(read_one(to, each, one_by_one));
            co_await settle();  // All of them wait in the kernel, or could.
            for (std::size_t each = 0; each < readers; ++each) {
                send_bytes(from, std::string_view{"12345678"}.substr(each, 1));
                co_await wait_until_served(one_by_one, each + 1);
            }
            for (int each = 0; each < readers; ++each) group.spawn(read_one(to, each, at_once));
            co_await settle();
            send_bytes(from, "12345678");
            co_await wait_until_served(at_once, readers);
        };
        co_await with_group(body);

        CHECK(one_by_one.order == "abcdefgh");
        CHECK(one_by_one.bytes == "12345678");
        CHECK(at_once.order == "abcdefgh");
        CHECK(at_once.bytes == "12345678");
    });
}

task<> read_plainly(stream_socket& from, int reader, register_of_service& book) {
    std::array<std::byte, 1> space{};
    const auto got = co_await from.read_some(mutable_buffer{space});
    if (got.ok()) book.note(reader, space[0]);
}

task<> read_scattered(stream_socket& from, int reader, register_of_service& book) {
    std::array<std::byte, 1> space{};
    const std::array<mutable_buffer, 1> parts{mutable_buffer{space}};
    const auto got = co_await from.read_some(mutable_buffers{parts});
    if (got.ok()) book.note(reader, space[0]);
}

task<> read_in_all_ways(stream_socket& from, int reader, register_of_service& book) {
    return reader % 2 == 0 ? read_plainly(from, reader, book) : read_scattered(from, reader, book);
}

}  // namespace

TEST_CASE("readers of a stream are served in the order in which they asked") {
    check_readers_in_order(&read_plainly);
}

TEST_CASE("readers into several buffers are served in their order, too") {
    check_readers_in_order(&read_scattered);
}

TEST_CASE("readers of different kinds share one order") {
    check_readers_in_order(&read_in_all_ways);
}

TEST_CASE("leased reads of a stream are served in the order in which they asked") {
    on_every_backend([](io_context& io) -> task<> {
        auto [near, far] = local_pair(io);
        stream_socket& to = near;
        register_of_service book;
        const auto read_leased = [&](int reader) -> task<> {
            const auto got = co_await to.read();
            if (got.ok()) book.note(reader, got.value().bytes()[0]);
        };
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < readers; ++each) group.spawn(read_leased(each));
            co_await settle();
            for (std::size_t each = 0; each < readers; ++each) {
                send_bytes(far, std::string_view{"12345678"}.substr(each, 1));
                co_await wait_until_served(book, each + 1);
            }
        };
        co_await with_group(body);

        CHECK(book.order == "abcdefgh");
        CHECK(book.bytes == "12345678");
    });
}

TEST_CASE("accepts are served in the order in which they asked") {
    on_every_backend([](io_context& io) -> task<> {
        io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, endpoint{ipv4::loopback(), 0});
        REQUIRE(listening.ok());
        tcp_acceptor acceptor = listening.take();
        const endpoint where = acceptor.local_endpoint().value();
        register_of_service book;
        const auto accept_one = [&](int reader) -> task<> {
            const auto got = co_await acceptor.accept();
            if (got.ok()) book.note(reader, std::byte{'1'});
        };
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < readers; ++each) group.spawn(accept_one(each));
            co_await settle();
            for (std::size_t each = 0; each < readers; ++each) {
                const auto client = co_await stream_socket::connect(where);
                CHECK(client.ok());
                co_await wait_until_served(book, each + 1);
            }
        };
        co_await with_group(body);

        CHECK(book.order == "abcdefgh");
    });
}

TEST_CASE("readers that are stopped leave the line, and those behind them are served") {
    on_every_backend([](io_context& io) -> task<> {
        auto [near, far] = local_pair(io);
        stream_socket& to = near;
        register_of_service book;
        const auto stopped = [&](int reader, int& canceled) -> task<> {
            std::array<std::byte, 1> space{};
            const auto got = co_await to.read_some(mutable_buffer{space});
            if (got.error() == errc::canceled) ++canceled;
            if (got.ok()) book.note(reader, space[0]);
        };
        int canceled = 0;
        const auto body = [&](task_group& group) -> task<> {
            const stop_handle first = launch(io, stopped(0, canceled), or_terminate{});
            group.spawn(read_plainly(to, 1, book));
            const stop_handle third = launch(io, stopped(2, canceled), or_terminate{});
            group.spawn(read_plainly(to, 3, book));
            co_await settle();
            third.request_stop();
            while (canceled == 0) co_await yield();
            first.request_stop();
            while (canceled == 1) co_await yield();
            send_bytes(far, "12");
            co_await wait_until_served(book, 2);
        };
        co_await with_group(body);

        CHECK(canceled == 2);
        CHECK(book.order == "bd");
        CHECK(book.bytes == "12");
    });
}

TEST_CASE("a write that ends meanwhile changes nothing in the order of the readers") {
    on_every_backend([](io_context& io) -> task<> {
        auto [near, far] = local_pair(io);
        stream_socket& to = near;
        stream_socket& from = far;
        register_of_service book;
        bool written = false;
        std::vector<std::byte> much(1 << 20);
        const auto write_much = [&]() -> task<> {
            const auto sent = co_await write_all(to, const_buffer{much});
            written = sent.ok();
        };
        const auto drain = [&]() -> task<> {
            std::vector<std::byte> space(1 << 16);
            for (std::size_t got = 0; got < much.size();) {
                const auto some = co_await from.read_some(mutable_buffer{space});
                if (!some.ok()) co_return;
                got += some.value();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < readers; ++each) group.spawn(read_plainly(to, each, book));
            group.spawn(write_much());
            co_await settle();  // The write waits by now.
            group.spawn(drain());
            while (!written) co_await yield();
            for (std::size_t each = 0; each < readers; ++each) {
                send_bytes(from, std::string_view{"12345678"}.substr(each, 1));
                co_await wait_until_served(book, each + 1);
            }
        };
        co_await with_group(body);

        CHECK(book.order == "abcdefgh");
        CHECK(book.bytes == "12345678");
    });
}
