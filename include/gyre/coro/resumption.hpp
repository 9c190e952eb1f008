// SPDX-License-Identifier: BSL-1.0
//
// A suspended coroutine's way back: one post to its executor, taken back if the frame dies first.
//
// Whatever resumes a coroutine of its own thread later holds one. The awaiter lives in the frame of the
// coroutine, so a frame that is destroyed between the post and the resumption takes it back here, from
// the executor that has it and not from the loop below.
#pragma once

#include <gyre/coro/environment.hpp>
#include <gyre/coro/resume.hpp>

#include <coroutine>

namespace gyre {

/// Belongs to the loop's thread. A copy belongs to no coroutine yet.
class resumption : private work {
public:
    resumption() noexcept : work{&go_on} {}
    resumption(const resumption&) noexcept : resumption{} {}
    resumption& operator=(const resumption&) = delete;
    ~resumption() {
        if (posted_) env_->executor.retract(*this);
    }

    /// `waiter` is suspended, and will be resumed on the executor of `given`.
    void begin(std::coroutine_handle<> waiter, const environment& given) noexcept {
        waiter_ = waiter;
        env_ = &given;
    }

    /// @pre  begun, and not posted.
    void post() noexcept {
        posted_ = true;
        env_->executor.post(*this);
    }

    /// Both at once.
    void post(std::coroutine_handle<> waiter, const environment& given) noexcept {
        begin(waiter, given);
        post();
    }

    /// Without a post, from an item that has run on the executor already.
    /// @pre  begun, and not posted.
    void resume() const { gyre::resume(waiter_); }

    /// True from a post until the coroutine is resumed by it.
    [[nodiscard]] bool posted() const noexcept { return posted_; }

    /// @pre  begun.
    [[nodiscard]] const environment& env() const noexcept { return *env_; }

private:
    static void go_on(work& item) noexcept {
        auto& self = static_cast<resumption&>(item);
        self.posted_ = false;
        gyre::resume(self.waiter_);
    }

    std::coroutine_handle<> waiter_;
    const environment* env_ = nullptr;  // Outlives the coroutine.
    bool posted_ = false;
};

}  // namespace gyre
