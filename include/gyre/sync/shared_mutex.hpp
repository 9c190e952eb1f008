// SPDX-License-Identifier: BSL-1.0
//
// A lock between loops that either one writer or any number of readers hold, across co_awaits.
//
// A reader takes one permit of a semaphore, a writer all of them, in the order of asking. So neither side
// starves the other: a writer waits for the readers before it, and those that come later wait behind it.
#pragma once

#include <gyre/sync/shared_semaphore.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace gyre {

/// Must outlive its guards and waiters. A reader must not ask for a second lock while it holds one: a writer
/// may wait in between.
///
/// Threads:  everything here is for any thread.
class shared_mutex {
    enum class access : std::uint8_t { exclusive, shared };

    template <access How>
    class guard_of {
    public:
        guard_of() noexcept = default;

        [[nodiscard]] bool owns() const noexcept { return held_.count() > 0; }
        void unlock() noexcept { held_.release(); }

    private:
        friend class shared_mutex;

        explicit guard_of(shared_semaphore::permits held) noexcept : held_{std::move(held)} {}

        shared_semaphore::permits held_;
    };

    template <access How>
    class [[nodiscard]] lock_awaiter final : public shared_semaphore::permit_waiter {
    public:
        explicit lock_awaiter(shared_mutex& of) noexcept
            : permit_waiter{"shared mutex", of.free_, permits_for(How)} {}

        io_result<guard_of<How>> await_resume() const noexcept {
            if (outcome()) return outcome();
            return guard_of<How>{take()};
        }
    };

public:
    using guard =
        guard_of<access::exclusive>;  ///< Unlocks when destroyed; the null state holds nothing.
    using shared_guard = guard_of<access::shared>;  ///< The same of a reader.

    /// Waits until no other caller holds it.
    ///
    /// @return A guard; empty unless ok.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`, without the lock.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if it is free.
    lock_awaiter<access::exclusive> lock() noexcept {
        return lock_awaiter<access::exclusive>{*this};
    }

    /// Waits until no writer holds it, and none waits that came before. As `lock` else.
    lock_awaiter<access::shared> lock_shared() noexcept {
        return lock_awaiter<access::shared>{*this};
    }

    /// The same for threads without a loop, which block.
    /// Errors:  `errc::timed_out` at `deadline`.
    io_result<guard> lock_blocking(time_point deadline = never) noexcept {
        return block_on(lock(), deadline);
    }
    /// The same for one that only reads.
    io_result<shared_guard> lock_shared_blocking(time_point deadline = never) noexcept {
        return block_on(lock_shared(), deadline);
    }

    /// The lock if it is free and no caller waits; an empty guard otherwise.
    [[nodiscard]] guard try_lock() noexcept { return guard{free_.try_acquire(all)}; }
    /// The same for one that only reads.
    [[nodiscard]] shared_guard try_lock_shared() noexcept {
        return shared_guard{free_.try_acquire(1)};
    }

    /// Makes a reader of a writer, whom no other writer comes before. @pre  `held` owns a lock.
    [[nodiscard]] static shared_guard downgrade(guard held) noexcept {
        return shared_guard{held.held_.split(1)};
    }

private:
    static constexpr std::size_t all =
        std::numeric_limits<std::uint32_t>::max();  // Readers at most.

    [[nodiscard]] static constexpr std::size_t permits_for(access how) noexcept {
        return how == access::exclusive ? all : 1;
    }

    shared_semaphore free_{all};
};

}  // namespace gyre
