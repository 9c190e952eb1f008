// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/stream_socket.hpp promises to the code that uses it.
#include <gyre/io/stream_socket.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using bytes = std::vector<std::byte>;

// A pattern without short periods, so that lost, doubled and swapped pieces all show.
bytes patterned(std::size_t size) {
    bytes made(size);
    std::uint32_t state = 1;
    for (std::byte& each : made) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<std::byte>(state >> 24);
    }
    return made;
}

task<> note_read(stream_socket& from, mutable_buffer into, io_result<std::size_t>& outcome) {
    outcome = co_await from.read_some(into);
}

task<> note_write_all(stream_socket& to, const_buffer from, io_result<std::size_t>& outcome) {
    outcome = co_await write_all(to, from);
}

task<> note_wait(stream_socket& on, readiness what, io_result<>& outcome) {
    outcome = co_await on.wait(what);
}

// Everything up to the end of the stream or an error, which goes to `ended`.
task<bytes> read_all(stream_socket& from, error& ended) {
    bytes all;
    bytes space(16 * 1024);
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        all.insert(all.end(), space.begin(),
                   space.begin() + static_cast<std::ptrdiff_t>(got.value()));
        ended = got.error();
        if (!got.ok()) co_return all;
    }
}

task<> note_all(stream_socket& from, bytes& all, error& ended) {
    all = co_await read_all(from, ended);
}

// A small buffer, so that the client's writes are soon stuck. The receiving side keeps its own: with a
// tiny window TCP would crawl.
void shrink(socket_pair& pair) { static_cast<void>(pair.client.set_option(send_buffer{{4096}})); }

// Makes closing send a reset instead of an end.
void reset(stream_socket& it) {
    const linger at_once{1, 0};
    REQUIRE(::setsockopt(it.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    static_cast<void>(it.close());
}

// An address of this machine that nobody listens on.
endpoint closed_port(io_context& io) {
    tcp_acceptor taken = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
    return taken.local_endpoint().value();
}

bool is_gone(error it) { return it == errc::connection_reset || it == errc::broken_pipe; }

using pair_maker = socket_pair (*)(io_context&);

// Runs `body(io, pair)` on every backend, over TCP and over a Unix-domain socket.
template <class Body>
void on_every_connection(const Body& body) {
    for (const pair_maker make : {pair_maker{&connected_pair}, pair_maker{&local_pair}}) {
        const bool tcp = make == pair_maker{&connected_pair};
        INFO("over ", std::string{tcp ? "TCP" : "a Unix-domain socket"});
        const auto run = [&](io_context& io) -> task<> {
            socket_pair pair = make(io);
            co_await body(io, pair);
        };
        on_every_backend(run);
    }
}

}  // namespace

TEST_CASE("a read yields what is there, at most the size of the buffer, in order") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 4> space{};
        const io_result<std::size_t> sent = co_await pair.client.write_some(bytes_of("hello!"));

        const io_result<std::size_t> first = co_await pair.server.read_some(space);
        const std::string first_text{text_of(const_buffer{space}.first(first.value()))};
        const io_result<std::size_t> second = co_await pair.server.read_some(space);
        const std::string second_text{text_of(const_buffer{space}.first(second.value()))};

        CHECK(sent.value() == 6);
        CHECK(first_text == "hell");
        CHECK(second_text == "o!");
    });
}

TEST_CASE("a read waits for the first byte and no longer") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 64> space{};
        io_result<std::size_t> outcome{errc::malformed};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.server, space, outcome));
            static_cast<void>(co_await sleep_for(1ms));
            CHECK(outcome.error() == errc::malformed);
            static_cast<void>(co_await pair.client.write_some(bytes_of("x")));
        };

        co_await with_group(body);

        CHECK(outcome.ok());
        CHECK(outcome.value() == 1);
    });
}

TEST_CASE("reading and writing no bytes completes at once, whatever the connection does") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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

        for (const auto& each : {read, scattered, scattered_two, written, gathered, gathered_two}) {
            CHECK(each.ok());
            CHECK(each.value() == 0);
        }
    });
}

TEST_CASE("an empty read does not hide the end of the stream, nor is it one") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 1> space{};
        CHECK(pair.client.shutdown(shutdown_side::send).ok());

        const io_result<std::size_t> empty = co_await pair.server.read_some(mutable_buffer{});
        const io_result<std::size_t> real = co_await pair.server.read_some(space);

        CHECK(empty.ok());
        CHECK(real.error() == errc::eof);
        CHECK(real.value() == 0);
    });
}

