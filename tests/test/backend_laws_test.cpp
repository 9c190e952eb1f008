// SPDX-License-Identifier: BSL-1.0
//
// Who keeps the laws of backends, and that who breaks one is found: see include/gyre/test/backend_laws.hpp.
#include <gyre/test/backend_laws.hpp>

#include <gyre/runtime/loop_backend.hpp>
#include <gyre/test/world.hpp>
#include <support/harness.hpp>

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// A backend as simple as one can be: it tries whatever waits, again and again.
class trying_backend final : public loop_backend {
public:
    /// What it does wrong.
    enum class flaw { none, newest_first, forgets_ends, ends_too_early, deaf, keeps_stopped };

    explicit trying_backend(flaw what = flaw::none) noexcept : flaw_{what} {}

    void attach(io_context& owner) noexcept override { loop_ = &owner; }
    [[nodiscard]] error bind_thread() noexcept override { return {}; }
    [[nodiscard]] bool submit(operation& op) noexcept override {
        // Older ones first, and all those in one line that read, or write, the same.
        if (waiting_.empty() && try_now(op)) return true;
        waiting_.push_back(&op);
        return false;
    }
    void cancel(operation& op) noexcept override {
        std::erase(waiting_, &op);
        if (flaw_ == flaw::keeps_stopped && op.code == opcode::receive) {
            // Reads what it was told not to wait for any more, and drops it.
            stolen_ = static_cast<receive_operation&>(op).target;
        }
        loop_->complete(op, -ECANCELED);
    }
    [[nodiscard]] error turn(time_point deadline) noexcept override {
        visits_.add();
        if (flaw_ == flaw::ends_too_early && deadline != no_wait && deadline != never)
            deadline = no_wait;
        while (!serve() && !(woken_.exchange(false) && flaw_ != flaw::deaf) &&
               loop_->host().now() < deadline) {
            ::poll(nullptr, 0, 1);
        }
        return {};
    }
    void wake() noexcept override { woken_ = true; }
    void forget(descriptor_slot& it) noexcept override {
        if (stolen_ == &it) stolen_ = nullptr;
    }
    [[nodiscard]] int wait_handle() noexcept override { return -1; }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return waiting_.size(); }
    [[nodiscard]] bool tries_first() const noexcept override { return true; }
    [[nodiscard]] backend_info info() const noexcept override {
        return {backend_choice::custom, "tries again and again"};
    }

private:
    [[nodiscard]] bool try_now(operation& op) noexcept {
        if (stolen_ != nullptr && op.code == opcode::receive) {
            std::byte lost{};
            receive_operation vain{mutable_buffer{&lost, 1}};
            vain.target = stolen_;
            if (loop_->host().perform_now(vain) > 0) stolen_ = nullptr;
        }
        op.result = loop_->host().perform_now(op);
        op.retried = true;
        if (flaw_ == flaw::forgets_ends && op.code == opcode::receive && op.result == 0)
            op.result = -EAGAIN;
        return op.result != -EAGAIN;
    }
    bool serve() noexcept {
        std::vector<operation*> now = waiting_;
        if (flaw_ == flaw::newest_first) std::ranges::reverse(now);
        bool any = false;
        for (operation* const each : now) {
            if (!try_now(*each)) continue;
            std::erase(waiting_, each);
            loop_->complete(*each, each->result);
            any = true;
        }
        return any;
    }

    flaw flaw_;
    io_context* loop_ = nullptr;
    std::vector<operation*> waiting_;
    descriptor_slot* stolen_ = nullptr;
    std::atomic<bool> woken_ = false;
};

test::backend_under_test trying(trying_backend::flaw what, duration patience) {
    test::backend_under_test it;
    it.patience = patience;
    it.with_loop = [what](const std::function<void(io_context&)>& use) {
        const io_context_options options;
        io_context real{options};  // Whose host is the machine.
        io_context io{std::make_unique<trying_backend>(what), real.host()};
        use(io);
    };
    return it;
}

test::backend_under_test world_backend(bool shuffled, std::uint64_t seed) {
    test::backend_under_test it;
    it.hears_threads = false;  // A deadline is there before any thread can be heard: time jumps.
    it.with_loop = [shuffled, seed](const std::function<void(io_context&)>& use) {
        test::world_options options;
        options.seed = seed;
        options.shuffled = shuffled;
        test::world world{options};
        use(world.add("judged").io());
    };
    return it;
}

void check_laws(const test::backend_under_test& it) {
    for (const test::backend_law& law : test::backend_laws()) {
        const std::string broken = test::judge(law, it);
        CHECK_MESSAGE(broken.empty(), std::string{law.name}, ":\n", broken);
    }
}

// The names of the laws that `what` breaks, among those given by their beginnings.
bool breaks(trying_backend::flaw what, std::string_view law_begins) {
    for (const test::backend_law& law : test::backend_laws()) {
        if (!std::string_view{law.name}.starts_with(law_begins)) continue;
        return !test::judge(law, trying(what, 300ms)).empty();
    }
    FAIL_CHECK("no law is called ", std::string{law_begins});
    return false;
}

}  // namespace

TEST_CASE("the library's own backends keep the laws") {
    with_every_backend([](const io_context_options& options) {
        test::backend_under_test it;
        it.with_loop = [&options](const std::function<void(io_context&)>& use) {
            io_context io{options};
            use(io);
        };
        check_laws(it);
    });
}

TEST_CASE("a world keeps the laws, in its order and in others") {
    check_laws(world_backend(false, 1));
    for (std::uint64_t seed = 1; seed <= 10; ++seed) check_laws(world_backend(true, seed));
}

TEST_CASE("a backend of the program's own keeps the laws") {
    check_laws(trying(trying_backend::flaw::none, patience));
}

TEST_CASE("who breaks a law is found") {
    using flaw = trying_backend::flaw;
    CHECK(breaks(flaw::newest_first, "several that read"));
    CHECK(breaks(flaw::forgets_ends, "a receive takes"));
    CHECK(breaks(flaw::keeps_stopped, "an operation that is stopped"));
    CHECK(breaks(flaw::deaf, "posts of other threads"));
}
