// SPDX-License-Identifier: BSL-1.0
//
// Sockets that are closed while a coroutine is about to use them.
//
// The closer is another coroutine, and when it runs may be a peer's choice: between two steps of one of the
// library's loops, or between the making of an operation and its await. Whatever begins after the closing
// ends with `errc::closed`, and neither fails a check nor touches the bytes of who has the number by then.
// What was pending ends with `errc::canceled`: tests/io/stream_socket_lifetime_test.cpp.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/signals.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_all.hpp>
#include <io/connections.hpp>
#include <laws/scripted_backend.hpp>
#include <runtime/system_host.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

const endpoint any_port{ipv4::loopback(), 0};

// Past the loop.
void put(const stream_socket& to, std::string_view text) {
    REQUIRE(::send(to.native_handle(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
}

// Everything that is there, past the loop.
std::string drain(const stream_socket& from) {
    std::string all;
    std::vector<char> space(64 * 1024);
    for (;;) {
        const ssize_t got = ::recv(from.native_handle(), space.data(), space.size(), MSG_DONTWAIT);
        if (got <= 0) return all;
        all.append(space.data(), static_cast<std::size_t>(got));
    }
}

// A socket that tells whether an operation on it has begun and not completed.
class watched : public stream_socket {
public:
    explicit watched(stream_socket it) noexcept : stream_socket{std::move(it)} {}

    [[nodiscard]] bool waits() const noexcept { return is_open() && !slot().pending.empty(); }
};

// Closes `victim` when what waited on `waiting` has its bytes, and before who awaits them is resumed: the
// closer never leaves the ready queue, so a completion always comes to stand behind it.
task<> close_when_read(watched& waiting, stream_socket& victim, const stream_socket& peer) {
    put(peer, "half");
    do {
        co_await yield();
    } while (waiting.waits());
    CHECK(victim.close().ok());
}

// The same when what waited for room has found some, but not enough for all that is to be written.
task<> close_when_written(watched& waiting, const stream_socket& peer, std::size_t& received) {
    do {
        received += drain(peer).size();
        co_await yield();
    } while (waiting.waits());
    CHECK(waiting.close().ok());
}

// More than the buffers of a Unix-domain socket hold, several times over.
const std::size_t much = std::size_t{8} << 20;

// `copying(from, to)` is a copy.
template <class Copying>
void check_copies(const Copying& copying) {
    on_every_backend([&](io_context& io) -> task<> {
        socket_pair in = local_pair(io);
        socket_pair out = local_pair(io);
        watched from{std::move(in.server)};

        const auto ended =
            co_await when_all(copying(from, out.client), close_when_read(from, from, in.client));

        CHECK(std::get<0>(ended).error() == errc::closed);
        CHECK(std::get<0>(ended).value() == 4);
        CHECK(drain(out.server) == "half");
    });
    on_every_backend([&](io_context& io) -> task<> {
        socket_pair in = local_pair(io);
        socket_pair out = local_pair(io);
        watched from{std::move(in.server)};

        const auto ended = co_await when_all(copying(from, out.client),
                                             close_when_read(from, out.client, in.client));

        CHECK(std::get<0>(ended).error() == errc::closed);
        CHECK(std::get<0>(ended).value() == 0);
        CHECK(drain(out.server).empty());
    });
}

}  // namespace

TEST_CASE("write_all ends with errc::closed if the socket is closed between two of its steps") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = local_pair(io);
        watched near{std::move(pair.client)};
        const bytes message = patterned(much);
        std::size_t received = 0;

        const auto ended = co_await when_all(write_all(near, message),
                                             close_when_written(near, pair.server, received));
        received += drain(pair.server).size();

        const io_result<std::size_t> written = std::get<0>(ended);
        CHECK(written.error() == errc::closed);
        CHECK(written.value() > 0);
        CHECK(written.value() < much);
        CHECK(written.value() == received);
    });
}

TEST_CASE("read_exactly ends with errc::closed between two of its steps, and keeps what it has") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = local_pair(io);
        watched near{std::move(pair.client)};
        std::array<std::byte, 8> space{};

        const auto ended = co_await when_all(read_exactly(near, mutable_buffer{space}),
                                             close_when_read(near, near, pair.server));

        const io_result<std::size_t> got = std::get<0>(ended);
        CHECK(got.error() == errc::closed);
        CHECK(got.value() == 4);
        CHECK(text_of(const_buffer{space}.first(4)) == "half");
    });
}