TEST_CASE("a gathered write sends its buffers in order, a scattered read fills them in order") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("a gathered write takes the first 64 buffers and leaves the rest for the next call") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        const bytes data = patterned(100);
        std::vector<const_buffer> parts;
        for (const std::byte& each : data) parts.emplace_back(&each, 1);
        bytes got(100);

        const io_result<std::size_t> sent = co_await pair.client.write_some(const_buffers{parts});
        const io_result<std::size_t> rest =
            co_await pair.client.write_some(const_buffers{parts}.subspan(sent.value()));
        const io_result<std::size_t> all = co_await read_exactly(pair.server, got);

        CHECK(sent.value() == buffers_per_call_max);
        CHECK(rest.value() == 100 - buffers_per_call_max);
        CHECK(all.ok());
        CHECK(got == data);
    });
}

TEST_CASE("a scattered read fills the first 64 buffers and leaves the rest alone") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        const bytes data = patterned(100);
        bytes got(100);
        std::vector<mutable_buffer> parts;
        for (std::byte& each : got) parts.emplace_back(&each, 1);
        static_cast<void>(co_await write_all(pair.client, data));

        const io_result<std::size_t> first = co_await pair.server.read_some(mutable_buffers{parts});
        const io_result<std::size_t> rest =
            co_await pair.server.read_some(mutable_buffers{parts}.subspan(first.value()));

        CHECK(first.value() == buffers_per_call_max);
        CHECK(rest.value() == 100 - buffers_per_call_max);
        CHECK(got == data);
    });
}

TEST_CASE("a scattered read waits for bytes, and reports the end of the stream") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("a half-close ends one direction and leaves the other working") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("a pending read ends when the peer half-closes, and when our own side does") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 16> first_space{};
        std::array<std::byte, 16> second_space{};
        io_result<std::size_t> by_peer;
        io_result<std::size_t> by_us;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.server, first_space, by_peer));
            group.spawn(note_read(pair.client, second_space, by_us));
            static_cast<void>(co_await sleep_for(1ms));
            CHECK(pair.client.shutdown(shutdown_side::send).ok());
            CHECK(pair.client.shutdown(shutdown_side::receive).ok());
        };

        co_await with_group(body);

        CHECK(by_peer.error() == errc::eof);
        CHECK(by_us.error() == errc::eof);
    });
}

TEST_CASE("a reset by the peer is reported to a pending read, and writing after it fails") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        std::array<std::byte, 16> space{};
        io_result<std::size_t> outcome;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.server, space, outcome));
            static_cast<void>(co_await sleep_for(1ms));
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
    });
}

TEST_CASE("a reset by the peer is reported to reads that come later, behind what had arrived") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        static_cast<void>(co_await pair.client.write_some(bytes_of("before the reset")));
        static_cast<void>(co_await pair.server.wait(readiness::readable));
        reset(pair.client);
        error ended;

        const bytes got = co_await read_all(pair.server, ended);

        CHECK(ended == errc::connection_reset);
        CHECK(text_of(got) == "before the reset");
    });
}

TEST_CASE("a reset by the peer ends a write that waits for room") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        shrink(pair);
        const bytes much = patterned(8 << 20);
        io_result<std::size_t> outcome;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_write_all(pair.client, much, outcome));
            static_cast<void>(co_await sleep_for(1ms));
            reset(pair.server);
        };

        co_await with_group(body);

        CHECK(is_gone(outcome.error()));
        CHECK(outcome.value() < much.size());
    });
}

TEST_CASE("writing to a peer that has gone is an error and no signal") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("a peer that never reads stops a writer, and a limit tells exactly how far it got") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("waiting two seconds for a peer that never reads takes less than 20 ms of CPU") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        shrink(pair);
        const bytes much = patterned(8 << 20);
        static_cast<void>(co_await with_timeout(100ms, write_all(pair.client, much)));
        const duration before = thread_cpu_time();

        const io_result<std::size_t> sent = co_await with_timeout(2s, write_all(pair.client, much));
        const duration used = thread_cpu_time() - before;

        CHECK(sent.error() == errc::timed_out);
        CHECK(used < 20ms);
    });
}

