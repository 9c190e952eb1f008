// SPDX-License-Identifier: BSL-1.0
//
// Making files, and reading back what was written.
#include <lab/kit/file_load.hpp>

#include <lab/kit/fail.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <utility>

namespace lab {
namespace {

constexpr std::size_t filled_at_once = 1024 * 1024;

void write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset) {
    while (!bytes.empty()) {
        const ssize_t size = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        require(size > 0, "files: cannot fill a scratch file; TMPDIR says where there is room");
        bytes = bytes.subspan(static_cast<std::size_t>(size));
        offset += static_cast<std::uint64_t>(size);
    }
}

}  // namespace

aligned_space::aligned_space(std::size_t size)
    : bytes_{static_cast<std::byte*>(
          std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment))},
      size_{size} {
    require(bytes_ != nullptr, "files: out of memory");
    std::memset(bytes_.get(), 0, size);
}

void aligned_space::freed::operator()(std::byte* bytes) const noexcept { std::free(bytes); }

scratch_file::scratch_file(const files_case& work)
    : path_{std::filesystem::temp_directory_path() / "lab-files-XXXXXX"},
      content_{filled_at_once},
      direct_{work.past_page_cache},
      checked_{-1},
      check_space_{work.block_bytes} {
    const descriptor made{::mkstemp(path_.data())};
    require(made.get() >= 0, "files: cannot make a scratch file in TMPDIR");
    for (std::uint64_t at = 0; at < work.file_bytes; at += filled_at_once) {
        write_all(made.get(),
                  content_.at(at, std::min<std::uint64_t>(filled_at_once, work.file_bytes - at)),
                  at);
    }
    require(::fsync(made.get()) == 0, "files: fsync");
    checked_ = descriptor{open()};
    if (direct_) ::posix_fadvise(made.get(), 0, 0, POSIX_FADV_DONTNEED);
}

scratch_file::~scratch_file() { ::unlink(path_.c_str()); }

int scratch_file::open() const {
    const int number = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | (direct_ ? O_DIRECT : 0));
    require(number >= 0, "files: the file system of TMPDIR has no O_DIRECT");
    return number;
}

void scratch_file::rewind(int number) {
    require(::lseek(number, 0, SEEK_SET) == 0, "files: lseek");
}

void scratch_file::check_content(std::uint64_t offset, std::span<const std::byte> read,
                                 verification how) const {
    const std::size_t edge =
        how == verification::edges ? std::min<std::size_t>(read.size(), 8) : read.size();
    const auto is = [&](std::size_t begin) {
        const auto expected = content_.at(offset + begin, edge);
        return std::memcmp(read.data() + begin, expected.data(), edge) == 0;
    };
    require(is(0) && is(read.size() - edge), "files: the bytes read are not those of the file");
}

void scratch_file::check_stamp(std::uint64_t offset, std::size_t block_bytes,
                               std::uint64_t stamp) const {
    const auto space = check_space_.bytes().first(block_bytes);
    const ssize_t size =
        ::pread(checked_.get(), space.data(), space.size(), static_cast<off_t>(offset));
    require(size == static_cast<ssize_t>(block_bytes) && is_stamped(space, stamp),
            "files: the bytes of the file are not those that were written");
}

void stamp(std::span<std::byte> block, std::uint64_t with) noexcept {
    std::memcpy(block.data(), &with, sizeof with);
    std::memcpy(block.data() + block.size() - sizeof with, &with, sizeof with);
}

bool is_stamped(std::span<const std::byte> block, std::uint64_t with) noexcept {
    return std::memcmp(block.data(), &with, sizeof with) == 0 &&
           std::memcmp(block.data() + block.size() - sizeof with, &with, sizeof with) == 0;
}

group_journal::batch group_journal::take() noexcept {
    std::swap(gathering_, writing_);
    const std::size_t records = std::exchange(gathered_, 0);
    const std::size_t begin = end_ + records <= stamps_.size() ? end_ : 0;
    end_ = begin + records;
    std::iota(stamps_.begin() + static_cast<std::ptrdiff_t>(begin),
              stamps_.begin() + static_cast<std::ptrdiff_t>(end_), last_ - records + 1);
    return {begin * record_bytes_, writing_.bytes().first(records * record_bytes_), records};
}

void group_journal::check() const {
    require(gathered_ == 0, "files: a record was never written");
    for (std::size_t each = 0; each < stamps_.size(); ++each) {
        if (stamps_[each] == 0) continue;
        file_.check_stamp(each * record_bytes_, record_bytes_, stamps_[each]);
    }
}

}  // namespace lab
