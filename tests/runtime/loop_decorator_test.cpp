// SPDX-License-Identifier: BSL-1.0
//
// What stands between the loops of a program and the kernel: see include/gyre/runtime/loop_decorator.hpp.
#include <gyre/runtime/loop_decorator.hpp>

#include <support/harness.hpp>

#include <gyre/io/run.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <atomic>
#include <memory>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Counts, and changes nothing.
class counting_decorator final : public loop_decorator {
public:
    counting_decorator() noexcept : before_{install(this)} {}
    ~counting_decorator() { install(before_); }

    host& decorate(host& machine) noexcept override {
        ++hosts;
        return machine;
    }
    std::unique_ptr<loop_backend> decorate(std::unique_ptr<loop_backend> chosen) noexcept override {
        ++backends;
        return chosen;
    }

    std::atomic<int> hosts = 0;
    std::atomic<int> backends = 0;

private:
    loop_decorator* before_;
};

task<> nothing() { co_return; }

}  // namespace

TEST_CASE("a decorator is asked about the loop of run, and about none that is made later") {
    {
        counting_decorator it;

        run(nothing());

        CHECK(it.hosts == 1);
        CHECK(it.backends == 1);
        CHECK(loop_decorator::installed() == &it);
    }
    CHECK(loop_decorator::installed() == nullptr);
    run(nothing());
}

TEST_CASE("a decorator is asked about each loop of a pool") {
    counting_decorator it;
    io_pool_options options;
    options.threads = 3;
    options.loop.backend = backend_choice::epoll;

    const io_pool pool{options};

    CHECK(it.hosts == 3);
    CHECK(it.backends == 3);
}
