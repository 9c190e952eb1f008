// SPDX-License-Identifier: BSL-1.0
//
// How a loop in a world carries out its operations: by trying them on the models, again whenever one of
// these has changed.
//
// It is epoll without a kernel. Where the loop would sleep, the world goes on instead: other
// loops run, packets arrive, and at last time passes.
#pragma once

#include <gyre/runtime/loop_backend.hpp>
#include <test/virtual_time.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre::test {

class virtual_host;

class virtual_backend final : public loop_backend {
public:
    virtual_backend(virtual_time& time, virtual_host& on);
    ~virtual_backend() override;

    // What a loop asks of it.

    void attach(io_context& owner) noexcept override;
    [[nodiscard]] error bind_thread() noexcept override { return {}; }
    [[nodiscard]] bool submit(operation& op) noexcept override;
    void cancel(operation& op) noexcept override;
    [[nodiscard]] error turn(time_point deadline) noexcept override;
    void wake() noexcept override;
    void forget(descriptor_slot& it) noexcept override;
    [[nodiscard]] int wait_handle() noexcept override { return -1; }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return waiting_; }
    [[nodiscard]] bool idle() const noexcept override { return waiting_ == 0 && !holds_back(); }
    [[nodiscard]] bool holds_back() const noexcept override {
        return !changed_.empty() || !calls_->over.empty();
    }
    [[nodiscard]] bool takes(const operation&) const noexcept override { return true; }
    [[nodiscard]] bool tries_first() const noexcept override { return true; }
    [[nodiscard]] backend_info info() const noexcept override {
        return {backend_choice::custom, "a world of gyre::test"};
    }

    // What the world asks of it.

    [[nodiscard]] io_context& loop() noexcept { return *loop_; }
    [[nodiscard]] const std::string& name() const noexcept;

    /// Whether polling it would run something. False while it is being run.
    [[nodiscard]] bool due() noexcept;
    void poll() noexcept;

    /// Its nearest timer, if it is not being run.
    [[nodiscard]] time_point next_timer() noexcept;

    /// What `it` is the number of has changed: the next turn tries what waits for it.
    void note_change(descriptor_slot& it) noexcept;

private:
    /// What blocks. The moments at which that is over may come when this is gone.
    struct calls {
        std::map<std::uint64_t, call_operation*> begun;
        std::uint64_t count = 0;
        std::vector<call_operation*> over;  // Their time, that is.
    };

    [[nodiscard]] bool try_to_end(operation& op) noexcept;
    [[nodiscard]] bool begin_call(call_operation& op) noexcept;
    bool serve_changes() noexcept;
    bool serve(descriptor_slot& it) noexcept;
    void wait(time_point deadline) noexcept;
    [[nodiscard]] bool something_came() noexcept;
    void report_hang(const char* why) noexcept;

    virtual_time& time_;
    virtual_host& host_;
    io_context* loop_ = nullptr;
    std::size_t waiting_ = 0;
    std::vector<descriptor_slot*> changed_;  // Each once.
    const std::shared_ptr<calls> calls_ = std::make_shared<calls>();
    bool inside_ = false;  // It waits, or is polled.
    bool hung_ = false;    // Nothing has happened since it was found hanging.
    std::atomic<bool> woken_ = false;
};

}  // namespace gyre::test
