// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/stream_socket.hpp promises to code that reads, writes and waits.
#include <gyre/io/stream_socket.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <io/connections.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/past_the_loop.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// What the kernel has taken from the writer and could not send yet.
std::size_t unsent_bytes(const stream_socket& of) {
    int count = 0;
    REQUIRE(::ioctl(of.native_handle(), SIOCOUTQNSD, &count) == 0);
    return static_cast<std::size_t>(count);
}

}  // namespace

namespace {

std::size_t count_of(const std::vector<std::byte>& in, char letter) {
    return static_cast<std::size_t>(std::count(in.begin(), in.end(), std::byte(letter)));
}

/// Awaits both at once, then ends the stream; `received` is all that the peer has read.
template <class First, class Second>
task<> write_both(socket_pair& pair, First first, Second second, std::vector<std::byte>& received,
                  std::array<io_result<std::size_t>, 2>& ended) {
    int writing = 2;
    const auto write = [&](auto& message, io_result<std::size_t>& end) -> task<> {
        end = co_await std::move(message);
        if (--writing == 0) CHECK(pair.client.shutdown(shutdown_side::send).ok());
    };
    const auto read = [&]() -> task<> {
        std::vector<std::byte> space(64 * 1024);
        bool more = true;
        while (more) {
            const io_result<std::size_t> got = co_await pair.server.read_some(space);
            received.insert(received.end(), space.begin(),
                            space.begin() + static_cast<std::ptrdiff_t>(got.value()));
            more = got.ok();
        }
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(write(first, ended[0]));
        group.spawn(write(second, ended[1]));
        group.spawn(read());
        co_return;
    };
    co_await with_group(body);
}

}  // namespace

namespace {

const std::vector<conformance_row> on_each_machine{
    {"a reset by the peer is reported to a pending read, and writing after it fails",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         std::array<std::byte, 16> space{};
         io_result<std::size_t> outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.server, space, outcome));
             co_await settle();
             reset(pair.client);
         };

         co_await with_group(body);
         const io_result<std::size_t> written = co_await pair.server.write_some(bytes_of("x"));
         const io_result<std::size_t> read = co_await pair.server.read_some(space);

         CHECK(outcome.error() == errc::connection_reset);
         CHECK(outcome.value() == 0);
         CHECK(written.error() == errc::broken_pipe);
         CHECK(read.error() == errc::eof);  // The kernel tells an error once (socket(7), SO_ERROR).
         CHECK(pair.server.remote_endpoint().error() == errc::not_connected);
     }},
    {"a reset by the peer ends a write that waits for room",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         shrink(pair);
         const bytes much = patterned(8 << 20);
         io_result<std::size_t> outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_write_all(pair.client, much, outcome));
             co_await settle();
             reset(pair.server);
         };

         co_await with_group(body);

         CHECK(is_gone(outcome.error()));
         CHECK(outcome.value() < much.size());
     }},
    {"waiting two seconds for a peer that never reads takes less than 20 ms of CPU",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         shrink(pair);
         const bytes much = patterned(8 << 20);
         co_await fill_up(pair.client, much);
         cpu_trials cpu{20ms};

         while (cpu.again()) {
             const io_result<std::size_t> sent =
                 co_await with_timeout(2s, write_all(pair.client, much));

             CHECK(sent.error() == errc::timed_out);
         }

         CHECK(cpu.least() < 20ms);
     }},
    {"wait tells of input, of room, of the end and of a reset",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         socket_pair other = connected_pair(io);

         const io_result<> no_input =
             co_await with_timeout(1ms, pair.server.wait(readiness::readable));
         const io_result<> room = co_await pair.server.wait(readiness::writable);
         static_cast<void>(co_await pair.client.write_some(bytes_of("x")));
         const io_result<> input = co_await pair.server.wait(readiness::readable);
         const io_result<> still = co_await pair.server.wait(readiness::readable);
         CHECK(pair.server.shutdown(shutdown_side::send).ok());
         const io_result<> end = co_await pair.client.wait(readiness::readable);
         reset(other.client);
         const io_result<> broken = co_await other.server.wait(readiness::readable);
         const io_result<> broken_too = co_await other.server.wait(readiness::writable);

         CHECK(no_input.error() == errc::timed_out);
         for (const auto& each : {room, input, still, end, broken, broken_too}) CHECK(each.ok());
     }},
};

