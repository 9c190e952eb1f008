// SPDX-License-Identifier: BSL-1.0
//
// The child of program_start.hpp, which runs in our memory, on a stack of its own.
//
// It may touch nothing that another thread, or we when it is gone, would miss: system calls only, no memory
// taken, no lock, nothing of the C library's state but errno. It never returns, so nothing here is built with
// a sanitizer's instrumentation, which counts calls and frames (CMakeLists.txt).
#include <runtime/program_start.hpp>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>

// clone(3) by glibc's other name: thread sanitizers take the first for a fork, which copies memory.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument,
                       ...) noexcept;

namespace gyre {
namespace {

using kernel_signals = std::uint64_t;  // As the calls below take them; sigset_t is wider.

constexpr std::size_t stack_size =
    64 * 1024;  // The dynamic linker may need 16 KiB for a first call.

[[noreturn]] void give_up(program_start& it, int failed) noexcept {
    it.failed = failed;
    for (;;) ::syscall(SYS_exit_group, 127);
}

void require(program_start& it, long returned) noexcept {
    if (returned < 0) give_up(it, errno);
}

// The kernel's default for each, those that the C library keeps for itself included.
void forget_handlers() noexcept {
    static constexpr std::array<long, 16> usual{};  // A struct sigaction of the kernel's, and more.
    constexpr int signals = 64;
    for (int each = 1; each <= signals; ++each)
        ::syscall(SYS_rt_sigaction, each, usual.data(), nullptr, sizeof(kernel_signals));
}

// An entry of getdents64(2), whose name is a number in a listing of descriptors; -1: it is not.
int number_in(const char* entry) noexcept {
    constexpr std::size_t name = 19;
    int number = -1;
    for (const char* each = entry + name; *each >= '0' && *each <= '9'; ++each)
        number = (number < 0 ? 0 : number * 10) + (*each - '0');
    return number;
}

// False if the kernel lists no descriptors: without /proc.
bool close_listed(int first) noexcept {
    constexpr std::size_t length = 16;  // Of an entry, in its head.
    const auto listing = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (listing < 0) return false;
    alignas(std::uint64_t) std::array<char, 1024> space;
    for (;;) {
        const long got = ::syscall(SYS_getdents64, listing, space.data(), space.size());
        if (got < 0) return false;
        if (got == 0) break;
        for (long at = 0; at < got;) {
            const char* const entry = space.data() + at;
            const int number = number_in(entry);
            if (number >= first && number != listing) ::syscall(SYS_close, number);
            at += *reinterpret_cast<const std::uint16_t*>(entry + length);
        }
    }
    return true;  // The listing closes itself.
}

void arrange_descriptors(program_start& it) noexcept {
    for (int each = 0; each < it.moved_count; ++each)
        require(it, ::syscall(SYS_dup3, it.moved[each].copy, it.moved[each].target, 0));
    // Also what other libraries have opened without FD_CLOEXEC.
    if (::syscall(SYS_close_range, it.first_closed, UINT_MAX, 0) == 0) return;
    const int refused = errno;
    if (!close_listed(it.first_closed)) give_up(it, refused);
}

// Before the user changes: to raise one takes privileges.
void limit_resources(program_start& it) noexcept {
    for (std::size_t each = 0; each < it.limit_count; ++each) {
        const std::uint64_t values[]{it.limits[each].value, it.limits[each].value_max};
        require(it, ::syscall(SYS_prlimit64, 0, it.limits[each].resource, values, nullptr));
    }
}

// The kernel's own calls, for this process alone: those of the C library are for all threads that it knows.
void become_user(program_start& it) noexcept {
    require(it, ::syscall(SYS_setgroups, it.user_group_count, it.user_groups));
    require(it, ::syscall(SYS_setresgid, it.user_group, it.user_group, it.user_group));
    require(it, ::syscall(SYS_setresuid, it.user, it.user, it.user));
}

// As execvp(3), but that a file which is no program is not given to a shell.
[[noreturn]] void execute(program_start& it) noexcept {
    int failed = ENOENT;
    for (const char* const* path = it.paths; *path != nullptr; ++path) {
        ::syscall(SYS_execve, *path, it.arguments, it.environment);
        const bool elsewhere = errno == ENOENT || errno == ENOTDIR || errno == ESTALE ||
                               errno == ENODEV || errno == ETIMEDOUT;
        if (!elsewhere && errno != EACCES) give_up(it, errno);
        // One that is there, and may not be run, says more than that others are not.
        if (failed != EACCES) failed = errno;
    }
    give_up(it, failed);
}

int become_program(void* argument) noexcept {
    program_start& it = *static_cast<program_start*>(argument);
    if (it.descriptor < 0)
        give_up(it, ENOSYS);  // Linux before 5.2 does not know what was asked for.
    forget_handlers();
    if (it.session) require(it, ::syscall(SYS_setsid));
    if (it.group >= 0 && !it.session) require(it, ::syscall(SYS_setpgid, 0, it.group));
    it.during = activity::pass_descriptors;
    arrange_descriptors(it);
    it.during = activity::limit_resources;
    limit_resources(it);
    it.during = activity::change_user;
    if (it.becomes_user) become_user(it);
    if (it.file_mask >= 0) ::syscall(SYS_umask, it.file_mask);
    it.during = activity::change_directory;
    if (it.directory != nullptr) require(it, ::syscall(SYS_chdir, it.directory));
    it.during = activity::start_process;
    constexpr kernel_signals none = 0;
    require(it, ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none));
    execute(it);
}

}  // namespace

pid_t start_program(program_start& it) noexcept {
    const auto stack = std::make_unique_for_overwrite<std::byte[]>(stack_size);
    // No handler of ours may run in the child, where it would change our memory a second time.
    constexpr kernel_signals all = ~kernel_signals{0};
    kernel_signals before = 0;
    if (::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all) < 0) return -errno;
    constexpr int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    const pid_t id = __clone(become_program, stack.get() + stack_size, flags, &it, &it.descriptor);
    const int failed = errno;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
    return id < 0 ? -failed : id;
}

}  // namespace gyre
