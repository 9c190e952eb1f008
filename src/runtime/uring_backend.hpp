// SPDX-License-Identifier: BSL-1.0
//
// Operations by completion: each record becomes a submission entry, each result completes a record.
//
// One enter per turn submits what the coroutines asked for and collects what is done. The tiers are
// set-up flags and the features that go with them; everything is probed, nothing assumed from a
// version. uring_ring.hpp is the queue itself.
#pragma once

#include <gyre/runtime/loop_backend.hpp>
#include <runtime/buffer_ring.hpp>
#include <runtime/uring_ring.hpp>
#include <runtime/waker.hpp>

#include <memory>
#include <optional>
#include <string>

namespace gyre {

class uring_backend final : public loop_backend {
public:
    /// Tries to set up a ring: at exactly the tier asked for, or for `uring` at the best one.
    ///
    /// @param  refusal  Receives a sentence for people when null is returned.
    [[nodiscard]] static std::unique_ptr<uring_backend> open(std::shared_ptr<waker> shared,
                                                             backend_choice tier,
                                                             const io_context_options& options,
                                                             std::string& refusal);
    ~uring_backend() override;

    void attach(io_context& owner) noexcept override;
    [[nodiscard]] error bind_thread() noexcept override;
    [[nodiscard]] bool submit(operation& op) noexcept override;
    void cancel(operation& op) noexcept override;
    [[nodiscard]] error turn(time_point deadline) noexcept override;
    void abandon() noexcept override;
    void leave_to_parent() noexcept override;
    void wake() noexcept override { waker_->wake(); }
    void forget(descriptor_slot&) noexcept override {}
    [[nodiscard]] int wait_handle() noexcept override;
    [[nodiscard]] std::size_t in_flight() const noexcept override { return in_flight_; }
    [[nodiscard]] bool idle() const noexcept override {
        return in_flight_ == 0 && ring_.unsubmitted() == 0 && !announcement_;
    }
    [[nodiscard]] bool holds_back() const noexcept override {
        return held_back_ || ring_.unsubmitted() > 0;
    }
    [[nodiscard]] bool takes(const operation& op) const noexcept override;
    [[nodiscard]] backend_info info() const noexcept override { return {tier_, reason_}; }

private:
    friend struct ring_access;  // A test's.

    uring_backend(std::shared_ptr<waker> shared, const io_context_options& options) noexcept
        : waker_{std::move(shared)}, options_{options} {}

    [[nodiscard]] int set_up(backend_choice tier) noexcept;
    [[nodiscard]] int set_up_patiently(backend_choice tier) noexcept;
    [[nodiscard]] io_uring_sqe& entry() noexcept;
    void arm(operation& op) noexcept;
    void begin_next_in_line(descriptor_slot& on) noexcept;
    void prepare(operation& op, io_uring_sqe& to) noexcept;
    [[nodiscard]] bool prefers_readiness(operation& op) const noexcept;
    void prepare_receive(operation& op, io_uring_sqe& to) noexcept;
    void polls_first(operation& op, io_uring_sqe& to) noexcept;
    void prepare_wait(operation& op, std::uint32_t events, io_uring_sqe& to) noexcept;
    [[nodiscard]] bool lets_kernel_choose(const lease_operation& op) noexcept;
    [[nodiscard]] bool try_now(operation& op) noexcept;
    [[nodiscard]] bool joins_batch(const operation& op) const noexcept;
    void watch_waker() noexcept;

    /// Results of receives say whether more is there, and POLL_FIRST is known (Linux 5.19, as the
    /// set-up flag of tier B).
    [[nodiscard]] bool tells_nonempty() const noexcept { return tier_ != backend_choice::uring_c; }
    void cancel_again(std::uint64_t data) noexcept;
    [[nodiscard]] unsigned harvest() noexcept;
    void deliver(const io_uring_cqe& result) noexcept;
    void finish(operation& op, std::int32_t result, std::uint32_t flags) noexcept;
    [[nodiscard]] bool goes_on_otherwise(operation& op) noexcept;
    void take_hints(const operation& op, std::uint32_t flags) const noexcept;
    [[nodiscard]] bool goes_on_harvesting() const noexcept;
    [[nodiscard]] time_point wake_up_time(time_point deadline) const noexcept;
    [[nodiscard]] bool carry_out(operation& op, std::int32_t& result,
                                 std::uint32_t events) noexcept;
    [[nodiscard]] bool try_accept(operation& op) noexcept;
    [[nodiscard]] bool fill(lease_operation& op, std::int32_t& result,
                            std::uint32_t flags) noexcept;

    std::shared_ptr<waker> waker_;
    io_context_options options_;
    io_context* loop_ = nullptr;
    buffer_ring buffers_;  // Before the ring, so that it outlives it.
    uring_ring ring_;
    backend_choice tier_ = backend_choice::uring_c;
    std::string reason_;
    std::size_t in_flight_ = 0;
    std::size_t leases_in_flight_ = 0;  // Of these, receives into leased blocks.
    std::size_t leased_bytes_ = 0;      // Received in this turn.
    std::size_t carried_bytes_ = 0;     // Received in this turn by calls of ours.
    bool held_back_ = false;            // Results are left for the next turn.
    bool bound_ = false;                // To a thread.
    bool buffers_refused_ = false;      // The kernel takes no ring of buffers from us.
    // Told by the kernel of results; made when first asked for.
    std::optional<waker> announcement_;
    // For entries, once the kernel refuses us.
    alignas(io_uring_sqe) std::byte nowhere_[sizeof(io_uring_sqe)] = {};
    std::uint32_t turns_ = 0;
    int withdrawn_ = 0;  // The errno value with which the kernel began to refuse us.
};

}  // namespace gyre
