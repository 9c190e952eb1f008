// SPDX-License-Identifier: BSL-1.0
//
// The laws, opcode by opcode: see include/gyre/test/backend_laws.hpp.
//
// Nothing here may know which backend it judges: a difference that a law has to know about is a bug
// in one of them.
#include <gyre/test/backend_laws.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_dump.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>

#include <array>
#include <atomic>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace gyre::test {
namespace {

using namespace std::chrono_literals;

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): each outlives what it makes.

const endpoint any_port{ipv4::loopback(), 0};

/// Two ends of a connection, and where a law writes down what it finds.
struct ends {
    stream_socket client;
    stream_socket server;
    findings& found;
};

task<io_result<>> connect_ends(ends& it) {
    auto listening = co_await stream_acceptor::listen(any_port);
    if (!listening.ok()) co_return listening.error();
    stream_acceptor acceptor = listening.take();
    const endpoint where = acceptor.local_endpoint().value();
    auto both = co_await when_all(acceptor.accept(), stream_socket::connect(where));
    it.server = std::get<0>(both).take();
    it.client = std::get<1>(both).take();
    co_return io_result<>{};
}

// Runs `body` on a loop to its end.
template <class Body>
void run_on_loop(const backend_under_test& judged, findings& into, const Body& body) {
    judged.with_loop([&](io_context& io) {
        bool ended = false;
        const auto note_end = [&ended](task_outcome<void> outcome) {
            outcome.get();
            ended = true;
        };
        const stop_handle stop = launch(io, body(io), note_end);
        io.run_for(judged.patience);
        if (ended) return;
        into.check(false, ("it hangs:\n" + dump_tasks(io)).c_str());
        stop.request_stop();
        io.restart();
        io.run_for(judged.patience);
    });
}

// The same with a connection.
template <task<> (*Body)(ends&)>
void between_ends(const backend_under_test& judged, findings& into) {
    run_on_loop(judged, into, [&into](io_context&) -> task<> {
        ends it{{}, {}, into};
        const auto connected = co_await connect_ends(it);
        into.check(connected.ok(), "a listener on 127.0.0.1 can be connected to");
        if (connected.ok()) co_await Body(it);
    });
}

template <task<> (*Body)(io_context&, findings&)>
void on_loop(const backend_under_test& judged, findings& into) {
    run_on_loop(judged, into, [&into](io_context& io) { return Body(io, into); });
}

std::string_view text(const_buffer bytes) { return text_of(bytes); }

// Streams.

task<> receives_and_ends(ends& it) {
    std::array<std::byte, 16> space;
    const auto sent = co_await write_all(it.client, bytes_of("here"));
    it.found.check(sent.ok(), "a connected socket takes bytes");
    const auto first = co_await it.server.read_some(mutable_buffer{space});
    it.found.check(first.ok() && text(const_buffer{space}.first(first.value())) == "here",
                   "a receive takes what is there");

    const auto later = [&it]() -> task<io_result<std::size_t>> {
        static_cast<void>(co_await sleep_for(1ms));
        const auto late = co_await it.client.write_some(bytes_of("later"));
        co_return late;
    };
    const auto both = co_await when_all(it.server.read_some(mutable_buffer{space}), later());
    it.found.check(std::get<0>(both).ok() && std::get<0>(both).value() == 5,
                   "a receive waits for what is not there yet");

    static_cast<void>(it.client.close());
    for (int again = 0; again < 2; ++again) {
        const auto last = co_await it.server.read_some(mutable_buffer{space});
        it.found.check(last.error() == errc::eof, "a receive ends with the stream, each time");
    }
}

task<> short_reads_hide_nothing(ends& it) {
    std::array<std::byte, 8> space;
    std::size_t got = 0;
    for (int round = 0; round < 100; ++round) {
        static_cast<void>(co_await write_all(it.client, bytes_of("abc")));
        const auto read = co_await with_timeout(10s, it.server.read_some(mutable_buffer{space}));
        it.found.check(read.ok(), "a short read does not hide what follows it");
        if (!read.ok()) co_return;
        got += read.value();
    }
    it.found.check(got == 300, "nothing is lost between short reads");
}

