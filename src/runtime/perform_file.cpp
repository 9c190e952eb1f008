// SPDX-License-Identifier: BSL-1.0
//
// The system calls for files, for pipes and for whatever else is no socket: see perform.cpp.
//
// What can be waited for is tried here; a file's operations are carried out to their end, by a worker.
#include <runtime/system_host.hpp>

#include <gyre/base/check.hpp>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <span>
#include <string_view>

namespace gyre {
namespace {

// A flag of pwritev2 that Debian 12's headers lack.
constexpr int rwf_nosignal = 0x100;  // Linux 6.18

// Whether a single try cannot be asked for here, by preadv2 or pwritev2: then it is looked for readiness.
bool lacks_flags(int result) noexcept { return result == -EOPNOTSUPP || may_be_refused(result); }

int read_plainly(int number, const iovec* parts, int count, std::int64_t offset) noexcept {
    if (offset == current_position) return outcome(::readv(number, parts, count));
    return outcome(::preadv(number, parts, count, offset));
}

int write_plainly(int number, const iovec* parts, int count, std::int64_t offset) noexcept {
    if (offset == current_position) return outcome(::writev(number, parts, count));
    return outcome(::pwritev(number, parts, count, offset));
}

constexpr unsigned whole_range =
    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;

/// While it lives, a write into a pipe without a reader raises no SIGPIPE on this thread.
class no_broken_pipe_signal {
public:
    no_broken_pipe_signal() noexcept {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    no_broken_pipe_signal(const no_broken_pipe_signal&) = delete;
    no_broken_pipe_signal& operator=(const no_broken_pipe_signal&) = delete;
    ~no_broken_pipe_signal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    /// A write has failed: takes back the signal that it has raised. One that the program has blocked by
    /// itself, and that was pending before, is the same one: nothing tells them apart.
    void take_back() const noexcept {
        constexpr timespec at_once{};
        if (::sigismember(&before_, SIGPIPE) == 0) ::sigtimedwait(&pipe_, nullptr, &at_once);
    }

private:
    sigset_t pipe_;
    sigset_t before_;
};

// Old kernels know the flag for nothing (EOPNOTSUPP), and then the signal is held back the long way.
std::atomic<bool> signal_is_refusable = true;

int write_silently(descriptor_slot& to, const iovec* parts, int count, std::int64_t offset,
                   int flags) noexcept {
    if (signal_is_refusable.load(std::memory_order_relaxed)) {
        const int result =
            outcome(::pwritev2(to.number, parts, count, offset, flags | rwf_nosignal));
        if (result != -EINVAL && !lacks_flags(result)) return result;
    }
    const no_broken_pipe_signal held_back;
    const int result = flags == 0 ? write_plainly(to.number, parts, count, offset)
                                  : outcome(::pwritev2(to.number, parts, count, offset, flags));
    // The same again would mean another flag, or the call.
    if (result != -EINVAL && !lacks_flags(result))
        signal_is_refusable.store(false, std::memory_order_relaxed);
    if (result == -EPIPE) held_back.take_back();
    return result;
}

// What does not block takes what it has room for. Another process may change that, so it is asked each time.
bool blocks(const descriptor_slot& it) noexcept {
    const int flags = ::fcntl(it.number, F_GETFL);
    return flags < 0 || (flags & O_NONBLOCK) == 0;
}

terminal_side terminal_side_of(int number) noexcept {
    unsigned index = 0;
    if (::isatty(number) != 1) return terminal_side::none;
    return ::ioctl(number, TIOCGPTN, &index) == 0 ? terminal_side::emulator
                                                  : terminal_side::program;
}

iovec first_of(const iovec* parts, int count) noexcept {
    return *std::find_if(parts, parts + count - 1, [](const iovec& it) { return it.iov_len > 0; });
}

// O_NONBLOCK is a property of what is open, and of a terminal or a pipe that may be shared with other
// processes, which would be surprised, or may clear it. So each call is asked not to wait, or made when poll
// says that it need not.
int read_once(descriptor_slot& from, const iovec* parts, int count, std::int64_t offset) noexcept {
    if (from.stored) return read_plainly(from.number, parts, count, offset);
    // Where nothing has a position the kernel says so before all else, and not only when it is ready.
    if (offset != current_position && ::preadv(from.number, nullptr, 0, offset) < 0) return -errno;
    if (!from.waits_anyway) {
        const int result = outcome(::preadv2(from.number, parts, count, offset, RWF_NOWAIT));
        if (!lacks_flags(result)) return result;
        from.waits_anyway = true;
    }
    if (const int ready = ready_now(from, POLLIN); ready < 0) return ready;
    int there = 0;
    if (from.terminal != terminal_side::program || !blocks(from) ||
        ::ioctl(from.number, FIONREAD, &there) < 0)
        return read_plainly(from.number, parts, count, offset);
    // With a pause between bytes to wait for (VTIME of termios(3)), it is kept for as many as are asked for.
    iovec first = first_of(parts, count);
    first.iov_len = std::clamp<std::size_t>(static_cast<std::size_t>(there), 1, first.iov_len);
    return outcome(::readv(from.number, &first, 1));
}

// True if the writers of a pipe have left, which has just been read to its end. A FIFO that no process has
// opened yet to write reads the same; only poll(2) tells them apart.
bool is_over(const descriptor_slot& pipe) noexcept {
    const int ready = ready_now(pipe, POLLIN);
    return ready > 0 && (ready & POLLIN) == 0;
}

// A terminal that no process has open any more: its emulator's end of file, which Linux calls an error.
int read_parts(descriptor_slot& from, const iovec* parts, int count, std::int64_t offset) noexcept {
    const int result = read_once(from, parts, count, offset);
    if (result == 0 && from.pipe) return is_over(from) ? 0 : -EAGAIN;
    const bool over = result == -EIO && from.terminal == terminal_side::emulator;
    return over ? 0 : result;
}

// What is ready has room for so much of `part`: a pipe, a FIFO for PIPE_BUF bytes (pipe(7)), a terminal
// for 256. But what a terminal makes of a line's end or a tab is written by itself, and may be the last that
// it has room for. Others are devices, which keep no write waiting as a rule.
std::size_t sure_part(const descriptor_slot& to, const iovec& part) noexcept {
    if (to.terminal == terminal_side::none) return std::min<std::size_t>(part.iov_len, PIPE_BUF);
    constexpr std::size_t room = 256;
    constexpr std::string_view changed = "\n\r\t";
    const std::string_view text{static_cast<const char*>(part.iov_base),
                                std::min(part.iov_len, room)};
    if (to.terminal == terminal_side::emulator) return text.size();
    return std::clamp<std::size_t>(text.find_first_of(changed), 1, text.size());
}

int sync_data(int number) noexcept {
    for (;;) {
        const int result = outcome(::fdatasync(number));
        if (result != -EINTR) return result;  // To write once more would append once more.
    }
}

int write_durably(int number, const iovec* parts, int count, std::int64_t offset) noexcept {
    const int result = outcome(::pwritev2(number, parts, count, offset, RWF_DSYNC));
    if (!lacks_flags(result)) return result;
    const int written = write_plainly(number, parts, count, offset);
    if (written <= 0) return written;
    const int failed = sync_data(number);
    return failed < 0 ? failed : written;
}

int write_parts(descriptor_slot& to, const iovec* parts, int count, std::int64_t offset,
                bool durable) noexcept {
    if (to.stored && durable) return write_durably(to.number, parts, count, offset);
    if (to.stored) return write_plainly(to.number, parts, count, offset);
    if (offset != current_position && ::pwritev(to.number, nullptr, 0, offset) < 0) return -errno;
    if (!to.waits_anyway) {
        const int result = write_silently(to, parts, count, offset, RWF_NOWAIT);
        if (!lacks_flags(result)) return result;
        to.waits_anyway = true;
    }
    if (!blocks(to)) return write_silently(to, parts, count, offset, 0);
    if (const int ready = ready_now(to, POLLOUT); ready < 0) return ready;
    iovec first = first_of(parts, count);
    first.iov_len = sure_part(to, first);
    return write_silently(to, &first, 1, offset, 0);
}

int try_read(read_operation& op) noexcept {
    const iovec part{op.data, op.size};
    return read_parts(*op.target, &part, 1, op.offset);
}

int try_write(write_operation& op) noexcept {
    const iovec part{const_cast<std::byte*>(op.data), op.size};
    return write_parts(*op.target, &part, 1, op.offset, op.durable);
}

int try_parts(parts_operation& op) noexcept {
    const int count = static_cast<int>(op.count);
    return op.code == opcode::read_scatter
               ? read_parts(*op.target, op.parts, count, op.offset)
               : write_parts(*op.target, op.parts, count, op.offset, op.durable);
}

int make_pipe(make_pipe_operation& op) noexcept {
    return outcome(::pipe2(op.numbers, O_CLOEXEC | (op.blocking ? 0 : O_NONBLOCK)));
}

// What cannot be waited for is a file, whatever it is called: directories and disks are, too.
int learn_kind(descriptor_slot& it) noexcept {
    struct stat found{};
    if (::fstat(it.number, &found) < 0) return -errno;
    it.stored = S_ISREG(found.st_mode) || S_ISBLK(found.st_mode) || S_ISDIR(found.st_mode);
    it.pipe = S_ISFIFO(found.st_mode);
    if (S_ISCHR(found.st_mode)) it.terminal = terminal_side_of(it.number);
    it.uncached = it.stored && (::fcntl(it.number, F_GETFL) & O_DIRECT) != 0;
    rlimit sizes{};
    it.limited = ::getrlimit(RLIMIT_FSIZE, &sizes) == 0 && sizes.rlim_cur != RLIM_INFINITY;
    return 0;
}

// A terminal is open for many processes, which all see whether it blocks. Opened by its name it is this one's
// alone. The side of a terminal emulator has no such name: the same device would open another terminal.
int open_terminal_anew(int number) noexcept {
    const int flags = ::fcntl(number, F_GETFL);
    if (flags < 0 || terminal_side_of(number) != terminal_side::program) return -1;
    constexpr std::string_view names = "/proc/self/fd/";
    std::array<char, names.size() + std::numeric_limits<int>::digits10 + 2> path{};
    std::to_chars(std::ranges::copy(names, path.begin()).out, path.end(), number);
    return ::open(path.data(), (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int duplicate(const duplicate_operation& op) noexcept {
    if (op.through_exec && ::fcntl(op.number, F_GETFD) != 0) return -EBADF;
    const int anew = op.terminal_anew ? open_terminal_anew(op.number) : -1;
    if (anew >= op.least) return anew;
    // Else as it is, if the terminal is another user's: its writes are short then.
    const int same = outcome(::fcntl(anew >= 0 ? anew : op.number, F_DUPFD_CLOEXEC, op.least));
    if (anew >= 0) ::close(anew);
    return same;
}

int synchronize(const extent_operation& op) noexcept {
    const int number = op.target->number;
    switch (op.mode) {
        case extent_operation::everything: return outcome(::fsync(number));
        case extent_operation::data: return sync_data(number);
        default: return outcome(::sync_file_range(number, op.offset, op.size, whole_range));
    }
}

int perform_once(operation& op) noexcept {
    switch (op.code) {
        case opcode::make_pipe: return make_pipe(static_cast<make_pipe_operation&>(op));
        case opcode::duplicate: return duplicate(static_cast<const duplicate_operation&>(op));
        case opcode::learn_kind: return learn_kind(*static_cast<learn_kind_operation&>(op).target);
        case opcode::open_watch: return outcome(::inotify_init1(IN_CLOEXEC));
        case opcode::add_watch: {
            const auto& it = static_cast<const watch_operation&>(op);
            return outcome(::inotify_add_watch(it.target->number, it.path, it.events));
        }
        case opcode::remove_watch: {
            const auto& it = static_cast<const watch_operation&>(op);
            return outcome(::inotify_rm_watch(it.target->number, it.watch));
        }
        case opcode::read: return try_read(static_cast<read_operation&>(op));
        case opcode::write: return try_write(static_cast<write_operation&>(op));
        case opcode::read_scatter:
        case opcode::write_gather: return try_parts(static_cast<parts_operation&>(op));
        case opcode::synchronize: return synchronize(static_cast<extent_operation&>(op));
        case opcode::allocate: {
            const auto& it = static_cast<const extent_operation&>(op);
            return outcome(::fallocate(it.target->number, it.mode, it.offset, it.size));
        }
        case opcode::resize: {
            const auto& it = static_cast<const extent_operation&>(op);
            return outcome(::ftruncate(it.target->number, it.size));
        }
        case opcode::open_file:
        case opcode::file_status:
        case opcode::rename:
        case opcode::remove:
        case opcode::make_directory:
        case opcode::read_link:
        case opcode::list_directory: return perform_on_path(static_cast<path_operation&>(op));
        default: fail_check("unreachable", "a socket's operation");
    }
}

// Linux 5.9 and 5.10 say that there is no more where the cache has a gap (preadv2(2), BUGS).
bool is_at_end(int number, std::int64_t offset) noexcept {
    struct stat found{};
    if (offset == current_position) offset = ::lseek(number, 0, SEEK_CUR);
    return ::fstat(number, &found) == 0 && S_ISREG(found.st_mode) && offset >= found.st_size;
}

// Some microseconds of copying are less than a worker's wake-up and its way back. More than that would be
// felt by others here. docs/decisions/0034-what-the-page-cache-holds.md.
bool read_cached_parts(operation& op, std::span<const iovec> parts, std::size_t size,
                       std::int64_t offset) noexcept {
    constexpr std::size_t size_max = 256 * 1024;
    descriptor_slot& from = *static_cast<descriptor_operation&>(op).target;
    if (size > size_max) return false;
    // The position has a lock, which a worker may hold that waits for the device.
    if (offset == current_position && !from.pending.is_only(op)) return false;
    if (!from.expects_cached()) return false;
    const int result = outcome(
        ::preadv2(from.number, parts.data(), static_cast<int>(parts.size()), offset, RWF_NOWAIT));
    if (lacks_flags(result)) from.waits_anyway = true;
    const bool hit = result > 0 || (result == 0 && is_at_end(from.number, offset));
    from.note_cached(hit);
    if (!hit) return false;  // If it is more than a wait, the worker will tell.
    op.result = result;
    return true;
}

}  // namespace

bool is_file_work(const operation& op) noexcept {
    if (op.code < opcode::read || op.code >= opcode::spawn_process) return false;
    return op.code > opcode::write_gather ||
           static_cast<const descriptor_operation&>(op).target->stored;
}

bool has_position(const operation& op) noexcept {
    switch (op.code) {
        case opcode::read: return static_cast<const read_operation&>(op).offset != current_position;
        case opcode::write:
            return static_cast<const write_operation&>(op).offset != current_position;
        case opcode::read_scatter:
        case opcode::write_gather:
            return static_cast<const parts_operation&>(op).offset != current_position;
        default: return false;
    }
}

bool read_from_cache(operation& op) noexcept {
    if (op.code == opcode::read) {
        const auto& it = static_cast<const read_operation&>(op);
        const iovec part{it.data, it.size};
        return read_cached_parts(op, {&part, 1}, it.size, it.offset);
    }
    if (op.code != opcode::read_scatter) return false;
    const auto& it = static_cast<const parts_operation&>(op);
    return read_cached_parts(op, {it.parts, it.count}, it.size, it.offset);
}

// A file is not given up because of a signal (signal(7) lets the devices of some file systems say so).
int perform_on_file(operation& op) noexcept {
    for (;;) {
        const int result = perform_once(op);
        if (result != -EINTR || !is_file_work(op)) return result;
    }
}

}  // namespace gyre