const std::vector<conformance_row> on_the_kernel{
    {"a reset by the peer is reported to reads that come later, behind what had arrived",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         static_cast<void>(co_await pair.client.write_some(bytes_of("before the reset")));
         static_cast<void>(co_await pair.server.wait(readiness::readable));
         reset(pair.client);
         error ended;

         const bytes got = co_await read_all(pair.server, ended);

         CHECK(ended == errc::connection_reset);
         CHECK(text_of(got) == "before the reset");
     }},
    {"the kernel takes little of a large message before the peer has room for it",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         const std::vector<std::byte> much(64 << 20, std::byte{'a'});

         const auto given_up = co_await with_timeout(50ms, write_all(pair.client, much));

         CHECK(given_up.error() == errc::timed_out);
         CHECK(given_up.value() > 0);
         CHECK(unsent_bytes(pair.client) <= 2 * 128 * 1024);  // The limit, and what came last.
     }},
    {"what the program allows a TCP socket to leave unsent is left as it is",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         int limit = 1 << 20;
         socklen_t size = sizeof limit;
         REQUIRE(::setsockopt(pair.client.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit,
                              size) == 0);
         const std::vector<std::byte> message(64 * 1024);

         const auto sent = co_await pair.client.write_some(message);

         CHECK(sent.ok());
         limit = 0;
         REQUIRE(::getsockopt(pair.client.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit,
                              &size) == 0);
         CHECK(limit == 1 << 20);
     }},
    {"a large write gives TCP one packet of segmentation offload, and a message all it can",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         const std::vector<std::byte> message(64 * 1024);

         const auto part = co_await pair.client.write_some(message);
         stream_socket::message_writer writer{pair.client};
         const auto whole = co_await writer.write_some(const_buffer{message});

         CHECK(part.value() == 65'000);
         CHECK(whole.value() == message.size());
     }},
};