task<> reads_before_the_end(ends& it) {
    static_cast<void>(co_await write_all(it.client, bytes_of("ten bytes!")));
    static_cast<void>(it.client.close());
    std::array<std::byte, 4> space;
    std::size_t got = 0;
    for (;;) {
        const auto read = co_await with_timeout(10s, it.server.read_some(mutable_buffer{space}));
        if (!read.ok()) {
            it.found.check(read.error() == errc::eof, "a stream that was closed ends");
            break;
        }
        got += read.value();
    }
    it.found.check(got == 10, "what was sent before the end is read before the end");
}

task<> readers_in_order(ends& it) {
    std::string order;
    const auto read = [&](char name) -> task<> {
        std::array<std::byte, 1> space{};
        const auto got = co_await it.server.read_some(mutable_buffer{space});
        if (!got.ok()) co_return;
        order += name;
        order += text(space);
    };
    const auto body = [&](task_group& group) -> task<> {
        for (const char name : {'a', 'b', 'c'}) group.spawn(read(name));
        static_cast<void>(co_await sleep_for(1ms));
        static_cast<void>(co_await write_all(it.client, bytes_of("123")));
    };
    co_await with_group(body);
    it.found.check(order == "a1b2c3", "several that read one descriptor are served in their order");
}

task<> sender_waits_for_room(ends& it) {
    const std::vector<std::byte> piece(64 * 1024);
    std::size_t sent = 0;
    for (;;) {
        const auto some = co_await with_timeout(20ms, it.client.write_some(const_buffer{piece}));
        if (!some.ok()) {
            it.found.check(some.error() == errc::timed_out, "a send without room waits");
            break;
        }
        sent += some.value();
        it.found.check(sent < (std::size_t{1} << 30), "what was sent and not read is bounded");
        if (sent >= (std::size_t{1} << 30)) co_return;
    }
    std::size_t got = 0;
    const auto drain = [&]() -> task<> {
        std::vector<std::byte> space(64 * 1024);
        while (got < sent + 4) {
            const auto read =
                co_await with_timeout(10s, it.server.read_some(mutable_buffer{space}));
            if (!read.ok()) co_return;
            got += read.value();
        }
    };
    const auto more = [&]() -> task<io_result<std::size_t>> {
        const auto written = co_await with_timeout(10s, write_all(it.client, bytes_of("more")));
        co_return written;
    };
    const auto both = co_await when_all(more(), drain());
    it.found.check(std::get<0>(both).ok(), "a send goes on when there is room");
    it.found.check(got == sent + 4, "what a stopped send has not reported was not sent");
}

task<> parts_in_order(ends& it) {
    const std::array<const_buffer, 3> parts{bytes_of("one "), const_buffer{}, bytes_of("two")};
    std::array<std::byte, 2> left{};
    std::array<std::byte, 8> right{};
    const std::array<mutable_buffer, 2> into{mutable_buffer{left}, mutable_buffer{right}};
    const auto sent = co_await it.client.write_some(const_buffers{parts});
    const auto got = co_await it.server.read_some(mutable_buffers{into});
    it.found.check(sent.value() == 7 && got.value() == 7, "all parts are sent and filled");
    it.found.check(text(left) == "on" && text(const_buffer{right}.first(5)) == "e two",
                   "parts are sent and filled in their order");
}

task<> leases(ends& it) {
    const auto early = co_await with_timeout(5ms, it.server.read());
    it.found.check(early.error() == errc::timed_out, "a leased read waits");
    static_cast<void>(co_await write_all(it.client, bytes_of("leased")));
    auto got = co_await it.server.read();
    it.found.check(got.ok() && text(got.value().bytes()) == "leased",
                   "a leased read has what was sent in its block");
    static_cast<void>(it.client.close());
    const auto end = co_await it.server.read();
    it.found.check(end.error() == errc::eof, "a leased read ends with the stream");
}

task<> directions_end_apart(ends& it) {
    static_cast<void>(it.client.shutdown(shutdown_side::send));
    std::array<std::byte, 4> space;
    const auto end = co_await it.server.read_some(mutable_buffer{space});
    it.found.check(end.error() == errc::eof, "a direction that was shut down ends");
    const auto back = co_await write_all(it.server, bytes_of("back"));
    const auto got = co_await it.client.read_some(mutable_buffer{space});
    it.found.check(back.ok() && got.ok() && got.value() == 4, "the other direction goes on");
    const auto refused = co_await it.client.write_some(bytes_of("x"));
    it.found.check(refused.error() == errc::broken_pipe, "nothing is sent after the end");
}

