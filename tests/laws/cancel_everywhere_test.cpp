// SPDX-License-Identifier: BSL-1.0
//
// Every awaitable of the library, cancelled in every way there is.
//
// The rows are coroutines that wait for something that never comes; the columns are the ways to stop
// one. Each crossing must resume the coroutine exactly once, with `errc::canceled`, and lose neither
// a descriptor nor a frame. A new awaitable owes this file a row.
#include <gyre/interop/callbacks.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/connect_to.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/resolver.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/io/signals.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/barrier.hpp>
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/condition.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/generator.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/notify.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/shared_mutex.hpp>
#include <gyre/sync/shared_semaphore.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/watch.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// What the rows wait on; nothing here ever becomes ready.
struct silence {
    explicit silence(io_context& on)
        : io{on},
          empty{connected_pair(on)},
          full{local_pair(on)},
          pipe{16},
          full_pipe{1},
          line{on} {
        const std::vector<char> chunk(64 * 1024, 'x');
        while (::send(full.client.native_handle(), chunk.data(), chunk.size(), MSG_DONTWAIT) > 0) {
        }
        auto listening = stream_acceptor::listen(on, endpoint{ipv4::loopback(), 0});
        acceptor = listening.take();
        datagrams = udp_socket::bind(on, endpoint{ipv4::loopback(), 0}).take();
        open_pipes();
        saturate();
    }

    // A pipe that has nothing to read, and has no room left.
    void open_pipes() {
        for (auto* const ends : {&nothing_in_it, &no_room_in_it}) {
            auto [failed, reading, writing] = make_pipe(io);
            REQUIRE_FALSE(failed);
            *ends = {std::move(reading), std::move(writing)};
        }
        const std::vector<char> chunk(4096, 'x');
        while (::write(no_room_in_it.second.native_handle(), chunk.data(), chunk.size()) > 0) {
        }
    }

    // Connections beyond a listener's queue are left unanswered by the kernel.
    void saturate() {
        listen_options narrow;
        narrow.backlog_connections_max = 0;
        auto listening = stream_acceptor::listen(io, endpoint{ipv4::loopback(), 0}, narrow);
        unanswering = listening.take();
        const endpoint where = unanswering.local_endpoint().value();
        for (int count = 0; count < 3; ++count) {
            const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            ::connect(number, reinterpret_cast<const sockaddr*>(where.raw().data),
                      where.raw().size);
            queued.push_back(stream_socket::adopt(io, number));
        }
    }

    // For names: a server that is a socket which nobody reads.
    resolver_options asks_nobody() const {
        resolver_options made;
        made.servers = {datagrams.local_endpoint().value()};
        made.settings_file = "/dev/null";
        made.order_file.clear();
        made.timeout = 1h;
        return made;
    }

    io_context& io;
    socket_pair empty;
    socket_pair full;
    stream_acceptor acceptor;
    udp_socket datagrams;
    datagram_batch batch{4, 64};
    std::pair<readable_pipe, writable_pipe> nothing_in_it;
    std::pair<readable_pipe, writable_pipe> no_room_in_it;
    stream_acceptor unanswering;
    std::vector<stream_socket> queued;
    memory_pipe pipe;
    memory_pipe full_pipe;
    event never_set;
    gyre::mutex locked;
    semaphore none{0};
    condition never_notified;
    channel<int> nothing_sent{1};
    channel<int> never_received{0};
    shared_channel<int> nothing_sent_anywhere{1};
    shared_channel<int> never_received_anywhere{0};
    notify never_notified_anywhere;
    oneshot<int> never_answered = make_oneshot<int>();
    watch<int> never_changed{1};
    broadcast<int> never_broadcast{1};
    broadcast<int>::receiver never_heard = never_broadcast.subscribe();
    shared_semaphore none_anywhere{0};
    shared_mutex written;
    shared_mutex::guard writing = written.try_lock();
    latch never_open{1};
    barrier never_full{2};
    std::array<int, 2> some{};
    strand line;
    std::deque<callback<int>> uncalled;
    std::array<std::byte, 64> space{};
};

task<error> pass_on(task<io_result<>> inner) {
    const io_result<> ended = co_await std::move(inner);
    co_return ended.error();
}

task<io_result<>> wait_for(event& never_set) {
    const io_result<> waited = co_await never_set.wait();
    co_return waited;
}

