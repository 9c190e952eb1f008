// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/passed_descriptors.hpp promises: descriptors that come are owned, and none is lost.
#include <gyre/io/passed_descriptors.hpp>

#include <base/ending.hpp>
#include <gyre/io/local_message_socket.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t count_max = passed_descriptors::count_max;

bool closes_on_exec(const handle& it) { return (::fcntl(it.number(), F_GETFD) & FD_CLOEXEC) != 0; }

// A pair of each kind, with one name for what each calls its sending and receiving.
struct stream_ends {
    explicit stream_ends(io_context& io) {
        auto made = stream_socket::connected_pair(io);
        REQUIRE(made.ok());
        left = std::move(made).get<1>();
        right = std::move(made).get<2>();
    }
    auto pass(const_buffer bytes, std::span<const int> numbers) {
        return left.write_some(bytes, numbers);
    }
    auto receive(mutable_buffer into, passed_descriptors& came) {
        return right.read_some(into, came);
    }

    stream_socket left;
    stream_socket right;
};

template <class Socket>
struct message_ends {
    explicit message_ends(io_context& io) {
        auto made = Socket::connected_pair(io);
        REQUIRE(made.ok());
        left = std::move(made).template get<1>();
        right = std::move(made).template get<2>();
    }
    auto pass(const_buffer bytes, std::span<const int> numbers) {
        return left.send(bytes, numbers);
    }
    auto receive(mutable_buffer into, passed_descriptors& came) {
        return right.receive(into, came);
    }

    Socket left;
    Socket right;
};

// `body(io, ends)` on every backend, with sockets of each kind.
template <class Body>
void with_ends_of_each_kind(const Body& body) {
    on_each_backend_of("passed descriptors", [&](io_context& io) -> task<> {
        INFO("stream");
        stream_ends ends{io};
        co_await body(io, ends);
    });
    on_each_backend_of("passed descriptors", [&](io_context& io) -> task<> {
        INFO("datagram");
        message_ends<local_datagram_socket> ends{io};
        co_await body(io, ends);
    });
    on_each_backend_of("passed descriptors", [&](io_context& io) -> task<> {
        INFO("packet");
        message_ends<local_packet_socket> ends{io};
        co_await body(io, ends);
    });
}

}  // namespace

TEST_CASE("a descriptor that is passed is the receiver's own, works, and is close-on-exec") {
    with_ends_of_each_kind([](io_context& io, auto& ends) -> task<> {
        auto made = make_pipe(io);
        readable_pipe out = std::move(made).template get<1>();
        writable_pipe in = std::move(made).template get<2>();
        const std::array numbers{in.native_handle()};
        passed_descriptors came;
        std::array<std::byte, 64> space{};

        const auto sent = co_await ends.pass(bytes_of("take it"), numbers);
        CHECK(in.close().ok());
        const auto got = co_await ends.receive(space, came);
        REQUIRE(came.size() == 1);
        handle taken = came.take(0);
        const bool inherited = !closes_on_exec(taken);
        writable_pipe ours{std::move(taken)};
        const auto written = co_await ours.write_some(bytes_of("through"));
        CHECK(ours.close().ok());
        const auto read = co_await out.read_some(space);
        const auto end = co_await out.read_some(mutable_buffer{space}.subspan(16));

        CHECK(sent.ok());
        CHECK(got.ok());
        CHECK_FALSE(came.cut());
        CHECK_FALSE(inherited);
        CHECK(written.ok());
        CHECK(read.value() == 7);
        CHECK(text_of(const_buffer{space}.first(7)) == "through");
        CHECK(end.error() == errc::eof);
    });
}