task<> readiness_is_told(ends& it) {
    const auto writable = co_await it.client.wait(readiness::writable);
    it.found.check(writable.ok(), "a socket with room is writable");
    const auto early = co_await with_timeout(5ms, it.server.wait(readiness::readable));
    it.found.check(early.error() == errc::timed_out, "a socket without bytes is not readable");
    static_cast<void>(co_await write_all(it.client, bytes_of("!")));
    const auto readable = co_await with_timeout(10s, it.server.wait(readiness::readable));
    it.found.check(readable.ok(), "a socket with bytes is readable");
}

// Ends of operations.

task<> stops_lose_nothing(ends& it) {
    std::array<std::byte, 8> space;
    for (int round = 0; round < 20; ++round) {
        const auto early = co_await with_timeout(1ms, it.server.read_some(mutable_buffer{space}));
        it.found.check(early.error() == errc::timed_out, "a stopped receive ends");
        static_cast<void>(co_await write_all(it.client, bytes_of("x")));
        const auto got = co_await with_timeout(10s, it.server.read_some(mutable_buffer{space}));
        it.found.check(got.ok() && got.value() == 1, "a stopped receive has taken nothing");
        if (!got.ok()) co_return;
    }
}

task<> closing_ends_what_waits(ends& it) {
    error ended;
    int times = 0;
    const auto read = [&]() -> task<> {
        std::array<std::byte, 4> space;
        const auto got = co_await it.server.read_some(mutable_buffer{space});
        ended = got.error();
        ++times;
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(read());
        static_cast<void>(co_await sleep_for(1ms));
        static_cast<void>(it.server.close());
    };
    co_await with_group(body);
    it.found.check(ended == errc::canceled && times == 1, "closing ends what is pending, once");
}

task<> numbers_have_no_past(io_context&, findings& found) {
    for (int round = 0; round < 20; ++round) {
        ends it{{}, {}, found};
        const auto connected = co_await connect_ends(it);
        found.check(connected.ok(), "connections can be made again and again");
        if (!connected.ok()) co_return;
        const auto read = [&it]() -> task<> {
            std::array<std::byte, 4> space;
            static_cast<void>(co_await it.server.read_some(mutable_buffer{space}));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(read());
            co_await yield();
            static_cast<void>(co_await it.client.write_some(bytes_of("late")));
            static_cast<void>(it.server.close());
        };
        co_await with_group(body);
        static_cast<void>(it.client.close());

        ends next{{}, {}, found};
        static_cast<void>(co_await connect_ends(next));
        std::array<std::byte, 4> space;
        const auto quiet = co_await with_timeout(2ms, next.server.read_some(mutable_buffer{space}));
        found.check(quiet.error() == errc::timed_out,
                    "what was on its way for a number is not the next one's");
    }
}

void destroyed_loop_ends_its_coroutines(const backend_under_test& judged, findings& into) {
    int ended = 0;
    stream_socket peer;
    judged.with_loop([&](io_context& io) {
        const auto wait = [&]() -> task<> {
            ends it{{}, {}, into};
            static_cast<void>(co_await connect_ends(it));
            std::array<std::byte, 4> space;
            const auto got = co_await it.server.read_some(mutable_buffer{space});
            into.check(got.error() == errc::canceled, "the end of a loop stops what waits on it");
            ++ended;
        };
        launch(io, wait, or_terminate{});
        const auto stop_soon = [&io]() -> task<> {
            static_cast<void>(co_await sleep_for(5ms));
            io.stop();
        };
        launch(io, stop_soon, or_terminate{});
        io.run();
    });
    into.check(ended == 1, "a loop that ends has ended its coroutines");
}

// Connections.

