// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/pem_files.hpp>

#include <gyre/io/file.hpp>
#include <gyre/io/file_watch.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/sync/timeout.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace gyre::web {
namespace {

task<io_result<std::string>> text_of_file(std::string path) {
    constexpr std::size_t bytes_max = std::size_t{1} << 20;
    io_result<file> opened = co_await file::open(std::move(path));
    if (!opened.ok()) co_return opened.error();
    file from = opened.take();
    std::string all;
    for (;;) {
        const std::size_t size = all.size();
        if (size > bytes_max) co_return errc::limit_exceeded;
        all.resize(size + 4096);
        const io_result<std::size_t> got =
            co_await from.read_some_at(size, std::as_writable_bytes(std::span{all}).subspan(size));
        all.resize(size + got.value());
        if (got.error() == errc::eof) co_return io_result<std::string>{std::move(all)};
        if (!got.ok()) co_return got.error();
    }
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// The next thing that happens, or its error.
task<io_result<>> await_change(file_watch& in) {
    const io_result<file_change> changed = co_await in.next();
    co_return changed.error();
}

}  // namespace

task<io_result<tls::identity>> read_identity(identity_files from) {
    io_result<std::string> chain = co_await text_of_file(from.certificates);
    if (!chain.ok()) co_return chain.error();
    io_result<std::string> key = co_await text_of_file(from.private_key);
    if (!key.ok()) co_return key.error();
    tls::identity it{chain.take(), key.take()};
    it.password = std::move(from.password);
    co_return io_result<tls::identity>{std::move(it)};
}

task<io_result<>> reload_from(tls::context of, std::vector<identity_files> from) {
    std::vector<tls::identity> all;
    for (identity_files& each : from) {
        io_result<tls::identity> read = co_await read_identity(std::move(each));
        if (!read.ok()) co_return read.error();
        all.push_back(read.take());
    }
    io_result<> reloaded;
    const auto reload = [&] { reloaded = of.reload(all); };
    const io_result<> ran = co_await blocking(reload);
    if (!ran.ok()) co_return ran;
    co_return reloaded;
}

task<io_result<>> reload_on_change(tls::context of, std::vector<identity_files> from,
                                   reload_options options) {
    constexpr file_event changes = file_event::written_and_closed | file_event::moved_here |
                                   file_event::created | file_event::removed;
    io_result<file_watch> opened = file_watch::open(*io_context::current());
    if (!opened.ok()) co_return opened.error();
    file_watch watch = opened.take();
    for (const identity_files& each : from) {
        for (const std::string* path : {&each.certificates, &each.private_key}) {
            const io_result<int> added = watch.add(directory_of(*path), changes);
            if (!added.ok()) co_return added.error();
        }
    }
    for (;;) {
        io_result<> changed = co_await idle(await_change(watch));
        while (changed.ok()) {
            changed = co_await with_timeout(options.settle_time, idle(await_change(watch)));
        }
        if (changed.error() != errc::timed_out) co_return changed;
        const io_result<> reloaded = co_await reload_from(of, from);
        if (options.on_reload) options.on_reload(reloaded);
    }
}

}  // namespace gyre::web
