// SPDX-License-Identifier: BSL-1.0
//
// Cancellation: how a stop request finds what a chain of coroutines is waiting for.
//
// A *chain* is a line of awaits: a root, a group's child, a branch of when_any. At any moment at
// most one leaf of it is pending, so the chain needs one slot, and a leaf costs one store to start
// and one to end; nothing is registered per operation. Combinators are leaves of their parent's
// chain and own the chains of their branches, so the chains form a tree, which the task dump walks
// as well. Everything here belongs to one loop's thread; foreign threads go through stop_handle.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/intrusive.hpp>

#include <cstdint>

namespace gyre {

/// How urgently. A chain only ever moves up.
enum class stop_level : std::uint8_t {
    none,
    drain,  ///< Intake ends: accepts and waits marked idle complete; the rest goes on.
    stop    ///< Everything pending completes with `errc::canceled` as soon as it can.
};

class stop_chain;
struct task_node;

/// Something pending that can be asked to end.
class stop_target {
public:
    /// Called on the loop's thread while the target sits in a chain's slot. Must not resume
    /// a coroutine inside the call: what ends is posted.
    virtual void request(stop_level level) noexcept = 0;

    /// What is being waited for, for people: "read", "sleep", ...; static storage.
    [[nodiscard]] virtual const char* waiting_for() const noexcept = 0;

    /// The branches below, if this is a combinator; null for leaves.
    [[nodiscard]] virtual list<stop_chain>* branches() noexcept { return nullptr; }

protected:
    stop_target() noexcept = default;
    ~stop_target() = default;
};

/// One line of awaits and the level it was asked to stop at.
class stop_chain : public list_link<> {
public:
    explicit stop_chain(stop_level inherited = stop_level::none) noexcept : level_{inherited} {}

    [[nodiscard]] stop_level level() const noexcept { return level_; }
    [[nodiscard]] bool stopping() const noexcept { return level_ == stop_level::stop; }

    /// `target` begins to wait. A chain waits for one thing at a time.
    void enter(stop_target& target) noexcept {
        expects(
            pending_ == nullptr,
            "a coroutine waits for one thing at a time; when_all and when_any wait for several");
        pending_ = &target;
    }

    /// What was pending is no longer.
    void leave() noexcept { pending_ = nullptr; }

    /// Raises the level and tells what is pending. Lower or equal levels change nothing.
    void request(stop_level level) noexcept {
        if (level <= level_) return;
        level_ = level;
        if (pending_ != nullptr) pending_->request(level);
    }

    [[nodiscard]] stop_target* pending() const noexcept { return pending_; }

    task_node* top = nullptr;  ///< The outermost coroutine of this line, if there is one.

private:
    stop_target* pending_ = nullptr;
    stop_level level_;
};

}  // namespace gyre
