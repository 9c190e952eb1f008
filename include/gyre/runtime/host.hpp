// SPDX-License-Identifier: BSL-1.0
//
// The machine a program runs on: immediate calls, the clock, and what is remembered of descriptors.
//
// There is one real host per process, and whatever hosts a test makes; programs only ever meet this
// interface, so they cannot tell. Loops (io_context.hpp) live on a host.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/runtime/operation.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gyre {

/// Which side of a terminal a descriptor is, where it is one.
enum class terminal_side : std::uint8_t { none, program, emulator };

/// What a descriptor number remembers between operations. Lives in the host's table at a stable
/// address, so sockets may move. Used by the loop it belongs to, in whose list it is.
struct descriptor_slot : list_link<> {
    list<operation, descriptor_slot> pending;  ///< Armed operations, oldest first.
    io_context* home = nullptr;                ///< The loop that uses it; null until first use.
    int number = -1;

    /// Raised at each opening and closing: odd while open. A number that one thread closes may be opened
    /// by another one at once, which only the kernel knows; so the opener acquires here what was
    /// released by closing.
    std::atomic<std::uint32_t> generation = 0;
    unsigned forks = 0;  ///< The fork_count of the process that opened it.

    // Hints of readiness. True means "trying may succeed", so a wrong true costs one failed call and
    // a wrong false would hang: they are lowered only on proof.
    bool maybe_readable = true;
    bool maybe_writable = true;
    bool hung_up = false;  ///< An end or urgent data is in the stream: short reads prove nothing.
    bool registered = false;  ///< Known to the loop's epoll instance.
    bool registered_for_writing = false;
    bool repeated = false;     ///< epoll tells of it in each turn for as long as it is readable.
    bool nonblocking = false;  ///< O_NONBLOCK is known to be set.
    bool filled = false;       ///< The last send was short: the buffer has no room left.
    std::uint16_t family = 0;  ///< AF_INET, AF_UNIX, ...; 0 until it is asked for.
    bool stored =
        false;  ///< A file: has nothing to wait for but its device, of which poll knows nothing.
    bool pipe = false;          ///< A pipe or a FIFO.
    bool uncached = false;      ///< Of a file: its transfers go past the page cache (O_DIRECT).
    bool limited = false;       ///< Of a file: it was opened under a limit of sizes (RLIMIT_FSIZE).
    bool waits_anyway = false;  ///< The kernel cannot be asked for a single try (RWF_NOWAIT).
    terminal_side terminal = terminal_side::none;
    bool uncut = false;  ///< Of AF_UNIX: the last read was told that no descriptors had ended it.
    bool datagrams = false;  ///< Readers take whole messages, and no order among them is promised.

    const void* writer =
        nullptr;  ///< The one that a message is being written by; null between messages.

    descriptor_slot* listener =
        nullptr;  ///< That it was accepted from; null once it has been read.
    std::atomic<int> vain_first_reads =
        0;                  ///< Of a listener's connections, less those that were not.
    unsigned accepted = 0;  ///< By a listener.

    // By which the backends prepare their requests: see uring_backend.cpp.
    bool answering = false;  ///< The last transfer was a receive: a send now is its answer.
    bool duplex = false;     ///< Both directions have been in use at once.
    bool prompt = false;     ///< The last receive found its bytes in the turn it was asked for.
    bool listens = false;    ///< An accept has found that connections can come.
    bool crowded = false;    ///< Of a listener: connections come faster than the loop turns.
    std::uint8_t lone_accepts = 0;  ///< Of a listener: vain tries since two came in one turn.
    std::uint8_t large = 0;         ///< How many small receives would disprove that they are large.
    std::uint32_t asked_in = 0;     ///< The turn of the last receive, or accept.

    std::uint8_t cache_misses = 0;   ///< Of a file's reads in a row that were tried.
    std::uint8_t untried_reads = 0;  ///< Before the next try.

    bool sends_large = false;  ///< It has sent something large, and was prepared for that.
    std::uint32_t portion_max = INT32_MAX;  ///< What a large send is cut into.

    /// This one was accepted from `it`. Whether its first bytes are there by the time it is read depends on
    /// the peers: where four of five tries are in vain, only every sixteenth is made.
    void come_from(descriptor_slot& it) noexcept {
        constexpr unsigned period = 16;
        family = it.family;
        listener = &it;
        maybe_readable =
            it.vain_first_reads.load(std::memory_order_relaxed) < vain_first_reads_max ||
            ++it.accepted % period == 0;
    }

    /// A try to read it has ended. On the thread of its loop, which may not be the listener's.
    void note_first_read(bool in_vain) noexcept {
        constexpr int weight_of_success = 4;
        const int before = listener->vain_first_reads.load(std::memory_order_relaxed);
        listener->vain_first_reads.store(in_vain ? std::min(before + 1, vain_first_reads_max)
                                                 : std::max(before - weight_of_success, 0),
                                         std::memory_order_relaxed);
        listener = nullptr;
    }

