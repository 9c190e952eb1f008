// SPDX-License-Identifier: BSL-1.0
//
// Opening a file of which another program has a lease (F_SETLEASE of fcntl(2)), as file servers take them.
//
// The kernel asks the holder to give it up, for up to 45 seconds; an open that may not wait is refused
// meanwhile, and neither a worker nor a ring is held up.
#include <gyre/io/file.hpp>

#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/scratch_directory.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> open_leased(child_process& me, std::string path) {
    ::signal(SIGIO, SIG_IGN);  // By which the holder is asked.
    const int holder = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    me.check(::fcntl(holder, F_SETLEASE, F_WRLCK) == 0, "a lease");

    const auto refused = co_await file::open(path);
    ::fcntl(holder, F_SETLEASE, F_UNLCK);
    const auto opened = co_await file::open(path);
    ::close(holder);

    me.check(refused.error() == errc::resource_unavailable, refused.error().message());
    me.check(opened.ok(), "without the lease: " + opened.error().message());
}

}  // namespace

TEST_CASE("a file that another has leased is refused at once, and opened when the lease is gone") {
    const scratch_directory home;
    const std::string path = home.put("leased", "text");
    for (const backend_choice backend : backends_under_test()) {
        if (backend == backend_choice::custom) continue;
        INFO(std::string{describe(backend)});
        check_in_child([&](child_process& me) {
            io_context io{require(backend)};
            run_to_end(me, io, open_leased(me, path));
        });
    }
}