generator<int> never_yields(event& never_set) {
    const io_result<> waited = co_await never_set.wait();
    if (waited.ok()) co_yield 1;
}

struct row {
    const char* name;
    std::function<task<error>(silence&)> wait;
    bool ends_by_drain = false;
};

task<error> sleep_an_hour() {
    const io_result<> slept = co_await sleep_for(1h);
    co_return slept.error();
}

// One per awaitable. Each returns the error that its wait ended with.
const std::vector<row>& rows() {
    static const std::vector<row> all{
        {"read_some",
         [](silence& in) -> task<error> {
             const auto got = co_await in.empty.server.read_some(mutable_buffer{in.space});
             co_return got.error();
         }},
        {"read",
         [](silence& in) -> task<error> {
             const auto got = co_await in.empty.server.read();
             co_return got.error();
         }},
        {"read_some, scattered",
         [](silence& in) -> task<error> {
             const std::array<mutable_buffer, 1> parts{mutable_buffer{in.space}};
             const auto got = co_await in.empty.server.read_some(mutable_buffers{parts});
             co_return got.error();
         }},
        {"write_some",
         [](silence& in) -> task<error> {
             const auto put = co_await in.full.client.write_some(const_buffer{in.space});
             co_return put.error();
         }},
        {"write_some, gathered",
         [](silence& in) -> task<error> {
             const std::array<const_buffer, 1> parts{const_buffer{in.space}};
             const auto put = co_await in.full.client.write_some(const_buffers{parts});
             co_return put.error();
         }},
        {"readable_pipe::read_some",
         [](silence& in) -> task<error> {
             const auto got = co_await in.nothing_in_it.first.read_some(in.space);
             co_return got.error();
         }},
        {"writable_pipe::write_some",
         [](silence& in) -> task<error> {
             const auto put = co_await in.no_room_in_it.second.write_some(const_buffer{in.space});
             co_return put.error();
         }},
        {"udp_socket::receive",
         [](silence& in) -> task<error> {
             const auto got = co_await in.datagrams.receive(mutable_buffer{in.space});
             co_return got.error();
         }},
        {"udp_socket::receive_from",
         [](silence& in) -> task<error> {
             const auto got = co_await in.datagrams.receive_from(mutable_buffer{in.space});
             co_return got.error();
         }},
        {"udp_socket::receive, a batch",
         [](silence& in) -> task<error> {
             const auto got = co_await in.datagrams.receive(in.batch);
             co_return got.error();
         }},
        {"accept",
         [](silence& in) -> task<error> {
             const auto taken = co_await in.acceptor.accept();
             co_return taken.error();
         },
         true},
        {"accept_from",
         [](silence& in) -> task<error> {
             const auto taken = co_await in.acceptor.accept_from();
             co_return taken.error();
         },
         true},
        {"connect",
         [](silence& in) -> task<error> {
             const endpoint where = in.unanswering.local_endpoint().value();
             const auto made = co_await stream_socket::connect(where);
             co_return made.error();
         }},
        {"wait",
         [](silence& in) -> task<error> {
             const auto ready = co_await in.empty.server.wait(readiness::readable);
             co_return ready.error();
         }},
        {"serve",
         [](silence& in) -> task<error> {
             auto listening = stream_acceptor::listen(in.io, endpoint{ipv4::loopback(), 0});
             const auto at_once = [](stream_socket) -> task<> { co_return; };
             const auto served = co_await serve(listening.take(), at_once);
             // Ending is what a server does on a stop: no error, so the row says what it saw.
             co_return served.ok() ? error{errc::canceled} : served.error();
         },
         true},
        {"from_callback",
         [](silence& in) -> task<error> {
             const auto keep = [&in](callback<int> done) {
                 in.uncalled.push_back(std::move(done));
             };
             const auto got = co_await from_callback<int>(keep);
             co_return got.error();
         }},
        {"from_callback, with a cancel that calls back",
         [](silence& in) -> task<error> {
             const auto keep = [&in](callback<int> done) {
                 in.uncalled.push_back(std::move(done));
             };
             const auto cancel = [&in] { in.uncalled.back().fail(errc::canceled); };
             const auto got = co_await from_callback<int>(keep, cancel);
             co_return got.error();
         }},
        {"signal_set::wait",
         [](silence& in) -> task<error> {
             auto opened = signal_set::open(in.io, {SIGUSR2});
             signal_set signals = opened.take();
             const auto got = co_await signals.wait();
             co_return got.error();
         }},
        {"blocking, queued",
         [](silence& in) -> task<error> {
             // More calls than workers, so that the last is still waiting for one.
             std::atomic<bool> release = false;
             const auto hold = [&] { release.wait(false); };
             error failed;
             const auto body = [&](task_group& group) -> task<> {
                 const auto occupy = [&]() -> task<> {
                     static_cast<void>(co_await blocking(hold));
                 };
                 for (int worker = 0; worker < 4; ++worker) group.spawn(occupy());
                 co_await yield();
                 const auto called = co_await blocking([] { return 1; });
                 failed = called.error();
                 release = true;
                 release.notify_all();
             };
             static_cast<void>(in);
             co_await with_group(body);
             co_return failed;
         }},
        {"resolver::resolve, of one family",
         [](silence& in) -> task<error> {
             const resolver names{in.asks_nobody()};
             const auto found =
                 co_await names.resolve("it.test", 80, resolve_options{endpoint::family::v4});
             co_return found.error();
         }},
        {"resolver::resolve, of both families",
         [](silence& in) -> task<error> {
             const resolver names{in.asks_nobody()};
             const auto found = co_await names.resolve("it.test", 80);
             co_return found.error();
         }},
        {"connect_to, the name",
         [](silence& in) -> task<error> {
             connect_to_options options;
             options.names = resolver{in.asks_nobody()};
             const auto connected = co_await connect_to("it.test", 80, options);
             co_return connected.error();
         }},
        {"connect_to, an address",
         [](silence& in) -> task<error> {
             const endpoint where = in.unanswering.local_endpoint().value();
             const std::vector<endpoint> peers{where};
             const auto connected = co_await connect_to(peers);
             co_return connected.error();
         }},
        {"sleep_for",
         [](silence&) -> task<error> {
             const auto slept = co_await sleep_for(1h);
             co_return slept.error();
         }},
        {"sleep_until",
         [](silence&) -> task<error> {
             const auto slept = co_await sleep_until(never);
             co_return slept.error();
         }},
        {"event::wait",
         [](silence& in) -> task<error> {
             const auto waited = co_await in.never_set.wait();
             co_return waited.error();
         }},
        {"mutex::lock",
         [](silence& in) -> task<error> {
             const gyre::mutex::guard other = in.locked.try_lock();
             auto locked = co_await in.locked.lock();
             co_return locked.error();
         }},
        {"semaphore::acquire",
         [](silence& in) -> task<error> {
             const auto acquired = co_await in.none.acquire();
             co_return acquired.error();
         }},
        {"semaphore::acquire_for_intake",
         [](silence& in) -> task<error> {
             const auto acquired = co_await in.none.acquire_for_intake();
             co_return acquired.error();
         },
         true},
        {"condition::wait",
         [](silence& in) -> task<error> {
             auto locked = co_await in.locked.lock();
             gyre::mutex::guard held = locked.take();
             if (!held.owns()) co_return locked.error();
             const auto notified = co_await in.never_notified.wait(held);
             CHECK(held.owns());
             co_return notified.error();
         }},
        {"shared_channel::send",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.never_received_anywhere.send(1);
             co_return ended.error();
         }},
        {"shared_channel::receive",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.nothing_sent_anywhere.receive();
             co_return ended.error();
         }},
        {"shared_channel::receive_many",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.nothing_sent_anywhere.receive_many(in.some);
             co_return ended.error();
         }},
        {"notify::wait",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.never_notified_anywhere.wait();
             co_return ended.error();
         }},
        {"oneshot_receiver::receive",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.never_answered.receiver.receive();
             co_return ended.error();
         }},
        {"watch::changed",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.never_changed.changed(1);
             co_return ended.error();
         }},
        {"broadcast::receiver::receive",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.never_heard.receive();
             co_return ended.error();
         }},
        {"shared_semaphore::acquire",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.none_anywhere.acquire();
             co_return ended.error();
         }},
        {"shared_mutex::lock",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.written.lock();
             co_return ended.error();
         }},
        {"shared_mutex::lock_shared",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.written.lock_shared();
             co_return ended.error();
         }},
        {"latch::wait",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.never_open.wait();
             co_return ended.error();
         }},
        {"barrier::arrive_and_wait",
         [](silence& in) -> task<error> {
             const auto ended = co_await in.never_full.arrive_and_wait();
             co_return ended.error();
         }},
        {"channel::send",
         [](silence& in) -> task<error> {
             const auto sent = co_await in.never_received.send(1);
             co_return sent.error();
         }},
        {"channel::receive",
         [](silence& in) -> task<error> {
             const auto received = co_await in.nothing_sent.receive();
             co_return received.error();
         }},
        {"generator::next",
         [](silence& in) -> task<error> {
             auto values = never_yields(in.never_set);
             const auto value = co_await values.next();
             co_return value.has_value() ? error{} : error{errc::canceled};
         }},
        {"on a strand",
         [](silence& in) -> task<error> {
             const auto ended = co_await on(in.line, wait_for(in.never_set));
             co_return ended.error();
         }},
        {"task",
         [](silence& in) -> task<error> {
             const error failed = co_await pass_on(wait_for(in.never_set));
             co_return failed;
         }},
        {"with_idle_timeout",
         [](silence& in) -> task<error> {
             idle_timeout quiet{1h};
             const auto got = co_await with_idle_timeout(
                 quiet, in.empty.server.read_some(mutable_buffer{in.space}));
             co_return got.error();
         }},
        {"on its own loop",
         [](silence&) -> task<error> {
             const error failed = co_await on(*io_context::current(), sleep_an_hour());
             co_return failed;
         }},
        {"on another loop",
         [](silence&) -> task<error> {
             io_pool_options one;
             one.threads = 1;
             io_pool pool{one};
             const error failed = co_await on(pool[0], sleep_an_hour());
             co_return failed;
         }},
        {"with_timeout",
         [](silence& in) -> task<error> {
             const auto got =
                 co_await with_timeout(1h, in.empty.server.read_some(mutable_buffer{in.space}));
             co_return got.error();
         }},
        {"with_deadline",
         [](silence& in) -> task<error> {
             const auto waited = co_await with_deadline(never, in.never_set.wait());
             co_return waited.error();
         }},
        {"idle",
         [](silence& in) -> task<error> {
             const auto got = co_await idle(in.empty.server.read_some(mutable_buffer{in.space}));
             co_return got.error();
         },
         true},
        {"when_all",
         [](silence& in) -> task<error> {
             const auto all = co_await when_all(in.empty.server.read_some(mutable_buffer{in.space}),
                                                in.never_set.wait(), sleep_for(1h));
             CHECK(std::get<0>(all).error() == errc::canceled);
             CHECK(std::get<1>(all).error() == errc::canceled);
             co_return std::get<2>(all).error();
         }},
        {"when_any",
         [](silence& in) -> task<error> {
             const auto any = co_await when_any(in.empty.server.read_some(mutable_buffer{in.space}),
                                                wait_for(in.never_set));
             CHECK(std::get<0>(any.results).error() == errc::canceled);
             co_return std::get<1>(any.results).error();
         }},
        {"with_group",
         [](silence& in) -> task<error> {
             const auto body = [&](task_group& group) -> task<io_result<>> {
                 group.spawn(wait_for(in.never_set));
                 group.spawn(wait_for(in.never_set));
                 const auto slept = co_await sleep_for(1h);
                 co_return slept;
             };
             const auto ended = co_await with_group(body);
             co_return ended.error();
         }},
        {"task_group::join",
         [](silence& in) -> task<error> {
             // Joining ignores the stop; the children do not, and their end ends it.
             error failed;
             const auto body = [&](task_group& group) -> task<> {
                 group.spawn(wait_for(in.never_set),
                             [&](io_result<> ended) noexcept { failed = ended.error(); });
                 co_await group.join();
             };
             co_await with_group(body);
             co_return failed;
         }},
        {"read_exactly",
         [](silence& in) -> task<error> {
             const auto got = co_await read_exactly(in.empty.server, mutable_buffer{in.space});
             co_return got.error();
         }},
        {"write_all",
         [](silence& in) -> task<error> {
             const auto put = co_await write_all(in.full.client, const_buffer{in.space});
             co_return put.error();
         }},
        {"copy",
         [](silence& in) -> task<error> {
             const auto copied = co_await copy(in.empty.server, in.full.client);
             co_return copied.error();
         }},
        {"buffered_reader::read_until",
         [](silence& in) -> task<error> {
             buffered_reader reader{in.empty.server, 64};
             const auto line = co_await reader.read_until("\n");
             co_return line.error();
         }},
        {"buffered_writer::flush",
         [](silence& in) -> task<error> {
             buffered_writer writer{in.full.client, 64};
             const auto kept = co_await writer.write(const_buffer{in.space});
             if (!kept.ok()) co_return kept.error();
             const auto flushed = co_await writer.flush();
             co_return flushed.error();
         }},
        {"memory_stream::read_some",
         [](silence& in) -> task<error> {
             const auto got = co_await in.pipe.first.read_some(mutable_buffer{in.space});
             co_return got.error();
         }},
        {"memory_stream::write_some",
         [](silence& in) -> task<error> {
             const auto put = co_await write_all(in.full_pipe.first, const_buffer{in.space});
             co_return put.error();
         }},
    };
    return all;
}