TEST_CASE("large transfers in both directions at once arrive byte for byte") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("a reader goes on while a writer of the same socket is stuck") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        shrink(pair);
        const bytes much = patterned(4 << 20);
        std::array<std::byte, 16> space{};
        io_result<std::size_t> written{errc::malformed};
        io_result<std::size_t> read;
        bytes got;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_write_all(pair.client, much, written));
            group.spawn(note_read(pair.client, space, read));
            static_cast<void>(co_await sleep_for(1ms));
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
    });
}

TEST_CASE("wait tells of input, of room, of the end and of a reset") {
    on_every_backend([](io_context& io) -> task<> {
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
    });
}

TEST_CASE("a wait that has begun ends when what it waits for happens") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        shrink(pair);
        const bytes much = patterned(4 << 20);
        io_result<> readable{errc::malformed};
        io_result<> writable{errc::malformed};
        static_cast<void>(co_await with_timeout(20ms, write_all(pair.client, much)));
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_wait(pair.client, readiness::readable, readable));
            group.spawn(note_wait(pair.client, readiness::writable, writable));
            static_cast<void>(co_await sleep_for(1ms));
            CHECK(readable.error() == errc::malformed);
            CHECK(writable.error() == errc::malformed);
            static_cast<void>(co_await pair.server.write_some(bytes_of("x")));
            bytes space(64 * 1024);
            while (writable.error() == errc::malformed) {
                static_cast<void>(co_await with_timeout(1ms, pair.server.read_some(space)));
            }
        };

        co_await with_group(body);

        CHECK(readable.ok());
        CHECK(writable.ok());
    });
}

TEST_CASE("the two ends of a connection agree about its addresses") {
    on_every_backend([](io_context& io) -> task<> {
        const socket_pair pair = connected_pair(io);

        CHECK(pair.client.local_endpoint().value() == pair.server.remote_endpoint().value());
        CHECK(pair.client.remote_endpoint().value() == pair.server.local_endpoint().value());
        CHECK(pair.client.local_endpoint().value().v4() == ipv4::loopback());
        CHECK_FALSE(pair.client.local_endpoint().value() == pair.server.local_endpoint().value());
        co_return;
    });
}

TEST_CASE("a socket that is not open says so and does nothing") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        static_cast<void>(pair.client.close());
        stream_socket moved_from = std::move(pair.server);
        stream_socket never_open;

        for (stream_socket* each : {&pair.client, &pair.server, &never_open}) {
            CHECK_FALSE(each->is_open());
            CHECK(each->native_handle() == -1);
            CHECK(each->close().error() == errc::closed);
            CHECK(each->shutdown(shutdown_side::both).error() == errc::closed);
            CHECK(each->local_endpoint().error() == errc::closed);
            CHECK(each->remote_endpoint().error() == errc::closed);
            CHECK(each->release() == -1);
        }
        CHECK(moved_from.is_open());
        const io_result<> graceful = co_await never_open.close_gracefully(1s);
        CHECK(graceful.error() == errc::closed);
    });
}

TEST_CASE("closing a socket ends its pending read and its pending write") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        shrink(pair);
        const bytes much = patterned(8 << 20);
        std::array<std::byte, 16> space{};
        io_result<std::size_t> read;
        io_result<std::size_t> written;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.client, space, read));
            group.spawn(note_write_all(pair.client, much, written));
            static_cast<void>(co_await sleep_for(5ms));
            CHECK(pair.client.close().ok());
        };

        co_await with_group(body);

        CHECK(read.error() == errc::canceled);
        CHECK(read.value() == 0);
        CHECK(written.error() == errc::canceled);
        CHECK(written.value() < much.size());
        CHECK_FALSE(pair.client.is_open());
    });
}

TEST_CASE("closing a socket in the turn in which its read began ends that read") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 16> space{};
        io_result<std::size_t> read;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.client, space, read));
            co_await yield();
            CHECK(pair.client.close().ok());
        };

        co_await with_group(body);

        CHECK(read.error() == errc::canceled);
    });
}

TEST_CASE(
    "a read that has completed keeps its bytes although the socket is closed before it resumes") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        std::array<std::byte, 16> space{};
        io_result<std::size_t> read;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.client, space, read));
            static_cast<void>(co_await sleep_for(1ms));
            // Written past the loop, so that the read completes in the turn that resumes us.
            CHECK(::write(pair.server.native_handle(), "data", 4) == 4);
            static_cast<void>(co_await sleep_until(io.now()));
            CHECK(pair.client.close().ok());
        };

        co_await with_group(body);

        const bool kept = read.ok() && read.value() == 4;
        const bool ended_first = read.error() == errc::canceled && read.value() == 0;
        CHECK((kept || ended_first));
    });
}

