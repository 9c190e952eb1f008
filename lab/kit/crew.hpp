// SPDX-License-Identifier: BSL-1.0
//
// Threads that a session keeps between its slices.
//
// Making threads is not what a slice measures. Waking them is, once for each slice, and costs every
// contender the same.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lab {

class crew {
public:
    /// @param job  What each thread does whenever it is told to `go`; it is given the thread's number.
    crew(std::size_t threads, std::function<void(std::size_t)> job) : job_{std::move(job)} {
        for (std::size_t number = 0; number < threads; ++number) {
            threads_.emplace_back([this, number] { live(number); });
        }
    }

    ~crew() {
        {
            const std::lock_guard lock{mutex_};
            ending_ = true;
        }
        woken_.notify_all();
        for (std::thread& each : threads_) each.join();
    }

    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }

    /// Has every thread do its job once. Not again before `wait` has returned.
    void go() {
        {
            const std::lock_guard lock{mutex_};
            ++rounds_;
            working_ = threads_.size();
        }
        woken_.notify_all();
    }

    /// Waits until all have done it.
    void wait() {
        std::unique_lock lock{mutex_};
        rested_.wait(lock, [this] { return working_ == 0; });
    }

private:
    void live(std::size_t number) {
        for (std::uint64_t round = 1;; ++round) {
            {
                std::unique_lock lock{mutex_};
                woken_.wait(lock, [&] { return ending_ || rounds_ == round; });
                if (ending_) return;
            }
            job_(number);
            const std::lock_guard lock{mutex_};
            if (--working_ == 0) rested_.notify_one();
        }
    }

    std::function<void(std::size_t)> job_;
    std::mutex mutex_;
    std::condition_variable woken_;
    std::condition_variable rested_;
    std::uint64_t rounds_ = 0;
    std::size_t working_ = 0;
    bool ending_ = false;
    std::vector<std::thread> threads_;  // Last: they use all of the above.
};

}  // namespace lab