// A row being waited for, and what came of it.
struct attempt {
    int resumptions = 0;
    error failed;
};

task<> carry_out(const row& what, silence& in, attempt& seen) {
    const error failed = co_await what.wait(in);
    ++seen.resumptions;
    seen.failed = failed;
}

// Runs `stop_it` on every row, each in surroundings of its own, on every backend.
template <class StopIt>
void for_every_row(const StopIt& stop_it) {
    with_every_backend([&](const io_context_options& options) {
        for (const row& each : rows()) {
            INFO("awaitable ", std::string{each.name});
            const std::size_t before = open_descriptors();
            attempt seen;
            {
                io_context io{options};
                silence in{io};
                stop_it(io, in, each, seen);
                CHECK(io.roots().empty());
            }
            CHECK(seen.resumptions == 1);
            CHECK(seen.failed == errc::canceled);
            CHECK(open_descriptors() == before);
        }
    });
}

}  // namespace

TEST_CASE("stopped before it starts, everything ends with canceled at once") {
    for_every_row([](io_context& io, silence& in, const row& each, attempt& seen) {
        const auto parent = [&]() -> task<> {
            const auto body = [&](task_group& group) -> task<> {
                group.request_stop();
                group.spawn(carry_out(each, in, seen));
                co_return;
            };
            co_await with_group(body);
        };
        launch(io, parent(), or_terminate{});
        io.run_for(patience);
    });
}