TEST_CASE("the number of a closed socket may be reused at once without mixing the two up") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        for (int round = 0; round < 100; ++round) {
            std::array<std::byte, 16> space{};
            io_result<std::size_t> old_read;
            io_result<std::size_t> new_read;
            socket_pair fresh;
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(note_read(pair.client, space, old_read));
                co_await yield();
                static_cast<void>(co_await sleep_for(0ms));
                CHECK(::write(pair.server.native_handle(), "old", 3) == 3);
                static_cast<void>(pair.client.close());
                static_cast<void>(pair.server.close());
                fresh = local_pair(io);
                group.spawn(note_read(fresh.client, space, new_read));
                static_cast<void>(co_await fresh.server.write_some(bytes_of("newer")));
            };

            co_await with_group(body);

            REQUIRE(new_read.ok());
            REQUIRE(new_read.value() == 5);
            REQUIRE(text_of(const_buffer{space}.first(5)) == "newer");
            pair = std::move(fresh);
        }
    });
}

TEST_CASE("release ends what is pending and leaves the descriptor open and usable") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        std::array<std::byte, 16> space{};
        io_result<std::size_t> read;
        int number = -1;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.client, space, read));
            static_cast<void>(co_await sleep_for(1ms));
            number = pair.client.release();
        };

        co_await with_group(body);
        static_cast<void>(co_await pair.server.write_some(bytes_of("to whoever has it")));
        stream_socket again = stream_socket::adopt(io, number);
        const io_result<std::size_t> got = co_await again.read_some(space);

        CHECK(read.error() == errc::canceled);
        CHECK_FALSE(pair.client.is_open());
        CHECK(number >= 0);
        CHECK(got.value() == space.size());
    });
}

TEST_CASE("release and adopt carry a socket from one loop to another") {
    with_every_backend([](const io_context_options& options) {
        io_context first{options};
        io_context second{options};
        socket_pair pair = connected_pair(first);
        std::array<std::byte, 16> space{};
        io_result<std::size_t> on_first;
        io_result<std::size_t> on_second;
        launch(first, note_read(pair.client, space, on_first), or_terminate{});
        launch(second, note_read(pair.server, space, on_second), or_terminate{});
        static_cast<void>(first.poll());

        pair.client = stream_socket::adopt(second, pair.client.release());
        first.run_for(patience);
        launch(second, note_read(pair.client, space, on_first), or_terminate{});
        CHECK(::write(pair.client.native_handle(), "a", 1) == 1);
        CHECK(::write(pair.server.native_handle(), "bc", 2) == 2);
        CHECK(on_first.error() == errc::canceled);
        second.run_for(patience);

        CHECK(on_first.value() == 2);
        CHECK(on_second.value() == 1);
    });
}

TEST_CASE("a socket may move while another coroutine reads from it") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 16> space{};
        io_result<std::size_t> read;
        stream_socket elsewhere;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.client, space, read));
            static_cast<void>(co_await sleep_for(1ms));
            elsewhere = std::move(pair.client);
            static_cast<void>(co_await pair.server.write_some(bytes_of("found you")));
        };

        co_await with_group(body);

        CHECK(read.ok());
        CHECK(read.value() == 9);
        CHECK(elsewhere.is_open());
    });
}

TEST_CASE("assigning to a socket closes the connection it had") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        std::array<std::byte, 16> space{};
        io_result<std::size_t> read;
        socket_pair other = local_pair(io);
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.client, space, read));
            static_cast<void>(co_await sleep_for(1ms));
            pair.client = std::move(other.client);
        };

        co_await with_group(body);
        const io_result<std::size_t> end = co_await pair.server.read_some(space);
        static_cast<void>(co_await other.server.write_some(bytes_of("new")));
        const io_result<std::size_t> got = co_await pair.client.read_some(space);

        CHECK(read.error() == errc::canceled);
        CHECK(end.error() == errc::eof);
        CHECK(got.value() == 3);
    });
}

TEST_CASE("a read that was given up has lost no byte") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("operations of a coroutine that was stopped before are canceled, without side effects") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
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
    });
}

