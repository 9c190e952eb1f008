// SPDX-License-Identifier: BSL-1.0
//
// Operations by readiness: try the call, and if it would block, wait until it would not.
//
// This is the backend for containers that forbid io_uring, and no poor relation: a descriptor is
// registered once, edge-triggered, for both directions, and hints remember what the last try proved,
// so that a read after a short read goes straight to waiting and a write is usually one call.
#pragma once

#include <gyre/runtime/loop_backend.hpp>
#include <runtime/waker.hpp>

#include <sys/epoll.h>

#include <array>
#include <memory>
#include <string>

namespace gyre {

class epoll_backend final : public loop_backend {
public:
    /// @param  reason  Why this backend was chosen; for `info`.
    epoll_backend(std::shared_ptr<waker> shared, std::string reason) noexcept;
    ~epoll_backend() override;

    /// Why there is no epoll instance, or none that can be woken, an errno value: then it is good for
    /// nothing. 0 if there is one.
    [[nodiscard]] int failed() const noexcept { return failed_; }

    void attach(io_context& owner) noexcept override;
    [[nodiscard]] error bind_thread() noexcept override { return {}; }
    [[nodiscard]] bool submit(operation& op) noexcept override;
    void cancel(operation& op) noexcept override;
    [[nodiscard]] error turn(time_point deadline) noexcept override;
    void leave_to_parent() noexcept override { close(); }
    void wake() noexcept override { waker_->wake(); }
    void forget(descriptor_slot& it) noexcept override;
    [[nodiscard]] int wait_handle() noexcept override { return epoll_; }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return waiting_; }
    // Events left over for no operation: a turn delivers nothing then, but without it they would
    // stay.
    [[nodiscard]] bool idle() const noexcept override { return waiting_ == 0 && !holds_back(); }
    [[nodiscard]] bool holds_back() const noexcept override { return served_ < harvested_; }
    [[nodiscard]] bool tries_first() const noexcept override { return true; }
    [[nodiscard]] backend_info info() const noexcept override {
        return {backend_choice::epoll, reason_};
    }

private:
    void close() noexcept;
    [[nodiscard]] std::uint32_t turn() const noexcept {
        return static_cast<std::uint32_t>(visits());
    }
    [[nodiscard]] bool attempt(descriptor_operation& op) noexcept;
    [[nodiscard]] int enlist(descriptor_slot& it, std::uint32_t interest, bool accepts) noexcept;
    void silence(descriptor_slot& it) noexcept;
    [[nodiscard]] bool serve(descriptor_slot& it, std::uint32_t events) noexcept;
    [[nodiscard]] bool serve_harvest() noexcept;
    [[nodiscard]] int wait(time_point deadline) noexcept;

    static constexpr int events_max = 256;

    std::shared_ptr<waker> waker_;
    io_context* loop_ = nullptr;
    int epoll_;
    int failed_ = 0;
    std::size_t waiting_ = 0;
    bool precise_wait_ = true;  // epoll_pwait2 exists (Linux 5.11).
    std::string reason_;
    std::array<epoll_event, events_max> events_;  // One harvest.
    int harvested_ = 0;                           // Events in it,
    int served_ = 0;                              // and those of them that have been looked at.
    std::size_t received_ = 0;                    // Bytes, in this turn.
};

}  // namespace gyre
