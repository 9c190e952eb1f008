// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/pem_files.hpp>

#include <gyre/io/file_system.hpp>
#include <gyre/io/path_watch.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <chrono>
#include <utility>

namespace gyre::web {
task<io_result<tls::identity>> read_identity(identity_files from) {
    io_result<std::string> chain = co_await read_file(from.certificates);
    if (!chain.ok()) co_return chain.error();
    io_result<std::string> key = co_await read_file(from.private_key);
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
    constexpr duration retry_time = std::chrono::seconds{1};
    std::vector<std::string> paths;
    for (const identity_files& each : from) {
        paths.push_back(each.certificates);
        paths.push_back(each.private_key);
    }
    const path_watch_options when{options.settle_time, options.settle_time_max};
    io_result<path_watch> opened = co_await path_watch::open(std::move(paths), when);
    if (!opened.ok()) co_return opened.error();
    path_watch watch = opened.take();
    for (;;) {
        io_result<> ended = co_await idle(watch.changed());
        if (ended.error() == errc::canceled) co_return ended;
        const bool followed = ended.ok();
        if (followed) ended = co_await reload_from(of, from);
        if (options.on_reload) options.on_reload(ended);
        if (followed) continue;
        // A permission or a watch was missing, and may be there later.
        const io_result<> waited = co_await idle(sleep_for(retry_time));
        if (!waited.ok()) co_return waited;
    }
}

}  // namespace gyre::web
