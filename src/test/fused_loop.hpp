// SPDX-License-Identifier: BSL-1.0
//
// A fuse before any loop: what it lets fail never reaches the host or the backend that is there.
//
// A world's machines are made with the two; before the kernel's own they come by fused_loops
// (gyre/test/fuse.hpp). An operation passes here once: at the host if it is answered at once or done by a
// worker, else at the backend.
#pragma once

#include <gyre/runtime/host.hpp>
#include <gyre/runtime/loop_backend.hpp>
#include <gyre/test/fuse.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace gyre::test {

// What could be had without a worker is not, so that it passes here as well (host::perform_at_hand).
class fused_host final : public host {
public:
    fused_host() noexcept = default;
    explicit fused_host(host& before) noexcept : before_{&before} {}

    /// For one that is made before its host is known: before any loop is on it, and always the same.
    void stand_before(host& it) noexcept { before_.store(&it, std::memory_order_release); }

    /// Null: nothing fails. Any thread. Returns the one before.
    fuse* set_fuse(fuse* it) noexcept { return fuse_.exchange(it, std::memory_order_acq_rel); }

    /// How long a loop may sleep without a timer and without news, before that counts as hanging: a
    /// failed check, with a dump. Not to be changed while loops run.
    void set_patience(duration longest) noexcept { patience_ = longest; }
    [[nodiscard]] duration patience() const noexcept { return patience_; }

    /// What has failed; empty if nothing has.
    [[nodiscard]] std::string fault_text() const;

    /// What an operation that begins is to fail with; 0: nothing.
    [[nodiscard]] int fault_of(const operation& op) noexcept {
        fuse* const it = fuse_.load(std::memory_order_acquire);
        return it == nullptr ? 0 : it->burn(op);
    }

    [[nodiscard]] int perform_now(operation& op) noexcept override {
        const int fault = fault_of(op);
        return fault != 0 ? fault : before().perform_now(op);
    }
    [[nodiscard]] time_point now() noexcept override { return before().now(); }
    [[nodiscard]] std::uint64_t entropy() noexcept override { return before().entropy(); }
    [[nodiscard]] int read_settings(const char* path, std::string& into) noexcept override {
        return before().read_settings(path, into);
    }
    [[nodiscard]] bool has_signals() const noexcept override { return before().has_signals(); }
    [[nodiscard]] descriptor_slot& enter(int number) noexcept override {
        return before().enter(number);
    }
    int close(descriptor_slot& it) noexcept override { return before().close(it); }
    int release(descriptor_slot& it) noexcept override { return before().release(it); }

private:
    [[nodiscard]] host& before() const noexcept { return *before_.load(std::memory_order_acquire); }

    std::atomic<host*> before_ = nullptr;
    std::atomic<fuse*> fuse_ = nullptr;
    duration patience_ = duration::max();
};

/// Operations that do not fail, and all else, go to `before`, which completes them by itself.
class fused_backend final : public loop_backend {
public:
    fused_backend(std::unique_ptr<loop_backend> before, fused_host& on) noexcept
        : before_{std::move(before)}, on_{on} {}

    void attach(io_context& owner) noexcept override;
    [[nodiscard]] error bind_thread() noexcept override { return before_->bind_thread(); }
    [[nodiscard]] bool submit(operation& op) noexcept override {
        const int fault = stands_ ? on_.fault_of(op) : 0;
        if (fault == 0) return before_->submit(op);
        op.result = fault;
        return true;
    }
    void cancel(operation& op) noexcept override { before_->cancel(op); }
    [[nodiscard]] error turn(time_point deadline) noexcept override;
    void abandon() noexcept override { before_->abandon(); }
    void leave_to_parent() noexcept override { before_->leave_to_parent(); }
    void wake() noexcept override { before_->wake(); }
    void forget(descriptor_slot& it) noexcept override { before_->forget(it); }
    [[nodiscard]] int wait_handle() noexcept override { return before_->wait_handle(); }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return before_->in_flight(); }
    [[nodiscard]] bool idle() const noexcept override { return before_->idle(); }
    [[nodiscard]] bool holds_back() const noexcept override { return before_->holds_back(); }
    [[nodiscard]] bool takes(const operation& op) const noexcept override {
        return before_->takes(op);
    }
    [[nodiscard]] bool tries_first() const noexcept override { return before_->tries_first(); }
    [[nodiscard]] backend_info info() const noexcept override { return before_->info(); }
    [[nodiscard]] std::uint64_t visits() const noexcept override {
        return loop_backend::visits() + before_->visits();
    }
    [[nodiscard]] std::uint64_t rearms() const noexcept override {
        return loop_backend::rearms() + before_->rearms();
    }
    [[nodiscard]] std::uint64_t shortages() const noexcept override {
        return loop_backend::shortages() + before_->shortages();
    }

private:
    std::unique_ptr<loop_backend> before_;
    fused_host& on_;
    io_context* loop_ = nullptr;
    bool stands_ =
        true;  // False where the loop is older than the fuse, and has changed its backend.
};

}  // namespace gyre::test