const std::vector<connection_row> over_connections_on_each_machine{
    {"traffic is another number when the peer has taken what was written before",
     [](io_context&, socket_pair& pair) -> task<> {
         const std::vector<std::byte> space(8 << 20);
         std::uint64_t taken = 0;
         std::uint64_t put = 0;
         bool written = false;
         const auto write = [&]() -> task<> {
             const auto more = co_await write_all(pair.client, const_buffer{space});
             put = more.value();
             written = true;
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(write());
             co_await settle();
             REQUIRE_FALSE(written);
             const std::uint64_t before = pair.client.traffic();
             CHECK(pair.client.traffic() == before);
             std::vector<std::byte> room(1 << 20);
             while (taken < space.size()) {
                 const auto got = co_await pair.server.read_some(room);
                 REQUIRE(got.ok());
                 taken += got.value();
             }
             CHECK(pair.client.traffic() != before);
         };

         co_await with_group(body);

         CHECK(put == space.size());
         CHECK(taken == space.size());
         CHECK(pair.client.close().ok());
         CHECK(pair.client.traffic() == 0);
     }},
    {"a read yields what is there, at most the size of the buffer, in order",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 4> space{};
         const io_result<std::size_t> sent = co_await pair.client.write_some(bytes_of("hello!"));

         const io_result<std::size_t> first = co_await pair.server.read_some(space);
         const std::string first_text{text_of(const_buffer{space}.first(first.value()))};
         const io_result<std::size_t> second = co_await pair.server.read_some(space);
         const std::string second_text{text_of(const_buffer{space}.first(second.value()))};

         CHECK(sent.value() == 6);
         CHECK(first_text == "hell");
         CHECK(second_text == "o!");
     }},
    {"char arrays and strings are read into as they are",
     [](io_context&, socket_pair& pair) -> task<> {
         char letters[5] = {};
         std::string text(3, '-');
         std::vector<unsigned char> numbers(2);
         static_cast<void>(co_await pair.client.write_some(bytes_of("helloyou12")));

         const io_result<std::size_t> first = co_await pair.server.read_some(letters);
         const io_result<std::size_t> second = co_await read_exactly(pair.server, text);
         const io_result<std::size_t> third = co_await pair.server.read_some(numbers);

         CHECK(first.value() == 5);
         CHECK(std::string_view{letters, 5} == "hello");
         CHECK(second.value() == 3);
         CHECK(text == "you");
         CHECK(third.value() == 2);
         CHECK(numbers == std::vector<unsigned char>{'1', '2'});
     }},
    {"a read waits for the first byte and no longer",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 64> space{};
         io_result<std::size_t> outcome{errc::malformed};
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.server, space, outcome));
             co_await settle();
             CHECK(outcome.error() == errc::malformed);
             static_cast<void>(co_await pair.client.write_some(bytes_of("x")));
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         CHECK(outcome.value() == 1);
     }},
    {"reading and writing no bytes completes at once, whatever the connection does",
     [](io_context&, socket_pair& pair) -> task<> {
         const std::array<mutable_buffer, 2> empty_in{};
         const std::array<const_buffer, 2> empty_out{};

         const io_result<std::size_t> read = co_await pair.server.read_some(mutable_buffer{});
         const io_result<std::size_t> scattered = co_await pair.server.read_some(mutable_buffers{});
         const io_result<std::size_t> scattered_two =
             co_await pair.server.read_some(mutable_buffers{empty_in});
         const io_result<std::size_t> written = co_await pair.client.write_some(const_buffer{});
         const io_result<std::size_t> gathered = co_await pair.client.write_some(const_buffers{});
         const io_result<std::size_t> gathered_two =
             co_await pair.client.write_some(const_buffers{empty_out});

         for (const auto& each :
              {read, scattered, scattered_two, written, gathered, gathered_two}) {
             CHECK(each.ok());
             CHECK(each.value() == 0);
         }
     }},
    {"an empty read does not hide the end of the stream, nor is it one",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 1> space{};
         CHECK(pair.client.shutdown(shutdown_side::send).ok());

         const io_result<std::size_t> empty = co_await pair.server.read_some(mutable_buffer{});
         const io_result<std::size_t> real = co_await pair.server.read_some(space);

         CHECK(empty.ok());
         CHECK(real.error() == errc::eof);
         CHECK(real.value() == 0);
     }},
    {"a gathered write sends its buffers in order, a scattered read fills them in order",
     [](io_context&, socket_pair& pair) -> task<> {
         const std::array out{bytes_of("one"), const_buffer{}, bytes_of("-"), bytes_of("two!")};
         std::array<std::byte, 2> first{};
         std::array<std::byte, 5> second{};
         std::array<std::byte, 9> third{};
         const std::array<mutable_buffer, 4> in{first, mutable_buffer{}, second, third};

         const io_result<std::size_t> sent = co_await pair.client.write_some(const_buffers{out});
         const io_result<std::size_t> got = co_await pair.server.read_some(mutable_buffers{in});

         CHECK(sent.value() == 8);
         CHECK(got.value() == 8);
         CHECK(text_of(first) == "on");
         CHECK(text_of(second) == "e-two");
         CHECK(text_of(const_buffer{third}.first(1)) == "!");
     }},
    {"a gathered write takes so many buffers and leaves the rest for the next call",
     [](io_context&, socket_pair& pair) -> task<> {
         const bytes data = patterned(buffers_per_call_max + 8);
         std::vector<const_buffer> parts;
         for (const std::byte& each : data) parts.emplace_back(&each, 1);
         bytes got(data.size());

         const io_result<std::size_t> sent = co_await pair.client.write_some(const_buffers{parts});
         const io_result<std::size_t> rest =
             co_await pair.client.write_some(const_buffers{parts}.subspan(sent.value()));
         const io_result<std::size_t> all = co_await read_exactly(pair.server, got);

         CHECK(sent.value() == buffers_per_call_max);
         CHECK(rest.value() == 8);
         CHECK(all.ok());
         CHECK(got == data);
     }},
    {"a scattered read fills so many buffers and leaves the rest alone",
     [](io_context&, socket_pair& pair) -> task<> {
         const bytes data = patterned(buffers_per_call_max + 8);
         bytes got(data.size());
         std::vector<mutable_buffer> parts;
         for (std::byte& each : got) parts.emplace_back(&each, 1);
         static_cast<void>(co_await write_all(pair.client, data));

         const io_result<std::size_t> first =
             co_await pair.server.read_some(mutable_buffers{parts});
         const io_result<std::size_t> rest =
             co_await pair.server.read_some(mutable_buffers{parts}.subspan(first.value()));

         CHECK(first.value() == buffers_per_call_max);
         CHECK(rest.value() == 8);
         CHECK(got == data);
     }},
    {"a scattered read waits for bytes, and reports the end of the stream",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 8> space{};
         const std::array<mutable_buffer, 1> into{space};

         const io_result<std::size_t> nothing =
             co_await with_timeout(1ms, pair.server.read_some(mutable_buffers{into}));
         static_cast<void>(co_await pair.client.write_some(bytes_of("late")));
         const io_result<std::size_t> late = co_await pair.server.read_some(mutable_buffers{into});
         static_cast<void>(pair.client.close());
         const io_result<std::size_t> end = co_await pair.server.read_some(mutable_buffers{into});

         CHECK(nothing.error() == errc::timed_out);
         CHECK(nothing.value() == 0);
         CHECK(late.value() == 4);
         CHECK(end.error() == errc::eof);
     }},
    {"a half-close ends one direction and leaves the other working",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         static_cast<void>(co_await pair.client.write_some(bytes_of("question")));
         CHECK(pair.client.shutdown(shutdown_side::send).ok());

         const io_result<std::size_t> question = co_await pair.server.read_some(space);
         const io_result<std::size_t> end = co_await pair.server.read_some(space);
         const io_result<std::size_t> again = co_await pair.server.read_some(space);
         const io_result<std::size_t> answer = co_await pair.server.write_some(bytes_of("answer"));
         const io_result<std::size_t> answered = co_await pair.client.read_some(space);
         const io_result<std::size_t> refused = co_await pair.client.write_some(bytes_of("more"));

         CHECK(question.value() == 8);
         CHECK(end.error() == errc::eof);
         CHECK(again.error() == errc::eof);
         CHECK(answer.ok());
         CHECK(answered.value() == 6);
         CHECK(refused.error() == errc::broken_pipe);
     }},
    {"a pending read ends when the peer half-closes, and when our own side does",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> first_space{};
         std::array<std::byte, 16> second_space{};
         io_result<std::size_t> by_peer;
         io_result<std::size_t> by_us;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.server, first_space, by_peer));
             group.spawn(note_read(pair.client, second_space, by_us));
             co_await settle();
             CHECK(pair.client.shutdown(shutdown_side::send).ok());
             CHECK(pair.client.shutdown(shutdown_side::receive).ok());
         };

         co_await with_group(body);

         CHECK(by_peer.error() == errc::eof);
         CHECK(by_us.error() == errc::eof);
     }},
    {"writing to a peer that has gone is an error and no signal",
     [](io_context&, socket_pair& pair) -> task<> {
         static_cast<void>(pair.server.close());
         const std::array parts{bytes_of("a"), bytes_of("b")};
         io_result<std::size_t> one;
         io_result<std::size_t> gathered;

         for (int tries = 0; tries < 1000 && one.ok(); ++tries) {
             one = co_await pair.client.write_some(bytes_of("x"));
             co_await yield();
         }
         gathered = co_await pair.client.write_some(const_buffers{parts});

         CHECK(is_gone(one.error()));
         CHECK(gathered.error() == errc::broken_pipe);
     }},
    {"a peer that never reads stops a writer, and a limit tells exactly how far it got",
     [](io_context&, socket_pair& pair) -> task<> {
         shrink(pair);
         const bytes much = patterned(16 << 20);
         const duration before = thread_cpu_time();
         bytes got;
         error ended;

         const io_result<std::size_t> sent =
             co_await with_timeout(200ms, write_all(pair.client, much));
         const duration used = thread_cpu_time() - before;
         CHECK(pair.client.shutdown(shutdown_side::send).ok());
         got = co_await read_all(pair.server, ended);

         CHECK(sent.error() == errc::timed_out);
         CHECK(sent.value() > 0);
         CHECK(sent.value() < much.size());
         CHECK(used < 100ms);
         CHECK(ended == errc::eof);
         REQUIRE(got.size() == sent.value());
         CHECK(std::equal(got.begin(), got.end(), much.begin()));
     }},
    {"large transfers in both directions at once arrive byte for byte",
     [](io_context&, socket_pair& pair) -> task<> {
         const bytes up = patterned(3 << 20);
         const bytes down(up.rbegin(), up.rend());
         bytes at_server;
         bytes at_client;
         error server_end;
         error client_end;
         const auto send = [](stream_socket& to, const bytes& all) -> task<> {
             const io_result<std::size_t> sent = co_await write_all(to, all);
             CHECK(sent.ok());
             CHECK(to.shutdown(shutdown_side::send).ok());
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(send(pair.client, up));
             group.spawn(send(pair.server, down));
             group.spawn(note_all(pair.server, at_server, server_end));
             group.spawn(note_all(pair.client, at_client, client_end));
             co_return;
         };

         co_await with_group(body);

         CHECK(server_end == errc::eof);
         CHECK(client_end == errc::eof);
         CHECK(at_server == up);
         CHECK(at_client == down);
     }},
    {"a reader goes on while a writer of the same socket is stuck",
     [](io_context&, socket_pair& pair) -> task<> {
         shrink(pair);
         const bytes much = patterned(4 << 20);
         std::array<std::byte, 16> space{};
         io_result<std::size_t> written{errc::malformed};
         io_result<std::size_t> read;
         bytes got;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_write_all(pair.client, much, written));
             group.spawn(note_read(pair.client, space, read));
             co_await settle();
             static_cast<void>(co_await pair.server.write_some(bytes_of("hi")));
             while (read.value() == 0) co_await yield();
             CHECK(written.error() == errc::malformed);
             bytes rest(much.size());
             const io_result<std::size_t> all = co_await read_exactly(pair.server, rest);
             CHECK(all.ok());
             got = std::move(rest);
         };

         co_await with_group(body);

         CHECK(read.value() == 2);
         CHECK(written.ok());
         CHECK(written.value() == much.size());
         CHECK(got == much);
     }},
    {"a second writer is refused while one waits for room, and tears nothing",
     [](io_context&, socket_pair& pair) -> task<> {
         shrink(pair);
         const bytes much = patterned(4 << 20);
         const bytes intruder(8, std::byte{0xff});
         std::array parts{const_buffer{intruder}};
         io_result<std::size_t> written{errc::malformed};
         bytes got;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_write_all(pair.client, much, written));
             co_await settle();

             const auto plain = co_await pair.client.write_some(intruder);
             const auto gathered = co_await pair.client.write_some(const_buffers{parts});
             CHECK(plain.error() == errc::busy);
             CHECK(gathered.error() == errc::busy);
             bytes rest(much.size());
             const io_result<std::size_t> all = co_await read_exactly(pair.server, rest);
             CHECK(all.ok());
             got = std::move(rest);
         };

         co_await with_group(body);

         CHECK(written.ok());
         CHECK(got == much);
         const auto afterwards = co_await pair.client.write_some(intruder);
         CHECK(afterwards.value() == 8);
     }},
    {"a wait that has begun ends when what it waits for happens",
     [](io_context& io, socket_pair& pair) -> task<> {
         shrink(pair);
         const bytes much = patterned(4 << 20);
         io_result<> readable{errc::malformed};
         io_result<> writable{errc::malformed};
         co_await fill_up(pair.client, much);
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_wait(pair.client, readiness::readable, readable));
             group.spawn(note_wait(pair.client, readiness::writable, writable));
             co_await settle();
             CHECK(readable.error() == errc::malformed);
             // TCP may have found room for some more by now: it tries a full receiver now and then.
             if (!has_room_now(io, pair.client)) CHECK(writable.error() == errc::malformed);
             static_cast<void>(co_await pair.server.write_some(bytes_of("x")));
             bytes space(64 * 1024);
             while (writable.error() == errc::malformed) {
                 static_cast<void>(co_await with_timeout(1ms, pair.server.read_some(space)));
             }
         };

         co_await with_group(body);

         CHECK(readable.ok());
         CHECK(writable.ok());
     }},
    {"a read that was given up has lost no byte",
     [](io_context&, socket_pair& pair) -> task<> {
         const bytes data = patterned(20'000);
         bytes got;
         error ended;
         const auto send = [&]() -> task<> {
             for (std::size_t at = 0; at < data.size(); at += 100) {
                 static_cast<void>(
                     co_await write_all(pair.client, const_buffer{data}.subspan(at, 100)));
                 co_await yield();
             }
             CHECK(pair.client.shutdown(shutdown_side::send).ok());
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(send());
             std::array<std::byte, 64> space{};
             while (ended != errc::eof) {
                 const io_result<std::size_t> some =
                     co_await with_timeout(duration::zero(), pair.server.read_some(space));
                 ended = some.error();
                 got.insert(got.end(), space.begin(),
                            space.begin() + static_cast<std::ptrdiff_t>(some.value()));
                 if (some.error() == errc::timed_out) co_await yield();
             }
         };

         co_await with_group(body);

         CHECK(got == data);
     }},
    {"operations of a coroutine that was stopped before are canceled, without side effects",
     [](io_context& io, socket_pair& pair) -> task<> {
         static_cast<void>(co_await pair.server.write_some(bytes_of("stays")));
         std::array<std::byte, 16> space{};
         const endpoint nowhere = closed_port(io);
         std::vector<error> errors;
         const auto stopped = [&]() -> task<> {
             const io_result<std::size_t> read = co_await pair.client.read_some(space);
             const io_result<std::size_t> empty = co_await pair.client.read_some(mutable_buffer{});
             const io_result<std::size_t> written = co_await pair.client.write_some(bytes_of("x"));
             const io_result<> waited = co_await pair.client.wait(readiness::readable);
             io_result<stream_socket> connected = co_await stream_socket::connect(nowhere);
             errors = {read.error(), empty.error(), written.error(), waited.error(),
                       connected.error()};
             CHECK_FALSE(connected.take().is_open());
         };
         const auto body = [&](task_group& group) -> task<> {
             group.request_stop();
             group.spawn(stopped());
             co_return;
         };

         co_await with_group(body);
         const io_result<std::size_t> kept = co_await pair.client.read_some(space);
         const io_result<std::size_t> unsent =
             co_await with_timeout(1ms, pair.server.read_some(space));

         CHECK(errors == std::vector<error>(5, error{errc::canceled}));
         CHECK(kept.value() == 5);
         CHECK(unsent.error() == errc::timed_out);
     }},
    {"a drain leaves reads and writes of a connection alone",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         io_result<std::size_t> read;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.client, space, read));
             co_await settle();
             group.request_drain();
             static_cast<void>(co_await pair.server.write_some(bytes_of("still")));
         };

         co_await with_group(body);

         CHECK(read.value() == 5);
     }},
    {"of two long messages at once the second is refused whole, and the first arrives whole",
     [](io_context&, socket_pair& pair) -> task<> {
         const std::vector<std::byte> first(4 << 20, std::byte{'a'});
         const std::vector<std::byte> second(4 << 20, std::byte{'b'});
         std::vector<std::byte> received;
         std::array<io_result<std::size_t>, 2> ended{};

         co_await write_both(pair, write_all(pair.client, first), write_all(pair.client, second),
                             received, ended);

         CHECK(ended[0].value() == first.size());
         CHECK(ended[1].error() == errc::busy);
         CHECK(ended[1].value() == 0);
         CHECK(count_of(received, 'a') == first.size());
         CHECK(count_of(received, 'b') == 0);
     }},
    {"a message of many buffers arrives whole and in order, whoever else wants to write",
     [](io_context&, socket_pair& pair) -> task<> {
         const std::string text(60'000, 'a');
         std::vector<const_buffer> parts;
         for (std::size_t i = 0; i < 70; ++i) {  // More than one call takes, empty ones among them.
             parts.push_back(i % 7 == 0 ? const_buffer{} : bytes_of(text).first(i * 800));
         }
         const std::size_t size = size_of(parts);
         const std::vector<std::byte> other(4 << 20, std::byte{'b'});
         std::vector<std::byte> received;
         std::array<io_result<std::size_t>, 2> ended{};

         co_await write_both(pair, write_all(pair.client, parts), write_all(pair.client, other),
                             received, ended);

         CHECK(ended[0].value() == size);
         CHECK(ended[1].error() == errc::busy);
         CHECK(ended[1].value() == 0);
         CHECK(count_of(received, 'a') == size);
         CHECK(count_of(received, 'b') == 0);
     }},
    {"a message that was cancelled halfway leaves the socket to the next writer",
     [](io_context&, socket_pair& pair) -> task<> {
         const std::vector<std::byte> much(64 << 20, std::byte{'a'});

         const auto torn = co_await with_timeout(1ms, write_all(pair.client, much));
         const auto next = co_await with_timeout(1ms, write_all(pair.client, much));

         CHECK(torn.error() == errc::timed_out);
         CHECK(next.error() == errc::timed_out);
     }},
    {"what is written by a buffered writer at once is one message to other writers",
     [](io_context&, socket_pair& pair) -> task<> {
         buffered_writer<stream_socket> writer{pair.client, 64};
         const std::vector<std::byte> first(4 << 20, std::byte{'a'});
         const std::vector<std::byte> second(4 << 20, std::byte{'b'});
         std::vector<std::byte> received;
         std::array<io_result<std::size_t>, 2> ended{};

         co_await write_both(pair, writer.write(first), write_all(pair.client, second), received,
                             ended);

         CHECK(ended[0].value() == first.size());
         CHECK(ended[1].error() == errc::busy);
         CHECK(count_of(received, 'a') == first.size());
         CHECK(count_of(received, 'b') == 0);
     }},
    {"what is looked at stays to be read, and a look waits, ends and is stopped as a read",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         std::array<std::byte, 2> small{};

         const io_result<std::size_t> in_vain = co_await with_timeout(5ms, pair.server.peek(space));
         const io_result<std::size_t> sent = co_await pair.client.write_some(bytes_of("hello"));
         const io_result<std::size_t> begun = co_await pair.server.peek(small);
         const io_result<std::size_t> all = co_await pair.server.peek(space);
         const io_result<std::size_t> first = co_await pair.server.read_some(small);
         const io_result<std::size_t> rest = co_await pair.server.peek(space);
         const io_result<std::size_t> read = co_await pair.server.read_some(space);
         const io_result<std::size_t> emptied = co_await with_timeout(5ms, pair.server.peek(space));
         CHECK(pair.client.close().ok());
         const io_result<std::size_t> end = co_await pair.server.peek(space);
         const io_result<std::size_t> end_again = co_await pair.server.read_some(space);
         CHECK(pair.server.close().ok());
         const io_result<std::size_t> closed = co_await pair.server.peek(space);

         CHECK(in_vain.error() == errc::timed_out);
         CHECK(sent.value() == 5);
         CHECK(begun.value() == 2);
         CHECK(all.value() == 5);
         CHECK(first.value() == 2);
         CHECK(rest.value() == 3);
         CHECK(read.value() == 3);
         CHECK(text_of(const_buffer{space}.first(3)) == "llo");
         CHECK(emptied.error() == errc::timed_out);
         CHECK(end.error() == errc::eof);
         CHECK(end_again.error() == errc::eof);
         CHECK(closed.error() == errc::closed);
     }},
};

const conformance_suite on_each_machine_suite{"streams", on_each_machine};
const conformance_suite on_the_kernel_suite{"streams of the kernel", on_the_kernel};
const conformance_suite over_connections_on_each_machine_suite{"streams",
                                                               over_connections_on_each_machine};

}  // namespace
