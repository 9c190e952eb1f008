// SPDX-License-Identifier: BSL-1.0
//
// Steady state allocates nothing: malloc itself is replaced here, and counts.
//
// Every case does its work once to fill the caches (frames, heaps, kernel-side tables), then a
// hundred thousand times under the counter, and expects exactly zero, on all threads together. Left
// out of sanitizer builds, where memory is not recycled so that misuse shows.
#include <gyre/interop/callbacks.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/local_message_socket.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/codecs.hpp>
#include <gyre/stream/framed.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/outbox.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/harness.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): the names are glibc's.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}
// NOLINTEND(readability-identifier-naming)

namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;

void count() noexcept {
    if (counting.load(std::memory_order_relaxed))
        allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The program's own malloc takes the place of the C library's everywhere, also inside of it.
extern "C" {

void* malloc(std::size_t size) {
    count();
    return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
    count();
    return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
    count();
    return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
void free(void* memory) { __libc_free(memory); }
}

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr int rounds = ALLOCATION_ROUNDS;

// What malloc was called while `work` ran.
class counted {
public:
    counted() noexcept {
        allocations = 0;
        counting = true;
    }
    [[nodiscard]] long stop() const noexcept {
        counting = false;
        return allocations;
    }
};

// Runs `round()`, a callable that returns task<>, until warm, then under the counter.
template <class Round>
task<> expect_none(Round& round, int repetitions = rounds) {
    for (int warm_up = 0; warm_up < 100; ++warm_up) co_await round();

    const counted from_here;
    for (int each = 0; each < repetitions; ++each) co_await round();
    const long made = from_here.stop();

    CHECK(made == 0);
}

task<> nothing_to_do() { co_return; }

// What one thread has under way with another: to wait for each by itself takes a time slice each where the
// machine is busy.
constexpr int at_once = 50;
static_assert(rounds % at_once == 0);

void wait_until_reached(const std::atomic<int>& count, int target) {
    for (int seen = count.load(std::memory_order_acquire); seen < target;
         seen = count.load(std::memory_order_acquire)) {
        count.wait(seen, std::memory_order_acquire);
    }
}

}  // namespace

TEST_CASE("the counter counts: an allocation is seen") {
    const counted from_here;
    std::free(std::malloc(std::atoi("100")));
    CHECK(from_here.stop() == 1);
}

TEST_CASE(
    "many thousands of frames, written and read through buffers that grow, allocate nothing") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{256};
        buffered_writer writer{pipe.first, {1, 1024}};
        buffered_reader reader{pipe.second, {1, 1024}};
        framed_writer out{writer, length_delimited_codec{}};
        framed_reader in{reader, length_delimited_codec{}};
        const std::array<std::byte, 100> content{};
        const auto round = [&]() -> task<> {
            const auto taken = co_await out.write(content);
            const auto flushed = co_await out.flush();
            const auto frame = co_await in.next();
            CHECK((taken.ok() && flushed.ok() && frame.value().size() == content.size()));
        };

        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of echo round trips allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        stream_socket& near = client;
        stream_socket& far = server;
        std::array<std::byte, 64> message{};
        std::array<std::byte, 64> space{};
        const auto echo = [&]() -> task<> {
            for (;;) {
                const auto got = co_await far.read_some(mutable_buffer{space});
                if (!got.ok()) co_return;
                const auto sent = co_await write_all(far, std::span{space}.first(got.value()));
                if (!sent.ok()) co_return;
            }
        };
        const auto round = [&]() -> task<> {
            const auto sent = co_await write_all(near, const_buffer{message});
            const auto back = co_await read_exactly(near, mutable_buffer{message});
            CHECK((sent.ok() && back.ok()));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(echo());
            co_await expect_none(round);
            static_cast<void>(near.close());
        };
        co_await with_group(body);
    });
}

TEST_CASE("many thousands of echo round trips through leased memory allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        stream_socket& near = client;
        stream_socket& far = server;
        std::array<std::byte, 64> message{};
        const auto echo = [&]() -> task<> {
            for (;;) {
                auto got = co_await far.read();
                if (!got.ok()) co_return;
                const buffer_lease lease = got.take();
                const auto sent = co_await write_all(far, lease.bytes());
                if (!sent.ok()) co_return;
            }
        };
        const auto round = [&]() -> task<> {
            const auto sent = co_await write_all(near, const_buffer{message});
            const auto back = co_await read_exactly(near, mutable_buffer{message});
            CHECK((sent.ok() && back.ok()));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(echo());
            co_await expect_none(round);
            static_cast<void>(near.close());
        };
        co_await with_group(body);
    });
}

