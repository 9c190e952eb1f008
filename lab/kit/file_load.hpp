// SPDX-License-Identifier: BSL-1.0
//
// Files, and proof of what was read from and written to them: what the contenders of the suite `files` must
// not differ in.
//
// A file holds the stream of payloads.hpp, so that a block that was read from the wrong place shows. What is
// written bears a stamp in each block, and is read back once the clock has stopped.
#pragma once

#include <lab/kit/cases.hpp>
#include <lab/kit/payloads.hpp>
#include <lab/kit/sockets.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace lab {

/// Memory for transfers past the page cache.
class aligned_space {
public:
    explicit aligned_space(std::size_t size);

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }

private:
    static constexpr std::size_t alignment = 4096;
    struct freed {
        void operator()(std::byte* bytes) const noexcept;
    };

    std::unique_ptr<std::byte[], freed> bytes_;
    std::size_t size_;
};

/// A file of a session's own, in TMPDIR or /tmp, which goes with it.
class scratch_file {
public:
    /// Fails where the file system has no O_DIRECT and it is wanted.
    explicit scratch_file(const files_case& work);
    ~scratch_file();
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;

    /// Opens it to read and write, past the page cache if that is the case. The caller's to close.
    [[nodiscard]] int open() const;

    /// Where the position of an open one is its beginning again.
    static void rewind(int number);

    /// What it held at first, from `offset` on: fails unless it has been read.
    void check_content(std::uint64_t offset, std::span<const std::byte> read,
                       verification how) const;

    /// Fails unless `block_bytes` from `offset` on bear `stamp`. Past the page cache, as they were written.
    void check_stamp(std::uint64_t offset, std::size_t block_bytes, std::uint64_t stamp) const;

private:
    std::string path_;
    stream_content content_;
    bool direct_;
    descriptor checked_;  // What was written is read back by it.
    aligned_space check_space_;
};

/// Marks both ends of a block, so that one that was torn shows as well as one that is old.
void stamp(std::span<std::byte> block, std::uint64_t with) noexcept;
[[nodiscard]] bool is_stamped(std::span<const std::byte> block, std::uint64_t with) noexcept;

/// The offsets of `random_reads`: the same for every contender.
class random_blocks {
public:
    random_blocks(const files_case& work, std::uint32_t seed)
        : block_bytes_{work.block_bytes},
          chosen_{0, work.file_bytes / work.block_bytes - 1},
          random_{seed + 1} {}

    [[nodiscard]] std::uint64_t next() { return chosen_(random_) * block_bytes_; }

private:
    std::size_t block_bytes_;
    std::uniform_int_distribution<std::uint64_t> chosen_;
    std::minstd_rand random_;
};

/// What a journal of `group_commit` is made of: records go into one batch while the other is written, each
/// stamped with its number. A batch that does not fit before the end of the file goes to its beginning.
class group_journal {
public:
    group_journal(const scratch_file& file, const files_case& work)
        : file_{file},
          record_bytes_{work.block_bytes},
          stamps_(work.file_bytes / work.block_bytes),
          gathering_{work.at_once * work.block_bytes},
          writing_{work.at_once * work.block_bytes} {}

    void add_record() noexcept {
        stamp(gathering_.bytes().subspan(gathered_ * record_bytes_, record_bytes_), ++last_);
        ++gathered_;
    }
    [[nodiscard]] bool empty() const noexcept { return gathered_ == 0; }

    struct batch {
        std::uint64_t offset;
        std::span<const std::byte> bytes;
        std::size_t records;
    };

    /// What has been gathered, valid until the next call.
    [[nodiscard]] batch take() noexcept;

    /// Fails unless every record is in the file that was not overwritten.
    void check() const;

private:
    const scratch_file& file_;
    std::size_t record_bytes_;
    std::vector<std::uint64_t> stamps_;  // Of the records that the file holds.
    aligned_space gathering_;
    aligned_space writing_;
    std::size_t gathered_ = 0;
    std::size_t end_ = 0;     // Where the next batch goes, in records.
    std::uint64_t last_ = 0;  // Stamp of the last record.
};

/// The passes over a file of the sequential plays; a block of each bears what says which pass it is of.
class file_pass {
public:
    file_pass(const scratch_file& file, const files_case& work)
        : file_{file},
          block_bytes_{work.block_bytes},
          blocks_{work.file_bytes / work.block_bytes},
          space_{work.block_bytes} {}

    void begin() noexcept {
        at_ = 0;
        ++pass_;
    }
    [[nodiscard]] bool over() const noexcept { return at_ == blocks_; }
    [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_; }
    [[nodiscard]] std::uint64_t offset() const noexcept { return at_ * block_bytes_; }

    /// To be written at `offset`.
    [[nodiscard]] std::span<const std::byte> block() noexcept {
        stamp(space_.bytes(), stamp_of(at_));
        return space_.bytes();
    }
    void written(std::size_t size) {
        require(size == block_bytes_, "files: a short write");
        ++at_;
    }

    /// To be read into.
    [[nodiscard]] std::span<std::byte> space() const noexcept { return space_.bytes(); }
    void read(std::size_t size, verification how) {
        require(size == block_bytes_, "files: a short read");
        file_.check_content(offset(), space_.bytes(), how);
        ++at_;
    }

    /// Fails unless the file holds what the last pass has written.
    void check_written() const {
        for (std::uint64_t each = 0; each < blocks_; ++each) {
            file_.check_stamp(each * block_bytes_, block_bytes_, stamp_of(each));
        }
    }

private:
    [[nodiscard]] std::uint64_t stamp_of(std::uint64_t block) const noexcept {
        return pass_ << 32U | block;
    }

    const scratch_file& file_;
    std::size_t block_bytes_;
    std::uint64_t blocks_;
    aligned_space space_;
    std::uint64_t at_ = 0;
    std::uint64_t pass_ = 0;
};

}  // namespace lab
