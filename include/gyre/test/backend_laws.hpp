// SPDX-License-Identifier: BSL-1.0
//
// What every backend owes the loops above it (gyre/runtime/loop_backend.hpp), as a suite to run.
//
// A law is a function that uses a loop, by sockets and timers alone, and tells in words what is wrong.
// It needs no framework of tests: the author of a backend loops over them in whichever there is.
//
//     for (const auto& law : gyre::test::backend_laws()) {
//         const std::string broken = gyre::test::judge(law, mine);
//         CHECK_MESSAGE(broken.empty(), law.name, ": ", broken);
//     }
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/runtime/io_context.hpp>

#include <chrono>
#include <functional>
#include <source_location>
#include <span>
#include <string>

namespace gyre::test {

/// Who is judged.
struct backend_under_test {
    /// Makes a loop on a backend of its own and calls `use(loop)`, after which the loop ends.
    std::function<void(const std::function<void(io_context&)>& use)> with_loop;

    /// Whether other threads may post to its loops, and wake them.
    bool hears_threads = true;

    /// How long a law may take by the loop's clock before it counts as hanging.
    duration patience = std::chrono::seconds{60};
};

/// What a law finds.
class findings {
public:
    /// Notes `what` if it does not hold.
    void check(bool holds, const char* what,
               std::source_location where = std::source_location::current());

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

/// One promise of every backend, and the function that puts a backend to the test.
struct backend_law {
    const char* name;  ///< A sentence; static storage.
    void (*apply)(const backend_under_test& to, findings& into);
    bool needs_threads = false;
};

/// All of them; static storage. They use TCP and UDP on 127.0.0.1 of the loop's host.
[[nodiscard]] std::span<const backend_law> backend_laws() noexcept;

/// What is wrong by this law, with the lines where it showed; empty if nothing is. A law that `it` has said
/// not to be for it is kept.
[[nodiscard]] std::string judge(const backend_law& law, const backend_under_test& it);

}  // namespace gyre::test