TEST_CASE(
    "a copy ends with errc::closed if either of its sockets is closed between two of its steps") {
    std::array<std::byte, 64> space{};
    check_copies([&](watched& from, stream_socket& to) {
        return gyre::copy(from, to, mutable_buffer{space});
    });
    check_copies([](watched& from, stream_socket& to) { return gyre::copy(from, to); });
}

TEST_CASE("a buffered reader ends with errc::closed between two reads, and keeps its window") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = local_pair(io);
        watched near{std::move(pair.client)};
        buffered_reader<watched> reader{near, 64};

        const auto ended =
            co_await when_all(reader.read_until("\n"), close_when_read(near, near, pair.server));
        const io_result<const_buffer> more = co_await reader.read_at_least(8);
        const io_result<std::size_t> filled = co_await reader.fill();

        CHECK(std::get<0>(ended).error() == errc::closed);
        CHECK(more.error() == errc::closed);
        CHECK(filled.error() == errc::closed);
        CHECK(text_of(reader.window()) == "half");
    });
}

TEST_CASE(
    "a buffered writer ends with errc::closed between two writes, and counts what it has written") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = local_pair(io);
        watched near{std::move(pair.client)};
        buffered_writer<watched> writer{near, 64};
        const bytes message = patterned(much);
        std::size_t received = 0;

        const auto ended = co_await when_all(writer.write(message),
                                             close_when_written(near, pair.server, received));
        received += drain(pair.server).size();

        CHECK(std::get<0>(ended).error() == errc::closed);
        CHECK(std::get<0>(ended).value() > 0);
        CHECK(std::get<0>(ended).value() == received);
    });
}

TEST_CASE("a flush ends with errc::closed between two writes, and keeps what it has not written") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = local_pair(io);
        watched near{std::move(pair.client)};
        buffered_writer<watched> writer{near, much};
        const bytes message = patterned(much);
        std::size_t received = 0;
        static_cast<void>(co_await writer.write(message));

        const auto ended =
            co_await when_all(writer.flush(), close_when_written(near, pair.server, received));
        received += drain(pair.server).size();
        const io_result<> again = co_await writer.flush();

        CHECK(std::get<0>(ended).error() == errc::closed);
        CHECK(again.error() == errc::closed);
        CHECK(received > 0);
        CHECK(writer.buffered() == much - received);
    });
}

TEST_CASE("of two completions in one turn the first may close the socket of the second") {
    scripted_loop on;
    stream_socket socket = stream_socket::adopt(on.io, 7);
    io_result<std::size_t> written;
    const auto read_to_the_end = [&]() -> task<> {
        std::array<std::byte, 8> space{};
        const io_result<std::size_t> got = co_await socket.read_some(space);
        CHECK(got.error() == errc::eof);
        CHECK(socket.close().ok());
    };
    launch(on.io, read_to_the_end(), or_terminate{});
    launch(on.io, note_write_all(socket, bytes_of("12345678"), written), or_terminate{});
    on.script->steps.emplace_back([&] {
        REQUIRE(on.script->submitted.size() == 2);
        on.script->complete_later(*on.script->submitted[0], 0);
        on.script->complete_later(*on.script->submitted[1], 5);
    });

    on.io.run();

    CHECK(written.error() == errc::closed);
    CHECK(written.error().during() == activity::write);
    CHECK(written.value() == 5);
    CHECK(on.script->submitted.size() == 2);
    CHECK(on.script->canceled.empty());
}

TEST_CASE("a reader that closes at the end of the stream ends its writer, wherever that stands") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        shrink(pair);
        const bytes message = patterned(much);
        io_result<std::size_t> written;
        const auto read_to_the_end = [&]() -> task<> {
            std::array<std::byte, 8> space{};
            const io_result<std::size_t> got = co_await pair.client.read_some(space);
            CHECK(got.error() == errc::eof);
            CHECK(pair.client.close().ok());
        };
        // The end and the room come together, so that one turn may find both.
        const auto end_and_make_room = [&]() -> task<> {
            co_await yield();
            CHECK(::shutdown(pair.server.native_handle(), SHUT_WR) == 0);
            static_cast<void>(drain(pair.server));
        };

        static_cast<void>(co_await when_all(
            read_to_the_end(), note_write_all(pair.client, message, written), end_and_make_room()));

        CHECK((written.error() == errc::closed || written.error() == errc::canceled));
        CHECK(written.value() < much);
    });
}