    /// A connection was accepted from it in `turn`. Where one came in the turn before as well, more are
    /// likely to be queued.
    void note_accept(std::uint32_t turn) noexcept {
        if (asked_in == turn || asked_in + 1 == turn) lone_accepts = 0;
        if (asked_in + 1 == turn) crowded = true;
        asked_in = turn;
    }

    /// An accept was tried and there was none.
    void note_vain_accept() noexcept {
        if (lone_accepts < lone_accepts_max) ++lone_accepts;
        if (lone_accepts == lone_accepts_max) crowded = false;
    }

    /// Whether to try an accept in `turn`, behind another one. Where others are ready, the next turn may be
    /// far; and where turns have passed since, many will have come.
    [[nodiscard]] bool may_have_more(bool others_ready, std::uint32_t turn) const noexcept {
        const bool late = turn - asked_in > 1;
        return crowded || (others_ready && (late || lone_accepts < lone_accepts_max));
    }

    /// Whether to try a read of a file before a worker is asked. Each miss in a row doubles how many reads
    /// the next try waits for.
    [[nodiscard]] bool expects_cached() noexcept {
        if (uncached || waits_anyway) return false;
        if (untried_reads == 0) return true;
        --untried_reads;
        return false;
    }
    void note_cached(bool hit) noexcept {
        constexpr std::uint8_t misses_max = 6;
        if (!hit) untried_reads = static_cast<std::uint8_t>((1U << cache_misses) - 1);
        cache_misses = hit ? 0 : std::min<std::uint8_t>(cache_misses + 1, misses_max);
    }

    /// How much one call of a send is given. The rest of a message would need a call of its own.
    [[nodiscard]] std::size_t portion_of(const send_operation& it) const noexcept {
        constexpr std::size_t message_max = 128 * 1024;
        const bool whole = it.of_message && it.size <= message_max;
        return whole ? it.size : std::min<std::size_t>(it.size, portion_max);
    }

    /// `value` has been opened, with nothing known of it yet. For `host::enter`.
    /// @pre  not open, with nothing pending; no loop uses it.
    void begin_opening(int value) noexcept;

    /// It is closed, or given away: what was made for it is for it no more. For `host::release`.
    /// @pre  open, with nothing pending; no loop uses it.
    void end_opening() noexcept;

    static constexpr int vain_first_reads_max = 8;
    static constexpr std::uint8_t lone_accepts_max = 8;

    [[nodiscard]] bool open() const noexcept {
        return generation.load(std::memory_order_acquire) % 2 == 1;
    }
};

/// One opening of a descriptor number. It ends when that is closed or given away; the next one of the
/// same number, by any thread, is another. Outlived by copies of it, which then say so.
struct opening {
    descriptor_slot* of = nullptr;  ///< In the host's table; null of a handle that has none.
    std::uint32_t generation = 0;

    [[nodiscard]] bool lasts() const noexcept {
        return of != nullptr && of->generation.load(std::memory_order_acquire) == generation;
    }
};

/// The operating system as programs see it. A program may make its own: loop_backend.hpp tells how.
class host {
public:
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    /// Carries out `op` without waiting: immediate operations always, pollable ones as a single try
    /// that yields -EAGAIN where it would block. Returns what the system call returned, or -errno.
    [[nodiscard]] virtual int perform_now(operation& op) noexcept = 0;

    /// Carries out `op`, a file's that a worker would be asked for, if nothing has to be waited for: what the
    /// page cache holds. False if a worker is to do it by `perform_now`.
    [[nodiscard]] virtual bool perform_at_hand(operation& op) noexcept {
        static_cast<void>(op);
        return false;
    }

    /// Reads the clock.
    [[nodiscard]] virtual time_point now() noexcept = 0;

    /// Unpredictable bits, to draw jitter and shares of a load from. Any thread.
    [[nodiscard]] virtual std::uint64_t entropy() noexcept = 0;

    /// Reads the settings file at `path` into `into`, on the spot. Any thread. Returns 0 or -errno: -EFBIG
    /// past 16 MiB.
    [[nodiscard]] virtual int read_settings(const char* path, std::string& into) noexcept = 0;

    /// Whether signals of this process are for its programs, and eventfds of this process may be entered.
    [[nodiscard]] virtual bool has_signals() const noexcept = 0;

    /// Takes charge of an open descriptor number: `begin_opening` at an address that stays. Any thread.
    /// Allocates when numbers are higher than ever before.
    [[nodiscard]] virtual descriptor_slot& enter(int number) noexcept = 0;

    /// Closes the number. Nothing may be pending and no loop may know it any more.
    virtual int close(descriptor_slot& it) noexcept = 0;

    /// Gives the number away without closing it, under the same conditions.
    virtual int release(descriptor_slot& it) noexcept = 0;

protected:
    host() noexcept = default;
    ~host() = default;
};

}  // namespace gyre
