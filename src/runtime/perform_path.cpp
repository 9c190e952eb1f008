// SPDX-License-Identifier: BSL-1.0
//
// The system calls for what is done to names, carried out to their end by a worker: see perform.cpp.
//
// The newer ones are refused by sandboxes (decision 0060); older ones stand in for them.
#include <runtime/beneath_walk.hpp>
#include <runtime/system_host.hpp>

#include <gyre/base/check.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace gyre {
namespace {

// The kernel looks at the size of what is asked first, whatever is asked; a sandbox does not.
bool has_openat2() noexcept {
    return ::syscall(SYS_openat2, -1, nullptr, nullptr, 0) < 0 && errno == EINVAL;
}

int open_beneath(const path_operation& op) noexcept {
    const int at = op.target->number;
    const int result = outcome(::syscall(SYS_openat2, at, op.path, op.found, sizeof(open_how)));
    if (!may_be_refused(result) || has_openat2()) return result;
    return open_by_walk(at, op.path, *static_cast<const open_how*>(op.found));
}

int open_file(const path_operation& op) noexcept {
    if (op.found != nullptr) return open_beneath(op);
    return outcome(::openat(op.target->number, op.path, op.flags | O_CLOEXEC | O_NOCTTY, op.mode));
}

statx_timestamp timestamp_of(const timespec& it) noexcept {
    statx_timestamp time{};
    time.tv_sec = it.tv_sec;
    time.tv_nsec = static_cast<std::uint32_t>(it.tv_nsec);
    return time;
}

struct statx statx_of(const struct stat& it) noexcept {
    struct statx found{};
    found.stx_mask = STATX_BASIC_STATS;
    found.stx_mode = static_cast<std::uint16_t>(it.st_mode);
    found.stx_nlink = static_cast<std::uint32_t>(it.st_nlink);
    found.stx_uid = it.st_uid;
    found.stx_gid = it.st_gid;
    found.stx_ino = it.st_ino;
    found.stx_size = static_cast<std::uint64_t>(it.st_size);
    found.stx_blocks = static_cast<std::uint64_t>(it.st_blocks);
    found.stx_dev_major = ::gnu_dev_major(it.st_dev);
    found.stx_dev_minor = ::gnu_dev_minor(it.st_dev);
    found.stx_atime = timestamp_of(it.st_atim);
    found.stx_mtime = timestamp_of(it.st_mtim);
    found.stx_ctime = timestamp_of(it.st_ctim);
    return found;
}

int file_status(const path_operation& op) noexcept {
    const int at = op.target->number;
    auto& found = *static_cast<struct statx*>(op.found);
    const int result =
        outcome(::statx(at, op.path, op.flags, STATX_BASIC_STATS | STATX_BTIME, &found));
    if (!may_be_refused(result)) return result;
    struct stat less{};
    const int failed = outcome(::fstatat(at, op.path, &less, op.flags));
    if (failed == 0) found = statx_of(less);
    return failed;
}

int rename(const path_operation& op) noexcept {
    const int at = op.target->number;
    return outcome(::renameat2(at, op.path, at, op.other, static_cast<unsigned>(op.flags)));
}

}  // namespace

int perform_on_path(path_operation& op) noexcept {
    const int at = op.target->number;
    switch (op.code) {
        case opcode::open_file: return open_file(op);
        case opcode::file_status: return file_status(op);
        case opcode::rename: return rename(op);
        case opcode::remove: return outcome(::unlinkat(at, op.path, op.flags));
        case opcode::make_directory: return outcome(::mkdirat(at, op.path, op.mode));
        case opcode::read_link:
            return outcome(::readlinkat(at, op.path, static_cast<char*>(op.found), op.mode));
        case opcode::list_directory:
            return outcome(::syscall(SYS_getdents64, at, op.found, op.mode));
        default: fail_check("unreachable", "not an operation on a name");
    }
}

}  // namespace gyre
