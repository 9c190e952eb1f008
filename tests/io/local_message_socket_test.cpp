// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/local_message_socket.hpp promises: messages over Unix names, whole and in order.
#include <gyre/io/local_message_socket.hpp>

#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>

#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

endpoint abstract(const std::string& name) {
    const std::string full =
        std::string(1, '\0') + "gyre-test-" + std::to_string(::getpid()) + name;
    return endpoint::local(full).value();
}

template <class Socket>
task<std::string> next(Socket& from) {
    std::array<std::byte, 64> space{};
    const io_result<received_datagram> got = co_await with_timeout(10s, from.receive(space));
    if (!got.ok()) co_return "error: " + got.error().message();
    co_return std::string{text_of(const_buffer{space}.first(got.value().size))};
}

template <class Socket>
constexpr const char* family_of = "local messages";
template <>
constexpr const char* family_of<local_packet_socket> = "local messages of the kernel";

// What both kinds promise, on two that are each other's peer.
template <class Socket>
void check_pair() {
    on_each_backend_of(family_of<Socket>, [](io_context& io) -> task<> {
        auto made = Socket::connected_pair(io);
        REQUIRE(made.ok());
        Socket left = std::move(made).template get<1>();
        Socket right = std::move(made).template get<2>();
        std::array<std::byte, 4> small{};
        const std::array parts{bytes_of("gat"), bytes_of("hered")};
        const std::vector<std::byte> huge(64 * 1024 * 1024);

        const io_result<> one = co_await left.send(bytes_of("one"));
        const io_result<> two = co_await left.send(const_buffers{parts});
        const io_result<> three = co_await left.send(bytes_of("longer"));
        const io_result<received_datagram> peeked = co_await right.peek(small);
        const std::string first = co_await next(right);
        const std::string second = co_await next(right);
        const io_result<received_datagram> cut = co_await right.receive(small);
        const io_result<received_datagram> in_vain =
            co_await with_timeout(5ms, right.receive(small));
        const io_result<> too_long = co_await left.send(huge);
        const io_result<> back = co_await right.send(bytes_of("back"));
        const std::string answer = co_await next(left);

        CHECK(one.ok());
        CHECK(two.ok());
        CHECK(three.ok());
        CHECK(peeked.value().size == 3);
        CHECK(first == "one");
        CHECK(second == "gathered");
        CHECK(cut.value().size == 4);
        CHECK(cut.value().truncated);
        CHECK(in_vain.error() == errc::timed_out);
        CHECK(too_long.error() == errc::message_size);
        CHECK(back.ok());
        CHECK(answer == "back");
    });
}

// A sender that waits for room is served, and nothing is lost or swapped.
template <class Socket>
void check_waiting_for_room() {
    on_each_backend_of(family_of<Socket>, [](io_context& io) -> task<> {
        auto made = Socket::connected_pair(io);
        REQUIRE(made.ok());
        Socket left = std::move(made).template get<1>();
        Socket right = std::move(made).template get<2>();
        constexpr int count = 2'000;
        int sent = 0;
        const auto send_all = [&]() -> task<> {
            std::array<std::byte, 512> message{};
            for (int each = 0; each < count; ++each) {
                message[0] = static_cast<std::byte>(each & 0xff);
                message[1] = static_cast<std::byte>(each >> 8);
                const io_result<> done = co_await left.send(message);
                CHECK(done.ok());
                ++sent;
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(send_all());
            co_await settle();
            CHECK(sent > 0);
            CHECK(sent < count);
            std::array<std::byte, 1'024> space{};
            for (int each = 0; each < count; ++each) {
                const io_result<received_datagram> got =
                    co_await with_timeout(10s, right.receive(space));
                REQUIRE(got.value().size == 512);
                CHECK(std::to_integer<int>(space[0]) + 256 * std::to_integer<int>(space[1]) ==
                      each);
            }
        };

        co_await with_group(body);

        CHECK(sent == count);
    });
}

// An address of either kind. `number` makes it new.
endpoint fresh_address(const scratch_directory& in, bool by_path, int number) {
    const std::string name = "s" + std::to_string(number);
    return by_path ? endpoint::local(in / name).value() : abstract(name);
}

}  // namespace

TEST_CASE("datagram sockets of a pair keep the boundaries of messages") {
    check_pair<local_datagram_socket>();
}

TEST_CASE("packet sockets of a pair keep the boundaries of messages") {
    check_pair<local_packet_socket>();
}

TEST_CASE("a datagram sender waits while its peer has no room, and loses nothing") {
    check_waiting_for_room<local_datagram_socket>();
}

