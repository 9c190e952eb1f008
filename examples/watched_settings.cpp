// SPDX-License-Identifier: BSL-1.0
//
// Settings that are read again when their file changes, by the tasks that use them on whichever loop.
//
//     watched_settings FILE
//
// Prints each version of the one line in FILE until that is "stop". Editors write a file in pieces or replace
// it by another one, Kubernetes turns a link two steps up: the path is followed, and read when it has been
// quiet.
#include <gyre/gyre.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

// snippet: read
// The one line; a part of it is no settings.
gyre::task<gyre::io_result<std::string>> read_settings(std::string path) {
    auto read = co_await gyre::read_file(std::move(path), 1024);
    if (!read.ok()) co_return read.error();
    std::string line = read.take();
    const auto end = line.find('\n');
    if (end == std::string::npos)
        co_return gyre::error{gyre::errc::malformed, gyre::activity::read};
    line.resize(end);
    co_return line;
}
// end of snippet

// snippet: watch
// Each time that the file has changed, and that has ended, it is read, and each waiter for `latest` goes on.
gyre::task<gyre::io_result<>> read_again(gyre::path_watch& changes, std::string path,
                                         gyre::watch<std::string>& latest) {
    for (;;) {
        const auto changed = co_await gyre::idle(changes.changed());
        if (!changed.ok()) co_return changed;
        auto read = co_await read_settings(path);
        if (read.ok()) {
            latest.set(read.take());
        } else if (read.error() == gyre::errc::canceled) {
            co_return read.error();
        } else {
            std::fprintf(stderr, "the old settings stay: %s\n", read.error().message().c_str());
        }
    }
}
// end of snippet

// snippet: use
gyre::task<gyre::io_result<>> use(gyre::watch<std::string>& latest) {
    std::uint64_t seen = 0;
    for (;;) {
        const auto [error, now] = co_await gyre::idle(latest.changed(seen));
        if (error) co_return error;
        seen = now.version;
        std::printf("%s\n", now.value->c_str());
        std::fflush(stdout);
        if (*now.value == "stop") co_return gyre::io_result<>{};
    }
}
// end of snippet

gyre::task<gyre::io_result<>> follow(std::string path) {
    // Before the file is read: what changes after that is told.
    std::vector<std::string> paths{path};
    auto opened = co_await gyre::path_watch::open(std::move(paths));
    if (!opened.ok()) co_return opened.error();
    gyre::path_watch changes = opened.take();

    auto first = co_await read_settings(path);
    if (!first.ok()) co_return first.error();
    gyre::watch<std::string> latest{first.take()};
    // Whichever ends first ends the other: without the watch, nothing would be told any more.
    const auto ended = co_await gyre::when_any(use(latest), read_again(changes, path, latest));
    const auto& [used, read] = ended.results;
    co_return std::array{used, read}[ended.winner];
}

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: watched_settings FILE\n");
        return 2;
    }
    return gyre::run_until_signal(follow(arguments[1]));
}