TEST_CASE(
    "many thousands of echoes through leased memory on many connections at once allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        constexpr std::size_t connections = 50;
        std::vector<socket_pair> pairs;
        for (std::size_t i = 0; i < connections; ++i) pairs.push_back(local_pair(io));
        const auto echo = [](stream_socket& far) -> task<> {
            for (;;) {
                auto got = co_await far.read();
                if (!got.ok()) co_return;
                const buffer_lease lease = got.take();
                const auto sent = co_await write_all(far, lease.bytes());
                if (!sent.ok()) co_return;
            }
        };
        std::array<std::byte, 64> message{};
        const auto round = [&]() -> task<> {
            for (socket_pair& each : pairs) {
                const auto sent = co_await write_all(each.client, const_buffer{message});
                CHECK(sent.ok());
            }
            for (socket_pair& each : pairs) {
                const auto back = co_await read_exactly(each.client, mutable_buffer{message});
                CHECK(back.ok());
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            for (socket_pair& each : pairs) group.spawn(echo(each.server));
            co_await expect_none(round, rounds / static_cast<int>(connections));
            for (socket_pair& each : pairs) static_cast<void>(each.client.close());
        };
        co_await with_group(body);
    });
}

TEST_CASE("many thousands of datagrams with all that is told of them allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        udp_socket near = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        udp_socket far = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        const endpoint to = far.local_endpoint().value();
        datagram_reports all;
        all.destination = all.arrival = all.hops = all.traffic_class = all.losses = true;
        CHECK(far.report(all).ok());
        datagram_choices choices;
        choices.source = ipv4{{127, 0, 0, 9}};
        std::array<std::byte, 64> message{};
        const auto round = [&]() -> task<> {
            const auto sent = co_await near.send_to(message, to, choices);
            const auto got = co_await far.receive_detailed(message);
            CHECK((sent.ok() && got.value().arrival));
        };
        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of messages with descriptors allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        auto made = local_packet_socket::connected_pair(io);
        local_packet_socket near = std::move(made).get<1>();
        local_packet_socket far = std::move(made).get<2>();
        const std::array numbers{near.native_handle()};
        std::array<std::byte, 64> message{};
        passed_descriptors came;
        const auto round = [&]() -> task<> {
            const auto sent = co_await near.send(message, numbers);
            const auto got = co_await far.receive(message, came);
            CHECK((sent.ok() && got.ok() && came.size() == 1));
        };
        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of accepts and closes allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        // Unix-domain: a hundred thousand TCP connections would use up all ports.
        const auto where = endpoint::local(std::string_view{"\0gyre-allocations", 17});
        auto listening = stream_acceptor::listen(io, where.value());
        stream_acceptor acceptor = listening.take();
        const auto round = [&]() -> task<> {
            const auto both =
                co_await when_all(acceptor.accept(), stream_socket::connect(where.value()));
            CHECK((std::get<0>(both).ok() && std::get<1>(both).ok()));
        };
        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of messages through an outbox, shared and conflated, allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        outbox box;
        const std::string_view text = "a message of some length";
        const auto round = [&]() -> task<> {
            for (outbox::key each = 0; each < 20; ++each) {
                const shared_bytes state = shared_bytes::copy_of(bytes_of(text));
                static_cast<void>(co_await box.send(state, each));
                static_cast<void>(co_await box.send(state, each));
            }
            std::array<std::byte, 20 * 24> space{};
            const io_result<std::size_t> got = co_await read_exactly(pair.server, space);
            CHECK(got.ok());
        };
        const auto write = [&]() -> task<> {
            const io_result<> written = co_await write_from(box, pair.client);
            CHECK(written.ok());
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(write());
            co_await expect_none(round, rounds / 20);
            box.close();
        };
        co_await with_group(body);
        CHECK(box.counters().conflated > 0);
    });
}

TEST_CASE("many thousands of children spawned and joined allocate nothing") {
    on_every_backend([](io_context&) -> task<> {
        const auto body = [&](task_group& group) -> task<> {
            const auto round = [&]() -> task<> {
                group.spawn(nothing_to_do());
                co_await group.join();
            };
            co_await expect_none(round);
        };
        co_await with_group(body);
    });
}

