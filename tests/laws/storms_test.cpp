// SPDX-License-Identifier: BSL-1.0
//
// Load at the edges: no memory to receive into, rings that are too small, cancellation without end,
// descriptor numbers that change owners faster than events travel. Nothing may be lost, nothing
// delivered twice, nothing stall.
//
// GYRE_STORM_SECONDS says for how long on each backend; without it a quarter of a second. Round trips are
// reported; only a stall of many seconds is an error, since the machine may be busy.
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

duration storm_length() {
    const char* const asked = std::getenv("GYRE_STORM_SECONDS");
    return asked == nullptr ? duration{250ms} : duration{std::chrono::seconds{std::atoi(asked)}};
}

/// Durations by powers of two and sixteenths of them: quantiles within 6 %.
class spread {
public:
    void note(duration it) noexcept {
        const auto value = static_cast<std::uint64_t>(std::max<duration::rep>(it.count(), 16));
        const auto power = static_cast<std::size_t>(std::bit_width(value)) - 5;
        ++counts_[power * 16 + (value >> power) % 16];
        ++total_;
        most_ = std::max(most_, it);
    }
    void add(const spread& other) noexcept {
        for (std::size_t each = 0; each < counts_.size(); ++each)
            counts_[each] += other.counts_[each];
        total_ += other.total_;
        most_ = std::max(most_, other.most_);
    }
    [[nodiscard]] double quantile_us(double part) const noexcept {
        auto left = static_cast<std::uint64_t>(static_cast<double>(total_) * part);
        for (std::size_t each = 0; each < counts_.size(); ++each) {
            if (left < counts_[each]) {
                return static_cast<double>((each % 16 + 16) << (each / 16)) / 1000;
            }
            left -= counts_[each];
        }
        return static_cast<double>(most_.count()) / 1000;
    }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    [[nodiscard]] duration most() const noexcept { return most_; }
    [[nodiscard]] std::string text() const {
        return std::to_string(total_) + " round trips, us: p50 " +
               std::to_string(quantile_us(0.5)) + ", p99 " + std::to_string(quantile_us(0.99)) +
               ", p99.9 " + std::to_string(quantile_us(0.999)) + ", max " +
               std::to_string(static_cast<double>(most_.count()) / 1000);
    }

private:
    std::array<std::uint64_t, 60 * 16> counts_{};
    std::uint64_t total_ = 0;
    duration most_{};
};

std::byte pattern(std::uint64_t position) noexcept {
    return static_cast<std::byte>(position * 31 + (position >> 8));
}

/// How a server reads, and what it does with what it has read.
struct serving {
    bool leases = false;
    std::size_t leases_held = 0;  // How many it keeps back, of all connections together.
};

/// One loop's part of an echo storm: pairs of sockets, clients that verify, servers as described.
class echo_storm {
public:
    echo_storm(io_context& io, serving how, unsigned seed) : io_{io}, how_{how}, random_{seed} {}

    task<> run(int connections, duration length) {
        ends_ = io_.now() + length;
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < connections; ++each) {
                auto [near, far] = local_pair(io_);
                group.spawn(serve_one(std::move(far)));
                group.spawn(ask(std::move(near)));
            }
            co_return;
        };
        co_await with_group(body);
        held_.clear();
    }

    spread trips;
    std::uint64_t wrong = 0;

private:
    task<> serve_one(stream_socket peer) {
        std::array<std::byte, 2048> space;
        for (;;) {
            if (how_.leases) {
                io_result<buffer_lease> got = co_await peer.read();
                if (!got.ok()) co_return;
                buffer_lease lease = got.take();
                const auto sent = co_await write_all(peer, lease.bytes());
                if (!sent.ok()) co_return;
                held_.push_back(std::move(lease));
                while (held_.size() > how_.leases_held) held_.pop_front();
            } else {
                const io_result<std::size_t> got = co_await peer.read_some(space);
                if (!got.ok()) co_return;
                const auto sent = co_await write_all(peer, const_buffer{space}.first(got.value()));
                if (!sent.ok()) co_return;
            }
        }
    }

    task<> ask(stream_socket server) {
        std::vector<std::byte> out(4096);
        std::vector<std::byte> back(4096);
        std::uint64_t position = 0;
        while (io_.now() < ends_) {
            const std::size_t size = 1 + random_() % out.size();
            for (std::size_t each = 0; each < size; ++each) out[each] = pattern(position + each);
            const time_point begun = std::chrono::steady_clock::now();
            const auto sent = co_await write_all(server, const_buffer{out}.first(size));
            const auto got = co_await read_exactly(server, mutable_buffer{back}.first(size));
            if (!sent.ok() || !got.ok()) {
                ++wrong;
                co_return;
            }
            trips.note(std::chrono::steady_clock::now() - begun);
            for (std::size_t each = 0; each < size; ++each) {
                wrong += back[each] == pattern(position + each) ? 0U : 1U;
            }
            position += size;
        }
    }

    io_context& io_;
    serving how_;
    std::mt19937 random_;
    time_point ends_{};
    std::deque<buffer_lease> held_;
};

