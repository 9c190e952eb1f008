// SPDX-License-Identifier: BSL-1.0
//
// Takes real code of several threads through every execution that its memory orders allow.
//
// tests/support/every_order.hpp knows one order of all steps. Here a load may also yield a value that
// another thread has overwritten already, unless memory orders forbid it. ThreadSanitizer, where it is there,
// knows no order but that of the model, so it looks for races on plain data in each execution.
#pragma once

#include <runtime/orders/fiber.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gyre::testing {

/// What came of an exploration.
struct executions_explored {
    std::size_t orders = 0;  ///< No two of which differ only in steps that commute.
    std::size_t abandoned =
        0;  ///< Runs that turned out to repeat one, or waited for what was to come later.
    std::size_t steps_max = 0;  ///< Accesses to atomics in the longest execution.
    bool all = false;           ///< No order is left out.
    std::string wrong;          ///< What was found, and how it came about; empty if all is well.
};

/// The memory of one execution, its threads, and the choices that have led there.
///
/// The rules are those of C++20 for what the library uses, which has no fences: coherence of each atomic;
/// acquire, release and release sequences; read-modify-writes of the last value; one order of all that is
/// sequentially consistent. They are stricter in two points: stores to one atomic take effect as they are
/// executed, and a load sees no store that is executed later.
class execution_space {
public:
    static constexpr unsigned threads_max = 4;

    execution_space() noexcept { current = this; }
    execution_space(const execution_space&) = delete;
    execution_space& operator=(const execution_space&) = delete;
    ~execution_space() { current = nullptr; }

    /// The space that the calling thread is explored in; null in other threads.
    [[nodiscard]] static execution_space* here() noexcept {
        return current != nullptr && current->running_ < threads_max ? current : nullptr;
    }

    /// Calls `run(thread)` of a fresh `make()` on each of `size` threads, in every order of their steps until
    /// something is wrong or there were `orders_max`; in the end `wrong_at_end()`, a text or null.
    template <class Make>
    executions_explored explore(unsigned size, std::size_t orders_max, const Make& make) {
        size_ = size;
        do {
            auto it = make();
            using scenario = decltype(it);
            begin_execution();
            run_threads([](void* of, unsigned thread) { static_cast<scenario*>(of)->run(thread); },
                        &it);
            if (const char* const wrong = it.wrong_at_end()) fail(wrong);
        } while (end_execution() && found_.orders < orders_max);
        return found_;
    }

    // By an explored thread.

    /// Returns when `over()` is true. False if no thread can make it so any more.
    template <class Condition>
    [[nodiscard]] bool wait(const Condition& over) {
        for (;;) {
            begin_look();
            const bool is_over = over();
            switch (end_look(is_over)) {
                case look::is_over: return true;
                case look::is_useless: return false;
                case look::again: break;
            }
        }
    }
    void require(bool holds, const char* otherwise) {
        if (!holds) fail(otherwise);
    }

    // For modelled_atomic. `initial` is its value, unless it was accessed before.

    [[nodiscard]] std::uint64_t load(const void* at, std::uint64_t initial,
                                     std::memory_order order);
    void store(const void* at, std::uint64_t initial, std::uint64_t next, std::memory_order order);
    [[nodiscard]] std::uint64_t last(const void* at, std::uint64_t initial,
                                     std::memory_order order);
    void replace_last(const void* at, std::uint64_t next, std::memory_order order);
    [[nodiscard]] bool compare_exchange(const void* at, std::uint64_t initial,
                                        std::uint64_t& expected, std::uint64_t next,
                                        std::memory_order success, std::memory_order failure);
    void end(const void* at, std::uint64_t initial);

private:
    static constexpr unsigned atomics_max = 48;
    static constexpr unsigned steps_max = 500;
    static constexpr unsigned outside = threads_max;

    enum class look : std::uint8_t { is_over, is_useless, again };
    enum class state : std::uint8_t { ready, waiting, stuck, finished };