namespace {

// A socket of each kind, and what an operation needs.
struct sockets {
    explicit sockets(io_context& on)
        : io{on},
          pair{local_pair(on)},
          acceptor{stream_acceptor::listen(on, any_port).take()},
          datagrams{udp_socket::bind(on, any_port).take()},
          to{datagrams.local_endpoint().value()} {
        for (socket_pair& each : others) each = local_pair(on);
        REQUIRE(batch.append(bytes_of("x"), to));
    }

    template <class Function>
    void for_each(const Function& function) {
        function(pair.client);
        function(acceptor);
        function(datagrams);
    }

    io_context& io;
    socket_pair pair;
    stream_acceptor acceptor;
    udp_socket datagrams;
    endpoint to;
    datagram_batch batch{4, 64};
    std::array<std::byte, 16> space{};

    std::array<socket_pair, 3> others;  // Unrelated connections, and
    std::vector<stream_socket> heirs;   // what has the numbers after the closing, with their bytes.
};

using step = void (*)(sockets&);

void leave_open(sockets&) {}

void never_open(sockets& in) {
    in.pair.client = stream_socket{};
    in.acceptor = stream_acceptor{};
    in.datagrams = udp_socket{};
}

void close_all(sockets& in) {
    in.for_each([](auto& each) { CHECK(each.close().ok()); });
}

void give_away(sockets& in) {
    in.for_each([](auto& each) { CHECK(::close(each.release()) == 0); });
}

void bequeath(sockets& in) {
    in.for_each([&](auto& each) {
        const socket_pair& other = in.others[in.heirs.size()];
        const int number = each.native_handle();
        CHECK(each.close().ok());
        REQUIRE(::dup3(other.client.native_handle(), number, O_CLOEXEC) == number);
        in.heirs.push_back(stream_socket::adopt(in.io, number));
        put(other.client, "mine");
        put(other.server, "yours");
    });
}

// Awaits `it` after `before`.
template <class Awaitable>
task<error> await_after(sockets& in, step before, Awaitable it) {
    before(in);
    const auto ended = co_await it;
    co_return ended.error();
}

struct row {
    const char* name;
    task<error> (*use)(sockets& in,
                       step before);  // Makes an operation and awaits it after `before`.
};

// Everything that waits for a socket.
const std::array rows{
    row{"read_some",
        [](sockets& in, step before) {
            return await_after(in, before, in.pair.client.read_some(mutable_buffer{in.space}));
        }},
    row{"read_some, scattered",
        [](sockets& in, step before) {
            const std::array<mutable_buffer, 1> parts{mutable_buffer{in.space}};
            return await_after(in, before, in.pair.client.read_some(mutable_buffers{parts}));
        }},
    row{"read_some into nothing",
        [](sockets& in, step before) {
            return await_after(in, before, in.pair.client.read_some(mutable_buffer{}));
        }},
    row{"read",
        [](sockets& in, step before) { return await_after(in, before, in.pair.client.read()); }},
    row{"write_some",
        [](sockets& in, step before) {
            return await_after(in, before, in.pair.client.write_some(bytes_of("not sent")));
        }},
    row{"write_some, gathered",
        [](sockets& in, step before) {
            const std::array<const_buffer, 1> parts{bytes_of("not sent")};
            return await_after(in, before, in.pair.client.write_some(const_buffers{parts}));
        }},
    row{"wait for bytes",
        [](sockets& in, step before) {
            return await_after(in, before, in.pair.client.wait(readiness::readable));
        }},
    row{"wait for room",
        [](sockets& in, step before) {
            return await_after(in, before, in.pair.client.wait(readiness::writable));
        }},
    row{"accept",
        [](sockets& in, step before) { return await_after(in, before, in.acceptor.accept()); }},
    row{"accept_from",
        [](sockets& in, step before) {
            return await_after(in, before, in.acceptor.accept_from());
        }},
    row{"udp_socket::send",
        [](sockets& in, step before) {
            return await_after(in, before, in.datagrams.send(bytes_of("not sent")));
        }},
    row{"udp_socket::send_to",
        [](sockets& in, step before) {
            return await_after(in, before, in.datagrams.send_to(bytes_of("not sent"), in.to));
        }},
    row{"udp_socket::send, a batch",
        [](sockets& in, step before) {
            return await_after(in, before, in.datagrams.send(in.batch));
        }},
    row{"udp_socket::receive",
        [](sockets& in, step before) {
            return await_after(in, before, in.datagrams.receive(mutable_buffer{in.space}));
        }},
    row{"udp_socket::receive_from",
        [](sockets& in, step before) {
            return await_after(in, before, in.datagrams.receive_from(mutable_buffer{in.space}));
        }},
    row{"udp_socket::receive, a batch",
        [](sockets& in, step before) {
            return await_after(in, before, in.datagrams.receive(in.batch));
        }},
};

// Each operation, made after `before_made` and awaited after `before_awaited`.
void check_closed(step before_made, step before_awaited) {
    for (const row& each : rows) {
        INFO("operation ", std::string{each.name});
        on_every_backend([&](io_context& io) -> task<> {
            sockets in{io};
            before_made(in);

            const error ended = co_await each.use(in, before_awaited);

            CHECK(ended == errc::closed);
            CHECK(ended.during() != activity::unknown);
            CHECK(in.batch.size() == 1);
            for (std::size_t heir = 0; heir < in.heirs.size(); ++heir) {
                CHECK(drain(in.heirs[heir]) == "yours");
                CHECK(drain(in.others[heir].server) == "mine");
            }
        });
    }
}

}  // namespace