TEST_CASE("stopped while it waits, everything ends with canceled") {
    for_every_row([](io_context& io, silence& in, const row& each, attempt& seen) {
        const stop_handle stop = launch(io, carry_out(each, in, seen), or_terminate{});
        io.poll();
        CHECK(seen.resumptions == 0);
        stop.request_stop();
        io.run_for(patience);
    });
}

TEST_CASE("a drain ends what is intake and nothing else") {
    for_every_row([](io_context& io, silence& in, const row& each, attempt& seen) {
        const stop_handle stop = launch(io, carry_out(each, in, seen), or_terminate{});
        io.poll();
        stop.request_drain();
        if (each.ends_by_drain) {
            io.run_for(patience);
        } else {
            io.poll();
        }
        CHECK(seen.resumptions == (each.ends_by_drain ? 1 : 0));
        stop.request_stop();
        io.run_for(patience);
    });
}

TEST_CASE("stopped by its group, which then waits for it") {
    for_every_row([](io_context& io, silence& in, const row& each, attempt& seen) {
        const auto parent = [&]() -> task<> {
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(carry_out(each, in, seen));
                co_await settle();
                group.request_stop();
                co_await group.join();
                CHECK(seen.resumptions == 1);
            };
            co_await with_group(body);
        };
        launch(io, parent(), or_terminate{});
        io.run_for(patience);
    });
}

