// SPDX-License-Identifier: BSL-1.0
//
// gyre on io_uring or on epoll. Suites with sockets are those of ../coroutines.hpp; the others have a file
// here.
#include <lab/in_process/gyre/library.hpp>

#include <lab/in_process/coroutines.hpp>

#include <lab/kit/fail.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace {

struct figures {
    std::uint64_t visits = 0;
    std::uint64_t wakeups = 0;
    std::uint64_t rearms = 0;
    std::uint64_t shortages = 0;
    std::uint64_t blocks_made = 0;
    std::uint64_t stolen = 0;

    void add(gyre::io_context& loop) {
        const gyre::loop_counters of = loop.counters();
        visits += of.visits;
        wakeups += of.wakeups;
        rearms += of.rearms;
        shortages += of.shortages;
    }

    [[nodiscard]] std::vector<lab::counter> named() const {
        return {{"visits", visits},       {"wakeups", wakeups},         {"rearms", rearms},
                {"shortages", shortages}, {"blocks_made", blocks_made}, {"stolen", stolen}};
    }
};

class gyre_contender : public lab::contender {
public:
    gyre_contender(std::string name, const gyre_lab::library::settings& how)
        : name_{std::move(name)}, settings_{how} {}

    [[nodiscard]] lab::identity about() const override {
        const gyre::io_context loop{settings_};
        return {name_, "gyre", "0.1.0",
                std::string{describe(loop.backend().kind)} + ": " + loop.backend().reason};
    }

    [[nodiscard]] lab::preparation prepare(const lab::work& what) const override {
        return std::visit(
            [this](const auto& work) {
                if constexpr (requires { gyre_lab::prepare(settings_, work); }) {
                    return gyre_lab::prepare(settings_, work);
                } else {
                    return lab::prepare_coroutines<gyre_lab::library>(settings_, work);
                }
            },
            what);
    }

private:
    std::string name_;
    gyre_lab::library::settings settings_;
};

}  // namespace

std::vector<lab::counter> gyre_lab::counted_by(gyre::io_context& loop) {
    figures all;
    all.add(loop);
    all.blocks_made = loop.receive_memory().blocks_made;  // For the thread of the loop only.
    return all.named();
}

std::vector<lab::counter> gyre_lab::counted_by(gyre::io_pool& pool) {
    figures all;
    for (std::size_t each = 0; each < pool.size(); ++each) all.add(pool[each]);
    all.stolen = pool.counters().stolen;
    return all.named();
}

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend == "uring" || backend == "epoll", "gyre runs on --backend uring or epoll");
    gyre_lab::library::settings how;
    how.backend = backend == "epoll" ? gyre::backend_choice::epoll : gyre::backend_choice::uring;
    return std::make_unique<gyre_contender>("gyre_" + std::string{backend}, how);
}
