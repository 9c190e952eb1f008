// SPDX-License-Identifier: BSL-1.0
//
// How a program is started and its end is taken: see perform.cpp.
//
// posix_spawn(3) suspends the calling thread, and no other, until the program runs or has failed to (vfork,
// without a copy of our memory), so a worker calls it. The child has nothing of ours but what it is given.
#include <runtime/system_host.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <vector>

namespace gyre {
namespace {

/// posix_spawn's two lists; the first step that fails ends them.
class spawn_steps {
public:
    spawn_steps() noexcept {
        note(::posix_spawn_file_actions_init(&actions_));
        note(::posix_spawnattr_init(&attributes_));
    }
    spawn_steps(const spawn_steps&) = delete;
    spawn_steps& operator=(const spawn_steps&) = delete;
    ~spawn_steps() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
        for (const moved& each : copies_) ::close(each.copy);
    }

    // What one is to be may be the number of another, so all are moved out of the way first.
    void pass(std::span<const int> from) noexcept {
        const auto count = static_cast<int>(from.size());
        for (int target = 0; target < count; ++target) {
            const int number = from[static_cast<std::size_t>(target)];
            if (number == inherited_stream) continue;
            const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, count);
            if (copy < 0) return note(errno);
            copies_.push_back({copy, target});
        }
        for (const moved& each : copies_)
            note(::posix_spawn_file_actions_adddup2(&actions_, each.copy, each.target));
        // Also what other libraries have opened without FD_CLOEXEC.
        note(::posix_spawn_file_actions_addclosefrom_np(&actions_, count));
    }

    void work_in(const char* directory) noexcept {
        if (directory != nullptr)
            note(::posix_spawn_file_actions_addchdir_np(&actions_, directory));
    }

    // Nothing of what this program, or this thread, does with signals.
    void set_attributes(const program_image& image) noexcept {
        sigset_t none;
        sigset_t all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
        if (image.session) flags |= POSIX_SPAWN_SETSID;
        if (image.group >= 0 && !image.session) flags |= POSIX_SPAWN_SETPGROUP;
        note(::posix_spawnattr_setsigmask(&attributes_, &none));
        note(::posix_spawnattr_setsigdefault(&attributes_, &all));
        note(::posix_spawnattr_setpgroup(&attributes_, image.group));
        note(::posix_spawnattr_setflags(&attributes_, flags));
    }

    [[nodiscard]] int start(const program_image& image, pid_t& id) noexcept {
        if (failed_ != 0) return failed_;
        auto* const spawn = image.searched ? &::posix_spawnp : &::posix_spawn;
        return spawn(&id, image.path, &actions_, &attributes_, image.arguments,
                     image.environment != nullptr ? image.environment : environ);
    }

private:
    struct moved {
        int copy;
        int target;
    };

    void note(int failed) noexcept {
        if (failed_ == 0) failed_ = failed;
    }

    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
    std::vector<moved> copies_;
    int failed_ = 0;
};

constexpr auto by_descriptor = static_cast<idtype_t>(3);  // P_PIDFD, Linux 5.4.

// Whether the process has been taken off the kernel's table, by us or by another part of the program.
bool is_reaped(int process) noexcept {
    siginfo_t found{};
    const int failed =
        ::waitid(by_descriptor, static_cast<id_t>(process), &found, WEXITED | WNOHANG);
    return failed != 0 || found.si_pid != 0;
}

// Not if another part of the program has reaped it, or the kernel, because the program ignores SIGCHLD.
bool is_own_child(pid_t id) noexcept {
    siginfo_t found{};
    return ::waitid(P_PID, static_cast<id_t>(id), &found, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Processes without an owner, which would stay as zombies if no thread looked at them. Any thread.
class orphans {
public:
    void add(int process) noexcept {
        const std::lock_guard lock{mutex_};
        processes_.push_back(process);
    }

    void sweep() noexcept {
        const std::lock_guard lock{mutex_};
        std::erase_if(processes_, [](int each) {
            const bool reaped = is_reaped(each);
            if (reaped) ::close(each);  // Whatever it says, the number is not ours any more.
            return reaped;
        });
    }

private:
    std::mutex mutex_;
    std::vector<int> processes_;
};

orphans& all_orphans() noexcept {
    static auto* const it = new orphans;  // Used by threads that may end after main.
    return *it;
}

}  // namespace

int disown_process(const disown_operation& op) noexcept {
    if (!is_reaped(op.number)) {
        all_orphans().add(op.number);
    } else {
        ::close(op.number);
    }
    all_orphans().sweep();
    return 0;
}

int signal_process(const signal_operation& op) noexcept {
    const auto send = [&op](int number, unsigned how) noexcept {
        return outcome(static_cast<int>(
            ::syscall(SYS_pidfd_send_signal, op.target->number, number, nullptr, how)));
    };
    if (op.group <= 0) return send(op.number, 0);
    constexpr unsigned whole_group = 1U << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9.
    if (const int sent = send(op.number, whole_group); sent != -EINVAL) return sent;
    // The number is the group's as long as its leader is not reaped, by any thread.
    if (const int gone = send(0, 0); gone < 0) return gone;
    return outcome(::kill(-op.group, op.number));
}

int spawn_process(spawn_operation& op) noexcept {
    all_orphans().sweep();
    // Where there is no room for its descriptor, it is not to run at all.
    const int room = outcome(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    if (room < 0) return room;
    spawn_steps steps;
    steps.pass(op.image->descriptors);
    steps.work_in(op.image->directory);
    steps.set_attributes(*op.image);
    pid_t id = -1;
    const int refused = steps.start(*op.image, id);
    ::close(room);
    if (refused != 0) return -refused;

    // Until it is reaped its number is no other process's.
    const auto number = static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
    if (number < 0) {
        const int failed = errno;
        if (is_own_child(id)) {
            ::kill(id, SIGKILL);
            ::waitpid(id, nullptr, 0);
        }
        return -failed;
    }
    op.id = id;
    return number;
}

int reap_process(reap_operation& op) noexcept {
    siginfo_t found{};
    const auto process = static_cast<id_t>(op.target->number);
    if (op.killed_group > 0) {
        // The number is this group's for as long as its leader is not reaped.
        if (::waitid(by_descriptor, process, &found, WEXITED | WNOHANG | WNOWAIT) < 0)
            return -errno;
        if (found.si_pid == 0) return -EAGAIN;
        ::kill(-op.killed_group, SIGKILL);
    }
    if (::waitid(by_descriptor, process, &found, WEXITED | WNOHANG) < 0) return -errno;
    if (found.si_pid == 0) return -EAGAIN;
    op.code = found.si_code;
    op.status = found.si_status;
    return 0;
}

}  // namespace gyre
