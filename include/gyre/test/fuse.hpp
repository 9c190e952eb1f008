// SPDX-License-Identifier: BSL-1.0
//
// One operation that fails, so that the paths behind failures are walked, each of them.
//
// What fails in production is what no test has made fail. A fuse counts operations and lets one of them
// end with an error that it may have; `fail_each` runs a scenario again and again, with the first
// operation failing, then the second, and so on, each with every error, until none is left.
//
//     const auto report = gyre::test::fail_each([](gyre::test::fuse& fault) -> std::string {
//         gyre::test::world world;
//         auto& machine = world.add("server");
//         machine.set_fuse(&fault);
//         return world.run(machine, program(machine.at(7000))).text();
//     });
//     CHECK_MESSAGE(report.ok(), report.text());
//
// The same on the kernel's own backends: `fused_loops` instead of a world, around whatever makes loops.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/base/time.hpp>
#include <gyre/runtime/operation.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace gyre {

class loop_decorator;

}  // namespace gyre

namespace gyre::test {

/// The errors that an operation may end with on Linux, the usual ones; those that are met by chance, so not
/// such as tell of a mistake of the program's. Empty for what cannot fail.
[[nodiscard]] std::span<const errc> errors_of(opcode code) noexcept;

/// Lets one operation fail. Of those that have no errors to fail with none is counted. Several loops may
/// have it at once, on threads of their own.
class fuse {
public:
    /// Counts only.
    fuse() noexcept = default;

    /// @param  nth    Of the operations, from 1 on.
    /// @param  error  Of its errors, from 0 on.
    fuse(std::size_t nth, std::size_t error) noexcept : nth_{nth}, error_{error} {}

    /// Nothing fails; `instead` is called as the nth operation begins, on the thread that begins it.
    /// @param  instead  Ends a program from outside at each of its steps: requests a stop, raises a
    ///                  signal. Does not throw.
    fuse(std::size_t nth, std::function<void()> instead)
        : nth_{nth}, instead_{std::move(instead)} {}

    /// For hosts and backends: `op` begins. What it is to fail with, -errno; 0: nothing.
    [[nodiscard]] int burn(const operation& op) noexcept;

    [[nodiscard]] std::size_t counted() const noexcept {
        return counted_.load(std::memory_order_relaxed);
    }

    /// Whether the nth operation has come. The rest is known once it has.
    [[nodiscard]] bool blown() const noexcept { return blown_.load(std::memory_order_acquire); }

    /// What it has failed with, if it has.
    [[nodiscard]] error fault() const noexcept { return fault_; }

    /// Whether there is another error for the same operation.
    [[nodiscard]] bool has_more_errors() const noexcept { return more_errors_; }

    /// "operation 3, accept: connection aborted". Empty if it is not blown.
    [[nodiscard]] std::string text() const;

private:
    std::size_t nth_ = 0;
    std::size_t error_ = 0;
    std::function<void()> instead_;
    std::atomic<std::size_t> counted_ = 0;
    error fault_;
    bool more_errors_ = false;
    std::atomic<bool> blown_ = false;  // Last: releases the two before it.
};

/// Has the loops that are made while it lives fail as `fault` says, on the kernel's own backends: those of
/// `run`, of pools, of guests. One at a time; any thread. Loops of a world have `machine::set_fuse`.
class fused_loops {
public:
    /// @param  fault     Borrowed; outlives this.
    /// @param  patience  A loop that sleeps for so long, with no timer set and without news, hangs: a failed
    ///                   check, which prints the fault and what waits for what. Not under
    ///                   ThreadSanitizer, where loops wake every 20 ms.
    explicit fused_loops(fuse& fault, duration patience = std::chrono::minutes{1}) noexcept;
    fused_loops(const fused_loops&) = delete;
    fused_loops& operator=(const fused_loops&) = delete;
    ~fused_loops();  ///< Loops that still live do not fail any more.

private:
    loop_decorator* before_;
};

/// What came of all runs.
class [[nodiscard]] fuse_report {
public:
    [[nodiscard]] bool ok() const noexcept { return text_.empty(); }

    /// A line for each run that went wrong: which operation failed with what, and what the scenario said.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    /// Runs with a fault, and the operations that have been made to fail.
    [[nodiscard]] std::size_t faults() const noexcept { return faults_; }
    [[nodiscard]] std::size_t operations() const noexcept { return operations_; }

private:
    friend fuse_report fail_each(const std::function<std::string(fuse&)>& scenario,
                                 std::size_t operations_max);

    std::string text_;
    std::size_t faults_ = 0;
    std::size_t operations_ = 0;
};

/// Runs `scenario(fuse)` once without a fault, and then for each operation and each of its errors.
///
/// @param  scenario        Makes its own world, or loop; hands the fuse to what is to fail; returns what is
///                         wrong in words, or nothing. It ends, fault or not: a world's run says
///                         what hangs. Whatever it has opened is closed when it returns, which is checked.
/// @param  operations_max  Then it gives up, which counts as a failure.
///
/// A run that leaves memory behind counts as failed as well: one after which malloc says that more is in
/// use, each time that it is repeated. What is lost seldom may be missed; the address sanitizer, under
/// which malloc cannot be asked, finds it.
[[nodiscard]] fuse_report fail_each(const std::function<std::string(fuse&)>& scenario,
                                    std::size_t operations_max = 10'000);

}  // namespace gyre::test
