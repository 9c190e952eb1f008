// SPDX-License-Identifier: BSL-1.0
//
// What tests of executions have in common: how they explore one, and a loop as far as other threads know it.
#pragma once

#include <runtime/orders/execution_space.hpp>
#include <runtime/wake_state.hpp>

#include <gyre/runtime/loop_backend.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

namespace gyre::testing {

/// Explores `make()`'s threads and prints how many orders there were. What was found, or "".
template <class Make>
std::string explore(unsigned threads, const Make& make) {
    constexpr std::size_t orders_max = 2'000'000;
    const auto space = std::make_unique<execution_space>();

    const executions_explored all = space->explore(threads, orders_max, make);

    MESSAGE(threads, " threads: ", all.orders, " orders, ", all.abandoned,
            " runs abandoned, up to ", all.steps_max, " steps");
    CHECK((all.all || !all.wrong.empty()));
    return all.wrong;
}

/// Whether to explore what takes minutes, too.
[[nodiscard]] inline bool more_orders() { return std::getenv("GYRE_MORE_ORDERS") != nullptr; }

inline void require(bool holds, const char* otherwise) {
    execution_space::here()->require(holds, otherwise);
}

/// A wait in the kernel that another thread ends. It orders no more than acquire and release do.
class modelled_wait {
public:
    void wake() noexcept { woken_.fetch_add(1, std::memory_order_acq_rel); }

    /// False if nothing will wake it any more.
    [[nodiscard]] bool wait() noexcept {
        const auto is_woken = [this] { return woken_.load(std::memory_order_acquire) != 0; };
        if (!execution_space::here()->wait(is_woken)) return false;
        woken_.exchange(0, std::memory_order_acq_rel);
        return true;
    }

private:
    std::atomic<unsigned> woken_ = 0;
};

/// The loop's part of wake_state.hpp, with the steps of io_context::turn.
class modelled_loop {
public:
    modelled_loop() noexcept { wake_.set_backend(backend_); }
    modelled_loop(const modelled_loop&) = delete;
    modelled_loop& operator=(const modelled_loop&) = delete;

    [[nodiscard]] wake_state& wake() noexcept { return wake_; }

    /// Turns until `is_over()`, which is asked once more when it has said that it sleeps. False if it sleeps
    /// for ever.
    template <class Condition>
    [[nodiscard]] bool turn_until(const Condition& is_over) noexcept {
        while (!is_over()) {
            wake_.fall_asleep();
            const bool is_due = !wake_.nothing_posted() || is_over();
            if (!is_due && !backend_.waits.wait()) return false;
            wake_.wake_up();
            take();
        }
        return true;
    }
    void take() noexcept {
        wake_.take_inbox([](work& item) noexcept { item.run(item); });
    }

    /// As io_context's destructor does it.
    ~modelled_loop() { wake_.wait_for_threads(); }

private:
    struct sleeping_backend final : loop_backend {
        void attach(io_context&) noexcept override {}
        error bind_thread() noexcept override { return {}; }
        bool submit(operation&) noexcept override { return true; }
        void cancel(operation&) noexcept override {}
        void forget(descriptor_slot&) noexcept override {}
        error turn(time_point) noexcept override { return {}; }
        void wake() noexcept override { waits.wake(); }
        int wait_handle() noexcept override { return -1; }
        std::size_t in_flight() const noexcept override { return 0; }
        backend_info info() const noexcept override { return {}; }

        modelled_wait waits;
    };

    sleeping_backend backend_;
    wake_state wake_;
};

}  // namespace gyre::testing
