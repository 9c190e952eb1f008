// SPDX-License-Identifier: BSL-1.0
//
// How another thread ends a loop's wait: an eventfd that is written and never read.
//
// Backends watch it edge-triggered, so each write is one event and no read is owed. It is shared
// between the backends of a loop, because the one that the kernel withdrew may be being woken while
// its successor takes over.
#pragma once

#include <gyre/base/check.hpp>

#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace gyre {

/// Adds one to an eventfd. Any thread, and handlers of signals. Where a sandbox refuses write(2) it is
/// writev(2) that does it: without either no thread could wake another one.
inline void add_to_event(int number) noexcept {
    std::uint64_t one = 1;
    const iovec piece{&one, sizeof one};
    while (::write(number, &one, sizeof one) < 0 && errno != EAGAIN) {
        if (errno != EINTR && (::writev(number, &piece, 1) >= 0 || errno != EINTR)) return;
    }
    // EAGAIN: the counter is full, after 2^64 additions that no read has reset. It is readable then.
}

class waker {
public:
    waker() noexcept { open(); }
    waker(const waker&) = delete;
    waker& operator=(const waker&) = delete;
    ~waker() { close(); }

    /// For a forked child, which shares the event with its parent: has one of its own from now on.
    void renew() noexcept {
        close();  // First: its number may be the only one that is to be had.
        open();
    }

    /// Why there is none, an errno value: nothing else may be called then. 0 if there is.
    [[nodiscard]] int failed() const noexcept { return failed_; }

    /// Any thread.
    void wake() const noexcept { add_to_event(number_); }

    /// Takes back every wake-up so far, for eventfds that are watched by level.
    void clear() const noexcept {
        std::uint64_t count = 0;
        static_cast<void>(!::read(number_, &count, sizeof count));
    }

    [[nodiscard]] int number() const noexcept { return number_; }

private:
    void open() noexcept {
        number_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        failed_ = number_ < 0 ? errno : 0;
    }
    void close() const noexcept {
        if (number_ >= 0) ::close(number_);
    }

    int number_ = -1;
    int failed_ = 0;
};

}  // namespace gyre
