// SPDX-License-Identifier: BSL-1.0
//
// Kernels that refuse any one of the system calls that the library makes, from the start or later.
//
// Container runtimes and sandboxes answer what they do not know, or do not want, with EPERM, EACCES or
// ENOSYS; kernels without memory with ENOMEM or ENOSPC. Nothing of that may abort a program, hang it or
// end it quietly. Filters stick to a process, so each combination has a child of its own.
#include <gyre/base/build.hpp>
#include <gyre/sync/timeout.hpp>
#include <runtime/everything.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct refusable {
    const char* name;
    unsigned number;
};

// Without these no program runs, whatever library it uses: munmap, futex, brk, exit, exit_group,
// rt_sigreturn, execve, mmap without a descriptor.
const std::vector<refusable> calls{{"io_uring_setup", SYS_io_uring_setup},
                                   {"io_uring_enter", SYS_io_uring_enter},
                                   {"io_uring_register", SYS_io_uring_register},
                                   {"mmap", SYS_mmap},
                                   {"madvise", SYS_madvise},
                                   {"epoll_create1", SYS_epoll_create1},
                                   {"epoll_ctl", SYS_epoll_ctl},
                                   {"epoll_wait", SYS_epoll_wait},
                                   {"epoll_pwait2", SYS_epoll_pwait2},
                                   {"eventfd2", SYS_eventfd2},
                                   {"poll", SYS_poll},
                                   {"fcntl", SYS_fcntl},
                                   {"socket", SYS_socket},
                                   {"socketpair", SYS_socketpair},
                                   {"bind", SYS_bind},
                                   {"listen", SYS_listen},
                                   {"connect", SYS_connect},
                                   {"accept4", SYS_accept4},
                                   {"shutdown", SYS_shutdown},
                                   {"getsockname", SYS_getsockname},
                                   {"getpeername", SYS_getpeername},
                                   {"getsockopt", SYS_getsockopt},
                                   {"setsockopt", SYS_setsockopt},
                                   {"sendto", SYS_sendto},
                                   {"recvfrom", SYS_recvfrom},
                                   {"sendmsg", SYS_sendmsg},
                                   {"recvmsg", SYS_recvmsg},
                                   {"sendmmsg", SYS_sendmmsg},
                                   {"recvmmsg", SYS_recvmmsg},
                                   {"ioctl", SYS_ioctl},
                                   {"pipe2", SYS_pipe2},
                                   {"clock_nanosleep", SYS_clock_nanosleep},
                                   {"preadv", SYS_preadv},
                                   {"preadv2", SYS_preadv2},
                                   {"pwritev", SYS_pwritev},
                                   {"pwritev2", SYS_pwritev2},
                                   {"readv", SYS_readv},
                                   {"write", SYS_write},
                                   {"writev", SYS_writev},
                                   {"read", SYS_read},
                                   {"close", SYS_close},
                                   {"lseek", SYS_lseek},
                                   {"fstat", SYS_fstat},
                                   {"newfstatat", SYS_newfstatat},
                                   {"fsync", SYS_fsync},
                                   {"fdatasync", SYS_fdatasync},
                                   {"sync_file_range", SYS_sync_file_range},
                                   {"fallocate", SYS_fallocate},
                                   {"ftruncate", SYS_ftruncate},
                                   {"openat", SYS_openat},
                                   {"openat2", SYS_openat2},
                                   {"statx", SYS_statx},
                                   {"renameat", SYS_renameat},
                                   {"renameat2", SYS_renameat2},
                                   {"readlinkat", SYS_readlinkat},
                                   {"unlinkat", SYS_unlinkat},
                                   {"mkdirat", SYS_mkdirat},
                                   {"getdents64", SYS_getdents64},
                                   {"prlimit64", SYS_prlimit64},
                                   {"inotify_init1", SYS_inotify_init1},
                                   {"inotify_add_watch", SYS_inotify_add_watch},
                                   {"inotify_rm_watch", SYS_inotify_rm_watch},
                                   {"rt_sigaction", SYS_rt_sigaction},
                                   {"rt_sigprocmask", SYS_rt_sigprocmask},
                                   {"rt_sigtimedwait", SYS_rt_sigtimedwait},
                                   {"pidfd_open", SYS_pidfd_open},
                                   {"pidfd_send_signal", SYS_pidfd_send_signal},
                                   {"waitid", SYS_waitid},
                                   {"wait4", SYS_wait4},
                                   {"kill", SYS_kill},
                                   {"clone", SYS_clone},
                                   {"clone3", SYS_clone3},
                                   {"vfork", SYS_vfork},
                                   {"dup2", SYS_dup2},
                                   {"dup3", SYS_dup3},
                                   {"getrandom", SYS_getrandom},
                                   {"sched_getaffinity", SYS_sched_getaffinity},
                                   {"sched_setaffinity", SYS_sched_setaffinity},
                                   {"close_range", SYS_close_range},
                                   {"prctl", SYS_prctl},
                                   {"uname", SYS_uname},
                                   {"mprotect", SYS_mprotect}};