TEST_CASE("a packet sender waits while its peer has no room, and loses nothing") {
    check_waiting_for_room<local_packet_socket>();
}

TEST_CASE("datagrams go to whoever has a name, a path or an abstract one, and are answered") {
    for (const bool by_path : {true, false}) {
        const scratch_directory in;
        int number = 0;
        on_each_backend_of("local messages", [&](io_context& io) -> task<> {
            const endpoint here = fresh_address(in, by_path, ++number);
            const endpoint there = fresh_address(in, by_path, ++number);
            local_datagram_socket server = local_datagram_socket::bind(io, here).take();
            local_datagram_socket client = local_datagram_socket::bind(io, there).take();
            local_datagram_socket nameless = local_datagram_socket::bind(io, {}).take();
            std::array<std::byte, 64> space{};

            const io_result<> asked = co_await client.send_to(bytes_of("question"), here);
            auto question = co_await server.receive_from(space);
            const io_result<> answered =
                co_await server.send_to(bytes_of("answer"), question.template get<2>());
            const std::string answer = co_await next(client);
            CHECK(nameless.connect(here).ok());
            const io_result<> sent = co_await nameless.send(bytes_of("anonymous"));
            auto anonymous = co_await server.receive_from(space);
            const io_result<local_datagram_socket> taken = local_datagram_socket::bind(io, here);
            CHECK(server.close().ok());
            const io_result<> gone = co_await nameless.send(bytes_of("anybody"));
            const io_result<> nobody = co_await client.send_to(bytes_of("anybody"), here);
            const io_result<local_datagram_socket> again = local_datagram_socket::bind(io, here);

            CHECK(asked.ok());
            CHECK(question.template get<2>() == there);
            CHECK(answered.ok());
            CHECK(answer == "answer");
            CHECK(sent.ok());
            CHECK(anonymous.template get<1>().size == 9);
            CHECK(anonymous.template get<2>().path().empty());
            CHECK(taken.error() == errc::address_in_use);
            const bool refused = gone.error() == errc::connection_refused ||
                                 gone.error() == errc::not_connected ||
                                 gone.error() == errc::connection_reset;
            CHECK_MESSAGE(refused, gone.error().message());
            CHECK(nobody.error() == errc::connection_refused);
            CHECK(again.ok());
        });
    }
}

TEST_CASE("packet sockets connect by name, end with an end, and have no empty messages") {
    for (const bool by_path : {true, false}) {
        const scratch_directory in;
        int number = 0;
        on_each_backend_of("local messages of the kernel", [&](io_context& io) -> task<> {
            const endpoint here = fresh_address(in, by_path, ++number);
            local_packet_acceptor listener = local_packet_acceptor::listen(io, here).take();
            io_result<local_packet_socket> connected = co_await local_packet_socket::connect(here);
            io_result<local_packet_socket> accepted = co_await listener.accept();
            REQUIRE(connected.ok());
            REQUIRE(accepted.ok());
            local_packet_socket client = connected.take();
            local_packet_socket server = accepted.take();
            std::array<std::byte, 64> space{};

            const io_result<> sent = co_await client.send(bytes_of("hello"));
            const io_result<> empty = co_await client.send(const_buffer{});
            CHECK(client.close().ok());
            const std::string got = co_await next(server);
            const io_result<received_datagram> end = co_await server.receive(space);
            const io_result<> late = co_await server.send(bytes_of("late"));
            const io_result<local_packet_socket> in_vain =
                co_await with_timeout(5ms, listener.accept());
            CHECK(listener.close().ok());
            const io_result<local_packet_socket> refused =
                co_await local_packet_socket::connect(here);
            const io_result<local_packet_socket> by_ip =
                co_await local_packet_socket::connect(endpoint{ipv4::loopback(), 1});

            CHECK(sent.ok());
            CHECK(empty.error() == errc::invalid_argument);
            CHECK(got == "hello");
            CHECK(end.error() == errc::eof);
            CHECK(late.error() == errc::broken_pipe);
            CHECK(in_vain.error() == errc::timed_out);
            CHECK(refused.error() == errc::connection_refused);
            CHECK(by_ip.error() == errc::address_family_not_supported);
        });
    }
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"a datagram to a name that has no room is refused, and does not wait for ever",
     [](io_context& io) -> task<> {
         const endpoint here = abstract("full");
         local_datagram_socket server = local_datagram_socket::bind(io, here).take();
         local_datagram_socket client = local_datagram_socket::bind(io, {}).take();
         error ended;
         int sent = 0;

         while (!ended && sent < 100'000) {
             const io_result<> done =
                 co_await with_timeout(10s, client.send_to(bytes_of("more"), here));
             ended = done.error();
             if (!ended) ++sent;
         }
         for (int each = 0; each < sent; ++each) {
             const std::string got = co_await next(server);
             CHECK(got == "more");
         }
         const io_result<> later = co_await client.send_to(bytes_of("more"), here);

         CHECK(ended == errc::no_buffer_space);
         CHECK(sent > 0);
         CHECK(later.ok());
     }},
    {"a message socket that is not open says so to everything",
     [](io_context& io) -> task<> {
         std::array<std::byte, 8> space{};
         local_datagram_socket datagrams;
         local_packet_socket packets;
         local_packet_acceptor listener;

         const io_result<> sent = co_await datagrams.send(bytes_of("x"));
         const io_result<received_datagram> got = co_await packets.receive(space);
         const io_result<local_packet_socket> accepted = co_await listener.accept();

         CHECK(sent.error() == errc::closed);
         CHECK(got.error() == errc::closed);

         CHECK(accepted.error() == errc::closed);
         CHECK(datagrams.connect(abstract("x")).error() == errc::closed);
         CHECK(local_datagram_socket::bind(io, {ipv4::loopback(), 0}).error() ==
               errc::address_family_not_supported);
         CHECK(local_packet_acceptor::listen(io, {}).error() == errc::address_family_not_supported);
     }},
};

