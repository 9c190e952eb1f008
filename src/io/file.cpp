// SPDX-License-Identifier: BSL-1.0
//
// Flags, names and answers as the kernel has them: see include/gyre/io/file.hpp.
#include <gyre/io/file.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>

namespace gyre {
namespace {

// A FIFO would have the open wait for a peer, which neither a worker nor the ring could be called back from.
// Files do not know O_NONBLOCK.
int flags_of(const file_options& how) noexcept {
    constexpr std::array access{O_RDONLY, O_WRONLY, O_RDWR};
    int flags = access[static_cast<std::size_t>(how.access)] | O_NONBLOCK;
    if (how.create) flags |= O_CREAT;
    if (how.exclusive) flags |= O_EXCL;
    if (how.truncate) flags |= O_TRUNC;
    if (how.append) flags |= O_APPEND;
    if (how.every_write_durable) flags |= O_DSYNC;
    if (how.direct) flags |= O_DIRECT;
    return flags;
}

file_kind kind_of(std::uint16_t mode) noexcept {
    switch (mode & S_IFMT) {
        case S_IFREG: return file_kind::regular;
        case S_IFDIR: return file_kind::directory;
        case S_IFLNK: return file_kind::symbolic_link;
        case S_IFIFO: return file_kind::pipe;
        case S_IFSOCK: return file_kind::socket;
        case S_IFCHR: return file_kind::character_device;
        case S_IFBLK: return file_kind::block_device;
        default: return file_kind::unknown;
    }
}

file_status::time time_of(const statx_timestamp& it) noexcept {
    // File systems, and programs that set a time, reach further than nanoseconds do.
    constexpr auto furthest =
        std::chrono::floor<std::chrono::seconds>(file_status::time::duration::max()).count();
    if (it.tv_sec >= furthest) return file_status::time::max();
    if (it.tv_sec < -furthest) return file_status::time::min();
    return file_status::time{std::chrono::seconds{it.tv_sec} +
                             std::chrono::nanoseconds{it.tv_nsec}};
}

file_status status_of(const struct statx& found) noexcept {
    constexpr std::uint64_t sector = 512;
    constexpr std::uint16_t permission_bits = 07777;
    file_status it;
    it.size = found.stx_size;
    it.allocated = found.stx_blocks * sector;
    it.links = found.stx_nlink;
    it.inode = found.stx_ino;
    it.device = makedev(found.stx_dev_major, found.stx_dev_minor);
    it.user = found.stx_uid;
    it.group = found.stx_gid;
    it.permissions = static_cast<std::filesystem::perms>(found.stx_mode & permission_bits);
    it.kind = kind_of(found.stx_mode);
    it.modified = time_of(found.stx_mtime);
    it.accessed = time_of(found.stx_atime);
    it.changed = time_of(found.stx_ctime);
    if ((found.stx_mask & STATX_BTIME) != 0) it.created = time_of(found.stx_btime);
    return it;
}

}  // namespace

std::int32_t finish_open::prepare(path_operation& op, io_context& on) noexcept {
    if (path_.find('\0') != std::string::npos)
        return -EINVAL;  // The kernel would open another one.
    host_ = &on.host();
    op.target = &on.working_directory();
    op.path = path_.c_str();
    op.flags = flags_of(options_);
    op.mode = static_cast<unsigned>(options_.permissions);
    return 0;
}

std::int32_t finish_open_beneath::prepare(path_operation& op, io_context& on) noexcept {
    static_assert(sizeof(open_how) == sizeof how_);
    descriptor_slot* const directory = op.target;
    if (const std::int32_t failure = finish_open::prepare(op, on); failure != 0) return failure;
    open_how how{};
    how.flags = static_cast<std::uint64_t>(op.flags | O_CLOEXEC | O_NOCTTY);
    // It refuses permissions for what is not created.
    if ((op.flags & O_CREAT) != 0) how.mode = op.mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    std::memcpy(how_.data(), &how, sizeof how);
    op.target = directory;
    op.found = how_.data();
    return 0;
}

io_result<file> finish_open::operator()(const path_operation& op) noexcept {
    if (const error failed = error_of(op)) return failed;
    return file{handle{*host_, op.result}};
}

std::int32_t finish_status::prepare(path_operation& op, io_context& on) noexcept {
    static_assert(sizeof(struct statx) == sizeof found_);
    op.found = found_.data();
    op.flags = AT_EMPTY_PATH;
    if (!of_name_) return 0;
    if (path_.empty()) return -ENOENT;
    if (path_.find('\0') != std::string::npos) return -EINVAL;
    op.target = &on.working_directory();
    op.path = path_.c_str();
    op.flags = followed_ ? 0 : AT_SYMLINK_NOFOLLOW;
    return 0;
}

io_result<file_status> finish_status::operator()(const path_operation& op) const noexcept {
    if (const error failed = error_of(op)) return failed;
    struct statx found{};
    std::memcpy(&found, found_.data(), sizeof found);
    return status_of(found);
}

}  // namespace gyre
