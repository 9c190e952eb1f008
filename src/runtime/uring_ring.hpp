// SPDX-License-Identifier: BSL-1.0
//
// One submission and completion queue pair, on bare system calls.
//
// Our own, because Debian 12's liburing 2.3 corrupts rings set up with newer flags, and because all
// that is needed is two mappings and one call. It knows entries and results, not operations: those
// are uring_backend.cpp's. Used by one thread.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/base/time.hpp>
#include <runtime/uring_abi.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gyre {

class uring_ring {
public:
    uring_ring() noexcept = default;
    uring_ring(const uring_ring&) = delete;
    uring_ring& operator=(const uring_ring&) = delete;
    ~uring_ring() { close(); }

    /// Sets up a ring. On failure the ring stays closed and the errno value is returned.
    [[nodiscard]] int open(unsigned submissions, unsigned completions,
                           std::uint32_t flags) noexcept;

    /// Unmaps and closes; there are no results any more. Safe when closed.
    void close() noexcept;

    /// Closes it in a forked child, where its memory is not mapped, and something else may be there.
    void leave_to_parent() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] std::uint32_t features() const noexcept { return features_; }

    /// Makes the calling thread the one that uses the ring. Returns an errno value.
    ///
    /// Its number is not registered with the thread, though that would save 30 ns an enter: a
    /// registration pins the ring, and where all of io_uring is refused later nothing could let go of
    /// the sockets in it (docs/decisions/0004-tiers.md).
    [[nodiscard]] int bind_thread() noexcept;

    /// Cancels every request and waits until that has taken effect (Linux 6.0). Returns an errno value.
    [[nodiscard]] int cancel_everything() noexcept;

    /// Has `event`, an eventfd, written to whenever there is something to harvest. Returns an errno
    /// value.
    [[nodiscard]] int announce_on(int event) noexcept;

    /// Registers a ring of `count` buffer descriptions at `entries`, zeroed pages, under the name
    /// `group` (Linux 5.19). It is the caller's, and must outlive what receives from it. Returns an
    /// errno value.
    [[nodiscard]] int offer_buffers(void* entries, unsigned count,
                                    std::uint16_t group) const noexcept;

    /// The next free entry, zeroed; null when the queue is full until the next `enter`.
    [[nodiscard]] io_uring_sqe* next_entry() noexcept;

    /// Entries not handed to the kernel yet.
    [[nodiscard]] unsigned unsubmitted() const noexcept { return tail_ - submitted_; }

    /// Hands over what was prepared and, if `wait`, waits for a result until `deadline`. Returns 0
    /// or an errno value; EINTR and ETIME are 0: nothing was lost, the caller looks at the results.
    [[nodiscard]] int enter(bool wait, time_point deadline) noexcept;

    /// Hands over what was prepared without looking for results.
    [[nodiscard]] int submit() noexcept;

    /// Calls `visit(const io_uring_cqe&)` for each result there is, once, until it returns false, then gives
    /// all that were visited back. Returns how many they were. A visit may reap as well: it gets what comes
    /// behind its own result, and the kernel has room again for all that was visited.
    template <class Visitor>
    unsigned reap(Visitor&& visit) noexcept {
        const unsigned first = reaped_;
        const unsigned tail = std::atomic_ref{*completion_tail_}.load(std::memory_order_acquire);
        // Not until they are equal: a visit may have gone further than this tail.
        for (bool more = true; more && static_cast<int>(tail - reaped_) > 0;) {
            // A copy, because a visit that reaps gives this one back, too.
            const io_uring_cqe result = completions_[reaped_++ & completion_mask_];
            more = visit(result);
        }
        std::atomic_ref{*completion_head_}.store(reaped_, std::memory_order_release);
        return reaped_ - first;
    }

    [[nodiscard]] bool has_results() const noexcept {
        return reaped_ != std::atomic_ref{*completion_tail_}.load(std::memory_order_acquire);
    }

private:
    friend struct ring_access;  // A test's.

    [[nodiscard]] int map(const io_uring_params& given) noexcept;
    [[nodiscard]] long call_enter(unsigned count, unsigned least, std::uint32_t flags,
                                  const void* argument, std::size_t size) noexcept;
    void account(long consumed) noexcept;

    int number_ = -1;
    std::uint32_t features_ = 0;
    bool disabled_ = false;

    void* rings_ = nullptr;
    std::size_t rings_size_ = 0;
    io_uring_sqe* entries_ = nullptr;
    std::size_t entries_size_ = 0;

    unsigned* submission_tail_ = nullptr;
    unsigned* submission_head_ = nullptr;
    unsigned submission_mask_ = 0;
    unsigned tail_ = 0;       // Prepared so far.
    unsigned submitted_ = 0;  // Handed over so far.

    unsigned none_ = 0;  // Stands in for both ends of the queue while the ring is closed.
    unsigned* completion_head_ = &none_;
    unsigned* completion_tail_ = &none_;
    unsigned reaped_ = 0;  // Visited so far; given back at the end of each `reap`.
    unsigned completion_mask_ = 0;
    io_uring_cqe* completions_ = nullptr;
};

}  // namespace gyre
