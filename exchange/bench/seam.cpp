// SPDX-License-Identifier: BSL-1.0
//
// What the seam costs on each of its sides: nanoseconds of the thread that runs the loop, kernel included.
//
// Each row is measured on all sides in turn, fifteen times over, so that a neighbour's load meets them
// alike; the median is printed, and beside it the middle half. Run it pinned:
//
//     taskset -c 1 exchange_seam
#include <exchange/net/asio/traits.hpp>
#include <exchange/net/gyre/traits.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <span>
#include <utility>
#include <vector>

namespace {

using namespace exchange;

constexpr int repetitions = 15;

double thread_nanoseconds() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

template <class X>
using task_of = typename X::template task<void>;

/// Measures `rounds` rounds from its making to `stop`.
class stopwatch {
public:
    explicit stopwatch(double& nanoseconds) noexcept : out_{&nanoseconds} {}
    void stop(int rounds) const noexcept { *out_ = (thread_nanoseconds() - began_) / rounds; }

private:
    double* out_;
    double began_ = thread_nanoseconds();
};

template <class X>
typename X::template task<std::pair<typename X::stream_socket, typename X::stream_socket>>
connected(typename X::context& on) {
    auto listener = X::listen(on, {gyre::ipv4::loopback(), 0}, {}).take();
    auto near = co_await X::connect(on, listener.local_endpoint().value());
    auto far = co_await listener.accept();
    gyre::expects(near.ok() && far.ok(), "a connection");
    std::pair<typename X::stream_socket, typename X::stream_socket> ends{near.take(), far.take()};
    co_return ends;
}

/// A write and a read that find what they want at once.
template <class X>
task_of<X> write_and_read(typename X::context& on, double& nanoseconds) {
    auto ends = co_await connected<X>(on);
    std::array<std::byte, 64> space{};
    constexpr int rounds = 10'000;
    const stopwatch watch{nanoseconds};
    for (int each = 0; each < rounds; ++each) {
        const auto sent = co_await ends.first.write_some(gyre::const_buffer{space});
        const auto got = co_await ends.second.read_some(space);
        gyre::expects(sent.value() == got.value(), "all of it");
    }
    watch.stop(rounds);
}

template <class X>
task_of<X> echo(typename X::stream_socket peer) {
    std::array<std::byte, 64> space{};
    for (;;) {
        const auto got = co_await peer.read_some(space);
        if (!got.ok()) co_return;
        static_cast<void>(
            co_await peer.write_some(gyre::const_buffer{std::span{space}.first(got.value())}));
    }
}

/// A round trip between two tasks, each of which waits for the other: two writes, two reads that wait.
template <class X>
task_of<X> round_trip(typename X::context& on, double& nanoseconds) {
    auto ends = co_await connected<X>(on);
    X::launch(on, echo<X>(std::move(ends.second)));
    std::array<std::byte, 64> space{};
    constexpr int rounds = 10'000;
    const stopwatch watch{nanoseconds};
    for (int each = 0; each < rounds; ++each) {
        const auto sent = co_await ends.first.write_some(gyre::const_buffer{space});
        const auto got = co_await ends.first.read_some(space);
        gyre::expects(sent.value() == got.value(), "all of it");
    }
    watch.stop(rounds);
}

template <class X>
task_of<X> pong(typename X::event& ping, typename X::event& back, int rounds) {
    for (int each = 0; each < rounds; ++each) {
        static_cast<void>(co_await ping.wait());
        ping.reset();
        back.set();
    }
}

/// One event between two tasks: set, reset, wait.
template <class X>
task_of<X> event_between_tasks(typename X::context& on, double& nanoseconds) {
    typename X::event ping;
    typename X::event back;
    constexpr int rounds = 50'000;
    X::launch(on, pong<X>(ping, back, rounds));
    const stopwatch watch{nanoseconds};
    for (int each = 0; each < rounds; ++each) {
        ping.set();
        static_cast<void>(co_await back.wait());
        back.reset();
    }
    watch.stop(2 * rounds);
}

template <class X>
task_of<X> event_already_set(typename X::context&, double& nanoseconds) {
    typename X::event set;
    set.set();
    constexpr int rounds = 100'000;
    const stopwatch watch{nanoseconds};
    for (int each = 0; each < rounds; ++each) static_cast<void>(co_await set.wait());
    watch.stop(rounds);
}

template <class X>
task_of<X> wait_for_end(typename X::timer& timer) {
    static_cast<void>(co_await timer.wait());
}

/// A deadline that a coroutine waits for, moved to later.
template <class X>
task_of<X> deadline_pushed_back(typename X::context& on, double& nanoseconds) {
    typename X::timer timer{on};
    typename X::timer step{on};
    const gyre::time_point now = X::now(on);
    timer.expire_at(now + std::chrono::hours{1});
    X::launch(on, wait_for_end<X>(timer));
    static_cast<void>(co_await step.wait_until(now + std::chrono::milliseconds{1}));
    constexpr int rounds = 100'000;
    const stopwatch watch{nanoseconds};
    for (int each = 0; each < rounds; ++each) {
        timer.expire_at(now + std::chrono::hours{1} + std::chrono::milliseconds{each});
    }
    watch.stop(rounds);
    timer.cancel();
    static_cast<void>(co_await step.wait_until(X::now(on) + std::chrono::milliseconds{1}));
}

template <class X>
typename X::template task<int> one() {
    co_return 1;
}

template <class X>
task_of<X> task_awaited(typename X::context&, double& nanoseconds) {
    constexpr int rounds = 100'000;
    int sum = 0;
    const stopwatch watch{nanoseconds};
    for (int each = 0; each < rounds; ++each) sum += co_await one<X>();
    watch.stop(rounds);
    gyre::expects(sum == rounds, "all of them");
}

constexpr int batch_size = 16;

template <class X>
task_of<X> datagrams_in_batches(typename X::context& on, double& nanoseconds) {
    auto sender = X::bind(on, {gyre::ipv4::loopback(), 0}, {}).take();
    auto receiver = X::bind(on, {gyre::ipv4::loopback(), 0}, {}).take();
    gyre::expects(sender.connect(receiver.local_endpoint().value()).ok(), "a peer");
    const std::vector<std::byte> messages(1400);
    const std::array<gyre::const_buffer, 2> parts{std::span{messages}.first(20), messages};
    typename X::datagram_batch batch{batch_size, 1500};
    constexpr int rounds = 500;
    const stopwatch watch{nanoseconds};
    for (int each = 0; each < rounds; ++each) {
        while (!batch.full()) gyre::expects(batch.append(parts), "there is room");
        while (!batch.empty()) {
            const auto sent = co_await sender.send(batch);
            gyre::expects(sent.ok(), "it is taken");
        }
    }
    watch.stop(rounds * batch_size);
}

struct row {
    const char* name;
    task_of<gyre_traits> (*on_gyre)(gyre::io_context&, double&);
    task_of<asio_traits> (*on_asio)(asio_loop&, double&);
};

const std::array<row, 7> rows{{
    {"write and read, 64 bytes there", write_and_read<gyre_traits>, write_and_read<asio_traits>},
    {"round trip between two tasks", round_trip<gyre_traits>, round_trip<asio_traits>},
    {"event set, waited for by another", event_between_tasks<gyre_traits>,
     event_between_tasks<asio_traits>},
    {"wait for an event that is set", event_already_set<gyre_traits>,
     event_already_set<asio_traits>},
    {"deadline pushed back", deadline_pushed_back<gyre_traits>, deadline_pushed_back<asio_traits>},
    {"a task awaited", task_awaited<gyre_traits>, task_awaited<asio_traits>},
    {"datagram of 1420 bytes, of a batch", datagrams_in_batches<gyre_traits>,
     datagrams_in_batches<asio_traits>},
}};

template <class X, class Body>
double measure(const typename X::context_options& options, Body body) {
    typename X::context on{options};
    double nanoseconds = 0;
    X::launch(on, body(on, nanoseconds));
    on.run();
    return nanoseconds;
}

void print(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    std::printf(" | %7.1f (%.1f-%.1f)", values[values.size() / 2], values[values.size() / 4],
                values[values.size() * 3 / 4]);
}

}  // namespace

int main() {
    gyre::io_context_options uring;
    uring.backend = gyre::backend_choice::uring;
    gyre::io_context_options epoll;
    epoll.backend = gyre::backend_choice::epoll;
    std::printf("%-34s | gyre on io_uring | gyre on epoll | Asio   (ns: median, middle half)\n",
                "");
    for (const row& each : rows) {
        std::array<std::vector<double>, 3> seen;
        for (int repetition = 0; repetition < repetitions; ++repetition) {
            seen[0].push_back(measure<gyre_traits>(uring, each.on_gyre));
            seen[1].push_back(measure<gyre_traits>(epoll, each.on_gyre));
            seen[2].push_back(measure<asio_traits>({}, each.on_asio));
        }
        std::printf("%-34s", each.name);
        for (std::vector<double>& values : seen) print(values);
        std::printf("\n");
    }
}
