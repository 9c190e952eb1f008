// SPDX-License-Identifier: BSL-1.0
//
// What a loop stands on that could have no descriptor, neither for a ring or an epoll instance nor for being
// woken: posts and timers go on, and nothing else.
#pragma once

#include <gyre/runtime/loop_backend.hpp>
#include <runtime/latest_wake_up.hpp>

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

namespace gyre {

class bare_backend final : public loop_backend {
public:
    /// @param  reason  Why there is no other; for `info`.
    explicit bare_backend(std::string reason) noexcept : reason_{std::move(reason)} {}

    void attach(io_context&) noexcept override {}
    [[nodiscard]] error bind_thread() noexcept override { return {}; }

    // Not reached: the loop's status ends what would be submitted.
    [[nodiscard]] bool submit(operation& op) noexcept override {
        op.result = -static_cast<std::int32_t>(errc::backend_unavailable);
        return true;
    }
    void cancel(operation&) noexcept override {}
    void forget(descriptor_slot&) noexcept override {}

    [[nodiscard]] error turn(time_point deadline) noexcept override {
        visits_.add();
        std::unique_lock lock{mutex_};
        const auto woken = [this] { return std::exchange(woken_, false); };
        if (deadline == never) {
            wakes_.wait(lock, woken);
        } else if (deadline != no_wait) {
            wakes_.wait_until(lock, latest_wake_up(deadline), woken);
        }
        return {};
    }
    void wake() noexcept override {
        const std::lock_guard lock{mutex_};
        woken_ = true;
        wakes_.notify_one();
    }

    [[nodiscard]] int wait_handle() noexcept override { return -1; }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return 0; }
    [[nodiscard]] backend_info info() const noexcept override {
        return {backend_choice::none, reason_};
    }

private:
    std::mutex mutex_;
    std::condition_variable wakes_;
    bool woken_ = false;
    std::string reason_;
};

}  // namespace gyre
