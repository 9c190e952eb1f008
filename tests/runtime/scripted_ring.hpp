// SPDX-License-Identifier: BSL-1.0
//
// A ring whose results the test writes.
//
// It is the kernel's own, so that entries and results take their usual way; but the entry of an operation
// that the script answers becomes one that does nothing, and its result the script's. Codes that a kernel
// gives once in a month can so be had for each opcode.
#pragma once

#include <gyre/runtime/io_context.hpp>
#include <runtime/system_host.hpp>
#include <runtime/uring_backend.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace gyre {

/// Reaches the entries that the kernel has not seen, and the results that the backend has not.
struct ring_access {
    [[nodiscard]] static uring_ring& ring_of(uring_backend& it) noexcept { return it.ring_; }

    template <class Visitor>
    static void each_entry(uring_ring& of, const Visitor& visit) {
        for (unsigned index = of.submitted_; index != of.tail_; ++index)
            visit(of.entries_[index & of.submission_mask_]);
    }

    template <class Visitor>
    static void each_result(uring_ring& of, const Visitor& visit) {
        const unsigned tail = std::atomic_ref{*of.completion_tail_}.load(std::memory_order_acquire);
        for (unsigned index = of.reaped_; index != tail; ++index)
            visit(of.completions_[index & of.completion_mask_]);
    }
};

}  // namespace gyre

namespace gyre::testing {

/// Answers the first operations of one opcode that reach the ring; all else goes to the kernel.
class scripted_ring final : public loop_backend {
public:
    explicit scripted_ring(std::unique_ptr<uring_backend> under) noexcept
        : under_{std::move(under)} {}

    /// One result for each operation of this kind that reaches the ring, in order.
    void answer(opcode kind, std::deque<std::int32_t> with) {
        kind_ = kind;
        answers_ = std::move(with);
    }

    /// The same for one operation: the result comes once that has been canceled, and not before.
    /// @param  under_way  Called when the ring has it, on the loop's thread.
    void answer_canceled(opcode kind, std::int32_t with, std::function<void()> under_way) {
        answer(kind, {with});
        under_way_ = std::move(under_way);
    }

    /// Operations that the script has answered.
    [[nodiscard]] int answered() const noexcept { return answered_; }

    void attach(io_context& owner) noexcept override { under_->attach(owner); }
    [[nodiscard]] error bind_thread() noexcept override { return under_->bind_thread(); }
    [[nodiscard]] bool submit(operation& op) noexcept override {
        if (op.code == kind_ && !answers_.empty()) {
            // As after a try that would have blocked: so each of them is given to the ring.
            descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
            on.maybe_readable = on.maybe_writable = false;
            on.listens = true;
        }
        return under_->submit(op);
    }
    void cancel(operation& op) noexcept override {
        const auto held = held_.find(data_of(op));
        if (held == held_.end()) return under_->cancel(op);
        io_uring_sqe* const entry = ring().next_entry();
        REQUIRE(entry != nullptr);
        replace(*entry, held->first);
        results_[held->first] = held->second;
        held_.erase(held);
    }
    [[nodiscard]] error turn(time_point deadline) noexcept override {
        ring_access::each_entry(ring(), [this](io_uring_sqe& it) { take(it); });
        REQUIRE(ring().submit() == 0);
        if (!held_.empty() && under_way_) std::exchange(under_way_, {})();
        bool any = false;
        ring_access::each_result(ring(), [&](io_uring_cqe& it) {
            const auto found = results_.find(it.user_data);
            if (found == results_.end()) return;
            it.res = found->second;
            results_.erase(found);
            ++answered_;
            any = true;
        });
        return under_->turn(any ? no_wait : deadline);
    }
    void wake() noexcept override { under_->wake(); }
    void forget(descriptor_slot& it) noexcept override { under_->forget(it); }
    [[nodiscard]] int wait_handle() noexcept override { return under_->wait_handle(); }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return under_->in_flight(); }
    [[nodiscard]] bool idle() const noexcept override { return under_->idle(); }
    [[nodiscard]] bool holds_back() const noexcept override { return under_->holds_back(); }
    [[nodiscard]] bool takes(const operation& op) const noexcept override {
        return under_->takes(op);
    }
    [[nodiscard]] backend_info info() const noexcept override { return under_->info(); }

private:
    static constexpr std::uint64_t ignored =
        0b10;  // Tagged as a cancel's, whose results say nothing.

    [[nodiscard]] uring_ring& ring() noexcept { return ring_access::ring_of(*under_); }
    [[nodiscard]] static std::uint64_t data_of(const operation& op) noexcept {
        return reinterpret_cast<std::uint64_t>(&op);
    }
    static void replace(io_uring_sqe& entry, std::uint64_t data) noexcept {
        entry = {};
        entry.opcode = IORING_OP_NOP;
        entry.user_data = data;
    }

    void take(io_uring_sqe& entry) {
        const bool is_operation = entry.opcode != IORING_OP_NOP && (entry.user_data & 0b11) == 0;
        if (!is_operation || answers_.empty()) return;
        if (reinterpret_cast<const operation*>(entry.user_data)->code != kind_) return;
        const std::uint64_t data = entry.user_data;
        (under_way_ ? held_ : results_)[data] = answers_.front();
        answers_.pop_front();
        replace(entry, under_way_ ? ignored : data);
    }

    std::unique_ptr<uring_backend> under_;
    opcode kind_ = opcode::call;
    std::deque<std::int32_t> answers_;
    std::function<void()> under_way_;
    std::map<std::uint64_t, std::int32_t> held_;     // By user data, until canceled;
    std::map<std::uint64_t, std::int32_t> results_;  // until the kernel says that it did nothing.
    int answered_ = 0;
};

/// A loop on such a ring.
struct scripted_ring_loop {
    explicit scripted_ring_loop(backend_choice tier) : io{make(tier), system_host::instance()} {}

    scripted_ring* script = nullptr;
    io_context io;

private:
    std::unique_ptr<loop_backend> make(backend_choice tier) {
        std::string refusal;
        auto under =
            uring_backend::open(std::make_shared<waker>(), tier, io_context_options{}, refusal);
        INFO(refusal);
        REQUIRE(under != nullptr);
        auto made = std::make_unique<scripted_ring>(std::move(under));
        script = made.get();
        return made;
    }
};

}  // namespace gyre::testing
