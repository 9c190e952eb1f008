// SPDX-License-Identifier: BSL-1.0
//
// One entry for each: see uring_file_entry.hpp.
#include <runtime/uring_file_entry.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/host.hpp>
#include <runtime/system_host.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>

namespace gyre {
namespace {

std::uint64_t address(const void* it) noexcept { return reinterpret_cast<std::uint64_t>(it); }

void prepare_transfer(io_uring_op kind, const void* at, std::size_t size, std::int64_t offset,
                      io_uring_sqe& to) noexcept {
    to.opcode = static_cast<std::uint8_t>(kind);
    to.addr = address(at);
    to.len = static_cast<std::uint32_t>(std::min<std::size_t>(size, INT32_MAX));
    to.off = static_cast<std::uint64_t>(offset);
}

// A write that the kernel makes on the spot sends the loop's thread a SIGXFSZ where it meets a limit; the
// kernel's workers take none.
void prepare_write(const descriptor_slot& file, bool durable, io_uring_sqe& to) noexcept {
    to.rw_flags = durable ? RWF_DSYNC : 0;
    if (file.limited) to.flags |= IOSQE_ASYNC;
}

void prepare_sync(const extent_operation& op, io_uring_sqe& to) noexcept {
    to.opcode = IORING_OP_FSYNC;
    to.fsync_flags = op.mode == extent_operation::data ? IORING_FSYNC_DATASYNC : 0;
    if (op.mode != extent_operation::range) return;
    to.opcode = IORING_OP_SYNC_FILE_RANGE;
    to.off = static_cast<std::uint64_t>(op.offset);
    to.len = static_cast<std::uint32_t>(op.size);
    to.sync_range_flags =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
}

void prepare_name(io_uring_op kind, const path_operation& op, io_uring_sqe& to) noexcept {
    to.opcode = static_cast<std::uint8_t>(kind);
    to.addr = address(op.path);
}

}  // namespace

// The kernel moves a file's position by what its last attempt did and not by what it reports: the end of a
// full disk would be told as a short write whose bytes the next one overwrites. Nor does the ring hold the
// position's lock, so it would race with other processes that share it. A worker's call does both right.
//
// The newer ones (IORING_OP_MKDIRAT, Linux 5.15; FTRUNCATE, 6.9) are rare: workers do them on all kernels.
// For some there is no entry at all.
bool has_file_entry(const operation& op) noexcept {
    switch (op.code) {
        case opcode::read:
        case opcode::write:
        case opcode::read_scatter:
        case opcode::write_gather: return has_position(op);
        case opcode::synchronize: {
            const auto& it = static_cast<const extent_operation&>(op);
            return it.mode != extent_operation::range || it.size <= UINT32_MAX;
        }
        case opcode::resize:
        case opcode::make_directory:
        case opcode::read_link:
        case opcode::list_directory:
        case opcode::spawn_process:
        case opcode::call: return false;
        default: return true;
    }
}

void prepare_file_entry(const operation& op, io_uring_sqe& to) noexcept {
    switch (op.code) {
        case opcode::read: {
            const auto& it = static_cast<const read_operation&>(op);
            return prepare_transfer(IORING_OP_READ, it.data, it.size, it.offset, to);
        }
        case opcode::write: {
            const auto& it = static_cast<const write_operation&>(op);
            prepare_transfer(IORING_OP_WRITE, it.data, it.size, it.offset, to);
            return prepare_write(*it.target, it.durable, to);
        }
        case opcode::read_scatter: {
            const auto& it = static_cast<const parts_operation&>(op);
            return prepare_transfer(IORING_OP_READV, it.parts, it.count, it.offset, to);
        }
        case opcode::write_gather: {
            const auto& it = static_cast<const parts_operation&>(op);
            prepare_transfer(IORING_OP_WRITEV, it.parts, it.count, it.offset, to);
            return prepare_write(*it.target, it.durable, to);
        }
        case opcode::synchronize: return prepare_sync(static_cast<const extent_operation&>(op), to);
        case opcode::allocate: {
            const auto& it = static_cast<const extent_operation&>(op);
            to.opcode = IORING_OP_FALLOCATE;
            to.off = static_cast<std::uint64_t>(it.offset);
            to.addr = static_cast<std::uint64_t>(it.size);
            to.len = static_cast<std::uint32_t>(it.mode);
            return;
        }
        case opcode::open_file: {
            const auto& it = static_cast<const path_operation&>(op);
            if (it.found != nullptr) {
                prepare_name(IORING_OP_OPENAT2, it, to);
                to.off = address(it.found);
                to.len = sizeof(open_how);
                return;
            }
            prepare_name(IORING_OP_OPENAT, it, to);
            to.open_flags = static_cast<std::uint32_t>(it.flags | O_CLOEXEC | O_NOCTTY);
            to.len = it.mode;
            return;
        }
        case opcode::file_status: {
            const auto& it = static_cast<const path_operation&>(op);
            prepare_name(IORING_OP_STATX, it, to);
            to.len = STATX_BASIC_STATS | STATX_BTIME;
            to.off = address(it.found);
            to.statx_flags = static_cast<std::uint32_t>(it.flags);
            return;
        }
        case opcode::rename: {
            const auto& it = static_cast<const path_operation&>(op);
            prepare_name(IORING_OP_RENAMEAT, it, to);
            to.len = static_cast<std::uint32_t>(to.fd);
            to.off = address(it.other);
            to.rename_flags = static_cast<std::uint32_t>(it.flags);
            return;
        }
        case opcode::remove: {
            const auto& it = static_cast<const path_operation&>(op);
            prepare_name(IORING_OP_UNLINKAT, it, to);
            to.unlink_flags = static_cast<std::uint32_t>(it.flags);
            return;
        }
        default: fail_check("unreachable", "not a file's, or a worker's");
    }
}

}  // namespace gyre