constexpr std::array errors{EPERM, EACCES, ENOSYS, ENOMEM, ENOSPC};

// For all threads of this process. Memory that is no file's stays to be had: the library takes none of it.
void refuse(unsigned call, unsigned answer) {
    constexpr unsigned descriptor_of_mmap =
        offsetof(seccomp_data, args) + 4 * sizeof(std::uint64_t);
    std::vector<sock_filter> code{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, descriptor_of_mmap),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call == SYS_mmap ? UINT32_MAX : UINT32_MAX - 1, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    REQUIRE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
            0);
}

// Each step says that it has done its part, or why not, in time.
task<> check_steps(io_context& io, child_process& me, const scratch_directory& in) {
    for (const everything_step& each : everything()) {
        const io_result<> done = co_await with_timeout(5s, each.run(io, in));
        const error end = done.error();
        const std::string name = each.name;
        me.check(end != errc::timed_out, name + " hangs:\n" + dump_tasks(io));
        me.check(end != errc::canceled, name + " says that it was canceled");
        me.check(end != errc::foreign, name + " says ok, and has not done it");
    }
}

enum class moment { at_the_start, later };

void check_refused(const refusable& call, int answer, moment when, backend_choice backend) {
    INFO(std::string{call.name}, " says ", std::string{::strerrorname_np(answer)}, " to ",
         std::string{describe(backend)},
         std::string{when == moment::later ? ", later" : ", from the start"});
    const scratch_directory in;
    check_in_child([&](child_process& me) {
        std::signal(SIGABRT, SIG_DFL);  // The test runner's handler would report in our place.
        if (when == moment::at_the_start) refuse(call.number, static_cast<unsigned>(answer));
        io_context io{require(backend)};
        if (when == moment::later) {
            run_to_end(me, io, check_steps(io, me, in));
            refuse(call.number, static_cast<unsigned>(answer));
        }
        run_to_end(me, io, check_steps(io, me, in));
        me.check(!io.status() || !io.backend().reason.empty(), "the status has a reason");
    });
}

std::vector<backend_choice> backends() {
    std::vector<backend_choice> all = backends_under_test();
    std::erase(all, backend_choice::custom);
    return all;
}

// All of them with GYRE_ALL_REFUSALS=1, some minutes; else one for each call, in turn.
bool is_asked_for(std::size_t call, std::size_t answer) {
    // A sanitizer needs these of its own for each thread, and ends the program without them.
    const bool sanitizers =
        calls[call].number == SYS_rt_sigprocmask || calls[call].number == SYS_sched_getaffinity;
    if (sanitizers && !recycles_memory) return false;
    if (std::getenv("GYRE_ALL_REFUSALS") != nullptr) return true;
    return answer == call % errors.size();
}

void check_all(moment when) {
    const char* const only = std::getenv("GYRE_REFUSED_CALL");
    for (const backend_choice backend : backends()) {
        for (std::size_t call = 0; call < calls.size(); ++call) {
            if (only != nullptr && std::string_view{only} != calls[call].name) continue;
            for (std::size_t each = 0; each < errors.size(); ++each) {
                if (is_asked_for(call, each))
                    check_refused(calls[call], errors[each], when, backend);
            }
        }
    }
}

}  // namespace

TEST_CASE("whatever call is refused from the start, nothing aborts, hangs or ends quietly") {
    check_all(moment::at_the_start);
}

TEST_CASE("whatever call is refused later, nothing aborts, hangs or ends quietly") {
    check_all(moment::later);
}
