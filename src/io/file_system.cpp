// SPDX-License-Identifier: BSL-1.0
//
// Names and directories: see include/gyre/io/file_system.hpp.
#include <gyre/io/file_system.hpp>

#include <gyre/base/exclusive_use.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/read_all.hpp>
#include <gyre/sync/timeout.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace gyre {
namespace {

names_submission name_operation(opcode what, std::string path, std::string other = {},
                                int flags = 0, unsigned mode = 0) noexcept {
    path_operation op{what};
    op.flags = flags;
    op.mode = mode;
    return names_submission{std::move(op), finish_names{std::move(path), std::move(other)}};
}

// The head of an entry as getdents64(2) writes it; its name follows, and ends with NUL.
struct raw_entry {
    std::uint64_t inode;
    std::int64_t cookie;
    std::uint16_t size;
    std::uint8_t type;
};
constexpr std::size_t name_offset = offsetof(raw_entry, type) + sizeof(raw_entry::type);

file_kind kind_of(std::uint8_t type) noexcept {
    switch (type) {
        case DT_REG: return file_kind::regular;
        case DT_DIR: return file_kind::directory;
        case DT_LNK: return file_kind::symbolic_link;
        case DT_FIFO: return file_kind::pipe;
        case DT_SOCK: return file_kind::socket;
        case DT_CHR: return file_kind::character_device;
        case DT_BLK: return file_kind::block_device;
        default: return file_kind::unknown;
    }
}

// Of an open of a directory, and of reading its entries.
struct finish_directory {
    explicit finish_directory(std::string of) noexcept : path{std::move(of)} {}

    [[nodiscard]] std::int32_t prepare(path_operation& op, io_context& on) noexcept {
        if (path.find('\0') != std::string::npos) return -EINVAL;
        system = &on.host();
        op.target = &on.working_directory();
        op.path = path.c_str();
        op.flags = O_RDONLY | O_DIRECTORY;
        return 0;
    }
    [[nodiscard]] io_result<handle> operator()(const path_operation& op) noexcept {
        if (const error failed = error_of(op)) return failed;
        return handle{*system, op.result};
    }

    std::string path;
    host* system = nullptr;
};

struct finish_listing {
    [[nodiscard]] std::int32_t prepare(path_operation&, io_context&) const noexcept { return 0; }
    [[nodiscard]] io_result<std::size_t> operator()(const path_operation& op) const noexcept {
        return outcome_of_read(op, 1);
    }
};

task<io_result<handle>> open_directory(std::string path) {
    submission<path_operation, finish_directory> opening_it{path_operation{opcode::open_file},
                                                            finish_directory{std::move(path)}};
    io_result<handle> opened = co_await opening_it;
    co_return opened;
}

// Where the last name of `path` begins.
std::size_t last_name_of(const std::string& path) noexcept { return path.rfind('/') + 1; }

// Not guessed by others: what has the name already is left alone, and another one is tried.
std::string name_beside(const std::string& path) {
    const auto chosen = static_cast<std::uint32_t>(io_context::current()->host().entropy());
    std::array<char, 8> digits{'0', '0', '0', '0', '0', '0', '0', '0'};
    constexpr int hexadecimal = 16;
    std::to_chars(digits.data(), digits.data() + digits.size(), chosen, hexadecimal);
    const std::string added = '.' + std::string{digits.data(), digits.size()} + ".new";
    return path.substr(0, last_name_of(path) + NAME_MAX - added.size()) + added;
}

task<io_result<>> write_out(file& to, const_buffer content) {
    const io_result<std::size_t> written = co_await write_all(to, content);
    if (!written.ok()) co_return written.error();
    const io_result<> synced = co_await to.sync_all();
    if (!synced.ok()) co_return synced.error();
    co_return to.close();
}

}  // namespace

std::int32_t finish_names::prepare(path_operation& op, io_context& on) noexcept {
    if (path_.find('\0') != std::string::npos || other_.find('\0') != std::string::npos)
        return -EINVAL;
    op.target = &on.working_directory();
    op.path = path_.c_str();
    op.other = other_.c_str();
    return 0;
}

std::int32_t finish_link::prepare(path_operation& op, io_context& on) {
    if (path_.find('\0') != std::string::npos) return -EINVAL;
    text_.resize(PATH_MAX);
    op.target = &on.working_directory();
    op.path = path_.c_str();
    op.found = text_.data();
    op.mode = PATH_MAX;
    return 0;
}

