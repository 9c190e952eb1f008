// SPDX-License-Identifier: BSL-1.0
//
// gyre on io_uring or on epoll. Players with sockets are those of ../coroutines.hpp; the others have a file
// here.
#include <lab/in_process/gyre/library.hpp>

#include <lab/in_process/coroutine_files.hpp>
#include <lab/in_process/coroutines.hpp>
#include <lab/in_process/gyre/channel.hpp>
#include <lab/in_process/gyre/dispatch.hpp>
#include <lab/in_process/gyre/fan_out.hpp>
#include <lab/servers/gyre/counters.hpp>

#include <lab/kit/fail.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

namespace {

struct players : lab::with_coroutines<gyre_lab::library>, lab::with_files<gyre_lab::library> {
    using channel = gyre_lab::channel;
    using items = gyre_lab::items;
    using parents = gyre_lab::parents;
};

// The same names for all of gyre's loops, in one or several threads.
std::vector<lab::counter> named(const servers::loop_figures& loops, std::uint64_t blocks_made,
                                std::uint64_t stolen) {
    std::vector<lab::counter> all;
    for (const auto& [name, count] : loops.all()) all.push_back({name, count});
    all.push_back({"blocks_made", blocks_made});
    all.push_back({"stolen", stolen});
    return all;
}

}  // namespace

std::vector<lab::counter> gyre_lab::counted_by(gyre::io_context& loop) {
    servers::loop_figures all;
    all.add(loop);
    return named(all, loop.receive_memory().blocks_made, 0);  // For the thread of the loop only.
}

std::vector<lab::counter> gyre_lab::counted_by(gyre::io_pool& pool) {
    servers::loop_figures all;
    for (std::size_t each = 0; each < pool.size(); ++each) all.add(pool[each]);
    return named(all, 0, pool.counters().stolen);
}

lab::contender lab::make_contender(std::string_view backend) {
    const bool spins = backend.ends_with("_spin");
    const std::string_view waiting = backend.substr(0, backend.find('_'));
    require(waiting == "uring" || waiting == "epoll",
            "gyre runs on --backend uring, epoll, uring_spin or epoll_spin");
    gyre_lab::library::settings how;
    if (spins) how.spin_max = std::chrono::microseconds{50};
    how.backend = waiting == "epoll" ? gyre::backend_choice::epoll : gyre::backend_choice::uring;
    const gyre::backend_info waits = gyre::io_context{how}.backend();
    return {{"gyre_" + std::string{backend}, "gyre", "0.1.0",
             std::string{describe(waits.kind)} + ": " + waits.reason},
            [how](const work& what) {
                const auto prepare = [&](const auto& each) {
                    return prepare_with<players>::of(how, each);
                };
                return std::visit(prepare, what);
            }};
}