TEST_CASE("many thousands of timeouts that are not needed allocate nothing") {
    on_every_backend([](io_context&) -> task<> {
        channel<int> values{1};
        const auto round = [&]() -> task<> {
            static_cast<void>(co_await values.send(1));
            const auto value = co_await with_timeout(1h, values.receive());
            CHECK(value.ok());
        };
        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of cancelled reads allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        stream_socket& from = server;
        std::array<std::byte, 8> space{};
        const auto round = [&]() -> task<> {
            const auto raced =
                co_await when_any(from.read_some(mutable_buffer{space}), sleep_for(0ns));
            CHECK(std::get<0>(raced.results).error() == errc::canceled);
        };
        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of timers armed and fired allocate nothing") {
    on_every_backend([](io_context&) -> task<> {
        const auto round = [&]() -> task<> {
            const auto slept = co_await sleep_for(100ns);
            CHECK(slept.ok());
        };
        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of launched coroutines, one after the other, allocate nothing") {
    on_every_backend([](io_context& io) -> task<> {
        const auto round = [&]() -> task<> {
            launch(io, nothing_to_do(), or_terminate{});
            co_await yield();
        };
        co_await expect_none(round);
    });
}

TEST_CASE("many thousands of posts from another thread allocate nothing") {
    with_every_backend([](const io_context_options& options) {
        struct counter : work {
            explicit counter(std::atomic<int>& ran) noexcept
                : work{[](work& item) noexcept {
                      auto& self = static_cast<counter&>(item);
                      self.ran->fetch_add(1, std::memory_order_release);
                      self.ran->notify_one();
                  }},
                  ran{&ran} {}
            std::atomic<int>* ran;
        };
        io_context io{options};
        std::atomic<int> ran = 0;
        std::deque<counter> items;
        for (int each = 0; each < at_once; ++each) items.emplace_back(ran);
        std::atomic<bool> go = false;
        std::thread poster{[&, guard = io_context::work_guard{io}] {
            go.wait(false);
            for (int posted = 0; posted < rounds; posted += at_once) {
                for (counter& each : items) io.post(each);
                wait_until_reached(ran, posted + at_once);
            }
        }};
        io.poll();
        const counted from_here;
        go = true;
        go.notify_one();
        io.run_for(patience);
        const long made = from_here.stop();
        poster.join();

        CHECK(ran == rounds);
        CHECK(made == 0);
    });
}

TEST_CASE(
    "thousands of callables posted from another thread allocate nothing once the depot is "
    "stocked") {
    with_every_backend([](const io_context_options& options) {
        constexpr int warm_up = 10'000;  // More than the thread's own cache keeps.
        // One at a time, or how many blocks are needed depends on the scheduler; so not that many.
        constexpr int counted_posts = 3'000;
        io_context io{options};
        std::atomic<int> ran = 0;
        std::atomic<long> made = -1;
        std::thread poster{[&, guard = io_context::work_guard{io}] {
            const auto post = [&](int count, int under_way) {
                for (const int until = ran.load() + count; ran.load() < until;) {
                    const int before = ran.load(std::memory_order_acquire);
                    for (int each = 0; each < under_way; ++each) {
                        io.post([&] {
                            ran.fetch_add(1, std::memory_order_release);
                            ran.notify_one();
                        });
                    }
                    wait_until_reached(ran, before + under_way);
                }
            };
            post(warm_up, at_once);
            const counted from_here;
            post(counted_posts, 1);
            made = from_here.stop();
        }};

        io.run_for(patience);
        poster.join();

        CHECK(ran == warm_up + counted_posts);
        CHECK(made.load() == 0);
    });
}

namespace {

springboard<int> spring() { co_return 1; }
springboard<int> spring_and_wait() {
    co_await yield();
    co_return 1;
}

}  // namespace

TEST_CASE("a springboard costs one allocation from call to callback: its frame") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        int heard = 0;
        const auto hear = [&heard](int value) { heard += value; };
        spring_and_wait().call(io, hear);
        io.run_for(patience);
        frame_cache::trim();
        frame_cache::trim_central_cache();

        const counted from_here;
        spring_and_wait().call(io, hear);
        io.run_for(patience);
        const long made = from_here.stop();

        CHECK(heard == 2);
        CHECK(made == 1);
    });
}

TEST_CASE(
    "many thousands of springboards, each called by the last one's callback, allocate nothing") {
    with_every_backend([](const io_context_options& options) {
        struct chain {
            io_context& io;
            int left;
            void next() {
                if (left-- > 0) spring().call(io, [this](int) { next(); });
            }
        };
        io_context io{options};
        chain it{io, 100};
        it.next();
        io.run_for(patience);
        it.left = rounds;

        const counted from_here;
        it.next();
        io.run_for(patience);
        const long made = from_here.stop();

        CHECK(it.left == -1);
        CHECK(made == 0);
    });
}

TEST_CASE(
    "many thousands of callbacks awaited allocate nothing, whether they are called at once or "
    "later") {
    on_every_backend([](io_context& io) -> task<> {
        const auto at_once = [](callback<int> done) { done(1); };
        const auto later = [&io](callback<int> done) {
            io.post([done = std::move(done)] { done(1); });
        };
        const auto round = [&]() -> task<> {
            const auto first = co_await from_callback<int>(at_once);
            const auto second = co_await from_callback<int>(later);
            CHECK((first.ok() && second.ok()));
        };
        co_await expect_none(round);
    });
}