task<> connections_come_once(io_context&, findings& found) {
    auto listening = co_await stream_acceptor::listen(any_port);
    found.check(listening.ok(), "a port can be listened on");
    if (!listening.ok()) co_return;
    stream_acceptor acceptor = listening.take();
    const endpoint where = acceptor.local_endpoint().value();
    for (int round = 0; round < 10; ++round) {
        auto both = co_await when_all(acceptor.accept_from(), stream_socket::connect(where));
        auto& [failed, accepted, peer] = std::get<0>(both);
        const stream_socket client = std::get<1>(both).take();
        found.check(!failed && client.is_open(), "a connection is accepted");
        if (failed || !client.is_open()) co_return;
        found.check(peer == client.local_endpoint().value(), "accept tells the peer's address");
        found.check(accepted.local_endpoint().value() == where,
                    "an accepted socket is where it was asked");
    }
    const auto none = co_await with_timeout(5ms, acceptor.accept());
    found.check(none.error() == errc::timed_out, "each connection is accepted once");
}

task<> refuses_without_listener(io_context& io, findings& found) {
    endpoint unused;
    {
        auto listening = stream_acceptor::listen(io, any_port);
        unused = listening.value().local_endpoint().value();
    }
    for (int round = 0; round < 3; ++round) {
        const auto connected = co_await stream_socket::connect(unused);
        found.check(connected.error() == errc::connection_refused,
                    "a port without a listener refuses, every time");
    }
}

// Datagrams.

task<> datagrams_are_whole(io_context& io, findings& found) {
    udp_socket from = udp_socket::bind(io, any_port).take();
    udp_socket to = udp_socket::bind(io, any_port).take();
    const endpoint where = to.local_endpoint().value();
    std::array<std::byte, 8> space;
    const auto early = co_await with_timeout(5ms, to.receive(mutable_buffer{space}));
    found.check(early.error() == errc::timed_out, "a receive without a datagram waits");
    for (const std::string_view text : {"one", "", "twelve bytes"}) {
        const auto sent = co_await from.send_to(bytes_of(text), where);
        found.check(sent.ok(), "a datagram can be sent");
    }
    for (const std::size_t size : {3, 0, 8}) {
        const auto [failed, got, peer] =
            co_await with_timeout(10s, to.receive_from(mutable_buffer{space}));
        found.check(!failed && got.size == size, "datagrams are received one by one");
        if (failed) co_return;
        found.check(got.truncated == (size == 8), "one that was cut says so");
        found.check(peer == from.local_endpoint().value(), "and who has sent it");
    }
}

task<> batches_take_what_is_there(io_context& io, findings& found) {
    udp_socket from = udp_socket::bind(io, any_port).take();
    udp_socket to = udp_socket::bind(io, any_port).take();
    const endpoint where = to.local_endpoint().value();
    datagram_batch out{16, 100};
    datagram_batch in{16, 100};
    const auto early = co_await with_timeout(5ms, to.receive(in));
    found.check(early.error() == errc::timed_out, "a batch waits for its first datagram");
    for (int each = 0; each < 5; ++each) {
        const const_buffer part = bytes_of("batch");
        static_cast<void>(out.append(const_buffers{&part, 1}, where));
    }
    const auto sent = co_await from.send(out);
    found.check(sent.ok() && sent.value() == 5, "a batch is sent whole where there is room");
    std::size_t received = 0;
    while (received < 5) {
        const auto got = co_await with_timeout(10s, to.receive(in));
        found.check(got.ok(), "a batch takes what is there");
        if (!got.ok()) co_return;
        received += got.value();
    }
    found.check(received == 5, "each datagram is received once");
}

// Time and turns.

task<> timers_keep_their_moments(io_context& io, findings& found) {
    std::string order;
    const auto rest = [&](char name, duration length) -> task<> {
        const time_point began = io.read_clock();
        static_cast<void>(co_await sleep_for(length));
        found.check(io.read_clock() - began >= length, "a timer does not fire before its moment");
        order += name;
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(rest('c', 30ms));
        group.spawn(rest('a', 1ms));
        group.spawn(rest('b', 10ms));
        co_return;
    };
    co_await with_group(body);
    found.check(order == "abc", "timers fire in the order of their moments");
}

