// SPDX-License-Identifier: BSL-1.0
//
// Prints the lines of a file, and those that are added to it, until SIGINT.
//
//     tail_follow /var/log/syslog
//
// The file need not be there yet. When another takes its name, as log rotation does, the old one is read
// until there is something in the new one, and that from its beginning; one that is cut is read again from
// its beginning. The name may be a link into another directory, as all are in /var/log/containers.
#include <gyre/gyre.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t line_bytes_max = std::size_t{64} * 1024;

void print(std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
}

// A file that is being read, and what tells that it has grown, whatever it is called by then.
struct open_log {
    gyre::file file;
    gyre::file_watch growth;
};

// The log called `path` now.
gyre::task<gyre::io_result<open_log>> open_log_at(std::string path) {
    auto found = co_await gyre::file::open(path);
    if (!found.ok()) co_return found.error();
    gyre::loop& here = co_await gyre::this_task::loop();
    auto opened = gyre::file_watch::open(gyre::context_of(here));
    if (!opened.ok()) co_return opened.error();
    open_log log{found.take(), opened.take()};
    // If another file has taken the name by now, the path has changed, which is told as well.
    const auto added = log.growth.add(path, gyre::file_event::modified);
    if (!added.ok() && added.error() != gyre::errc::no_such_file) co_return added.error();
    co_return log;
}

// Ends when the name may mean another file, or the open one has changed.
gyre::task<gyre::io_result<>> next_change(gyre::path_watch& name, gyre::file_watch& growth) {
    const auto ended =
        co_await gyre::when_any(gyre::idle(name.changed()), gyre::idle(growth.next()));
    const auto& [turned, grown] = ended.results;
    co_return ended.winner == 0 ? turned.error() : grown.error();
}

// snippet: follow
// Prints what is there, and waits for more until the name means another file, or this one was cut.
gyre::task<gyre::io_result<>> follow(open_log& log, std::string path, gyre::path_watch& name) {
    auto bytes = log.file.at(0);
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
            const auto ours = co_await log.file.status();
            const auto named = co_await gyre::status_of(path);
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

            const auto changed = co_await next_change(name, log.growth);
            if (!changed.ok()) co_return changed;
        }
    }
}
// end of snippet

gyre::task<gyre::io_result<>> tail_follow(std::string path) {
    std::vector<std::string> paths{path};
    const gyre::path_watch_options at_once{{}, {}};
    auto opened = co_await gyre::path_watch::open(std::move(paths), at_once);
    if (!opened.ok()) co_return opened.error();
    gyre::path_watch name = opened.take();

    for (;;) {
        auto found = co_await open_log_at(path);
        if (found.error() == gyre::errc::no_such_file) {
            const auto changed = co_await gyre::idle(name.changed());
            if (!changed.ok()) co_return changed;
        } else if (!found.ok()) {
            co_return found.error();
        } else {
            open_log log = found.take();
            const auto ended = co_await follow(log, path, name);
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
