// SPDX-License-Identifier: BSL-1.0
//
// Blocks that the kernel may receive into: it takes one when there are bytes for it, not before.
//
// Without this, a read that waits for bytes either holds a block meanwhile or is woken first and
// calls afterwards. A receive that names this group waits with neither, and its result names the
// block (IORING_REGISTER_PBUF_RING, Linux 5.19). The blocks are the loop's receive_pool's;
// uring_backend.cpp fills this up before it visits the kernel.
#pragma once

#include <runtime/receive_pool.hpp>
#include <runtime/uring_ring.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gyre {

class buffer_ring {
public:
    /// What receives name in `buf_group`. There is one ring of buffers per loop.
    static constexpr std::uint16_t group = 0;

    /// More would only be colder: the kernel takes the blocks in turn.
    static constexpr std::size_t blocks_max = 64;

    buffer_ring() noexcept = default;
    buffer_ring(const buffer_ring&) = delete;
    buffer_ring& operator=(const buffer_ring&) = delete;
    ~buffer_ring() { close(); }

    /// Registers with `of`, empty, with room for as many blocks as `from` keeps, rounded down to a
    /// power of two, and at most `blocks_max`. On failure it stays closed and the errno value is
    /// returned: EINVAL where the kernel does not know such rings, or `from` keeps nothing.
    ///
    /// @param  of    Open, and used by the calling thread.
    /// @param  from  Borrowed until `close`.
    [[nodiscard]] int open(const uring_ring& of, receive_pool& from) noexcept;

    /// Gives every block that the kernel has not used back to the pool. `of` is closed by now, or
    /// nothing in it receives any more. Safe when closed.
    void close() noexcept;

    /// The same in a forked child, where the entries are not mapped: what is lent there is a copy.
    void leave_to_parent() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return entries_ != nullptr; }

    /// Sees to it that `wanted` blocks are offered, or as many as there is room for.
    void refill(std::size_t wanted) noexcept {
        if (offered_ < wanted && offered_ < room_) add(wanted);
    }

    /// The block that a result names. It is lent from now on: the caller's to use and to return.
    [[nodiscard]] std::byte* take(std::uint16_t name) noexcept;

    /// Makes what is offered useless: a receive that the kernel still begins finds no memory. The
    /// blocks stay here until `close`, for what it has begun already.
    void disarm() noexcept;

    /// Blocks that the kernel may take.
    [[nodiscard]] std::size_t offered() const noexcept { return offered_; }
    [[nodiscard]] std::size_t room() const noexcept { return room_; }

private:
    void give_back() noexcept;
    void add(std::size_t wanted) noexcept;

    receive_pool* pool_ = nullptr;
    io_uring_buf* entries_ = nullptr;  // Shared with the kernel, which reads it.
    std::size_t room_ = 0;
    std::size_t offered_ = 0;
    std::uint16_t tail_ = 0;
    // Invariant: null, or a block that the kernel has been offered and has not been seen to use.
    std::array<std::byte*, blocks_max> blocks_{};
    std::array<std::uint16_t, blocks_max> names_{};  // The first room_ - offered_ are free.
};

}  // namespace gyre