TEST_CASE("a drain leaves reads and writes of a connection alone") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 16> space{};
        io_result<std::size_t> read;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(pair.client, space, read));
            static_cast<void>(co_await sleep_for(1ms));
            group.request_drain();
            static_cast<void>(co_await pair.server.write_some(bytes_of("still")));
        };

        co_await with_group(body);

        CHECK(read.value() == 5);
    });
}

TEST_CASE("connecting gives a socket with no_delay set") {
    on_every_backend([](io_context& io) -> task<> {
        tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        const endpoint where = acceptor.local_endpoint().value();

        io_result<stream_socket> connected = co_await stream_socket::connect(where);
        io_result<stream_socket> accepted = co_await acceptor.accept();

        REQUIRE(connected.ok());
        const stream_socket client = connected.take();
        CHECK(client.remote_endpoint().value() == where);
        CHECK(client.get_option<no_delay>().value().on);
        CHECK(accepted.take().get_option<no_delay>().value().on);
    });
}

TEST_CASE("connecting to a closed port is refused, and no descriptor stays open") {
    on_every_backend([](io_context& io) -> task<> {
        const endpoint nowhere = closed_port(io);
        const std::size_t before = open_descriptors();
        const duration started = thread_cpu_time();

        for (int tries = 0; tries < 20; ++tries) {
            io_result<stream_socket> connected = co_await stream_socket::connect(nowhere);
            CHECK(connected.error() == errc::connection_refused);
            CHECK(connected.error().during() == activity::connect);
            CHECK_FALSE(connected.take().is_open());
        }

        CHECK(open_descriptors() == before);
        CHECK(thread_cpu_time() - started < 100ms);
    });
}

TEST_CASE("connecting to a path where nobody listens tells why") {
    on_every_backend([](io_context& io) -> task<> {
        const std::string path = "/tmp/gyre_connect_test." + std::to_string(::getpid());
        ::unlink(path.c_str());
        const endpoint where = endpoint::local(path).value();

        const io_result<stream_socket> no_file = co_await stream_socket::connect(where);
        static_cast<void>(stream_acceptor::listen(io, where));
        const io_result<stream_socket> no_listener = co_await stream_socket::connect(where);
        ::unlink(path.c_str());
        const io_result<stream_socket> null = co_await stream_socket::connect(endpoint{});

        CHECK(no_file.error() == errc::no_such_file);
        CHECK(no_listener.error() == errc::connection_refused);
        CHECK(null.error() == errc::invalid_argument);
    });
}

TEST_CASE("sockets over IPv6 and over abstract names carry data like any other") {
    on_every_backend([](io_context& io) -> task<> {
        for (const char* text : {"[::1]:0", "unix:@gyre stream socket test"}) {
            tcp_acceptor acceptor = tcp_acceptor::listen(io, endpoint::parse(text).value()).take();
            std::array<std::byte, 5> space{};

            io_result<stream_socket> connected =
                co_await stream_socket::connect(acceptor.local_endpoint().value());
            io_result<stream_socket> accepted = co_await acceptor.accept();
            stream_socket client = connected.take();
            stream_socket server = accepted.take();
            static_cast<void>(co_await write_all(client, bytes_of("hello")));
            const io_result<std::size_t> got = co_await read_exactly(server, space);

            CHECK(got.value() == 5);
            CHECK(text_of(space) == "hello");
        }
    });
}

TEST_CASE("an adopted descriptor that is non-blocking waits like any other") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        const int number = pair.client.release();
        REQUIRE(::fcntl(number, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
        stream_socket client = stream_socket::adopt(io, number);
        const bytes much = patterned(4 << 20);
        std::array<std::byte, 16> space{};
        const std::array<mutable_buffer, 1> into{space};
        io_result<std::size_t> read;
        io_result<std::size_t> scattered;
        io_result<std::size_t> written;
        bytes got(much.size());
        const auto scatter = [&]() -> task<> {
            scattered = co_await client.read_some(mutable_buffers{into});
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_read(client, space, read));
            group.spawn(note_write_all(client, much, written));
            static_cast<void>(co_await sleep_for(2ms));
            static_cast<void>(co_await pair.server.write_some(bytes_of("one")));
            while (read.value() == 0) co_await yield();
            group.spawn(scatter());
            static_cast<void>(co_await sleep_for(2ms));
            static_cast<void>(co_await pair.server.write_some(bytes_of("four")));
            static_cast<void>(co_await read_exactly(pair.server, got));
        };

        co_await with_group(body);

        CHECK(read.value() == 3);
        CHECK(scattered.value() == 4);
        CHECK(written.value() == much.size());
        CHECK(got == much);
    });
}