    /// What a thread knows, or learns by a message: values that are too old, and what has happened before.
    struct knowledge {
        std::array<std::uint8_t, atomics_max> seen{};  // A place in the history of each atomic.
        std::array<std::uint16_t, threads_max> happened{};
        std::uint64_t releases = 0;  // Of messages; for ThreadSanitizer.
        void add(const knowledge& other) noexcept;
    };
    struct message {
        std::uint64_t value = 0;
        knowledge told;  // To those who acquire it.
    };
    struct cell {
        const void* at = nullptr;
        std::vector<message> history;
        std::size_t ordered = 0;  // What is older is seen by no sequentially consistent access.
        std::array<std::uint16_t, threads_max> accessed{};
        bool ended = false;
    };
    struct access {
        const void* at = nullptr;
        bool changes = false;
        bool is_ordered = false;
    };
    struct explored_thread {
        state now = state::ready;
        bool looks = false;  // A condition of its is being evaluated.
        access next;
        knowledge knows;
    };
    /// Between values to read if there is a count, else between threads.
    struct choice {
        unsigned chosen = 0;
        unsigned count = 0;
        unsigned open = 0;   // Threads to be tried, as bits.
        unsigned tried = 0;  // Those before the chosen one.
    };
    struct event {
        unsigned thread;
        const char* what;
        unsigned cell;
        std::uint64_t value;
    };
    using body = void (*)(void*, unsigned);

    [[nodiscard]] static bool commute(const access& one, const access& other) noexcept;

    void begin_execution();
    void run_threads(body run, void* of);
    [[nodiscard]] bool end_execution();
    [[nodiscard]] bool next_path();
    void run_this_thread();

    void begin_look() noexcept;
    [[nodiscard]] look end_look(bool is_over) noexcept;
    void abandon() noexcept { repeats_ = true; }
    void fail(const char* what);
    void record(const char* what, const cell& it, std::uint64_t value);

    [[nodiscard]] cell& cell_of(const void* at, std::uint64_t initial);
    [[nodiscard]] cell& reach(const void* at, std::uint64_t initial, bool changes, bool is_ordered);
    [[nodiscard]] std::size_t oldest_seen(const cell& it, std::memory_order order) const noexcept;
    std::uint64_t read(cell& it, std::size_t place, std::memory_order order);
    void write(cell& it, std::uint64_t value, std::memory_order order, const message* continues);

    [[nodiscard]] unsigned choose_value(unsigned count);
    [[nodiscard]] unsigned choose_thread();
    [[nodiscard]] unsigned choose_among(unsigned ready);
    [[nodiscard]] unsigned choose_when_all_wait() noexcept;
    void pass_to(unsigned thread) noexcept;

    [[nodiscard]] unsigned number_of(const cell& it) const noexcept {
        return static_cast<unsigned>(&it - cells_.data());
    }
    [[nodiscard]] explored_thread& self() noexcept { return threads_[running_]; }

    static inline execution_space* current = nullptr;

    std::array<fiber, threads_max + 1> fibers_;
    std::array<explored_thread, threads_max> threads_{};
    unsigned size_ = 0;
    unsigned running_ = outside;
    body run_ = nullptr;
    void* of_ = nullptr;

    std::vector<cell> cells_ = std::vector<cell>(atomics_max);
    unsigned cells_used_ = 0;
    unsigned releases_used_ = 0;
    std::array<char, 64> tokens_{};  // Of these releases.

    std::vector<choice> path_;
    std::size_t depth_ = 0;
    unsigned asleep_ =
        0;  // Threads whose next step was tried earlier, and commutes with all since.
    unsigned alone_ = outside;  // The one that looks while all wait.
    bool gives_up_ = false;     // It does so for good, for nothing can happen any more.
    bool repeats_ = false;
    std::vector<event> events_;
    executions_explored found_;
};

}  // namespace gyre::testing
