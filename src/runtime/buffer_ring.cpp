// SPDX-License-Identifier: BSL-1.0
//
// The memory shared with the kernel, and who has which block: see buffer_ring.hpp.
#include <runtime/buffer_ring.hpp>

#include <gyre/base/check.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <utility>

namespace gyre {
namespace {

constexpr std::size_t size_of_ring = buffer_ring::blocks_max * sizeof(io_uring_buf);

}  // namespace

int buffer_ring::open(const uring_ring& of, receive_pool& from) noexcept {
    const std::size_t room = std::bit_floor(std::min(from.blocks_kept_max(), blocks_max));
    if (room == 0 || from.block_size() > INT32_MAX) return EINVAL;

    // Pages of its own: the kernel wants whole ones.
    void* const memory =
        ::mmap(nullptr, size_of_ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return errno;
    // Else a write after a fork would go to a copy, which the kernel does not see.
    ::madvise(memory, size_of_ring, MADV_DONTFORK);
    if (const int failed = of.offer_buffers(memory, static_cast<unsigned>(room), group);
        failed != 0) {
        ::munmap(memory, size_of_ring);
        return failed;
    }

    pool_ = &from;
    entries_ = static_cast<io_uring_buf*>(memory);
    room_ = room;
    tail_ = 0;
    for (std::size_t name = 0; name < room; ++name) {
        names_[name] = static_cast<std::uint16_t>(name);
    }
    return 0;
}

void buffer_ring::close() noexcept {
    if (!is_open()) return;
    give_back();
    ::munmap(std::exchange(entries_, nullptr), size_of_ring);
}

void buffer_ring::leave_to_parent() noexcept {
    give_back();
    entries_ = nullptr;
}

void buffer_ring::give_back() noexcept {
    for (std::byte*& each : blocks_) {
        if (each != nullptr) pool_->withdraw(std::exchange(each, nullptr));
    }
    room_ = offered_ = 0;
}

void buffer_ring::add(std::size_t wanted) noexcept {
    wanted = std::min(wanted, room_);
    while (offered_ < wanted) {
        const std::uint16_t name = names_[room_ - ++offered_];
        blocks_[name] = pool_->offer();
        // Field by field: the tail lies in the first entry, where the others have nothing.
        io_uring_buf& entry = entries_[tail_++ & (room_ - 1)];
        entry.addr = reinterpret_cast<std::uint64_t>(blocks_[name]);
        entry.len = static_cast<std::uint32_t>(pool_->block_size());
        entry.bid = name;
    }
    std::atomic_ref{entries_[0].resv}.store(tail_, std::memory_order_release);
}

std::byte* buffer_ring::take(std::uint16_t name) noexcept {
    expects(name < room_ && blocks_[name] != nullptr, "the kernel names what it was offered");
    names_[room_ - offered_--] = name;
    pool_->note_taken();
    return std::exchange(blocks_[name], nullptr);
}

void buffer_ring::disarm() noexcept {
    for (std::size_t each = 0; each < room_; ++each) {
        entries_[each].addr = 0;
        entries_[each].len = 0;
    }
}

}  // namespace gyre