TEST_CASE("as many as there is room for come in their order, and more are not sent") {
    with_ends_of_each_kind([](io_context&, auto& ends) -> task<> {
        const std::size_t before = open_descriptors();
        std::vector<int> numbers(count_max, ends.left.native_handle());
        numbers.back() = ends.right.native_handle();
        const std::vector<int> too_many(count_max + 1, ends.left.native_handle());
        const std::array unknown{1'000'000};
        std::array<std::byte, 64> space{};
        std::size_t count = 0;
        std::size_t during = 0;
        {
            passed_descriptors came;
            const auto sent = co_await ends.pass(bytes_of("many"), numbers);
            const auto got = co_await ends.receive(space, came);
            CHECK(sent.ok());
            CHECK(got.ok());
            count = came.size();
            during = open_descriptors();
        }
        const auto refused = co_await ends.pass(bytes_of("more"), too_many);
        const auto bad = co_await ends.pass(bytes_of("bad"), unknown);

        CHECK(count == count_max);
        CHECK(during == before + count_max);
        CHECK(open_descriptors() == before);
        CHECK(refused.error() == errc::invalid_argument);
        CHECK(bad.error() == errc::bad_descriptor);
    });
}

TEST_CASE("what a receive does not ask for is closed, and what it asks for in vain is told") {
    with_ends_of_each_kind([](io_context&, auto& ends) -> task<> {
        const std::size_t before = open_descriptors();
        std::vector<int> numbers(200, ends.left.native_handle());
        std::array<std::byte, 64> space{};
        passed_descriptors came;

        // More than a passed_descriptors has room for, past the library.
        std::vector<std::byte> control(CMSG_SPACE(numbers.size() * sizeof(int)));
        iovec part{space.data(), 1};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(numbers.size() * sizeof(int));
        std::copy(numbers.begin(), numbers.end(), reinterpret_cast<int*>(CMSG_DATA(header)));
        REQUIRE(::sendmsg(ends.left.native_handle(), &message, 0) == 1);
        const auto got = co_await ends.receive(space, came);

        CHECK(got.ok());
        CHECK(came.size() == count_max);
        CHECK(came.cut());
        CHECK(open_descriptors() == before + count_max);
        came.clear();
        CHECK(came.empty());
        CHECK_FALSE(came.cut());
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("descriptors are not lost when the receiver is stopped, or abandoned, before or after") {
    with_ends_of_each_kind([](io_context&, auto& ends) -> task<> {
        const std::size_t before = open_descriptors();
        const std::array numbers{ends.left.native_handle()};
        std::array<std::byte, 64> space{};
        {
            passed_descriptors came;
            const auto in_vain = co_await with_timeout(5ms, ends.receive(space, came));
            CHECK(in_vain.error() == errc::timed_out);
            CHECK(came.empty());
            const auto sent = co_await ends.pass(bytes_of("kept"), numbers);
            const auto got = co_await ends.receive(space, came);
            CHECK(sent.ok());
            CHECK(got.ok());
            CHECK(came.size() == 1);
        }
        CHECK(open_descriptors() == before);
        // Stopped while it arrives: with the error nothing has come, else it is there.
        for (int each = 0; each < 20; ++each) {
            passed_descriptors came;
            bool delivered = false;
            const auto receive_one = [&]() -> task<> {
                const auto got = co_await ends.receive(space, came);
                delivered = got.ok();
                CHECK(came.size() == (delivered ? 1U : 0U));
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(receive_one());
                co_await settle();
                const auto sent = co_await ends.pass(bytes_of("x"), numbers);
                CHECK(sent.ok());
                group.request_stop();
            };
            co_await with_group(body);
            if (!delivered) {
                const auto late = co_await ends.receive(space, came);
                CHECK(late.ok());
                CHECK(came.size() == 1);
            }
        }
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a loop that ends while a receive waits, or has its message, loses none") {
    with_every_backend([](const io_context_options& options) {
        const std::size_t before = open_descriptors();
        for (int turns = 0; turns < 6; ++turns) {
            std::array<std::byte, 64> space{};
            passed_descriptors came;
            std::optional<stream_ends> ends;
            const auto receive_one = [&]() -> task<> {
                const auto got = co_await ends->receive(space, came);
                CHECK(came.size() == (got.ok() ? 1U : 0U));
            };
            const auto pass_one = [&]() -> task<> {
                const std::array numbers{ends->left.native_handle()};
                const auto sent = co_await ends->pass(bytes_of("x"), numbers);
                CHECK((sent.ok() || turns < 2));
            };
            io_context io{options};  // It ends first, and with it the coroutines.
            ends.emplace(io);
            launch(io, receive_one(), [](task_outcome<void>) {});
            io.poll();
            launch(io, pass_one(), [](task_outcome<void>) {});
            for (int each = 0; each < turns; ++each) io.poll();
        }
        CHECK(open_descriptors() == before);
    });
}

namespace {

const std::vector<conformance_row> on_the_kernel{
    {"where this process may open no more, the rest is closed and that is told",
     [](io_context& io) -> task<> {
         stream_ends ends{io};
         std::array<std::byte, 8> space{};
         passed_descriptors came;
         const std::array numbers{ends.left.native_handle(), ends.left.native_handle(),
                                  ends.left.native_handle()};
         const auto sent = co_await ends.pass(bytes_of("x"), numbers);
         rlimit limit{};
         REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
         const int lowest = ::dup(ends.left.native_handle());
         REQUIRE(lowest >= 0);
         ::close(lowest);
         const rlimit tight{static_cast<rlim_t>(lowest) + 1, limit.rlim_max};
         REQUIRE(::setrlimit(RLIMIT_NOFILE, &tight) == 0);

         const auto got = co_await ends.receive(space, came);
         REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);

         CHECK(sent.ok());
         CHECK(got.value() == 1);
         CHECK(came.size() == 1);
         CHECK(came.cut());
     }},
    {"streams deliver descriptors with the byte that brought them, and TCP refuses them",
     [](io_context& io) -> task<> {
         stream_ends ends{io};
         socket_pair tcp = connected_pair(io);
         const std::array numbers{ends.left.native_handle()};
         std::array<std::byte, 64> space{};
         passed_descriptors came;
         const std::size_t before = open_descriptors();

         const auto plain = co_await ends.left.write_some(bytes_of("plain"));
         const auto with_it = co_await ends.pass(bytes_of("with"), numbers);
         const auto empty = co_await ends.pass(const_buffer{}, numbers);
         const auto by_tcp = co_await tcp.client.write_some(bytes_of("x"), numbers);
         std::string all;
         std::size_t total = 0;
         while (all.size() < 9) {
             const auto got = co_await with_timeout(10s, ends.receive(space, came));
             REQUIRE(got.ok());
             all += text_of(const_buffer{space}.first(got.value()));
             total += came.size();
         }
         // A plain read lets the kernel close what came.
         came.clear();
         const auto again = co_await ends.pass(bytes_of("unasked"), numbers);
         const auto unasked = co_await ends.right.read_some(space);

         CHECK(plain.ok());
         CHECK(with_it.value() == 4);
         CHECK(empty.error() == errc::invalid_argument);
         CHECK(by_tcp.error() == errc::not_supported);
         CHECK(all == "plainwith");
         CHECK(total == 1);
         CHECK(again.ok());
         CHECK(unasked.value() == 7);
         CHECK(open_descriptors() == before);
     }},
    {"a peer's credentials and process are told, also when it is another process",
     [](io_context& io) -> task<> {
         stream_ends ends{io};
         socket_pair tcp = connected_pair(io);

         const io_result<peer_credentials> peer = ends.left.get_option<peer_credentials>();
         const io_result<descriptor> process = ends.left.peer_process();
         const io_result<peer_credentials> none = stream_socket{}.get_option<peer_credentials>();

         CHECK(peer.value().process == ::getpid());
         CHECK(peer.value().user == ::getuid());
         CHECK(peer.value().group == ::getgid());
         CHECK(none.error() == errc::closed);
         if (process.error() != errc::no_protocol_option) {
             CHECK(process.ok());
             const int number = process.value().native_handle();
             CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
         }
         co_return;
     }},
};

const conformance_suite on_the_kernel_suite{"passed descriptors", on_the_kernel};

}  // namespace

namespace {

task<> receive_twice_at_once() {
    auto [failed, left, right] = local_packet_socket::connected_pair(*io_context::current());
    REQUIRE_FALSE(failed);
    passed_descriptors came;
    std::array<std::byte, 8> first{};
    std::array<std::byte, 8> second{};
    static_cast<void>(co_await when_all(right.receive(first, came), right.receive(second, came)));
}

}  // namespace

TEST_CASE("descriptors that are lent to two receives at once are a failed check") {
    const ending how = ending_of([] {
        io_context io;
        launch(io, receive_twice_at_once(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("are lent to one receive at a time"));
}