void waits_as_long_as_it_is_told(const backend_under_test& judged, findings& into) {
    judged.with_loop([&](io_context& io) {
        const io_context::work_guard guard{io};
        into.check(io.poll() == 0, "with nothing to do, nothing is done");
        const auto rest = []() -> task<> { static_cast<void>(co_await sleep_for(1h)); };
        const stop_handle stop = launch(io, rest, or_terminate{});
        const time_point began = io.host().now();
        io.poll();
        into.check(io.host().now() - began < 1min, "a turn that shall not wait does not wait");
        io.run_for(20ms);
        const duration took = io.host().now() - began;
        into.check(took >= 20ms, "a turn with a deadline waits for it");
        into.check(took < 1min, "and no longer");
        stop.request_stop();
        io.poll();
    });
}

void threads_wake_it(const backend_under_test& judged, findings& into) {
    event all_ran;
    judged.with_loop([&](io_context& io) {
        constexpr int each = 2000;
        std::atomic<int> ran = 0;
        bool ended = false;
        const auto wait = [&]() -> task<> {
            static_cast<void>(co_await all_ran.wait());
            ended = true;
        };
        const stop_handle stop = launch(io, wait, or_terminate{});
        const auto count_one = [&] {
            if (++ran == 2 * each) all_ran.set();
        };
        const auto post_all = [&] {
            for (int count = 0; count < each; ++count) {
                io.post(count_one);
                if (count % 64 == 0) std::this_thread::yield();  // Lets the loop fall asleep.
            }
        };
        std::array<std::thread, 2> posters{std::thread{post_all}, std::thread{post_all}};
        io.run_for(judged.patience);
        for (std::thread& poster : posters) poster.join();
        into.check(ended && ran == 2 * each, "posts of other threads wake a waiting loop");
        stop.request_stop();
        io.poll();
    });
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

constexpr std::array laws{
    backend_law{"a receive takes what is there, waits for what is not, and ends with the stream",
                between_ends<receives_and_ends>},
    backend_law{"a short read does not hide what follows it",
                between_ends<short_reads_hide_nothing>},
    backend_law{"what arrived together with the end is read before the end",
                between_ends<reads_before_the_end>},
    backend_law{"several that read one descriptor are served in their order",
                between_ends<readers_in_order>},
    backend_law{"a send takes what fits and waits for room, and one that is stopped sends nothing",
                between_ends<sender_waits_for_room>},
    backend_law{"buffers are sent and filled in their order", between_ends<parts_in_order>},
    backend_law{"a leased read is a read", between_ends<leases>},
    backend_law{"each direction of a stream ends by itself", between_ends<directions_end_apart>},
    backend_law{"a wait tells when a read or a write would not block",
                between_ends<readiness_is_told>},
    backend_law{"an operation that is stopped ends, and loses nothing",
                between_ends<stops_lose_nothing>},
    backend_law{"closing ends what is pending, once", between_ends<closing_ends_what_waits>},
    backend_law{"a number that is used again does not meet its past",
                on_loop<numbers_have_no_past>},
    backend_law{"a loop that ends has ended its coroutines", destroyed_loop_ends_its_coroutines},
    backend_law{"each connection comes out once, with its peer's address",
                on_loop<connections_come_once>},
    backend_law{"a port without a listener refuses", on_loop<refuses_without_listener>},
    backend_law{"datagrams are whole, and say who has sent them", on_loop<datagrams_are_whole>},
    backend_law{"a batch waits for its first datagram and takes what is there",
                on_loop<batches_take_what_is_there>},
    backend_law{"timers fire in their order, and not before their moment",
                on_loop<timers_keep_their_moments>},
    backend_law{"a turn waits as long as it is told to", waits_as_long_as_it_is_told},
    backend_law{"posts of other threads wake a waiting loop", threads_wake_it, true},
};

}  // namespace

void findings::check(bool holds, const char* what, std::source_location where) {
    if (holds) return;
    text_ +=
        std::string{what} + " (" + where.file_name() + ":" + std::to_string(where.line()) + ")\n";
}

std::span<const backend_law> backend_laws() noexcept { return laws; }

std::string judge(const backend_law& law, const backend_under_test& it) {
    if (law.needs_threads && !it.hears_threads) return {};
    findings found;
    law.apply(it, found);
    return found.text();
}

}  // namespace gyre::test
