// SPDX-License-Identifier: BSL-1.0
//
// How a program is started and its end is taken: see perform.cpp.
//
// A start suspends the calling thread, and no other, until the program runs or has failed to
// (program_start.hpp), so a worker calls it. The child has nothing of ours but what it is given.
#include <gyre/base/last_words.hpp>
#include <gyre/runtime/process_user.hpp>
#include <runtime/program_start.hpp>
#include <runtime/system_host.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre {
namespace {

/// The descriptors that a child is given: copies here, which are closed with this.
class passed_copies {
public:
    passed_copies() noexcept = default;
    passed_copies(const passed_copies&) = delete;
    passed_copies& operator=(const passed_copies&) = delete;
    ~passed_copies() {
        for (const moved_descriptor& each : all_) ::close(each.copy);
    }

    // What one is to be may be the number of another, so all are moved out of the way first. 0, or -errno.
    [[nodiscard]] int take(std::span<const int> from) noexcept {
        const auto count = static_cast<int>(from.size());
        for (int target = 0; target < count; ++target) {
            const int number = from[static_cast<std::size_t>(target)];
            if (number == inherited_stream) continue;
            const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, count);
            if (copy < 0) return -errno;
            all_.push_back({copy, target});
        }
        return 0;
    }

    [[nodiscard]] std::span<const moved_descriptor> all() const noexcept { return all_; }

private:
    std::vector<moved_descriptor> all_;
};

/// Where a program may be: where it is said to be, or in each folder of PATH, as execvp(3) looks.
class candidate_paths {
public:
    explicit candidate_paths(const program_image& image) noexcept {
        const std::string_view name = image.path;
        if (!image.searched || name.empty() || name.find('/') != std::string_view::npos) {
            texts_.emplace_back(name);
        } else {
            const char* const listed = std::getenv("PATH");
            search(listed != nullptr ? listed : "/bin:/usr/bin", name);
        }
        for (const std::string& each : texts_) paths_.push_back(each.c_str());
        paths_.push_back(nullptr);
    }

    [[nodiscard]] const char* const* get() const noexcept { return paths_.data(); }

private:
    void search(std::string_view folders, std::string_view name) noexcept {
        for (std::size_t begin = 0; begin <= folders.size();) {
            const std::size_t end = std::min(folders.find(':', begin), folders.size());
            std::string path{folders.substr(begin, end - begin)};
            if (!path.empty()) path += '/';  // Empty is the working directory.
            path += name;
            texts_.push_back(std::move(path));
            begin = end + 1;
        }
    }

    std::vector<std::string> texts_;
    std::vector<const char*> paths_;
};

constexpr auto by_descriptor = static_cast<idtype_t>(3);  // P_PIDFD, Linux 5.4.

// Whether the process has been taken off the kernel's table, by us or by another part of the program.
bool is_reaped(int process) noexcept {
    siginfo_t found{};
    const int failed =
        ::waitid(by_descriptor, static_cast<id_t>(process), &found, WEXITED | WNOHANG);
    return failed != 0 || found.si_pid != 0;
}

