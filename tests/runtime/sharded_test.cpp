// SPDX-License-Identifier: BSL-1.0
//
// Parts that live and die on their loops, and are asked there.
#include <gyre/runtime/sharded.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/pools.hpp>

#include <atomic>
#include <cstddef>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// Notes every touch from a thread that is not its own.
class part {
public:
    part(io_context& home, std::size_t index, std::atomic<int>& alive) noexcept
        : home_{&home}, alive_{&alive}, number_{index} {
        ++*alive_;
    }
    part(part&& other) noexcept
        : home_{other.home_},
          alive_{std::exchange(other.alive_, nullptr)},
          number_{other.number_},
          strangers{other.strangers} {}
    part& operator=(part&&) = delete;
    ~part() {
        if (alive_ == nullptr) return;
        --*alive_;
        if (!home_->running_on_this_thread()) *alive_ += 1000;
    }

    int add(int amount) noexcept {
        if (!home_->running_on_this_thread()) ++strangers;
        return sum_ += amount;
    }
    [[nodiscard]] std::size_t number() const noexcept { return number_; }

private:
    io_context* home_;
    std::atomic<int>* alive_;
    std::size_t number_;
    int sum_ = 0;

public:
    int strangers = 0;
};

task<int> add_later(part& it) {
    static_cast<void>(co_await sleep_for(1ms));
    co_return it.add(100);
}

}  // namespace

TEST_CASE("each part is made, asked and destroyed on its own loop") {
    with_pools(3, [](io_context& io, io_pool& pool) {
        std::atomic<int> alive = 0;
        const auto use = [&]() -> task<> {
            const auto make = [&alive](io_context& home, std::size_t index) {
                return part{home, index, alive};
            };
            sharded<part> parts = co_await sharded<part>::start(pool, make);
            CHECK(alive == 3);

            const auto five = [](part& it) { return it.add(5); };
            const int first = co_await parts.at(1, five);
            const int second = co_await parts.at(1, five);
            const int other = co_await parts.at(2, five);
            const int later = co_await parts.at(2, add_later);
            CHECK(first == 5);
            CHECK(second == 10);
            CHECK(other == 5);
            CHECK(later == 105);

            std::atomic<int> sum = 0;
            const auto collect = [&sum](part& it) { sum += it.add(0); };
            co_await parts.on_all(collect);
            CHECK(sum == 115);

            std::atomic<std::size_t> numbers = 0;
            const auto find_local = [&](part& it) {
                if (&parts.local() == &it) numbers += it.number() + 1;
                numbers += it.strangers > 0 ? 100U : 0U;
            };
            co_await parts.on_all(find_local);
            CHECK(numbers == 6);

            co_await parts.stop();
            CHECK(alive == 0);
        };
        run_here(io, use());
    });
}
