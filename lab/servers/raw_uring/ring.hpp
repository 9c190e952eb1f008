// SPDX-License-Identifier: BSL-1.0
//
// The least that a plain program needs to use io_uring.
//
// Not the library's own ring, so that a mistake in that one does not slow the measure it is held
// against. One thread, one ring with deferred completions, no error that is survived.
#pragma once

#include <lab/kit/fail.hpp>

#include <linux/time_types.h>
// Needs the line above on Debian 12.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace raw {

/// How entries get to the kernel: by a call of ours, or by a thread of the kernel's that looks for them.
enum class submission : std::uint8_t { by_calls, by_the_kernel };

// Younger than Debian 12's <linux/io_uring.h>.
inline constexpr std::uint32_t feature_no_iowait = 1U << 17;  // Linux 6.15
inline constexpr std::uint32_t enter_no_iowait = 1U << 7;

class ring {
public:
    /// @param  polling_core  The core of the kernel's thread; none: wherever this thread may run.
    explicit ring(submission how = submission::by_calls,
                  std::optional<unsigned> polling_core = std::nullopt)
        : how_{how} {
        io_uring_params asked{};
        asked.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
        asked.cq_entries = 8192;
        if (how == submission::by_calls) {
            asked.flags |= IORING_SETUP_DEFER_TASKRUN;
        } else {
            asked.flags |= IORING_SETUP_SQPOLL;
            asked.sq_thread_idle = polling_core ? 1000 : 1;  // ms; looking on our core costs us.
        }
        if (polling_core) {
            asked.flags |= IORING_SETUP_SQ_AFF;
            asked.sq_thread_cpu = *polling_core;
        }
        number_ = static_cast<int>(::syscall(SYS_io_uring_setup, 2048, &asked));
        lab::require(number_ >= 0, "raw_uring: io_uring_setup");
        entered_ = number_;
        // Waiting for clients is not waiting for a disk: the processor's frequency need not rise for it.
        if ((asked.features & feature_no_iowait) != 0) wait_flags_ |= enter_no_iowait;
        register_number();

        const std::size_t size =
            std::max(asked.cq_off.cqes + asked.cq_entries * sizeof(io_uring_cqe),
                     asked.sq_off.array + asked.sq_entries * sizeof(unsigned));
        std::byte* const rings = map(size, IORING_OFF_SQ_RING);
        entries_ = reinterpret_cast<io_uring_sqe*>(
            map(asked.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
        submitted_to_ = reinterpret_cast<unsigned*>(rings + asked.sq_off.tail);
        taken_to_ = reinterpret_cast<unsigned*>(rings + asked.sq_off.head);
        state_ = reinterpret_cast<unsigned*>(rings + asked.sq_off.flags);
        entry_mask_ = asked.sq_entries - 1;
        reaped_to_ = reinterpret_cast<unsigned*>(rings + asked.cq_off.head);
        completed_to_ = reinterpret_cast<unsigned*>(rings + asked.cq_off.tail);
        completions_ = reinterpret_cast<io_uring_cqe*>(rings + asked.cq_off.cqes);
        completion_mask_ = asked.cq_entries - 1;
        auto* const order = reinterpret_cast<unsigned*>(rings + asked.sq_off.array);
        for (unsigned i = 0; i < asked.sq_entries; ++i) order[i] = i;
    }
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() { ::close(number_); }

    /// Makes room for `count` entries, so that a chain of as many is submitted as a whole.
    void reserve(unsigned count) {
        while (prepared_ + count - load(taken_to_) > entry_mask_ + 1) enter(0);
    }

    /// The next free entry, zeroed.
    io_uring_sqe& entry() {
        reserve(1);
        io_uring_sqe& it = entries_[prepared_++ & entry_mask_];
        std::memset(&it, 0, sizeof(it));
        return it;
    }

    /// Each connection of the listener is a completion, until one does not say that more will come.
    void accept_all(int listener, std::uint64_t user_data) {
        io_uring_sqe& to = entry();
        to.opcode = IORING_OP_ACCEPT;
        to.fd = listener;
        to.ioprio = IORING_ACCEPT_MULTISHOT;
        to.accept_flags = SOCK_CLOEXEC;
        to.user_data = user_data;
    }

    /// Submits, waits for at least one completion, and hands all there are to `visit`.
    template <class Visitor>
    void turn(Visitor&& visit) {
        enter(1);
        unsigned at = *reaped_to_;
        for (const unsigned end = load(completed_to_); at != end; ++at) {
            visit(completions_[at & completion_mask_]);
        }
        std::atomic_ref{*reaped_to_}.store(at, std::memory_order_release);
    }

    int register_with(unsigned what, void* argument, unsigned count) const {
        return static_cast<int>(::syscall(SYS_io_uring_register, number_, what, argument, count));
    }

private:
    // Spares each call the look into the table of descriptors. Linux 5.18; without it, all goes on as before.
    void register_number() {
        io_uring_rsrc_update place{};
        place.offset = ~0U;  // Any.
        place.data = static_cast<std::uint64_t>(number_);
        if (register_with(IORING_REGISTER_RING_FDS, &place, 1) != 1) return;
        entered_ = static_cast<int>(place.offset);
        call_flags_ = IORING_ENTER_REGISTERED_RING;
    }

    // Waits for `least` completions if `flags` say so.
    void call(unsigned count, unsigned least, unsigned flags) const {
        const long result =
            ::syscall(SYS_io_uring_enter, entered_, count, least, flags | call_flags_, nullptr, 0);
        lab::require(result >= 0 || errno == EINTR, "raw_uring: io_uring_enter");
    }

    static unsigned load(unsigned* from) {
        return std::atomic_ref{*from}.load(std::memory_order_acquire);
    }

    std::byte* map(std::size_t size, off_t what) const {
        void* const at =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, number_, what);
        lab::require(at != MAP_FAILED, "raw_uring: mmap");
        return static_cast<std::byte*>(at);
    }

    void enter(unsigned least) {
        std::atomic_ref{*submitted_to_}.store(prepared_, std::memory_order_release);
        if (how_ == submission::by_the_kernel) return wait_for_polling(least);
        const unsigned count = prepared_ - load(taken_to_);
        call(count, least, least > 0 ? IORING_ENTER_GETEVENTS | wait_flags_ : 0U);
    }

    // Without a call, unless the kernel's thread sleeps or there is nothing to do meanwhile.
    void wait_for_polling(unsigned least) const {
        std::atomic_thread_fence(
            std::memory_order_seq_cst);  // It looks once more before it sleeps.
        unsigned flags = 0;
        if ((load(state_) & IORING_SQ_NEED_WAKEUP) != 0) flags |= IORING_ENTER_SQ_WAKEUP;
        if (least > 0 && load(completed_to_) == *reaped_to_) {
            flags |= IORING_ENTER_GETEVENTS | wait_flags_;
        }
        if (least == 0) flags |= IORING_ENTER_SQ_WAIT;
        if (flags != 0) call(0, least, flags);
    }

    submission how_;
    int number_;
    int entered_ = -1;  // What calls name: `number_`, or its place among registered rings.
    unsigned call_flags_ = 0;
    unsigned wait_flags_ = 0;
    io_uring_sqe* entries_;
    unsigned* submitted_to_;
    unsigned* taken_to_;
    unsigned* state_;
    unsigned entry_mask_;
    unsigned prepared_ = 0;
    unsigned* reaped_to_;
    unsigned* completed_to_;
    io_uring_cqe* completions_;
    unsigned completion_mask_;
};

}  // namespace raw
