// SPDX-License-Identifier: BSL-1.0
//
// The real machine: one per process.
//
// Its descriptor table is indexed by number and shared by all loops; entries have stable addresses
// and are each used by one loop; the table grows without a lock, which a fork might leave locked.
#pragma once

#include <gyre/runtime/host.hpp>

#include <array>
#include <atomic>
#include <cerrno>

namespace gyre {

class system_host final : public host {
public:
    /// The process's host; created on first use, never destroyed: sockets may be static.
    [[nodiscard]] static system_host& instance() noexcept;

    /// Opens /dev/null under those of the numbers 0, 1 and 2 that are closed, for children too, so that none
    /// becomes a number of ours that is taken for a standard stream. Where there is no /dev/null, what says
    /// `errc::bad_descriptor` to reads and writes.
    static void hold_standard_numbers() noexcept;

    [[nodiscard]] int perform_now(operation& op) noexcept override;
    [[nodiscard]] bool perform_at_hand(operation& op) noexcept override;
    [[nodiscard]] time_point now() noexcept override;
    [[nodiscard]] std::uint64_t entropy() noexcept override;
    [[nodiscard]] int read_settings(const char* path, std::string& into) noexcept override;
    [[nodiscard]] bool has_signals() const noexcept override { return true; }
    [[nodiscard]] descriptor_slot& enter(int number) noexcept override;
    int close(descriptor_slot& it) noexcept override;
    int release(descriptor_slot& it) noexcept override;

    /// The descriptor an event names, or null if the number means another one by now.
    [[nodiscard]] descriptor_slot* find(int number, std::uint32_t generation) noexcept;

private:
    static constexpr std::size_t chunk_size = 1024;
    static constexpr std::size_t chunks_max = 4096;  // Four million descriptors.
    using chunk = std::array<descriptor_slot, chunk_size>;

    [[nodiscard]] chunk& chunk_at(std::size_t index) noexcept;
    static void forget_closed(descriptor_slot& it) noexcept;

    std::array<std::atomic<chunk*>, chunks_max> chunks_{};
};

/// What a system call has returned, or -errno. We cancel none: one that says ECANCELED (a file system in user
/// space, a timerfd whose clock was set) speaks of its device, and a stop must not be read from it.
template <class Result>
[[nodiscard]] int outcome(Result returned) noexcept {
    if (returned >= 0) return static_cast<int>(returned);
    return errno == ECANCELED ? -EIO : -errno;
}

/// Whether a call has ended as sandboxes, and kernels that do not know it, have it end: see decision 0060. It
/// may have said so by itself; an older call that stands in for it says the same then.
[[nodiscard]] constexpr bool may_be_refused(int result) noexcept {
    return result == -ENOSYS || result == -EPERM || result == -EACCES;
}

/// Whether `op` is a transfer at a position that it names.
[[nodiscard]] bool has_position(const operation& op) noexcept;

/// Carries out one operation with system calls that never wait; see host::perform_now.
[[nodiscard]] int perform(operation& op) noexcept;

/// The same for what is not a socket's.
[[nodiscard]] int perform_on_file(operation& op) noexcept;

/// The same for what is done to a name: see perform_path.cpp.
[[nodiscard]] int perform_on_path(path_operation& op) noexcept;

/// Which of `events`, poll(2)'s, `it` is ready for, or -errno; -EAGAIN for nothing.
[[nodiscard]] int ready_now(const descriptor_slot& it, short events) noexcept;

/// Starts a program, and takes what became of it: see perform_process.cpp.
[[nodiscard]] int spawn_process(spawn_operation& op) noexcept;
[[nodiscard]] int reap_process(reap_operation& op) noexcept;
[[nodiscard]] int signal_process(const signal_operation& op) noexcept;
[[nodiscard]] int disown_process(const disown_operation& op) noexcept;

/// Whether `op` waits for the device that has a file, and for nothing that poll(2) knows of.
[[nodiscard]] bool is_file_work(const operation& op) noexcept;

/// Carries out `op`, a file's, if that is a read of what the page cache holds. False if it has to wait for
/// the device, or might.
[[nodiscard]] bool read_from_cache(operation& op) noexcept;

/// Whether `op` receives into one piece of memory, plain or leased.
[[nodiscard]] bool receives_plainly(const operation& op) noexcept;

/// The bytes that `op`, which receives plainly, has room for.
[[nodiscard]] std::size_t room_of(const operation& op) noexcept;

/// Whether what `op` receives stays to be received.
[[nodiscard]] bool peeks(const operation& op) noexcept;

/// Whether a finished `op` that receives plainly yielded bytes, but fewer than it had room for.
[[nodiscard]] bool is_short_read(const operation& op) noexcept;

/// Whether a short plain receive has just proved that `it`, a stream, has no more bytes: over IP it has, over
/// a Unix-domain socket where no descriptors have ended it.
[[nodiscard]] bool is_emptied_by_short_read(const descriptor_slot& it) noexcept;

/// What a finished `op` has received, in bytes. Batches of datagrams count as nothing: theirs is a number.
[[nodiscard]] std::size_t bytes_received(const operation& op) noexcept;

}  // namespace gyre