TEST_CASE("stopped by the end of the body that it serves") {
    for_every_row([](io_context& io, silence& in, const row& each, attempt& seen) {
        const auto parent = [&]() -> task<> {
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(carry_out(each, in, seen));
                co_await settle();
                co_return;  // Early: the child is still waiting.
            };
            co_await with_group(body, group_options{group_mode::stop_on_exit});
            CHECK(seen.resumptions == 1);
        };
        launch(io, parent(), or_terminate{});
        io.run_for(patience);
    });
}

TEST_CASE("stopped from another thread") {
    for_every_row([](io_context& io, silence& in, const row& each, attempt& seen) {
        const stop_handle stop = launch(io, carry_out(each, in, seen), or_terminate{});
        io.poll();
        std::thread other{[stop] {
            for (int count = 0; count < 3; ++count) stop.request_stop();
        }};
        io.run_for(patience);
        other.join();
    });
}

TEST_CASE("shielded, it goes on through a stop until its own limit") {
    for_every_row([](io_context& io, silence& in, const row& each, attempt& seen) {
        bool limited = false;
        const auto clean_up = [&]() -> task<> {
            const io_result<> ended = co_await shielded(carry_out(each, in, seen), 3ms);
            limited = ended.error() == errc::timed_out;
        };
        const stop_handle stop = launch(io, clean_up(), or_terminate{});
        io.poll();
        stop.request_stop();
        stop.request_drain();
        io.run_for(patience);
        CHECK(limited);
    });
}

