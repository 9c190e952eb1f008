// SPDX-License-Identifier: BSL-1.0
//
// A backend whose completions the test orders by hand.
//
// Real kernels decide for themselves whether a cancel or a completion comes first; here the test
// does. Its clock is the script's too: waiting with nothing to deliver jumps to the deadline, and
// waiting for ever is a failure, not a hang.
#pragma once

#include <gyre/runtime/loop_backend.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gyre::testing {

/// A machine without a kernel: descriptors are numbers, immediate calls succeed.
class scripted_host final : public host {
public:
    [[nodiscard]] int perform_now(operation& op) noexcept override {
        performed.push_back(op.code);
        return op.code == opcode::open_socket ? next_number_++ : 0;
    }
    [[nodiscard]] std::uint64_t entropy() noexcept override { return 1; }
    [[nodiscard]] int read_settings(const char*, std::string&) noexcept override { return -ENOENT; }
    [[nodiscard]] bool has_signals() const noexcept override { return false; }
    [[nodiscard]] time_point now() noexcept override { return clock; }
    [[nodiscard]] descriptor_slot& enter(int number) noexcept override {
        descriptor_slot& it = table_[number];
        it.begin_opening(number);
        return it;
    }
    int close(descriptor_slot& it) noexcept override {
        closed.push_back(it.number);
        return release(it) >= 0 ? 0 : -EBADF;
    }
    int release(descriptor_slot& it) noexcept override {
        it.end_opening();
        return it.number;
    }

    time_point clock{std::chrono::hours{1}};
    std::vector<opcode> performed;
    std::vector<int> closed;

private:
    std::map<int, descriptor_slot> table_;
    int next_number_ = 100;
};

/// Holds what is submitted until the test, or a step of the script, completes it.
class scripted_backend final : public loop_backend {
public:
    /// What the kernel does when a cancel reaches it.
    enum class on_cancel {
        end_at_once,   ///< The operation completes with -ECANCELED in the next turn.
        only_remember  ///< Nothing: the test completes it itself, later.
    };

    explicit scripted_backend(scripted_host& on) noexcept : host_{on} {}

    void attach(io_context& owner) noexcept override { loop_ = &owner; }
    [[nodiscard]] error bind_thread() noexcept override { return {}; }

    [[nodiscard]] bool submit(operation& op) noexcept override {
        if (!inline_results.empty()) {
            op.result = inline_results.front();
            inline_results.pop_front();
            return true;
        }
        submitted.push_back(&op);
        ++in_flight_;
        return false;
    }

    void cancel(operation& op) noexcept override {
        canceled.push_back(&op);
        if (cancel_policy == on_cancel::end_at_once) complete_later(op, -ECANCELED);
    }

    [[nodiscard]] error turn(time_point deadline) noexcept override {
        if (due_.empty() && deadline != no_wait && !woken_.exchange(false)) wait(deadline);
        woken_ = false;
        while (!due_.empty()) {
            const auto [op, result] = due_.front();
            due_.pop_front();
            --in_flight_;
            loop_->complete(*op, result);
        }
        return {};
    }

    void wake() noexcept override {
        ++wakes;
        woken_ = true;
    }
    void forget(descriptor_slot& it) noexcept override { forgotten.push_back(it.number); }
    [[nodiscard]] int wait_handle() noexcept override { return -1; }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return in_flight_; }
    [[nodiscard]] backend_info info() const noexcept override {
        return {backend_choice::custom, "the test's script"};
    }

    /// The next turn delivers `result` for `op`.
    void complete_later(operation& op, std::int32_t result) { due_.emplace_back(&op, result); }

    /// What happens, one step per turn that would wait.
    std::deque<std::function<void()>> steps;

    /// Operations answered on the spot, in the order of submission, while there are any.
    std::deque<std::int32_t> inline_results;

    on_cancel cancel_policy = on_cancel::end_at_once;
    std::vector<operation*> submitted;
    std::vector<operation*> canceled;
    std::vector<int> forgotten;
    std::atomic<int> wakes = 0;

private:
    // Something happens (the next step), or time passes.
    void wait(time_point deadline) {
        if (!steps.empty()) {
            const auto step = std::move(steps.front());
            steps.pop_front();
            step();
        }
        if (!due_.empty() || loop_->busy() || woken_.load()) return;
        if (deadline == never) {
            FAIL_CHECK("the loop waits for ever, with nothing to wake it");
            loop_->stop();
            return;
        }
        host_.clock = std::max(host_.clock, deadline);
    }

    scripted_host& host_;
    io_context* loop_ = nullptr;
    std::deque<std::pair<operation*, std::int32_t>> due_;
    std::size_t in_flight_ = 0;
    std::atomic<bool> woken_ = false;
};

/// A loop on a script.
struct scripted_loop {
    scripted_host host;
    scripted_backend* script = nullptr;
    io_context io{make(), host};

private:
    std::unique_ptr<loop_backend> make() {
        auto made = std::make_unique<scripted_backend>(host);
        script = made.get();
        return made;
    }
};

}  // namespace gyre::testing
