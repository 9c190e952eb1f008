// SPDX-License-Identifier: BSL-1.0
//
// Ownership of one open descriptor.
//
// It is {host, slot, generation} and not a bare number, because a descriptor of a test's host must close
// there, and because a number the kernel has reused must never be taken for the old one.
// Sockets and acceptors hold one of these and nothing else.
#pragma once

#include <gyre/runtime/host.hpp>

#include <utility>

namespace gyre {

/// Owns a descriptor; closed at the latest by the destructor. Moves; does not copy.
class handle {
public:
    handle() noexcept = default;

    /// Takes ownership of `number`, which must be open and have no other owner.
    handle(host& owner, int number) noexcept : host_{&owner} {
        descriptor_slot& it = owner.enter(number);
        opened_ = {&it, it.generation.load(std::memory_order_relaxed)};
    }

    handle(const handle&) = delete;  // It moves, and so does its owner: take() of a result.
    handle(handle&& other) noexcept
        : host_{other.host_}, opened_{std::exchange(other.opened_, opening{})} {}
    handle& operator=(handle&& other) noexcept {
        handle taken{std::move(other)};
        std::swap(host_, taken.host_);
        std::swap(opened_, taken.opened_);
        return *this;
    }
    ~handle() { close(); }

    [[nodiscard]] bool open() const noexcept { return opened_.lasts(); }

    /// What an operation is made for. Of a handle that is not open too: the operation then ends with
    /// `errc::closed`, as it does if the handle is closed before it is awaited.
    [[nodiscard]] opening opened() const noexcept { return opened_; }

    /// @pre  open.
    [[nodiscard]] descriptor_slot& slot() const noexcept {
        expects(open(), "the descriptor is open");
        return *opened_.of;
    }
    [[nodiscard]] host& on() const noexcept { return *host_; }
    [[nodiscard]] int number() const noexcept { return open() ? opened_.of->number : -1; }

    /// Cancels what is pending, waits for it on the spot, closes. Returns the result of close(2), or
    /// -EBADF if it was not open. What was pending completes with `errc::canceled`, what is awaited from
    /// now on with `errc::closed`.
    int close() noexcept;

    /// The same to whatever handle has `what` by now; -EBADF if none has. @param  on  Its host.
    static int close(opening what, host* on) noexcept;

    /// The same, but gives the number away instead of closing it; -1 if it was not open.
    [[nodiscard]] int release() noexcept;

private:
    host* host_ = nullptr;
    opening opened_;
};

}  // namespace gyre