/// Runs an echo storm on a loop with `options`, then on each loop of a pool of them.
void check_echo_storm(const io_context_options& options, int connections, serving how) {
    const unsigned seed = std::random_device{}();
    INFO("seed ", seed);
    const std::size_t before = open_descriptors();
    spread all;
    std::uint64_t wrong = 0;
    {
        io_context io{options};
        echo_storm storm{io, how, seed};
        bool ended = false;
        launch(io, storm.run(connections, storm_length()),
               [&ended](task_outcome<void>) { ended = true; });
        io.run_for(storm_length() + patience);
        REQUIRE(ended);
        all.add(storm.trips);
        wrong += storm.wrong;
        CHECK(io.receive_memory().blocks_lent == 0);
    }
    {
        io_pool_options pooled;
        pooled.threads = 2;
        pooled.loop = options;
        io_pool pool{pooled};
        std::deque<echo_storm> storms;
        for (std::size_t each = 0; each < pool.size(); ++each) {
            storms.emplace_back(pool[each], how, seed + static_cast<unsigned>(each));
        }
        for (std::size_t each = 0; each < pool.size(); ++each) {
            launch(pool[each], storms[each].run(connections / 2, storm_length()), or_terminate{});
        }
        pool.wait();
        for (const echo_storm& each : storms) {
            all.add(each.trips);
            wrong += each.wrong;
        }
    }

    MESSAGE(std::string{describe(options.backend)}, ": ", all.text());
    CHECK(wrong == 0);
    CHECK(all.total() > 100);
    CHECK(all.most() < 20s);
    CHECK(open_descriptors() == before);
}

}  // namespace

TEST_CASE("storm: with every block on lease, reads go on in memory that is fetched for them") {
    with_every_backend([](io_context_options options) {
        options.receive_block_size = 4096;
        options.receive_blocks_kept = 4;
        check_echo_storm(options, 64, {.leases = true, .leases_held = 500});
    });
}

TEST_CASE("storm: submission and completion queues that are far too small only cost time") {
    with_every_backend([](io_context_options options) {
        options.ring_submissions = 8;
        options.ring_completions = 16;
        check_echo_storm(options, 300, {});
        check_echo_storm(options, 300, {.leases = true, .leases_held = 0});
    });
}

namespace {

/// One loop's part of a storm of cancellations: every second read is stopped, half of those by another
/// thread, while a writer sends a sequence that must arrive whole.
class cancel_storm {
public:
    cancel_storm(io_context& io, unsigned seed) : io_{io}, random_{seed} {}

    task<> run(int connections, duration length) {
        ends_ = io_.now() + length;
        std::thread other{[this] { stop_what_is_handed_over(); }};
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < connections; ++each) {
                auto [near, far] = local_pair(io_);
                group.spawn(write_sequence(std::move(near)));
                group.spawn(read_sequence(std::move(far)));
            }
            co_return;
        };
        co_await with_group(body);
        closed_ = true;
        other.join();
    }

    std::uint64_t begun = 0;
    std::uint64_t resumed = 0;
    std::uint64_t canceled = 0;
    std::uint64_t received = 0;
    std::uint64_t wrong = 0;

private:
    task<> write_sequence(stream_socket to) {
        std::uint64_t position = 0;
        std::array<std::byte, 64> out;
        while (io_.now() < ends_) {
            const std::size_t size = 1 + random_() % out.size();
            for (std::size_t each = 0; each < size; ++each) out[each] = pattern(position + each);
            const auto sent = co_await write_all(to, const_buffer{out}.first(size));
            if (!sent.ok()) {
                ++wrong;
                co_return;
            }
            position += size;
            // Now and then the reader has to wait, or nothing could be stopped.
            for (unsigned pause = static_cast<unsigned>(random_()) % 16; pause > 0; --pause) {
                co_await yield();
            }
        }
        sent_ += position;
    }

    task<> read_one(stream_socket& from, std::array<std::byte, 64>& space, bool lease,
                    io_result<std::size_t>& result, event& done) {
        if (lease) {
            io_result<buffer_lease> got = co_await from.read();
            if (got.ok()) {
                const buffer_lease it = got.take();
                // Blocks of this storm's loops are as large as the buffer.
                std::copy(it.bytes().begin(), it.bytes().end(), space.begin());
                result = it.size();
            } else {
                result = got.error();
            }
        } else {
            result = co_await from.read_some(space);
        }
        ++resumed;
        done.set();
    }

    task<> read_sequence(stream_socket from) {
        std::uint64_t position = 0;
        std::array<std::byte, 64> space{};
        for (std::uint64_t round = 0;; ++round) {
            io_result<std::size_t> result;
            event done;
            ++begun;
            const stop_handle stop = launch(
                io_, read_one(from, space, random_() % 2 == 0, result, done), or_terminate{});
            if (round % 4 == 0) stop.request_stop();
            if (round % 4 == 2) hand_over(stop);
            static_cast<void>(co_await done.wait());
            if (result.error() == errc::canceled) {
                ++canceled;
                continue;
            }
            if (!result.ok()) {
                wrong += result.error() == errc::eof ? 0U : 1U;
                break;
            }
            for (std::size_t each = 0; each < result.value(); ++each) {
                wrong += space[each] == pattern(position + each) ? 0U : 1U;
            }
            position += result.value();
        }
        received += position;
    }

    void hand_over(const stop_handle& it) {
        const std::lock_guard held{lock_};
        handed_.push_back(it);
    }
    void stop_what_is_handed_over() {
        while (!closed_.load()) {
            std::vector<stop_handle> some;
            {
                const std::lock_guard held{lock_};
                some.swap(handed_);
            }
            for (const stop_handle& each : some) each.request_stop();
            if (some.empty()) std::this_thread::yield();
        }
    }

    io_context& io_;
    std::mt19937 random_;
    time_point ends_{};
    std::uint64_t sent_ = 0;
    std::mutex lock_;
    std::vector<stop_handle> handed_;
    std::atomic<bool> closed_ = false;