// Whether it is our child, and still has its number, ended or not.
bool is_unreaped(int process) noexcept {
    siginfo_t found{};
    return ::waitid(by_descriptor, static_cast<id_t>(process), &found,
                    WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Processes without an owner, which would stay as zombies if no thread looked at them. Any thread.
class orphans {
public:
    void add(int process) noexcept {
        const std::lock_guard lock{mutex_};
        processes_.push_back(process);
    }

    // Around a fork.
    void hold() noexcept { mutex_.lock(); }
    void release() noexcept { mutex_.unlock(); }

    /// In a forked child: they are its parent's children, and the numbers may be closed and used again.
    void forget() noexcept {
        for (const int each : processes_) ::close(each);
        processes_.clear();
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

void become(const process_user& user, program_start& it) noexcept {
    it.becomes_user = true;
    it.user = user.user;
    it.user_group = user.group;
    it.user_groups = user.groups.data();
    it.user_group_count = user.groups.size();
}

// A child that changes its user while it has our memory takes our core dumps with it, and our /proc/self
// (PR_SET_DUMPABLE). One at a time, so that none takes for ours what another one has made of it.
std::mutex& starting_as_user() noexcept {
    static auto* const it = new std::mutex;  // Used by threads that may end after main.
    return *it;
}

pid_t start_as_user(program_start& it) noexcept {
    const std::lock_guard hold{starting_as_user()};
    const int before = ::prctl(PR_GET_DUMPABLE);
    const pid_t id = start_program(it);
    if (before == 1) ::prctl(PR_SET_DUMPABLE, before);
    return id;
}

// A worker may hold these locks, and a forked child has no worker to release them. A thread that speaks
// last words takes no lock, since another thread may hold it and wait for that one.
void hold_for_fork() noexcept {
    if (last_words::speaks_here()) return;
    starting_as_user().lock();
    all_orphans().hold();
}

void release_after_fork() noexcept {
    if (last_words::speaks_here()) return;
    all_orphans().release();
    starting_as_user().unlock();
}

void forget_in_child() noexcept {
    all_orphans().forget();
    release_after_fork();
}

[[maybe_unused]] const int locks_arranged =
    ::pthread_atfork(&hold_for_fork, &release_after_fork, &forget_in_child);

duration duration_of(const timeval& it) noexcept {
    return std::chrono::seconds{it.tv_sec} + std::chrono::microseconds{it.tv_usec};
}

process_usage usage_of(const rusage& it) noexcept {
    constexpr std::uint64_t kibibyte = 1024;
    constexpr std::uint64_t block = 512;
    const auto count = [](long of) { return static_cast<std::uint64_t>(of); };
    process_usage used;
    used.user_time = duration_of(it.ru_utime);
    used.system_time = duration_of(it.ru_stime);
    used.memory_bytes_max = count(it.ru_maxrss) * kibibyte;
    used.page_faults = count(it.ru_minflt);
    used.page_reads = count(it.ru_majflt);
    used.bytes_read = count(it.ru_inblock) * block;
    used.bytes_written = count(it.ru_oublock) * block;
    used.waits = count(it.ru_nvcsw);
    used.preemptions = count(it.ru_nivcsw);
    return used;
}

// A child that has not become a program ends at once, if the kernel has not done away with it already.
void reap_failed(const program_start& it, pid_t id) noexcept {
    const bool described = it.descriptor >= 0;
    siginfo_t found{};
    while (::waitid(described ? by_descriptor : P_PID,
                    static_cast<id_t>(described ? it.descriptor : id), &found, WEXITED) < 0 &&
           errno == EINTR) {
    }
    if (described) ::close(it.descriptor);
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
    const bool group = op.receiver == signal_operation::to::group;
    constexpr unsigned whole_group = 1U << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9.
    const int sent = outcome(static_cast<int>(::syscall(
        SYS_pidfd_send_signal, op.target->number, op.number, nullptr, group ? whole_group : 0)));
    if (sent == 0 || sent == -ESRCH) return sent;
    // The kernel does not know it, or a sandbox keeps it from us. The number is the process's, and its
    // group's, as long as it is not reaped.
    if (!is_unreaped(op.target->number)) return -ESRCH;
    return outcome(::kill(group ? -op.process : op.process, op.number));
}

int spawn_process(spawn_operation& op) noexcept {
    all_orphans().sweep();
    const program_image& image = *op.image;
    passed_copies copies;
    if (const int failed = copies.take(image.descriptors); failed < 0) {
        op.during = activity::pass_descriptors;
        return failed;
    }
    const candidate_paths paths{image};
    program_start start;
    start.paths = paths.get();
    start.arguments = image.arguments;
    start.environment = image.environment != nullptr ? image.environment : environ;
    start.directory = image.directory;
    start.moved = copies.all().data();
    start.moved_count = static_cast<int>(copies.all().size());
    start.first_closed = static_cast<int>(image.descriptors.size());
    start.group = image.group;
    start.session = image.session;
    start.limits = image.limits.data();
    start.limit_count = image.limits.size();
    start.file_mask = image.file_mask;
    if (image.user != nullptr) become(*image.user, start);
    // Without room for its descriptor there is no child.
    const pid_t id = image.user == nullptr ? start_program(start) : start_as_user(start);
    if (id < 0) return id;
    if (start.failed == 0) {
        op.id = id;
        return start.descriptor;
    }
    op.during = start.during;
    reap_failed(start, id);
    return -start.failed;
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
    // The C library's waitid(3) does not tell what was used.
    rusage used{};
    if (::syscall(SYS_waitid, by_descriptor, process, &found, WEXITED | WNOHANG, &used) < 0)
        return -errno;
    if (found.si_pid == 0) return -EAGAIN;
    op.code = found.si_code;
    op.status = found.si_status;
    if (op.usage != nullptr) *op.usage = usage_of(used);
    return 0;
}

}  // namespace gyre