TEST_CASE("closing gracefully delivers everything although the peer is still sending") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        const bytes answer = patterned(100'000);
        bytes got;
        error ended;
        io_result<> closed;
        const auto serve_one = [&]() -> task<> {
            static_cast<void>(co_await write_all(pair.server, answer));
            closed = co_await pair.server.close_gracefully(10s);
        };
        const auto body = [&](task_group& group) -> task<> {
            // Never read by the server: closing at once would answer it with a reset.
            static_cast<void>(co_await write_all(pair.client, patterned(50'000)));
            group.spawn(serve_one());
            static_cast<void>(co_await sleep_for(5ms));
            got = co_await read_all(pair.client, ended);
            static_cast<void>(pair.client.close());
        };

        co_await with_group(body);

        CHECK(ended == errc::eof);
        CHECK(got == answer);
        CHECK(closed.ok());
        CHECK_FALSE(pair.server.is_open());
    });
}

TEST_CASE("closing gracefully gives up on a peer that stays, and is closed all the same") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        std::array<std::byte, 4> space{};
        const std::size_t before = open_descriptors();

        const io_result<> closed = co_await pair.server.close_gracefully(5ms);
        const io_result<std::size_t> end = co_await pair.client.read_some(space);

        CHECK(closed.error() == errc::timed_out);
        CHECK_FALSE(pair.server.is_open());
        CHECK(open_descriptors() == before - 1);
        CHECK(end.error() == errc::eof);
    });
}

TEST_CASE("closing gracefully goes on while everything around it stops") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        io_result<> closed{errc::malformed};
        std::array<std::byte, 4> space{};
        const auto close_server = [&]() -> task<> {
            closed = co_await pair.server.close_gracefully(patience);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(close_server());
            static_cast<void>(co_await sleep_for(1ms));
            group.request_stop();
        };
        const auto client = [&]() -> task<> {
            const io_result<std::size_t> end = co_await pair.client.read_some(space);
            CHECK(end.error() == errc::eof);
            CHECK(closed.error() == errc::malformed);
            static_cast<void>(pair.client.close());
        };
        const auto both = [&](task_group& group) -> task<> {
            group.spawn(client());
            co_await with_group(body);
        };

        co_await with_group(both);

        CHECK(closed.ok());
    });
}

TEST_CASE("destroying a loop ends the operations on it and closes the sockets its coroutines own") {
    with_every_backend([](const io_context_options& options) {
        const std::size_t before = open_descriptors();
        io_result<std::size_t> outcome;
        const auto own_and_read = [&outcome](stream_socket mine) -> task<> {
            std::array<std::byte, 16> space{};
            outcome = co_await mine.read_some(space);
        };
        {
            socket_pair pair;
            io_context io{options};
            pair = local_pair(io);
            launch(io, own_and_read(std::move(pair.client)), or_terminate{});
            static_cast<void>(io.poll());
        }

        CHECK(outcome.error() == errc::canceled);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a socket may outlive its loop, and then only be closed") {
    with_every_backend([](const io_context_options& options) {
        socket_pair pair;
        std::array<std::byte, 4> space{};
        io_result<std::size_t> read;
        {
            io_context io{options};
            pair = local_pair(io);
            launch(io, note_read(pair.client, space, read), or_terminate{});
            CHECK(::write(pair.server.native_handle(), "abcd", 4) == 4);
            io.run_for(patience);
        }

        CHECK(read.value() == 4);
        CHECK(pair.client.close().ok());
        CHECK(pair.server.is_open());
    });
}

TEST_CASE("using a socket on a loop that is not its own is a failed check") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process&) {
            REQUIRE(::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0);
            std::signal(SIGABRT, SIG_DFL);
            io_context own{options};
            io_context other{options};
            socket_pair pair = local_pair(own);
            std::array<std::byte, 4> space{};
            io_result<std::size_t> read;
            launch(own, note_read(pair.client, space, read), or_terminate{});
            static_cast<void>(own.poll());
            launch(other, note_read(pair.client, space, read), or_terminate{});
            static_cast<void>(other.poll());
        });

        CHECK(report.status == 128 + SIGABRT);
    });
}
