// SPDX-License-Identifier: BSL-1.0
//
// Settings that are read again when their file changes, by the tasks that use them on whichever loop.
//
//     watched_settings FILE
//
// Prints each version of the one line in FILE until that is "stop". Editors write a file in pieces or replace
// it by another one, so the folder is watched, and the file read when that has been quiet.
#include <gyre/gyre.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

using namespace std::chrono_literals;

gyre::task<gyre::io_result<std::string>> read_settings(std::string path) {
    auto opened = co_await gyre::file::open(std::move(path));
    if (!opened.ok()) co_return opened.error();
    gyre::file from = opened.take();
    gyre::buffered_reader reader{from, {128, 1026}};
    gyre::framed_reader lines{reader, gyre::lines_codec{1024}};
    const auto [error, line] = co_await lines.next();
    if (error) co_return error;
    co_return std::string{line};
}

// snippet: watch
// Each change of the file called `name` is a sign.
gyre::task<gyre::io_result<>> watch_folder(gyre::file_watch& changes, std::string name,
                                           gyre::debounce& signs) {
    for (;;) {
        const auto [error, change] = co_await changes.next();
        if (error) co_return error;
        if (change.is(gyre::file_event::watch_ended)) co_return gyre::errc::no_such_file;
        if (change.name == name || change.is(gyre::file_event::overflow)) signs.touch();
    }
}

// When the signs have ended, the file is read, and each waiter for `latest` goes on.
gyre::task<gyre::io_result<>> read_again(std::string path, gyre::debounce& signs,
                                         gyre::watch<std::string>& latest) {
    for (;;) {
        const auto quiet = co_await signs.wait();
        if (!quiet.ok()) co_return quiet;
        auto read = co_await read_settings(path);
        if (read.ok()) {
            latest.set(read.take());
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
        const auto [error, now] = co_await latest.changed(seen);
        if (error) co_return error;
        seen = now.version;
        std::printf("%s\n", now.value->c_str());
        std::fflush(stdout);
        if (*now.value == "stop") co_return gyre::io_result<>{};
    }
}
// end of snippet

gyre::task<gyre::io_result<>> follow(std::filesystem::path path) {
    gyre::loop& here = co_await gyre::this_task::loop();
    auto opened = gyre::file_watch::open(gyre::context_of(here));
    if (!opened.ok()) co_return opened.error();
    gyre::file_watch changes = opened.take();
    // Before the file is read: what changes after that is told.
    const auto added =
        changes.add(std::filesystem::absolute(path).parent_path().string(),
                    gyre::file_event::written_and_closed | gyre::file_event::moved_here);
    if (!added.ok()) co_return added.error();

    auto first = co_await read_settings(path.string());
    if (!first.ok()) co_return first.error();
    gyre::watch<std::string> latest{first.take()};
    gyre::debounce signs{here, 50ms, 1s};
    // Whichever ends first ends the others: without the watch, nothing would be told any more.
    const auto ended =
        co_await gyre::when_any(use(latest), watch_folder(changes, path.filename().string(), signs),
                                read_again(path.string(), signs, latest));
    const auto& [used, watched, read] = ended.results;
    co_return std::array{used, watched, read}[ended.winner];
}

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: watched_settings FILE\n");
        return 2;
    }
    return gyre::run_until_signal(follow(arguments[1]));
}