io_result<std::string> finish_link::operator()(const path_operation& op) {
    if (const error failed = error_of(op)) return failed;
    text_.resize(static_cast<std::size_t>(op.result));
    return io_result<std::string>{std::move(text_)};
}

names_submission rename_file(std::string from, std::string to) noexcept {
    return name_operation(opcode::rename, std::move(from), std::move(to));
}

names_submission rename_new(std::string from, std::string to) noexcept {
    return name_operation(opcode::rename, std::move(from), std::move(to), RENAME_NOREPLACE);
}

names_submission remove_file(std::string path) noexcept {
    return name_operation(opcode::remove, std::move(path));
}

names_submission remove_directory(std::string path) noexcept {
    return name_operation(opcode::remove, std::move(path), {}, AT_REMOVEDIR);
}

names_submission make_directory(std::string path, std::filesystem::perms permissions) noexcept {
    return name_operation(opcode::make_directory, std::move(path), {}, 0,
                          static_cast<unsigned>(permissions));
}

directory::directory(handle open)
    : basic_descriptor{std::move(open)}, listed_{std::make_shared<listing>()} {
    slot().stored = true;
}

task<io_result<directory>> directory::open(std::string path) {
    io_result<handle> opened = co_await open_directory(std::move(path));
    if (!opened.ok()) co_return opened.error();
    co_return directory{opened.take()};
}

task<io_result<directory_entry>> directory::next_of(opening from, std::shared_ptr<listing> into) {
    if (!from.lasts()) co_return error{errc::closed, activity::list_directory};
    exclusive_use use{into->awaited};
    use.begin("the next entry of a directory is awaited by one coroutine at a time");
    for (;;) {
        if (into->begin == into->end) {
            itself_operation op{opcode::list_directory};
            op.found = into->space.data();
            op.mode = static_cast<unsigned>(into->space.size());
            submission<itself_operation, finish_listing> reading{from, std::move(op)};
            const io_result<std::size_t> read = co_await reading;
            if (!read.ok()) co_return read.error();
            // The entry is the directory's to keep, which has gone meanwhile.
            if (!from.lasts()) co_return error{errc::canceled, activity::list_directory};
            into->begin = 0;
            into->end = read.value();
        }
        raw_entry head{};
        const std::byte* const at = into->space.data() + into->begin;
        std::memcpy(&head, at, name_offset);
        into->begin += head.size;
        const std::string_view called{reinterpret_cast<const char*>(at + name_offset)};
        if (called == "." || called == "..") continue;
        co_return directory_entry{called, kind_of(head.type), head.inode};
    }
}

task<io_result<std::string>> read_file(std::string path, std::size_t bytes_max) {
    io_result<file> opened = co_await file::open(std::move(path));
    if (!opened.ok()) co_return opened.error();
    file from = opened.take();
    io_result<std::string> content = co_await read_all(from, bytes_max);
    co_return content;
}

task<io_result<>> replace_file(std::string path, const_buffer content,
                               std::filesystem::perms permissions) {
    file_options fresh{file_access::write};
    fresh.create = fresh.exclusive = true;
    fresh.permissions = permissions;
    // First, because nothing may fail that can be helped once the name means the new file.
    const std::size_t name = last_name_of(path);
    std::string parent = name == 0 ? "." : path.substr(0, name);
    io_result<handle> found = co_await open_directory(std::move(parent));
    if (!found.ok()) co_return found.error();
    file folder{found.take()};

    std::string temporary;
    io_result<file> made;
    constexpr int names_max = 16;
    for (int tried = 0; tried < names_max; ++tried) {
        temporary = name_beside(path);
        made = co_await file::open(temporary, fresh);
        if (made.error() != errc::file_exists) break;
    }
    if (!made.ok()) co_return made.error();

    file to = made.take();
    io_result<> outcome = co_await write_out(to, content);
    if (outcome.ok()) outcome = co_await rename_file(temporary, path);
    // Whether a stop has ended it or comes from here on, nothing is to be left behind or half done.
    constexpr duration patience = std::chrono::minutes{1};
    if (!outcome.ok()) {
        static_cast<void>(to.close());
        static_cast<void>(co_await shielded(remove_file(temporary), patience));
        co_return outcome;
    }
    // So that the name is there behind a crash (fsync(2)).
    outcome = co_await shielded(folder.sync_all(), patience);
    co_return outcome;
}

}  // namespace gyre
