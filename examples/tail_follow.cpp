// SPDX-License-Identifier: BSL-1.0
//
// Prints the lines of a file, and those that are added to it, until SIGINT.
//
//     tail_follow /var/log/syslog
//
// The file need not be there yet. When another takes its name, as log rotation does, the old one is read
// until there is something in the new one, and that from its beginning; one that is cut is read again from
// its beginning.
#include <gyre/gyre.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace {

constexpr std::size_t line_bytes_max = std::size_t{64} * 1024;

void print(std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
}

// Ends when something has happened in the folder, or nothing can any more.
gyre::task<gyre::io_result<>> next_change(gyre::file_watch& changes) {
    const auto [error, change] = co_await gyre::idle(changes.next());
    if (error) co_return error;
    if (change.is(gyre::file_event::watch_ended)) co_return gyre::errc::no_such_file;
    co_return gyre::io_result<>{};
}

// snippet: follow
// Prints what is there, and waits for more until the name means another file, or this one was cut.
gyre::task<gyre::io_result<>> follow(gyre::file& log, const std::filesystem::path& path,
                                     gyre::file_watch& changes) {
    auto bytes = log.at(0);
    gyre::buffered_reader reader{bytes, {4096, line_bytes_max + 2}};
    gyre::framed_reader lines{reader, gyre::lines_codec{line_bytes_max}};
    bool replaced = false;
    for (;;) {
        const auto [error, line] = co_await lines.next();
        if (!error) {
            print(line);
        } else if (error == gyre::errc::limit_exceeded) {
            std::fprintf(stderr, "a line of more than %zu bytes was left out\n", line_bytes_max);
            lines.skip();
        } else if (error != gyre::errc::eof) {
            co_return error;
        } else if (replaced) {
            if (!reader.window().empty()) print(gyre::text_of(reader.window()));
            co_return gyre::io_result<>{};
        } else {
            std::fflush(stdout);
            const auto ours = co_await log.status();
            const auto named = co_await gyre::status_of(path.string());
            if (!ours.ok()) co_return ours.error();
            if (!named.ok() && named.error() != gyre::errc::no_such_file) co_return named.error();
            const bool is_other = named.ok() && (named.value().inode != ours.value().inode ||
                                                 named.value().device != ours.value().device);
            // Who has the old one open goes on with it until it opens the new one. So that is waited for, and
            // the old one is read to its end once more.
            replaced = is_other && named.value().size > 0;
            if (replaced) continue;
            if (ours.value().size < bytes.offset()) co_return gyre::io_result<>{};
            if (ours.value().size > bytes.offset()) continue;

            const auto changed = co_await next_change(changes);
            if (!changed.ok()) co_return changed;
        }
    }
}
// end of snippet

gyre::task<gyre::io_result<>> tail_follow(std::filesystem::path path) {
    auto opened = gyre::file_watch::open(*gyre::io_context::current());
    if (!opened.ok()) co_return opened.error();

    // A watch of the file would follow it to its new name.
    gyre::file_watch changes = opened.take();
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
    const auto watched =
        changes.add(folder.string(), gyre::file_event::modified | gyre::file_event::created |
                                         gyre::file_event::moved_here);
    if (!watched.ok()) co_return watched.error();

    for (;;) {
        auto found = co_await gyre::file::open(path.string());
        if (found.error() == gyre::errc::no_such_file) {
            const auto changed = co_await next_change(changes);
            if (!changed.ok()) co_return changed;
        } else if (!found.ok()) {
            co_return found.error();
        } else {
            gyre::file log = found.take();
            const auto ended = co_await follow(log, path, changes);
            if (!ended.ok()) co_return ended;
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: tail_follow FILE\n");
        return 2;
    }
    return gyre::run_until_signal(tail_follow(arguments[1]));
}
