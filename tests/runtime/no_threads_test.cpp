// SPDX-License-Identifier: BSL-1.0
//
// Programs that have no thread to spare: by a limit of their user's, and by a control group's.
//
// A ring without a thread says "canceled"; that is in completion_codes_test.cpp. Here are real kernels.
#include <base/ending.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/file_system.hpp>
#include <gyre/io/process.hpp>
#include <gyre/io/run.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <support/control_group.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/scratch_directory.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

// No thread more for this process, which becomes another user for it: root may always have one.
void allow_no_threads() {
    const rlimit limit{1, 1};
    REQUIRE(::setrlimit(RLIMIT_NPROC, &limit) == 0);
    const auto user = 60'000 + static_cast<uid_t>(::getpid() % 5'000);
    REQUIRE(::setgid(user) == 0);
    REQUIRE(::setuid(user) == 0);
}

/// A way of having no thread to spare; `begin` is called in a child, for which there is no way back.
struct scarcity {
    std::string name;
    std::function<void()> begin;
};

std::vector<backend_choice> tiers_and_epoll() {
    std::vector<backend_choice> all = tiers_here();
    all.push_back(backend_choice::epoll);
    return all;
}

// Runs `body` with each that this user may bring about, on every backend.
void on_each_scarcity(const std::function<void(const scarcity&, backend_choice)>& body) {
    const control_group group{"pids"};
    std::vector<scarcity> all;
    if (::getuid() == 0) all.push_back({"RLIMIT_NPROC", allow_no_threads});
    if (group.exists()) {
        all.push_back({"pids.max", [&group] {
                           REQUIRE(group.enter());
                           REQUIRE(group.set("pids.max", "1"));
                       }});
    }
    if (all.empty()) return skip("only root can have no threads");
    for (const scarcity& each : all) {
        for (const backend_choice backend : tiers_and_epoll()) {
            INFO(each.name, " on ", std::string{describe(backend)});
            body(each, backend);
        }
    }
}

/// A directory with a file that every user may change.
struct open_to_all {
    open_to_all() {
        namespace fs = std::filesystem;
        path.put("there", "what is there");
        fs::permissions(path.path(), fs::perms::all);
        fs::permissions(path / "there", fs::perms::all);
    }

    scratch_directory path;
};

}  // namespace

TEST_CASE("a file operation that neither ring nor worker has a thread for is short of resources") {
    on_each_scarcity([](const scarcity& here, backend_choice each) {
        const open_to_all there;
        const scratch_directory& directory = there.path;
        check_in_child([each, &here, &directory](child_process& me) {
            here.begin();
            io_context io{require(each)};
            if (io.status()) return;  // Without privileges there may be no memory for a ring.
            const auto use = [&]() -> task<> {
                auto opened = co_await file::open(directory / "there", file_options::updating());
                file it = file::adopt(io, ::open((directory / "there").c_str(), O_RDWR));
                const auto written = co_await it.write_some_at(0, bytes_of("given"));
                const auto kept = co_await it.write_durably_at(0, bytes_of("given"));
                const auto synced = co_await it.sync_all();
                const auto allocated = co_await it.allocate(0, 1 << 20);
                const auto resized = co_await it.resize(10);
                const auto renamed = co_await rename_file(directory / "there", directory / "x");
                const auto made = co_await make_directory(directory / "made");
                for (const error end :
                     {opened.error(), written.error(), kept.error(), synced.error(),
                      allocated.error(), resized.error(), renamed.error(), made.error()}) {
                    me.check(!end || end == errc::resource_unavailable,
                             "not \"" + end.message() + '"');
                }
                me.check(synced.error() == errc::resource_unavailable,
                         "there is no thread for a sync");
            };

            run_to_end(me, io, use());
        });
    });
}

TEST_CASE("a program whose journal has no thread to be written says so, and does not end well") {
    on_each_scarcity([](const scarcity& here, backend_choice each) {
        const open_to_all directory;
        const std::string path = directory.path / "there";
        const ending how = ending_of([each, &here, &path] {
            here.begin();
            ::setenv("GYRE_BACKEND", describe(each), 1);
            const auto program = [&path]() -> task<io_result<>> {
                auto opened = co_await file::open(path, file_options::updating());
                if (!opened.ok()) co_return opened.error();
                file journal = opened.take();
                const auto written = co_await journal.write_durably_at(0, bytes_of("an order"));
                if (!written.ok()) co_return written.error();
                co_return co_await journal.sync_all();
            };
            std::fprintf(stderr, "status %d\n", run_until_signal(program()));
        });
        INFO(how.said);
        CHECK(how.signal == 0);
        CHECK(how.said_that("status 1"));
        CHECK(how.said_that("Resource temporarily unavailable"));
    });
}

TEST_CASE("programs and pools that have no room for a thread say so") {
    on_each_scarcity([](const scarcity& here, backend_choice each) {
        check_in_child([each, &here](child_process& me) {
            here.begin();
            io_context io{require(each)};
            if (io.status()) return;  // Without privileges there may be no memory for a ring.
            const auto use = [&]() -> task<> {
                const auto started = co_await process::start("true");
                me.check(started.error() == errc::resource_unavailable,
                         "no program: " + started.error().message());
                const auto ran = co_await blocking([] { return 7; });
                me.check(ran.error() == errc::resource_unavailable,
                         "no worker: " + ran.error().message());
            };

            run_to_end(me, io, use());
            io_pool_options options;
            options.threads = 2;
            options.loop = require(each);
            io_pool pool{options};
            pool.wait();
            me.check(pool.status() == errc::resource_unavailable ||
                         pool.status() == errc::backend_unavailable,
                     "no pool: " + pool.status().message());
        });
    });
}
