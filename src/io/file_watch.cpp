// SPDX-License-Identifier: BSL-1.0
//
// From the kernel's records to changes: see include/gyre/io/file_watch.hpp.
#include <gyre/io/file_watch.hpp>

#include <gyre/base/exclusive_use.hpp>
#include <gyre/io/transfer.hpp>

#include <sys/inotify.h>

#include <cstring>

namespace gyre {

static_assert(static_cast<std::uint32_t>(file_event::accessed) == IN_ACCESS);
static_assert(static_cast<std::uint32_t>(file_event::modified) == IN_MODIFY);
static_assert(static_cast<std::uint32_t>(file_event::attributes_changed) == IN_ATTRIB);
static_assert(static_cast<std::uint32_t>(file_event::written_and_closed) == IN_CLOSE_WRITE);
static_assert(static_cast<std::uint32_t>(file_event::opened) == IN_OPEN);
static_assert(static_cast<std::uint32_t>(file_event::moved_away) == IN_MOVED_FROM);
static_assert(static_cast<std::uint32_t>(file_event::moved_here) == IN_MOVED_TO);
static_assert(static_cast<std::uint32_t>(file_event::created) == IN_CREATE);
static_assert(static_cast<std::uint32_t>(file_event::removed) == IN_DELETE);
static_assert(static_cast<std::uint32_t>(file_event::itself_removed) == IN_DELETE_SELF);
static_assert(static_cast<std::uint32_t>(file_event::itself_moved) == IN_MOVE_SELF);
static_assert(static_cast<std::uint32_t>(file_event::unmounted) == IN_UNMOUNT);
static_assert(static_cast<std::uint32_t>(file_event::overflow) == IN_Q_OVERFLOW);
static_assert(static_cast<std::uint32_t>(file_event::watch_ended) == IN_IGNORED);

file_watch::file_watch(handle open)
    : basic_descriptor{std::move(open)}, told_{std::make_shared<changes>()} {}

io_result<file_watch> file_watch::open(io_context& on) {
    open_watch_operation op;
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    return file_watch{handle{on.host(), op.result}};
}

io_result<int> file_watch::add(const std::string& path, file_event events) noexcept {
    if (!is_open()) return error{errc::closed, activity::watch};
    // Of events without a bit for themselves the kernel says the same.
    if (path.find('\0') != std::string::npos) return error{errc::invalid_argument, activity::watch};
    watch_operation op{slot(), path.c_str(), static_cast<std::uint32_t>(events)};
    if (const error failed = perform_now(op)) return failed;
    return op.result;
}

io_result<> file_watch::remove(int watch) noexcept {
    if (!is_open()) return error{errc::closed, activity::watch};
    watch_operation op{slot(), watch};
    return perform_now(op);
}

task<io_result<file_change>> file_watch::next_of(opening from, std::shared_ptr<changes> into) {
    if (!from.lasts()) co_return error{errc::closed, activity::read};
    exclusive_use use{into->awaited};
    use.begin("the next change of a watch is awaited by one coroutine at a time");
    if (into->begin == into->end) {
        submission<read_operation, finish_read> reading{from, read_operation{into->space}};
        const io_result<std::size_t> got = co_await reading;
        if (!got.ok()) co_return got.error();
        // The name is the watch's to keep, which has gone meanwhile.
        if (!from.lasts()) co_return error{errc::canceled, activity::read};
        into->begin = 0;
        into->end = got.value();
    }
    co_return into->take();
}

file_change file_watch::changes::take() noexcept {
    inotify_event head{};
    const std::byte* const at = space.data() + begin;
    std::memcpy(&head, at, sizeof head);
    begin += sizeof head + head.len;
    file_change change;
    change.watch = head.wd;
    change.what = static_cast<file_event>(head.mask & ~std::uint32_t{IN_ISDIR});
    change.of_directory = (head.mask & IN_ISDIR) != 0;
    change.cookie = head.cookie;
    // Padded with NULs.
    if (head.len > 0) change.name = reinterpret_cast<const char*>(at + sizeof head);
    return change;
}

}  // namespace gyre