const conformance_suite on_each_machine_suite{"local messages", on_each_machine};

}  // namespace

TEST_CASE("a packet for which there is no room at all is cut, and no end") {
    on_each_backend_of("local messages of the kernel", [](io_context& io) -> task<> {
        auto [failed, sender, receiver] = local_packet_socket::connected_pair(io);
        REQUIRE_FALSE(failed);
        std::array<std::byte, 8> space{};

        const io_result<> first = co_await sender.send(bytes_of("first"));
        const io_result<> second = co_await sender.send(bytes_of("second"));
        const auto peeked = co_await receiver.peek(mutable_buffer{});
        const auto cut = co_await receiver.receive(mutable_buffer{});
        const auto whole = co_await receiver.receive(space);
        CHECK(sender.close().ok());
        const auto end = co_await receiver.receive(mutable_buffer{});

        CHECK(first.ok());
        CHECK(second.ok());
        CHECK(peeked.ok());
        CHECK(peeked.value().truncated);
        CHECK(cut.ok());
        CHECK(cut.value().truncated);
        CHECK(cut.value().size == 0);
        CHECK(whole.value().size == 6);
        CHECK(end.error() == errc::eof);
    });
}

TEST_CASE("an accept of packets from what does not listen is an error, and no wait") {
    on_each_backend_of("local messages of the kernel", [](io_context& io) -> task<> {
        auto [failed, left, right] = local_packet_socket::connected_pair(io);
        REQUIRE_FALSE(failed);
        local_packet_acceptor wrong{handle{io.host(), left.release()}};

        const io_result<local_packet_socket> first = co_await with_timeout(10s, wrong.accept());
        const io_result<local_packet_socket> second = co_await with_timeout(10s, wrong.accept());

        CHECK(first.error() == errc::invalid_argument);
        CHECK(second.error() == errc::invalid_argument);
    });
}

TEST_CASE("a sender whose path is as long as a path can be is told apart, and answered") {
    const scratch_directory in;
    int number = 0;
    on_each_backend_of("local messages of the kernel", [&](io_context& io) -> task<> {
        std::string path = in / std::to_string(++number);
        path.resize(108, 'p');
        const endpoint longest = endpoint::local(path).value();
        const endpoint here = fresh_address(in, true, ++number);
        local_datagram_socket server = local_datagram_socket::bind(io, here).take();
        local_datagram_socket client = local_datagram_socket::bind(io, longest).take();
        std::array<std::byte, 64> space{};

        const io_result<> asked = co_await client.send_to(bytes_of("question"), here);
        auto question = co_await server.receive_from(space);
        const endpoint from = question.template get<2>();
        const io_result<> answered = co_await server.send_to(bytes_of("answer"), from);
        const std::string answer = co_await next(client);
        const io_result<local_datagram_socket> taken = local_datagram_socket::bind(io, longest);
        CHECK(client.close().ok());
        const io_result<local_datagram_socket> again = local_datagram_socket::bind(io, longest);

        CHECK(asked.ok());
        CHECK(from == longest);
        CHECK(from.path() == path);
        CHECK(endpoint::parse(from.to_string()).value() == longest);
        CHECK(answered.ok());
        CHECK(answer == "answer");
        CHECK(taken.error() == errc::address_in_use);
        CHECK(again.ok());
    });
}