TEST_CASE("ended by the destruction of its loop") {
    with_every_backend([&](const io_context_options& options) {
        for (const row& each : rows()) {
            INFO("awaitable ", std::string{each.name});
            attempt seen;
            auto io = std::make_unique<io_context>(options);
            silence in{*io};
            launch(*io, carry_out(each, in, seen), or_terminate{});
            io->poll();

            io.reset();

            CHECK(seen.resumptions == 1);
            CHECK(seen.failed == errc::canceled);
        }
    });
}

namespace {

// Another thread that stops whatever it is handed.
class stopper {
public:
    stopper() : thread_{[this] { work(); }} {}
    ~stopper() {
        {
            const std::lock_guard lock{mutex_};
            closed_ = true;
        }
        wanted_.notify_one();
        thread_.join();
    }

    void hand_over(std::vector<stop_handle> these) {
        {
            const std::lock_guard lock{mutex_};
            batches_.push_back(std::move(these));
        }
        wanted_.notify_one();
    }

private:
    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            wanted_.wait(lock, [this] { return closed_ || !batches_.empty(); });
            if (batches_.empty()) return;
            const std::vector<stop_handle> batch = std::move(batches_.front());
            batches_.pop_front();
            lock.unlock();
            for (const stop_handle& each : batch) each.request_stop();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<std::vector<stop_handle>> batches_;
    bool closed_ = false;
    std::thread thread_;
};

// Fewer under sanitizers, which do not recycle memory either.
constexpr int storm_total = recycles_memory ? 1'000'000 : 20'000;
constexpr int storm_batch = 100;

}  // namespace

TEST_CASE("a storm of stops from another thread, racing with completions, resumes each once") {
    const unsigned seed = std::random_device{}();
    MESSAGE("seed ", seed, ", ", storm_total, " stops over all backends");
    with_every_backend([&](const io_context_options& options) {
        const int per_backend = storm_total / static_cast<int>(backends_under_test().size());
        std::mt19937 random{seed};
        io_context io{options};
        auto [client, server] = local_pair(io);
        event happens;
        stopper other;
        int started = 0;
        int resumed = 0;
        int completed = 0;
        const auto wait = [&](int kind) -> task<> {
            error failed;
            if (kind == 0) {
                const auto waited = co_await happens.wait();
                failed = waited.error();
            } else if (kind == 1) {
                const auto slept = co_await sleep_for(50us);
                failed = slept.error();
            } else {
                std::array<std::byte, 1> space;
                const auto got = co_await server.read_some(mutable_buffer{space});
                failed = got.error();
            }
            CHECK((!failed || failed == errc::canceled));
            ++resumed;
            completed += failed ? 0 : 1;
        };
        while (started < per_backend) {
            std::vector<stop_handle> batch;
            for (int count = 0; count < storm_batch; ++count) {
                batch.push_back(launch(io, wait(count % 3), or_terminate{}));
            }
            started += storm_batch;
            other.hand_over(std::move(batch));
            if (random() % 2 == 0) io.post([&] { happens.set(); });
            if (random() % 2 == 0) {
                static_cast<void>(::send(client.native_handle(), "0123456789", 10, MSG_DONTWAIT));
            }
            io.run_for(patience);
            happens.reset();
        }

        CHECK(resumed == started);
        CHECK(completed > 0);
        CHECK(completed < started);
    });
}
