// SPDX-License-Identifier: BSL-1.0
//
// The mappings and the calls of uring_ring.hpp.
#include <runtime/uring_ring.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gyre {
namespace {

template <class Type>
Type* at(void* base, std::uint32_t offset) noexcept {
    return reinterpret_cast<Type*>(static_cast<std::byte*>(base) + offset);
}

int register_with(int ring, unsigned what, void* argument, unsigned count) noexcept {
    const long result = ::syscall(SYS_io_uring_register, ring, what, argument, count);
    return result < 0 ? -errno : static_cast<int>(result);
}

}  // namespace

int uring_ring::open(unsigned submissions, unsigned completions, std::uint32_t flags) noexcept {
    io_uring_params asked{};
    asked.flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
    asked.cq_entries = completions;
    const long number = ::syscall(SYS_io_uring_setup, submissions, &asked);
    if (number < 0) return errno;

    number_ = static_cast<int>(number);
    features_ = asked.features;
    disabled_ = (flags & IORING_SETUP_R_DISABLED) != 0;
    tail_ = submitted_ = reaped_ = 0;
    const int failed = map(asked);
    if (failed != 0) close();
    return failed;
}

int uring_ring::map(const io_uring_params& given) noexcept {
    if ((given.features & IORING_FEAT_SINGLE_MMAP) == 0) return ENOSYS;

    rings_size_ = std::max(given.sq_off.array + given.sq_entries * sizeof(unsigned),
                           given.cq_off.cqes + given.cq_entries * sizeof(io_uring_cqe));
    void* rings = ::mmap(nullptr, rings_size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         number_, IORING_OFF_SQ_RING);
    if (rings == MAP_FAILED) return errno;
    rings_ = rings;

    entries_size_ = given.sq_entries * sizeof(io_uring_sqe);
    void* entries = ::mmap(nullptr, entries_size_, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_POPULATE, number_, IORING_OFF_SQES);
    if (entries == MAP_FAILED) return errno;
    entries_ = static_cast<io_uring_sqe*>(entries);

    // A forked child must not submit into its parent's ring by accident.
    ::madvise(rings_, rings_size_, MADV_DONTFORK);
    ::madvise(entries_, entries_size_, MADV_DONTFORK);

    submission_head_ = at<unsigned>(rings_, given.sq_off.head);
    submission_tail_ = at<unsigned>(rings_, given.sq_off.tail);
    submission_mask_ = *at<unsigned>(rings_, given.sq_off.ring_mask);
    completion_head_ = at<unsigned>(rings_, given.cq_off.head);
    completion_tail_ = at<unsigned>(rings_, given.cq_off.tail);
    completion_mask_ = *at<unsigned>(rings_, given.cq_off.ring_mask);
    completions_ = at<io_uring_cqe>(rings_, given.cq_off.cqes);

    // Entries are always used in ring order, so the indirection is written once.
    auto* order = at<unsigned>(rings_, given.sq_off.array);
    for (unsigned index = 0; index < given.sq_entries; ++index) order[index] = index;
    return 0;
}

void uring_ring::close() noexcept {
    if (entries_ != nullptr) ::munmap(entries_, entries_size_);
    if (rings_ != nullptr) ::munmap(rings_, rings_size_);
    if (number_ >= 0) ::close(number_);
    entries_ = nullptr;
    rings_ = nullptr;
    completion_head_ = completion_tail_ = &none_;
    reaped_ = 0;
    number_ = -1;
}

void uring_ring::leave_to_parent() noexcept {
    entries_ = nullptr;
    rings_ = nullptr;
    close();
}

int uring_ring::bind_thread() noexcept {
    if (disabled_) {
        const int result = register_with(number_, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
        if (result < 0) return -result;
        disabled_ = false;
    }
    return 0;
}

int uring_ring::cancel_everything() noexcept {
    io_uring_sync_cancel_reg all{};
    all.flags = IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL;
    all.timeout.tv_sec = -1;  // Both -1: no limit.
    all.timeout.tv_nsec = -1;
    const int result = register_with(number_, IORING_REGISTER_SYNC_CANCEL, &all, 1);
    return result < 0 && result != -ENOENT ? -result : 0;
}

int uring_ring::announce_on(int event) noexcept {
    const int result = register_with(number_, IORING_REGISTER_EVENTFD, &event, 1);
    return result < 0 ? -result : 0;
}

int uring_ring::offer_buffers(void* entries, unsigned count, std::uint16_t group) const noexcept {
    io_uring_buf_reg about{};
    about.ring_addr = reinterpret_cast<std::uint64_t>(entries);
    about.ring_entries = count;
    about.bgid = group;
    const int result = register_with(number_, IORING_REGISTER_PBUF_RING, &about, 1);
    return result < 0 ? -result : 0;
}

io_uring_sqe* uring_ring::next_entry() noexcept {
    const unsigned head = std::atomic_ref{*submission_head_}.load(std::memory_order_acquire);
    if (tail_ - head > submission_mask_) return nullptr;
    io_uring_sqe* entry = &entries_[tail_ & submission_mask_];
    ++tail_;
    std::memset(entry, 0, sizeof *entry);
    return entry;
}

int uring_ring::submit() noexcept {
    const unsigned count = unsubmitted();
    if (count == 0) return 0;
    const long consumed = call_enter(count, 0, 0, nullptr, 0);
    account(consumed);
    return consumed < 0 && errno != EINTR ? errno : 0;
}

int uring_ring::enter(bool wait, time_point deadline) noexcept {
    const std::uint32_t no_iowait =
        (features_ & uring_abi::feature_no_iowait) != 0 ? uring_abi::enter_no_iowait : 0;
    std::uint32_t flags = IORING_ENTER_GETEVENTS | no_iowait;
    const unsigned count = unsubmitted();
    long consumed = 0;
    if (!wait || deadline == never) {
        consumed = call_enter(count, wait ? 1 : 0, flags, nullptr, 0);
    } else {
        const duration left = time_left(deadline, std::chrono::steady_clock::now());
        const __kernel_timespec span{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
        uring_abi::getevents_argument argument;
        argument.timeout = reinterpret_cast<std::uint64_t>(&span);
        consumed = call_enter(count, 1, flags | IORING_ENTER_EXT_ARG, &argument, sizeof argument);
    }
    const int failed = consumed < 0 ? errno : 0;
    account(consumed);
    return failed == EINTR || failed == ETIME ? 0 : failed;
}

long uring_ring::call_enter(unsigned count, unsigned least, std::uint32_t flags,
                            const void* argument, std::size_t size) noexcept {
    // The tail is published late, so a seccomp refusal leaves nothing half submitted.
    std::atomic_ref{*submission_tail_}.store(tail_, std::memory_order_release);
    return ::syscall(SYS_io_uring_enter, number_, count, least, flags, argument, size);
}

// How much was taken is read from the kernel's head: an enter that both submits and waits reports a
// time-out or a signal instead of the number.
void uring_ring::account(long) noexcept {
    submitted_ = std::atomic_ref{*submission_head_}.load(std::memory_order_acquire);
}

}  // namespace gyre