TEST_CASE("an operation on a socket that was never open ends with errc::closed") {
    check_closed(&never_open, &leave_open);
}

TEST_CASE("an operation on a socket that was closed ends with errc::closed") {
    check_closed(&close_all, &leave_open);
}

TEST_CASE(
    "an operation made before its socket was closed, and awaited after, ends with errc::closed") {
    check_closed(&leave_open, &close_all);
}

TEST_CASE(
    "an operation made before its socket was released, and awaited after, ends with errc::closed") {
    check_closed(&leave_open, &give_away);
}

TEST_CASE("an operation never reaches the new owner of the number of the socket it was made for") {
    check_closed(&leave_open, &bequeath);
}

TEST_CASE("a number that a branch before has closed belongs to no loop") {
    with_every_backend([](const io_context_options& options) {
        io_context first{options};
        io_context second{options};
        socket_pair other = local_pair(second);
        socket_pair pair = local_pair(first);
        const int number = pair.client.native_handle();
        std::array<std::byte, 8> space{};
        error late;
        const auto close_it = [&]() -> task<> {
            CHECK(pair.client.close().ok());
            co_return;
        };
        const auto both = [&]() -> task<> {
            const auto ended =
                co_await when_all(close_it(), pair.client.read_some(mutable_buffer{space}));
            late = std::get<1>(ended).error();
        };
        launch(first, both(), or_terminate{});
        first.run_for(patience);
        CHECK(late == errc::closed);

        REQUIRE(::dup3(other.client.native_handle(), number, O_CLOEXEC) == number);
        stream_socket heir = stream_socket::adopt(second, number);
        io_result<std::size_t> got;
        put(other.server, "for it");
        launch(second, note_read(heir, space, got), or_terminate{});
        second.run_for(patience);

        CHECK(got.value() == 6);
    });
}

TEST_CASE("a wait for signals of a set that is not open ends with errc::closed") {
    on_every_backend([](io_context&) -> task<> {
        signal_set none;

        const io_result<int> signal = co_await none.wait();

        CHECK(signal.error() == errc::closed);
    });
}

TEST_CASE("that a loop has what is not open is a failed check") {
    const auto ends_by_abort = [](const auto& body) {
        const child_report report = in_child([&](child_process&) {
            REQUIRE(::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0);
            std::signal(SIGABRT, SIG_DFL);
            io_context io;
            descriptor_slot& it = system_host::instance().enter(900);
            static_cast<void>(system_host::instance().release(it));
            body(io, it);
        });
        return report.status == 128 + SIGABRT;
    };

    CHECK(ends_by_abort([](io_context& io, descriptor_slot& it) { io.attach(it); }));
    CHECK(ends_by_abort([](io_context& io, descriptor_slot& it) {
        it.home = &io;
        static_cast<void>(system_host::instance().enter(900));
    }));
}
