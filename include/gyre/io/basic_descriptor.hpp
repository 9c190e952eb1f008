// SPDX-License-Identifier: BSL-1.0
//
// What everything that a program opens has in common: a number of the kernel's, owned, and waited for.
//
// basic_socket.hpp adds what sockets have; descriptor.hpp is for whatever has no class of its own.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstdint>
#include <utility>

namespace gyre {

/// What `wait` waits for.
enum class readiness : std::uint8_t { readable, writable };

// Implementation: how a wait ends.

struct finish_wait {
    [[nodiscard]] std::int32_t prepare(operation&, io_context&) const noexcept { return 0; }
    [[nodiscard]] io_result<> operator()(const wait_ready_operation& op) const noexcept {
        return error_of(op);
    }
};

/// Something open, or nothing. Moves; closes at the latest when destroyed. Never made by itself. Belongs to
/// the loop it is first used on.
///
/// What waits, here and in the classes below, may be asked of a closed one as well, and what was made
/// before `close` or `release` may be awaited after it: it ends with `errc::closed` and nothing is read or
/// written, whatever has the number then. So a reader that meets the end may close a socket between two
/// steps of its writer. `closed`: the operation never began. `canceled`: it may have begun.
class basic_descriptor {
public:
    /// Closes at once. What is pending completes with `errc::canceled`, what is begun later with
    /// `errc::closed`. A file's operation that is being carried out by the device is waited for. Outside of
    /// coroutines too.
    /// Errors: `errc::closed`; of a file, what the device says of earlier writes (close(2)).
    io_result<> close() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return handle_.open(); }

    /// The number, still owned; -1 if closed.
    [[nodiscard]] int native_handle() const noexcept { return handle_.number(); }

    /// Gives the number away: cancels what is pending, forgets it, and leaves it open. Here it is closed
    /// then. Outside of coroutines too.
    [[nodiscard]] int release() noexcept { return handle_.release(); }

    /// Waits until a read, or a write, would not block. A condition, not a promise: another reader
    /// may be faster. Files are always ready.
    ///
    /// Errors:        `errc::closed`; what is broken or at its end counts as ready.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation.
    [[nodiscard]] submission<wait_ready_operation, finish_wait> wait(readiness what) noexcept;

protected:
    basic_descriptor() noexcept = default;
    explicit basic_descriptor(handle open) noexcept : handle_{std::move(open)} {}
    basic_descriptor(const basic_descriptor&) =
        delete;  // It moves: std::move(it), or take() of a result.
    basic_descriptor(basic_descriptor&&) noexcept = default;
    basic_descriptor& operator=(basic_descriptor&&) noexcept = default;
    ~basic_descriptor() = default;

    /// @pre  open.
    [[nodiscard]] descriptor_slot& slot() const noexcept { return handle_.slot(); }

    [[nodiscard]] host& on() const noexcept { return handle_.on(); }

    /// What its operations are made for.
    [[nodiscard]] opening opened() const noexcept { return handle_.opened(); }

    /// Carries out an operation that never waits.
    [[nodiscard]] error perform_now(operation& op) const noexcept;

private:
    handle handle_;
};

}  // namespace gyre