public:
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
};

}  // namespace

TEST_CASE(
    "storm: every second read is stopped, half of them by another thread, and no byte is lost") {
    with_every_backend([](io_context_options options) {
        const unsigned seed = std::random_device{}();
        INFO("seed ", seed);
        options.receive_block_size = 64;
        const std::size_t before = open_descriptors();
        {
            io_pool_options pooled;
            pooled.threads = 2;
            pooled.loop = options;
            io_pool pool{pooled};
            std::deque<cancel_storm> storms;
            for (std::size_t each = 0; each < pool.size(); ++each) {
                storms.emplace_back(pool[each], seed + static_cast<unsigned>(each));
                launch(pool[each], storms[each].run(16, storm_length()), or_terminate{});
            }
            pool.wait();
            for (const cancel_storm& each : storms) {
                MESSAGE(std::string{describe(options.backend)}, ": ", each.begun, " reads, ",
                        each.canceled, " stopped, ", each.received, " bytes");
                CHECK(each.begun == each.resumed);
                CHECK(each.canceled > 0);
                CHECK(each.received == each.sent());
                CHECK(each.wrong == 0);
            }
        }
        CHECK(open_descriptors() == before);
    });
}

namespace {

/// Opens, uses and closes pairs as fast as it can, each with its own word to say.
task<> churn_descriptors(std::uint32_t first_word, duration length,
                         std::atomic<std::uint64_t>& pairs, std::atomic<std::uint64_t>& wrong) {
    io_context& io = *io_context::current();
    const time_point ends = io.now() + length;
    for (std::uint32_t word = first_word; io.now() < ends; word += 16) {
        std::array<int, 2> numbers{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data()) != 0) {
            ++wrong;
            co_return;
        }
        stream_socket near = stream_socket::adopt(io, numbers[0]);
        stream_socket far = stream_socket::adopt(io, numbers[1]);
        std::uint32_t heard = 0;
        bool waits = false;
        io_result<std::size_t> left{errc::malformed};
        const auto listen = [&]() -> task<> {
            static_cast<void>(co_await read_exactly(
                far, mutable_buffer{reinterpret_cast<std::byte*>(&heard), sizeof heard}));
            std::array<std::byte, 4> more{};
            waits = true;
            left = co_await far.read_some(more);  // Still pending when its socket closes.
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(listen());
            if (word % 3 == 0) co_await yield();
            static_cast<void>(co_await write_all(
                near, const_buffer{reinterpret_cast<const std::byte*>(&word), sizeof word}));
            while (!waits) co_await yield();
            if (word % 2 == 0) co_await yield();
            static_cast<void>(far.close());
        };
        co_await with_group(body);
        if (heard != word || left.error() != errc::canceled) ++wrong;
        ++pairs;
    }
}

}  // namespace

TEST_CASE("storm: descriptor numbers that change owners at once never carry another one's words") {
    with_every_backend([](const io_context_options& options) {
        const std::size_t before = open_descriptors();
        std::atomic<std::uint64_t> pairs = 0;
        std::atomic<std::uint64_t> wrong = 0;
        {
            io_pool_options pooled;
            pooled.threads = 3;
            pooled.loop = options;
            io_pool pool{pooled};
            for (std::uint32_t each = 0; each < 12; ++each) {
                launch(pool, churn_descriptors(each + 1, storm_length(), pairs, wrong),
                       or_terminate{});
            }
            pool.wait();
        }

        MESSAGE(std::string{describe(options.backend)}, ": ", pairs.load(), " pairs");
        CHECK(pairs > 12);
        CHECK(wrong == 0);
        CHECK(open_descriptors() == before);
    });
}
